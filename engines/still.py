"""Did a piece move between two settled observations?"""

from __future__ import annotations

import numpy as np

from table.observation import SeenPiece

STILL_MM = 1.0
"""A piece that was read this near to where it was did not move, however sure each reading is: pictures of a still piece differ by less."""
CARRIED_MM = 5.0
"""A piece read farther than this from where it was has surely been moved, whatever the pictures were like."""


def travel_mm(a: SeenPiece, b: SeenPiece) -> float:
    """How far the base or the tip went, whichever went farther."""
    return float(max(np.hypot(*(b.base_mm - a.base_mm)), np.hypot(*(b.tip_mm - a.tip_mm))))


def moved(a: SeenPiece, b: SeenPiece) -> bool:
    """Does a piece lie elsewhere, or otherwise, than before, by more than pictures differ?"""
    noise_mm = 3 * float(np.sqrt(np.trace(a.covariance[:2, :2] + b.covariance[:2, :2])))
    return a.pose != b.pose or travel_mm(a, b) > max(STILL_MM, noise_mm)
