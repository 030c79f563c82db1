"""Development tools other than benchmarks."""
