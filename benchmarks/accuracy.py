"""Score `rinkside observe` on photographs with exact truth and write docs/ACCURACY.md (`make
bench`).

The photographs and the scoring are not Rinkside's own: RINKSIDE_BENCH names the folder with
score.py and cases/ (see CONTRIBUTING.md).
"""

from __future__ import annotations

import datetime
import importlib.util
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import click

ROOT = Path(__file__).parents[1]
BENCH = Path(os.environ.get("RINKSIDE_BENCH", ROOT.parent / "shared" / "bench"))
KINDS = {
    "boule": "Ice Boule",
    "storm": "Ice Storm",
    "zamboni": "Zamboni Wars",
    "icebreaker": "Icebreaker",
    "icefloe": "IceFloe",
}
"""Kinds of photographs, and the game that they show."""
EMPTY_HELPS = ("boule", "storm")
"""Kinds of which a picture of the empty table is used; boards with print on them are read without
it.
"""
ALL = "all"


@dataclass(frozen=True, slots=True)
class Run:
    """One kind of photograph, with or without a picture of the empty table: what score.py says of
    each case, and how long each took.
    """

    kind: str
    with_empty: bool
    cases: list[dict[str, Any]]
    seconds: list[tuple[float, float]]
    """Of each case: from start to end, and of processor time."""
    summary: dict[str, Any]

    @property
    def title(self) -> str:
        return (
            "All together"
            if self.kind == ALL
            else f"{KINDS[self.kind]}{', empty table known' if self.with_empty else ''}"
        )

    @property
    def failures(self) -> int:
        return sum("failed" in wrong for case in self.cases for wrong in case["wrong"])


def load_scoring(name: str = "score", beside: str = "cases/") -> ModuleType:
    """A scorer as a module; ends the program with one line, which names what should lie `beside`
    it, where it is not there.
    """
    path = BENCH / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    if not path.is_file() or spec is None or spec.loader is None:
        sys.exit(
            f"bench: expected {path.name} and {beside} in {BENCH}; set RINKSIDE_BENCH to the folder"
            " that has them"
        )
    scoring = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scoring)
    return scoring


def observe(case: Path, with_empty: bool) -> tuple[dict[str, Any] | str, tuple[float, float]]:
    """What the command prints of a case, or its complaint where it fails; and the seconds it took,
    from start to end and of processor time.
    """
    command = [
        str(Path(sys.executable).with_name("rinkside")),
        "observe",
        str(case / "image.jpg"),
        "--table",
        str(case / "table.json"),
        "--json",
    ]
    if with_empty:
        command += ["--empty", str(case / "empty.jpg")]
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    took, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return lines[-1].replace(f"{BENCH}/", ""), seconds
    document: dict[str, Any] = json.loads(done.stdout)
    return document, seconds


def run_kind(
    scoring: ModuleType, kind: str, with_empty: bool, folder: Path = BENCH / "cases"
) -> Run:
    """Every case of a kind in a folder, one after the other; a case that fails counts as one where
    nothing was found.
    """
    cases: list[dict[str, Any]] = []
    seconds: list[tuple[float, float]] = []
    for case in sorted(folder.glob(f"{kind}-*")):
        said, took = observe(case, with_empty)
        if isinstance(said, str):
            pieces = json.loads((case / "truth.json").read_text())["pieces"]
            result: dict[str, Any] = {
                "case": case.name,
                "truth": len(pieces),
                "pred": 0,
                "matched": 0,
                "rows": [],
                "wrong": [{"failed": said}],
            }
        else:
            result = scoring.score_case(case, said)
        cases.append(result)
        seconds.append(took)
        print(
            f"{case.name}{' with empty' if with_empty else ''}: {took[0]:.1f} s,"
            f" {len(result['wrong'])} mistakes",
            file=sys.stderr,
        )
    return Run(kind, with_empty, cases, seconds, scoring.summary(cases))


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def spread(values: dict[str, float | None] | None, unit: str) -> str:
    if not values or values["p50"] is None:
        return "–"
    return " / ".join(f"{values[key]:.2f}" for key in ("p50", "p95", "max")) + f" {unit}"


def median(run: Run, clock: int) -> str:
    return f"{statistics.median(seconds[clock] for seconds in run.seconds):.1f} s"


def calls(summary: dict[str, Any]) -> str:
    counted = summary.get("calls")
    return (
        "–"
        if counted is None
        else " / ".join(str(counted.get(key, 0)) for key in ("right", "abstained", "wrong"))
    )


def of_all(pair: Sequence[int] | None) -> str:
    return "–" if not pair else f"{pair[-1]} of {pair[0]}"


FIGURES: list[tuple[str, str, Callable[[Run], str]]] = [
    ("photographs", "each of another table, camera and light", lambda run: str(len(run.cases))),
    (
        "pieces on them",
        "inside the play area, as the truth has them",
        lambda run: str(run.summary["pieces"]),
    ),
    (
        "photographs given up",
        "the command failed; its pieces count as not found",
        lambda run: str(run.failures),
    ),
    (
        "pieces found",
        "recall: share of true pieces with a reported one within 15 mm",
        lambda run: percent(run.summary["recall"]),
    ),
    (
        "reports that are pieces",
        "precision: share of reports with a true piece within 15 mm",
        lambda run: percent(run.summary["precision"]),
    ),
    ("colour right", "of the pieces found", lambda run: percent(run.summary["colour"])),
    ("size right", "of the pieces found", lambda run: percent(run.summary["size"])),
    (
        "pose right",
        "upright, lying or leaning, of the pieces found",
        lambda run: percent(run.summary["pose"]),
    ),
    (
        "tables without a mistake",
        "every piece found, none invented, all three words right",
        lambda run: str(run.summary["tables_all_right"]),
    ),
    (
        "base error",
        "p50 / p95 / max of the distance from the true base",
        lambda run: spread(run.summary["base_mm"], "mm"),
    ),
    (
        "tip error",
        "p50 / p95 / max over lying pieces, seen from above",
        lambda run: spread(run.summary["tip_mm"], "mm"),
    ),
    (
        "heading error",
        "p50 / p95 / max over lying pieces",
        lambda run: spread(run.summary["heading_deg"], "°"),
    ),
    (
        "truth in the 95 % ellipse",
        "should be 95 %: less is over-confident, more is timid",
        lambda run: percent(run.summary["inside_95_ellipse"]),
    ),
    (
        "gap error",
        "p50 / p95 / max of the gap to the target, Ice Boule",
        lambda run: spread(run.summary.get("gap_mm"), "mm"),
    ),
    (
        "true gap within its ±",
        "should be 95 %",
        lambda run: percent(run.summary.get("gap_inside_95")),
    ),
    (
        "counters right",
        "within 8 mm, of all that lie there",
        lambda run: of_all(run.summary.get("counters")),
    ),
    (
        "tile places right",
        "has a tile, or has none",
        lambda run: of_all((run.summary.get("board_state") or [])[::-1]),
    ),
    (
        "calls right / abstained / wrong",
        "who leads and for how many points; abstained: too close, people are asked",
        lambda run: calls(run.summary),
    ),
    (
        "time a photograph",
        "median, from starting the command to its end",
        lambda run: median(run, 0),
    ),
    (
        "processor time",
        "the same, counting only the work: what else the machine did is left out",
        lambda run: median(run, 1),
    ),
]


def mistake(wrong: dict[str, Any]) -> str:
    """A row of score.py's `wrong` as words."""
    return "; ".join(
        f"{key} {value if isinstance(value, str) else json.dumps(value)}"
        for key, value in wrong.items()
    )


def together(scoring: ModuleType, runs: Sequence[Run]) -> Run:
    """All cases of several runs as one."""
    cases, seconds = (
        [case for run in runs for case in run.cases],
        [took for run in runs for took in run.seconds],
    )
    return Run(ALL, False, cases, seconds, scoring.summary(cases))


def page(runs: Sequence[Run], measured: str, text: str) -> str:
    """What a page says of runs; `measured` is the commit."""
    titles = [run.title for run in runs]
    rows = [f"| | {' | '.join(titles)} |", "|---" * (len(runs) + 1) + "|"]
    rows += [
        f"| {name} | {' | '.join(figure(run) for run in runs)} |" for name, _, figure in FIGURES
    ]
    explained = [f"- **{name}**: {said}" for name, said, _ in FIGURES]
    mistakes = [
        f"- {run.title}, {case['case']}: {mistake(wrong)}"
        for run in runs
        if run.kind != ALL
        for case in run.cases
        for wrong in case["wrong"]
    ]
    return text.format(
        date=datetime.date.today().isoformat(),
        version=metadata.version("rinkside"),
        commit=measured,
        machine=f"{os.cpu_count()} cores {platform.machine()}, Python {platform.python_version()}",
        opencv=metadata.version("opencv-python-headless"),
        table="\n".join(rows),
        explained="\n".join(explained),
        mistakes="\n".join(mistakes) or "None.",
    )


TEXT = """# How well Rinkside sees

Measured {date} with Rinkside {version} (commit {commit}) on {machine} and OpenCV {opencv}.
`make bench` writes this page; no figure on it is typed by hand.

The photographs are path-traced from exact models and are not Rinkside's: see-through and opaque plastic, changing lights, tables,
lenses, noise and JPEG quality. Each comes with the truth to the micron. They are a sample; a few of Rinkside's thresholds were chosen while they
were looked at. They are also
not your table. What no photograph here shows (other sets of pieces, sunlight, a camera that is knocked) is not promised.

{table}

"Empty table known": the same camera's picture of the table before play was given too (`--empty`).

## What the figures say
{explained}

## Every mistake
{mistakes}
"""


def commit() -> str:
    """Short hash of what was measured, and whether anything differs from it."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs")
    return git("rev-parse", "--short", "HEAD") + (", with changes" if changed else "")


@click.command()
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(list(KINDS)),
    help="Only these kinds; all without it.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=ROOT / "docs" / "ACCURACY.md",
    help="The page to write.",
)
def main(kinds: tuple[str, ...], out: Path) -> None:
    """Score every photograph, without and with the picture of the empty table, and write the
    page.
    """
    scoring, measured = load_scoring(), commit()
    chosen = kinds or tuple(KINDS)
    runs = [
        run_kind(scoring, kind, with_empty)
        for kind in chosen
        for with_empty in ((False, True) if kind in EMPTY_HELPS else (False,))
    ]
    if len(chosen) > 1:
        runs.append(together(scoring, [run for run in runs if not run.with_empty]))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page(runs, measured, TEXT), encoding="utf-8")
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
