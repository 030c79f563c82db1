"""What changed on the table between two settled observations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from table.assignment import least_cost_pairs
from table.motion import CARRIED_MM, are_surely_different, moved, travel_mm
from table.observation import Observation, SeenPiece

NEVER_MM = 1e6
"""Cost in mm of a pair that cannot be the same piece."""
MOVED_MM = 1e4
"""Cost in mm of a piece that moved, without its travel: more than all travel on a table."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The pairing of pieces between two observations, as indexes into their `pieces`.

    `same` maps a piece now to the piece before. Of those pieces `moved` lie elsewhere or in another
    pose, and `carried` surely do. `appeared` (indexes now) have no partner of their colour and
    size.
    """

    same: dict[int, int]
    moved: frozenset[int]
    appeared: tuple[int, ...]
    carried: frozenset[int]

    @property
    def still(self) -> dict[int, int]:
        """`same` without the pieces that moved."""
        return {now: then for now, then in self.same.items() if now not in self.moved}


def compare(before: Observation, seen: Observation) -> Changes:
    """Pair the pieces of each colour with the fewest moved, then the least total travel.

    Pieces that are elsewhere and surely of another size are never paired.
    """
    same: dict[int, int] = {}
    for colour in {piece.colour for piece in seen.pieces}:
        now = [index for index, piece in enumerate(seen.pieces) if piece.colour == colour]
        then = [index for index, piece in enumerate(before.pieces) if piece.colour == colour]
        travelled = np.array(
            [[_cost_mm(before.pieces[i], seen.pieces[j]) for i in then] for j in now]
        ).reshape(len(now), len(then))
        pairs = zip(*least_cost_pairs(travelled), strict=True)
        same.update(
            (now[row], then[column]) for row, column in pairs if travelled[row, column] < NEVER_MM
        )
    return Changes(
        same=same,
        moved=frozenset(j for j, i in same.items() if moved(before.pieces[i], seen.pieces[j])),
        appeared=tuple(j for j in range(len(seen.pieces)) if j not in same),
        carried=frozenset(
            j for j, i in same.items() if travel_mm(before.pieces[i], seen.pieces[j]) > CARRIED_MM
        ),
    )


def _cost_mm(was: SeenPiece, now: SeenPiece) -> float:
    """Cost in mm of travel for pairing these two."""
    if are_surely_different(was, now):
        return NEVER_MM
    travelled_mm = travel_mm(was, now)
    if not moved(was, now):
        return travelled_mm
    carried_along = was.on is not None and now.on is not None
    return MOVED_MM if carried_along else MOVED_MM + travelled_mm
