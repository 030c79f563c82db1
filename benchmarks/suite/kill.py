"""Kill the referee at random moments and see what is left."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import msgspec

from benchmarks.attacks.kills import MOMENT_S, OPENING, PICTURE_BYTES, KilledProcess, live_and_die
from benchmarks.harness import Benchmark, Pairs, percentiles
from referee.sessions.event_store import Log


class Options(msgspec.Struct, frozen=True):
    lives: Annotated[int, "How often to kill."] = 200


class Lived(msgspec.Struct, frozen=True):
    lives: tuple[KilledProcess, ...]
    records: int
    """Of the longest session."""


class Summary(msgspec.Struct, frozen=True):
    lives: int
    picture_kb: int
    """The largest."""
    opening: float
    """Share of the kills that come while the log is opened."""
    shown: int
    reopened_s: tuple[float, ...]
    """Median, 95th percentile and the longest."""
    records: int


def cases(options: Options) -> tuple[int]:
    return (options.lives,)


def run(count: int) -> Lived:
    """So many lives on one log, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.sqlite"
        lives = tuple(live_and_die(path, seed, MOMENT_S) for seed in range(count))
        with Log(path) as log:
            return Lived(lives, max(summary.records for summary in log.sessions()))


def summarise(options: Options, pairs: Pairs) -> Summary:
    ((_, lived),) = pairs
    times = percentiles((life.reopened_s for life in lived.lives), 50, 95, 100)
    assert times is not None, "there was a life"
    shown = sum(life.shown for life in lived.lives)
    return Summary(options.lives, PICTURE_BYTES // 1000, OPENING, shown, times, lived.records)


BENCHMARK = Benchmark("LOG.md", cases, run, summarise, Options, section=True)
