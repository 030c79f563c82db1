"""Predict the ± of a gap on a table: simulated throws, measured by the referee's own ruler."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.quality.error_model import Errors
from table.boards import within
from table.clearance import clearance
from table.games import measuring
from table.observation import Observation, SeenPiece
from table.solids import Array
from vision.geometry.piece_pose import Hypothesis

Z_ONE_SIDED_95 = 1.645
"""One-sided 95 % quantile of the standard normal distribution."""
THROWS, TRIES = 60, 3000
"""Number of simulated throws, and largest number of attempts: on small boards most do not fit."""
GAPS_MM = (10.0, 90.0)


@dataclass(frozen=True, slots=True)
class GapAccuracy:
    """Predicted accuracy of gaps over simulated throws, in mm.

    `sigma_mm` is the median sigma of a gap. With a difference of `apart_mm`, two gaps are
    distinguished in 95 of 100 images, in the median throw. With `apart_95_mm` they are in 95 of 100
    throws.
    """

    sigma_mm: float
    apart_mm: float
    apart_95_mm: float


def gap_accuracy(errors: Errors) -> GapAccuracy | None:
    """Predict gaps between the smallest pieces, a target and two others, all over the board.

    None if the board has no room for them. Two gaps whose difference has a standard deviation s are
    distinguished if their measured difference is 1.96 s. With a true difference of 1.96 s + 1.645 s
    that holds in 95 of 100 images.
    """
    _, ruler = measuring()
    rng, outline = np.random.default_rng(1), errors.setup.outline_mm()
    size = min(errors.setup.sizes, key=lambda one: one.base_mm)
    sigmas: list[float] = []
    differences: list[float] = []
    for _ in range(TRIES):
        x, y = rng.uniform(outline.min(axis=0), outline.max(axis=0))
        target = Hypothesis(size, "upright", float(x), float(y), float(rng.uniform(0, 90)))
        pieces = [target, *(_random_thrown_piece(target, rng) for _ in range(2))]
        if not _is_clear_on_board(pieces, outline):
            continue
        seen = tuple(
            _observed_piece(one, colour, errors)
            for one, colour in zip(pieces, ("green", "red", "blue"), strict=True)
        )
        measured = ruler.measure(Observation(0, 0, errors.camera, seen), "green")
        assert not isinstance(measured, str), "the target is among the pieces"
        first, second = measured.gaps
        sigmas += [first.sigma_mm, second.sigma_mm]
        differences.append(ruler.difference_sigma_mm(measured, 0, 1))
        if len(differences) == THROWS:
            break
    if len(differences) < THROWS:
        return None
    apart = (ruler.z + Z_ONE_SIDED_95) * np.array(differences)
    return GapAccuracy(
        float(np.median(sigmas)), float(np.median(apart)), float(np.quantile(apart, 0.95))
    )


def _is_clear_on_board(pieces: list[Hypothesis], outline_mm: Array) -> bool:
    """True if all are on the board, and the two thrown pieces clear of each other."""
    inside = all(
        within(outline_mm, corner[:2]) for one in pieces for corner in one.solid.vertices_mm
    )
    return inside and clearance(pieces[1].solid, pieces[2].solid).mm > 1


def _random_thrown_piece(target: Hypothesis, rng: np.random.Generator) -> Hypothesis:
    """A random thrown piece near the target; three of four lie."""
    away, way = (
        float(rng.uniform(*GAPS_MM)) + 1.5 * target.size.base_mm,
        float(rng.uniform(0, 2 * np.pi)),
    )
    place = target.x_mm + away * float(np.cos(way)), target.y_mm + away * float(np.sin(way))
    return Hypothesis(
        target.size,
        "lying" if rng.random() < 0.75 else "upright",
        *place,
        float(rng.uniform(0, 360)),
    )


def _observed_piece(guess: Hypothesis, colour: str, errors: Errors) -> SeenPiece:
    place = np.array([guess.x_mm, guess.y_mm])
    return SeenPiece(
        colour,
        guess.size.name,
        guess.pose,
        place,
        guess.heading_deg,
        guess.solid,
        errors.place_covariance(guess),
    )
