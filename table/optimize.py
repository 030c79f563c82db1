"""SciPy's optimizers. SciPy takes 49 MB of memory, so it is imported at the first fit."""

from __future__ import annotations

from typing import Any


def least_squares(*args: Any, **options: Any) -> Any:
    """`scipy.optimize.least_squares`."""
    from scipy import optimize

    return optimize.least_squares(*args, **options)


def minimize(*args: Any, **options: Any) -> Any:
    """`scipy.optimize.minimize`."""
    from scipy import optimize

    return optimize.minimize(*args, **options)
