"""Score `rinkside observe` on made-up tables that Rinkside path-traces itself.

The scoring is not Rinkside's own: RINKSIDE_BENCH names the folder with score.py (see
CONTRIBUTING.md).  Tables that were traced are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from benchmarks.harness import ROOT, Benchmark, Pairs
from benchmarks.photographs import KINDS, Scored, read
from benchmarks.suite.accuracy import Summary, summary
from simulation.generate.cases import write_case
from table.observation import Camera
from table.table_config import Setup

FIRST, PATHS = 4_000_200, 64
"""The first seed, none of which is among those that the networks are taught on; paths a pixel."""
TABLES = ROOT / "build" / "traced" / str(FIRST)
"""Where tables are kept; delete them to trace anew."""


class Options(msgspec.Struct, frozen=True):
    tables: Annotated[int, "Tables of each kind."] = 4


class Table(msgspec.Struct, frozen=True):
    kind: str
    seed: int

    @property
    def title(self) -> str:
        return KINDS[self.kind]


def cases(options: Options) -> Iterator[Table]:
    for kind in KINDS:
        yield from (Table(kind, seed) for seed in range(FIRST, FIRST + options.tables))


def run(case: Table) -> Scored:
    return read(traced(case))


def traced(case: Table) -> Path:
    """The folder of a table, which is traced if it is not there yet."""
    folder, beside = (TABLES / f"{dot}{case.kind}-{case.seed}" for dot in ("", "."))
    if not folder.exists():
        # Here, so that without Mitsuba tables that are there can be scored.
        from training.traced import Tracer

        def before(setup: Setup, camera: Camera) -> Tracer:
            return Tracer(setup, camera, PATHS)

        write_case(beside, case.kind, case.seed, before=before)
        beside.rename(folder)
    return folder


def summarise(_options: Options, pairs: Pairs) -> Summary:
    return summary(pairs, [one for _, one in pairs])


BENCHMARK = Benchmark("TRACED.md", cases, run, summarise, Options)
