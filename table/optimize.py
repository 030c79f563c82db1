"""SciPy's fits, loaded when the first is made: they take 49 MB, and most games need none."""

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
