"""Programs for work on the project that measure nothing."""
