"""Formatting of numbers beside a limit."""

from __future__ import annotations


def beside(value: float, limit: float, decimals: int) -> str:
    """Round a number of 0 or more so that it never looks nearer to a limit than it is.

    It looks on the limit, or beyond it, only if it is: `0.16` for 0.1501 beside 0.15.
    """
    step, shown, edge = 10.0**-decimals, round(value, decimals), round(limit, decimals)
    if value > limit:
        shown = max(shown, edge + step)
    elif value < limit:
        shown = max(0.0, min(shown, edge - step))
    return f"{shown:.{decimals}f}"
