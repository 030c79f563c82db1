"""How doubt about a place is told: what edges leave of it, and what they do not know."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from table.pieces import PieceSize
from table.solids import Array

SIGMAS_A_MEDIAN = 1.4826
"""Standard deviations of normal errors in the median of their sizes."""
TWICE_MM = 0.22
"""The more doubt edges leave, the more what is seen differs from what is thought of it (haze, bent
light, shadows), and edges err together: where they leave so much, twice as much is told.
"""
MOST_TIMES = 4.0
"""So many times what edges leave is told at most: a piece that is hardly seen is still where it was
found.
"""
FLOOR_MM, FLOOR_DEG = 0.03, 0.2
"""What the model of a pyramid leaves out (wall, rounded edges): added to every covariance, 1
sigma.
"""


def as_told(covariance: NDArray[np.floating[Any]]) -> Array:
    """Covariance (3, 3) of (x mm, y mm, heading deg) as it is told, where edges leave
    `covariance`.
    """
    left_mm = np.sqrt(np.trace(covariance[:2, :2]) / 2)
    times = min(1 + left_mm / TWICE_MM, MOST_TIMES)
    return np.asarray(times**2 * covariance + np.diag([FLOOR_MM**2, FLOOR_MM**2, FLOOR_DEG**2]))


def left_by_edges_mm(covariance: Array) -> float:
    """What edges left, 1 sigma along x or y, where `covariance` (2 or more, 2 or more) is told; the
    inverse of `as_told`.
    """
    told_mm = np.sqrt(max(float(np.trace(covariance[:2, :2])) / 2 - FLOOR_MM**2, 0.0))
    return float(
        max(TWICE_MM / 2 * (np.sqrt(1 + 4 * told_mm / TWICE_MM) - 1), told_mm / MOST_TIMES)
    )


def size_told(size: PieceSize, sizes: Collection[PieceSize], covariance: Array) -> float:
    """The chance at most that a piece is of this size of a set, as the doubt about its place is
    told, `covariance` (3, 3): edges that may be as far off as sizes are apart tell neither.
    """
    apart_mm = min(
        (abs(size.base_mm - other.base_mm) for other in sizes if other != size), default=np.inf
    )
    return float(2 * ndtr(apart_mm / 2 / np.sqrt(np.trace(covariance[:2, :2]) / 2)) - 1)
