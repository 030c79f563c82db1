"""Separate readings that share space with a likelier one: two pieces cannot intersect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import dist

import numpy as np

from table.clearance import clearance
from table.solids import Solid
from vision.pose.candidates import PieceEstimate

SHRUNK, UNLIKELY_SHRUNK = 0.9, 0.95
"""Factors by which solids are shrunk about their middle before the intersection test, so that
measurement errors of touching pieces do not count. The second is for pieces that are unlikely.
"""
UNLIKELY = 0.5
"""Probability below which a reading is unlikely."""


def split_overlaps(
    estimates: Sequence[PieceEstimate], chances: Sequence[float]
) -> tuple[list[PieceEstimate], list[PieceEstimate]]:
    """Estimates that can coexist, in order, and those that share space with a likelier one.

    `chances` (n,) are the probabilities that there is such a piece. A likelier one becomes less
    certain: it is there only if the other is not. A stack is a single estimate here.
    """
    accepted: dict[int, float] = {}
    solids = [estimate.best.solid for estimate in estimates]
    for k in sorted(range(len(estimates)), key=lambda k: -chances[k]):
        share = UNLIKELY_SHRUNK if chances[k] < UNLIKELY else SHRUNK
        rivals = [other for other in accepted if _overlap(solids[k], solids[other], share)]
        for other in rivals:
            accepted[other] = _exclusive_chance(accepted[other], chances[k])
        if not rivals:
            accepted[k] = chances[k]
    return (
        [
            replace(estimate, chance=estimate.chance * accepted[k] / chances[k])
            for k, estimate in enumerate(estimates)
            if k in accepted
        ],
        [estimate for k, estimate in enumerate(estimates) if k not in accepted],
    )


def _exclusive_chance(chance: float, other: float) -> float:
    """Probability of a piece, given that it and another one are not both there."""
    return chance * (1 - other) / max(1 - chance * other, 1e-9)


def _shrink(solid: Solid, share: float) -> Solid:
    middle = solid.vertices_mm.mean(axis=0)
    return Solid(middle + share * (solid.vertices_mm - middle))


def _overlap(a: Solid, b: Solid, share: float) -> bool:
    """True if both share space after they are shrunk."""
    middles = [one.vertices_mm.mean(axis=0) for one in (a, b)]
    reach_mm = sum(
        float(np.linalg.norm(one.vertices_mm - middle, axis=1).max())
        for one, middle in zip((a, b), middles, strict=True)
    )
    return (
        dist(*middles) < share * reach_mm
        and clearance(_shrink(a, share), _shrink(b, share)).mm == 0
    )
