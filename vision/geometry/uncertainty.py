"""Reported uncertainty of a place: the covariance by edges, inflated by the model's error."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from table.pieces import PieceSize
from table.solids import Array
from vision.probability import normal_cdf

SIGMAS_A_MEDIAN = 1.4826
"""Ratio of standard deviation to median absolute value for normal errors."""
DOUBLING_MM = 0.22
"""Standard deviation by edges at which the reported one is doubled. Model error grows with
measurement error, because of haze, refraction, shadows and correlated edges.
"""
MOST_TIMES = 4.0
"""Largest factor on the standard deviation by edges. A hardly visible piece is still where it was
found.
"""
FLOOR_MM, FLOOR_DEG = 0.03, 0.2
"""Error of the pyramid's model (wall, rounded edges), 1 sigma, that is added to every covariance.
"""


def inflate_covariance(covariance: NDArray[np.floating[Any]]) -> Array:
    """Reported covariance (3, 3) of (x mm, y mm, heading deg), from the `covariance` by edges."""
    left_mm = np.sqrt(np.trace(covariance[:2, :2]) / 2)
    times = min(1 + left_mm / DOUBLING_MM, MOST_TIMES)
    return np.asarray(times**2 * covariance + np.diag([FLOOR_MM**2, FLOOR_MM**2, FLOOR_DEG**2]))


def edge_sigma_mm(covariance: Array) -> float:
    """Standard deviation by edges, along x or y, from a reported covariance.

    It undoes `inflate_covariance`; `covariance` is (2 or more, 2 or more).
    """
    reported_mm = np.sqrt(max(float(np.trace(covariance[:2, :2])) / 2 - FLOOR_MM**2, 0.0))
    return float(
        max(
            DOUBLING_MM / 2 * (np.sqrt(1 + 4 * reported_mm / DOUBLING_MM) - 1),
            reported_mm / MOST_TIMES,
        )
    )


def most_size_probability(
    size: PieceSize, sizes: Collection[PieceSize], covariance: Array
) -> float:
    """Upper limit on the probability of a size, from the covariance of the place, (3, 3).

    The limit is low if the error of the edges is as large as the difference between sizes.
    """
    apart_mm = min(
        (abs(size.base_mm - other.base_mm) for other in sizes if other != size), default=np.inf
    )
    return float(2 * normal_cdf(apart_mm / 2 / np.sqrt(np.trace(covariance[:2, :2]) / 2)) - 1)
