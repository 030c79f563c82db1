"""One harness for all benchmarks.

Declaration of benchmarks, running of cases, storage of results, and rendering of pages.
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
