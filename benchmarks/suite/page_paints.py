"""Open every page of the panel in Chromium: time to paint on a slow machine, and bytes fetched."""

from __future__ import annotations

import msgspec

from benchmarks.harness import Benchmark, NoOptions, Pairs
from tools.pages import LOADS, SLOWER, PageLoad, open_all


class Summary(msgspec.Struct, frozen=True):
    slower: int
    """The processor is so many times slower."""
    loads: int
    pages: tuple[PageLoad, ...]


def cases(_options: NoOptions) -> tuple[str]:
    return ("all pages",)


def run(_case: str) -> tuple[PageLoad, ...]:
    return open_all()


def summarise(_options: NoOptions, pairs: Pairs) -> Summary:
    ((_, pages),) = pairs
    return Summary(SLOWER, LOADS, pages)


BENCHMARK = Benchmark("PANEL.md", cases, run, summarise, section=True)
