"""Set readings apart that share space with a likelier one: two pieces cannot be in one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import dist

import numpy as np

from table.clearance import clearance
from table.solids import Solid
from vision.pose.candidates import PieceEstimate

SHRUNK, UNLIKELY_SHRUNK = 0.9, 0.95
"""Share of their size to which solids are shrunk about their middle: those of two real pieces are
then apart, even if both are measured a little wrong. The second where one is unlikely anyway.
"""
UNLIKELY = 0.5
"""Probability below which a reading is unlikely."""


def split_overlaps(
    estimates: Sequence[PieceEstimate], chances: Sequence[float]
) -> tuple[list[PieceEstimate], list[PieceEstimate]]:
    """The estimates, in order, and apart from them those that share space with a likelier one.

    `chances` (n,) are the probabilities that there is such a piece. The likelier one is less
    certain then: it is there only if the other is not. A stack is a single estimate here.
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
    """Probability of a piece, given that this piece and another one are not both there."""
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
