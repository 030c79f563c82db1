"""What a lens that is estimated from the photograph itself costs, beside the one that is given (a
part of `make bench-calibration`).
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.accuracy import (
    BENCH,
    KINDS,
    Run,
    calls,
    commit,
    load_scoring,
    observe,
    percent,
    run_kind,
    spread,
)

TEXT = """
## What a lens from one photograph costs

Measured {date} (commit {commit}). Each photograph of the benchmark read twice: with the camera that its `table.json` gives, and with one
that `rinkside calibrate frame` made of the same photograph, pieces lying on the board and all (p50 / p95 / max;
{refused} of {count} photographs were refused).

| | pieces found | base error | gap error | truth in the 95 % ellipse | true gap within its ± | calls right / abstained / wrong |
|---|---|---|---|---|---|---|
{rows}

{said}
"""


def first_lens_text() -> str:
    """The part of the page, with its figures."""
    scoring = load_scoring()
    rows, gaps, refused, count = [], {}, 0, 0
    for kind, name in KINDS.items():
        given = run_kind(scoring, kind, with_empty=False)
        own, failed = _with_own_lens(scoring, kind)
        refused, count = refused + failed, count + len(given.cases)
        for run, camera in ((given, "given"), (own, "from the photograph")):
            rows.append(_row(f"{name}, camera {camera}", run))
            if "gap_mm" in run.summary:
                gaps[camera] = run.summary["gap_mm"]
    factors = [gaps["from the photograph"][key] / gaps["given"][key] for key in ("p50", "p95")]
    said = (
        f"The gap error of Ice Boule is {factors[0]:.1f} times as large in the median, and"
        f" {factors[1]:.1f} times at 95 % of gaps."
    )
    return TEXT.format(
        rows="\n".join(rows),
        refused=refused,
        count=count,
        said=said,
        date=datetime.date.today().isoformat(),
        commit=commit(),
    )


def _with_own_lens(scoring: ModuleType, kind: str) -> tuple[Run, int]:
    """Every case of a kind read with its own lens, and how many were refused."""
    cases: list[dict[str, Any]] = []
    refused = 0
    for folder in sorted((BENCH / "cases").glob(f"{kind}-*")):
        with tempfile.TemporaryDirectory() as beside:
            case = Path(beside)
            (case / "image.jpg").symlink_to(folder / "image.jpg")
            table = json.loads((folder / "table.json").read_text())
            del table["camera"]
            (case / "draft.json").write_text(json.dumps(table))
            words = [
                "calibrate",
                "frame",
                "image.jpg",
                "--table",
                "draft.json",
                "--out",
                "table.json",
            ]
            done = subprocess.run(
                [str(Path(sys.executable).with_name("rinkside")), *words],
                cwd=case,
                capture_output=True,
                text=True,
                check=False,
            )
            said = observe(case, with_empty=False)[0] if done.returncode == 0 else done.stderr
        if isinstance(said, str):
            print(f"{folder.name}: {said}", file=sys.stderr)
            refused += 1
        else:
            cases.append(scoring.score_case(folder, said))
    return Run(kind, False, cases, [], scoring.summary(cases)), refused


def _row(title: str, run: Run) -> str:
    told = run.summary
    figures = (
        percent(told["recall"]),
        spread(told["base_mm"], "mm"),
        spread(told.get("gap_mm"), "mm"),
        percent(told["inside_95_ellipse"]),
    )
    return (
        f"| {title} | {' | '.join(figures)} | {percent(told.get('gap_inside_95'))} |"
        f" {calls(told)} |"
    )
