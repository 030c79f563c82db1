"""Pair the rows and columns of a cost matrix, one to one, at the least total cost.

The work is done by LAP's Jonker-Volgenant solver. SciPy has one too, but importing it takes 49 MB
of memory and half a second in every process.
"""

from __future__ import annotations

import lap
import numpy as np
from numpy.typing import NDArray

from table.solids import Array

MOST_COST = 1e5
"""Costs above this are scaled down together: LAP's own infinity is 1e6."""


def least_cost_pairs(cost: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows in ascending order, and the column of each: min(n, m) pairs of a matrix (n, m).

    Raises ValueError if a cost is not finite.
    """
    if not cost.size:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    most = float(np.abs(cost).max())
    if not np.isfinite(most):
        raise ValueError("expected finite costs, got inf or nan among them")
    columns, _ = lap.lapjv(
        np.ascontiguousarray(cost * min(1.0, MOST_COST / most) if most else cost, float),
        extend_cost=True,
        return_cost=False,
    )
    rows = np.flatnonzero(columns >= 0)
    return rows, columns[rows].astype(np.intp)
