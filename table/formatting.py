"""Numbers beside a limit, as people are shown them."""

from __future__ import annotations


def beside(value: float, limit: float, decimals: int) -> str:
    """A number of 0 or more, rounded, that never looks nearer to a limit than it is.

    It does not look as if it were on the limit, or beyond it, when it is not.

    `0.16` for 0.1501 beside 0.15.
    """
    step, shown, edge = 10.0**-decimals, round(value, decimals), round(limit, decimals)
    if value > limit:
        shown = max(shown, edge + step)
    elif value < limit:
        shown = max(0.0, min(shown, edge - step))
    return f"{shown:.{decimals}f}"
