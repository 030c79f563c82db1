"""Compare what `rinkside calibrate check` predicts with what is read, on made-up tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import msgspec
import numpy as np

from benchmarks.harness import Benchmark, Pairs, median, percentiles
from calibration.quality.check import birge_ratio, fiducial_residuals, read_still
from calibration.quality.error_model import EDGE_PX, Errors, edge_px, radius_95
from simulation.generate.cases import random_case
from simulation.render.renderer import Renderer
from table.errors import InputError
from vision.geometry.piece_pose import Hypothesis

FIRST_SEED = 73000
NEAR_MM = 8.0


class Options(msgspec.Struct, frozen=True):
    tables: Annotated[int, "How many tables."] = 40


class TableErrors(msgspec.Struct, frozen=True):
    """Errors and predictions for a table.

    For each piece, in mm: its error, the radius predicted with the edge errors reported there, and
    that with those of drawn tables. `larger` is how much larger than predicted the fiducials'
    errors are, None where the table is refused.
    """

    pieces: tuple[tuple[float, float, float], ...] = ()
    larger: float | None = None


class Summary(msgspec.Struct, frozen=True):
    """Pairs are with edges as told on the table, and with those of drawn tables."""

    tables: int
    refused: int
    pieces: int
    within: tuple[float, float]
    """Shares that are read within the predicted 95 %."""
    radius_mm: tuple[float | None, float | None]
    """Predicted for 95 %, the median."""
    read_mm: float | None
    """95 % of pieces are read within."""
    larger: tuple[float, ...] | None
    """Errors of fiducials over those predicted: median and worst."""


def cases(options: Options) -> range:
    return range(FIRST_SEED, FIRST_SEED + options.tables)


def run(seed: int) -> TableErrors:
    """Every piece of a table that lies flat or stands is looked for."""
    drawn = random_case("boule", seed)
    picture = Renderer(drawn.setup, drawn.camera).picture(
        replace(drawn, limbs=()).scene(), np.random.default_rng(seed)
    )
    try:
        still = read_still(f"table {seed}", picture, drawn.setup)
    except InputError:
        return TableErrors()
    measured_px = edge_px([(still.seen, picture)], drawn.setup)
    plain = Errors(still.seen.camera, drawn.setup, EDGE_PX)
    own = Errors(still.seen.camera, drawn.setup, measured_px or EDGE_PX)
    larger = birge_ratio(fiducial_residuals([still], plain).values())
    assert larger is not None, "there are four fiducials"
    found = []
    for place in drawn.placed:
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
            guess = Hypothesis(drawn.setup.pieces[place.size], place.pose, x, y, place.heading_deg)
            found.append(
                (
                    off,
                    *(radius_95(errors.place_covariance(guess)[:2, :2]) for errors in (own, plain)),
                )
            )
    return TableErrors(tuple(found), larger)


def summarise(_options: Options, pairs: Pairs) -> Summary:
    good = [one for _, one in pairs if one.larger is not None]
    rows = [row for one in good for row in one.pieces]
    read = percentiles((off for off, *_ in rows), 95)
    return Summary(
        len(good),
        len(pairs) - len(good),
        len(rows),
        tuple(sum(row[0] < row[k] for row in rows) / max(1, len(rows)) for k in (1, 2)),
        tuple(median(row[k] for row in rows) for k in (1, 2)),
        read[0] if read else None,
        percentiles((one.larger for one in good), 50, 100),
    )


BENCHMARK = Benchmark("CALIBRATION.md", cases, run, summarise, Options, section=True)
