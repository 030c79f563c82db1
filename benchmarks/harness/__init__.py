"""One harness for all benchmarks.

What a benchmark declares, how its cases run, where results are kept, and how its page is rendered.
"""

from benchmarks.harness.benchmark import BENCH, DOCS, ROOT, Benchmark, NoOptions, Pairs, needs
from benchmarks.harness.provenance import Provenance
from benchmarks.harness.statistics import median, percentiles

__all__ = [
    "BENCH",
    "DOCS",
    "ROOT",
    "Benchmark",
    "NoOptions",
    "Pairs",
    "Provenance",
    "median",
    "needs",
    "percentiles",
]
