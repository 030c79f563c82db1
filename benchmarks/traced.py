"""Score `rinkside observe` on made-up tables that Rinkside path-traces itself, and write
docs/TRACED.md (`make bench-traced`).

The scoring is not Rinkside's own: RINKSIDE_BENCH names the folder with score.py (see
CONTRIBUTING.md).
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from benchmarks.accuracy import ROOT, commit, load_scoring, page, run_kind, together
from simulation.generate.cases import write_case
from simulation.generate.tables import KINDS, Kind
from table.observation import Camera
from table.table_config import Setup

FIRST, PATHS = 4_000_200, 64
"""The first seed, none of which is among those that the networks are taught on; paths a pixel."""
TEXT = """# How well Rinkside sees tables that nobody looked at

Measured {date} with Rinkside {version} (commit {commit}) on {machine} and OpenCV {opencv}.
`make bench-traced` writes this page; no figure on it is typed by hand.

The tables are made up by `simulation.generate.cases` (seeds from 4000200 on) and path-traced by `training/traced.py` with Mitsuba: hollow shells
of glass that bend light, mirror one another and throw caustics, nests of real shells, rooms that are not evenly bright. The networks are taught
on other tables of this kind; no weights or thresholds were chosen with these in view. What the figures mean stands in
[ACCURACY.md](ACCURACY.md), which is about photographs that are not Rinkside's.

{table}

## Every mistake
{mistakes}
"""


def trace(kinds: tuple[Kind, ...], tables: int, folder: Path) -> None:
    """Trace the tables that are not in the folder yet."""
    from training.traced import (
        Tracer,
    )  # here, so that without Mitsuba tables that are there can be scored

    def before(setup: Setup, camera: Camera) -> Tracer:
        return Tracer(setup, camera, PATHS)

    for kind in kinds:
        for seed in range(FIRST, FIRST + tables):
            case, beside = folder / f"{kind}-{seed}", folder / f".{kind}-{seed}"
            if not case.exists():
                write_case(beside, kind, seed, before=before)
                beside.rename(case)
                print(f"{case.name}: traced", file=sys.stderr)


@click.command()
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(KINDS),
    help="Only these kinds; all without it.",
)
@click.option("--tables", default=4, show_default=True, help="Tables of each kind.")
@click.option(
    "--cases",
    type=click.Path(path_type=Path),
    default=ROOT / "build" / "traced" / str(FIRST),
    help="Where tables are kept; delete them to trace anew.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=ROOT / "docs" / "TRACED.md",
    help="The page to write.",
)
def main(kinds: tuple[Kind, ...], tables: int, cases: Path, out: Path) -> None:
    """Trace tables, read each and write the page."""
    scoring, measured, chosen = load_scoring(), commit(), kinds or KINDS
    trace(chosen, tables, cases)
    runs = [run_kind(scoring, kind, False, cases) for kind in chosen]
    if len(runs) > 1:
        runs.append(together(scoring, runs))
    out.write_text(page(runs, measured, TEXT), encoding="utf-8")
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
