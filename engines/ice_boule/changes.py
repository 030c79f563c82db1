"""What changed on the table between two settled observations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from table.observation import Observation, SeenPiece

STILL_MM = 1.0
"""A piece that was read this near to where it was did not move: pictures of a still piece differ by less than that."""
CARRIED_MM = 5.0
"""A piece read farther than this from where it was has surely been moved, whatever the pictures were like."""


@dataclass(frozen=True, slots=True)
class Changes:
    """`same` gives for pieces now (index in `pieces`) the piece before; `moved` are those of them that lie elsewhere or
    otherwise, `carried` those that surely do; `appeared` (indexes now) have no partner of their colour.
    """

    same: dict[int, int]
    moved: frozenset[int]
    appeared: tuple[int, ...]
    carried: frozenset[int]

    @property
    def still(self) -> dict[int, int]:
        """As `same`, without those that moved."""
        return {now: then for now, then in self.same.items() if now not in self.moved}


def compare(before: Observation, seen: Observation) -> Changes:
    """Pair the pieces of each colour so that they travelled least in all."""
    same: dict[int, int] = {}
    for colour in {piece.colour for piece in seen.pieces}:
        now = [index for index, piece in enumerate(seen.pieces) if piece.colour == colour]
        then = [index for index, piece in enumerate(before.pieces) if piece.colour == colour]
        travel_mm = np.array([[_travel_mm(before.pieces[i], seen.pieces[j]) for i in then] for j in now]).reshape(len(now), len(then))
        same.update((now[row], then[column]) for row, column in zip(*linear_sum_assignment(travel_mm), strict=True))
    return Changes(
        same=same,
        moved=frozenset(j for j, i in same.items() if moved(before.pieces[i], seen.pieces[j])),
        appeared=tuple(j for j in range(len(seen.pieces)) if j not in same),
        carried=frozenset(j for j, i in same.items() if _travel_mm(before.pieces[i], seen.pieces[j]) > CARRIED_MM),
    )


def _travel_mm(a: SeenPiece, b: SeenPiece) -> float:
    """How far the base or the tip went, whichever went farther."""
    return float(max(np.hypot(*(b.base_mm - a.base_mm)), np.hypot(*(b.tip_mm - a.tip_mm))))


def moved(a: SeenPiece, b: SeenPiece) -> bool:
    """Does a piece lie elsewhere, or otherwise, than before, by more than pictures differ?"""
    noise_mm = 3 * float(np.sqrt(np.trace(a.covariance[:2, :2] + b.covariance[:2, :2])))
    return a.pose != b.pose or _travel_mm(a, b) > max(STILL_MM, noise_mm)
