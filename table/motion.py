"""Motion of pieces between two settled observations."""

from __future__ import annotations

import math

import numpy as np

from table.observation import SURE, SeenPiece

STILL_MM = 1.0
"""Displacement in mm up to which a piece has not moved, however precise the readings."""
CARRIED_MM = 5.0
"""Displacement in mm above which a piece has surely been moved, whatever the image quality."""
TURNED_BASES = 0.6
"""Displacement, in bases, above which a change of pose is real; below it, it is a different
reading.
"""


def travel_mm(a: SeenPiece, b: SeenPiece) -> float:
    """Displacement in mm of the base or the tip, whichever is greater."""
    return max(math.dist(a.base_mm, b.base_mm), math.dist(a.tip_mm, b.tip_mm))


def moved(a: SeenPiece, b: SeenPiece) -> bool:
    """True if a piece has another pose, or moved by more than the uncertainty of both readings."""
    if a.pose != b.pose:
        return True
    variance_mm2 = sum(float(c[0, 0] + c[1, 1]) for c in (a.covariance, b.covariance))
    return travel_mm(a, b) > max(STILL_MM, 3 * math.sqrt(variance_mm2))


def middles_mm(was: SeenPiece, now: SeenPiece) -> float:
    """Distance in mm between the middles of two readings of a piece, in the plan view."""
    return float(np.hypot(*(now.base_mm + now.tip_mm - was.base_mm - was.tip_mm))) / 2


def is_at_earlier_place(was: SeenPiece, now: SeenPiece) -> bool:
    """True if a reading is so near to an earlier piece that it is the same one.

    Its pose and size are ignored.
    """
    return middles_mm(was, now) < TURNED_BASES * was.solid.base_mm


def are_surely_different(was: SeenPiece, now: SeenPiece) -> bool:
    """True if these are two pieces: of different sizes, and not at the same place."""
    return sizes_differ(was, now) and not is_at_earlier_place(was, now)


def sizes_differ(was: SeenPiece, now: SeenPiece) -> bool:
    """True if both sizes are sure, and not the same. In a stack sizes may be misread."""
    surely = (
        min(was.size_probability, now.size_probability) >= SURE
        and was.on is None
        and now.on is None
    )
    return surely and was.size != now.size
