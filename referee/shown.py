"""Measured values in words: a ± on each, sensible digits."""

from __future__ import annotations

Z_95 = 1.96
"""Standard deviations on either side that hold 95 % of a normal distribution."""


def with_margin(value: float, sigma: float) -> str:
    """A value and its 95 % interval, `12.3 ± 0.2`; two decimals only where the interval is less than 0.1."""
    margin = Z_95 * sigma
    decimals = 2 if margin < 0.095 else 1
    return f"{value:.{decimals}f} ± {max(margin, 10**-decimals):.{decimals}f}"
