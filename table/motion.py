"""Motion of pieces between two settled observations."""

from __future__ import annotations

import math

import numpy as np

from table.observation import SURE, SeenPiece

STILL_MM = 1.0
"""A piece that was read this near to where it was did not move, however sure each reading is."""
CARRIED_MM = 5.0
"""A piece read farther than this from where it was has surely been moved, whatever the pictures
were like.
"""
TURNED_BASES = 0.6
"""Displacement, in bases, above which a change of pose is real; a smaller one is a different
reading.
"""


def travel_mm(a: SeenPiece, b: SeenPiece) -> float:
    """Displacement in mm of the base or the tip, whichever is greater."""
    return max(math.dist(a.base_mm, b.base_mm), math.dist(a.tip_mm, b.tip_mm))


def moved(a: SeenPiece, b: SeenPiece) -> bool:
    """True if a piece lies elsewhere or in another pose, by more than pictures differ."""
    if a.pose != b.pose:
        return True
    variance_mm2 = sum(float(c[0, 0] + c[1, 1]) for c in (a.covariance, b.covariance))
    return travel_mm(a, b) > max(STILL_MM, 3 * math.sqrt(variance_mm2))


def middles_mm(was: SeenPiece, now: SeenPiece) -> float:
    """Distance in mm between two readings of a piece, seen from above."""
    return float(np.hypot(*(now.base_mm + now.tip_mm - was.base_mm - was.tip_mm))) / 2


def is_at_earlier_place(was: SeenPiece, now: SeenPiece) -> bool:
    """True if something is read so near to where a piece lay that it is that piece.

    Its pose and size do not matter.
    """
    return middles_mm(was, now) < TURNED_BASES * was.solid.base_mm


def are_surely_different(was: SeenPiece, now: SeenPiece) -> bool:
    """True if these are two pieces: of two sizes, and not where one may have been misread."""
    return sizes_differ(was, now) and not is_at_earlier_place(was, now)


def sizes_differ(was: SeenPiece, now: SeenPiece) -> bool:
    """True if both sizes are sure, and not the same. In a stack sizes may be misread."""
    surely = (
        min(was.size_probability, now.size_probability) >= SURE
        and was.on is None
        and now.on is None
    )
    return surely and was.size != now.size
