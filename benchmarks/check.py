"""Compare what `rinkside calibrate check` predicts with what is read, on made-up tables, and write
it into docs/CALIBRATION.md (`make bench-calibration`).
"""

from __future__ import annotations

import datetime
import platform
import sys
from dataclasses import replace
from pathlib import Path

import click
import cv2
import numpy as np

from benchmarks.accuracy import ROOT, commit
from calibration.quality.check import fiducial_residuals, larger_than_predicted, look
from calibration.quality.error_model import EDGE_PX, Errors, edge_px, radius_95
from simulation.generate.cases import random_case
from simulation.render.renderer import Renderer
from table.errors import InputError
from table.solids import Array
from vision.geometry.piece_pose import Hypothesis

BEGIN, END = (
    "<!-- check: `make bench-calibration` writes what follows -->\n",
    "<!-- check end -->\n",
)
FIRST_SEED = 73000
NEAR_MM = 8.0


def pieces_of(seed: int) -> tuple[list[tuple[float, float, float]], float] | None:
    """Of each piece of a table that lies flat or stands: how far off it is read, the radius
    predicted with edges as told there, and with those of drawn tables, in mm; and how much larger
    than predicted the fiducials' errors are.  None where it is refused.
    """
    case = random_case("boule", seed)
    picture = Renderer(case.setup, case.camera).picture(
        replace(case, limbs=()).scene(), np.random.default_rng(seed)
    )
    try:
        still = look(f"table {seed}", picture, case.setup)
    except InputError as error:
        print(error, file=sys.stderr)
        return None
    told = edge_px([(still.seen, picture)], case.setup)
    plain = Errors(still.seen.camera, case.setup, EDGE_PX)
    own = Errors(still.seen.camera, case.setup, told or EDGE_PX)
    larger = larger_than_predicted(fiducial_residuals([still], plain))
    assert larger is not None, "there are four fiducials"
    found = []
    for place in case.placed:
        if place.pose == "leaning" or place.on_target:
            continue
        near = [
            one
            for one in still.seen.pieces
            if one.pose == place.pose and np.hypot(*(one.base_mm - place.base_mm)) < NEAR_MM
        ]
        if near:
            off = min(float(np.hypot(*(one.base_mm - place.base_mm))) for one in near)
            x, y = (float(value) for value in place.base_mm)
            guess = Hypothesis(case.setup.pieces[place.size], place.pose, x, y, place.heading_deg)
            found.append(
                (
                    off,
                    *(radius_95(errors.place_covariance(guess)[:2, :2]) for errors in (own, plain)),
                )
            )
    return found, larger


TEXT = """### Are predictions right?

Measured {date} (commit {commit}), Python {python}, OpenCV {opencv}: {tables} made-up tables for Ice Boule, drawn by this project,
lens and fiducials just as in table.json, one picture each; {refused} more were refused.

| | edges as told on the table | edges of drawn tables |
|---|---|---|
| pieces read within the predicted 95 %, of {pieces} | {within[0]:.1f} % | {within[1]:.1f} % |
| predicted 95 %, median, mm | {radius[0]:.2f} | {radius[1]:.2f} |
| 95 % of pieces are read within, mm | {read:.2f} | {read:.2f} |

Errors of fiducials over those predicted: median {larger[0]:.2f}, worst {larger[1]:.2f}.
"""


@click.command()
@click.option("--tables", default=40, show_default=True, help="How many tables.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=ROOT / "docs" / "CALIBRATION.md",
    help="The page to write.",
)
def main(tables: int, out: Path) -> None:
    """Check made-up tables and write that part of the page."""
    counted = [pieces_of(seed) for seed in range(FIRST_SEED, FIRST_SEED + tables)]
    good = [one for one in counted if one is not None]
    rows: Array = np.array([row for found, _ in good for row in found])
    text = TEXT.format(
        date=datetime.date.today().isoformat(),
        commit=commit(),
        python=platform.python_version(),
        opencv=cv2.__version__,
        tables=len(good),
        refused=len(counted) - len(good),
        pieces=len(rows),
        within=100 * (rows[:, :1] < rows[:, 1:]).mean(axis=0),
        radius=np.median(rows[:, 1:], axis=0),
        read=np.quantile(rows[:, 0], 0.95),
        larger=np.quantile([larger for _, larger in good], (0.5, 1.0)),
    )
    before, _, rest = out.read_text(encoding="utf-8").partition(BEGIN)
    out.write_text(
        before + BEGIN + "\n" + text + "\n" + END + rest.partition(END)[2], encoding="utf-8"
    )
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
