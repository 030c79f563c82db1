"""Measured values in words: a ± on each, sensible digits."""

from __future__ import annotations

from datetime import datetime

Z_95 = 1.96
"""Standard deviations on either side that hold 95 % of a normal distribution."""
EPOCH_MS = 10**11
"""A camera's clock beyond this counts from 1970 (it is after 1973); below, from the start of a recording."""


def with_margin(value: float, sigma: float) -> str:
    """A value and its 95 % interval, `12.3 ± 0.2`; two decimals only where the interval is less than 0.1."""
    margin = Z_95 * sigma
    decimals = 2 if margin < 0.095 else 1
    return f"{value:.{decimals}f} ± {max(margin, 10**-decimals):.{decimals}f}"


def shown_time(at_ms: int) -> str:
    """A camera's time: the local time of day, or seconds into a recording."""
    if at_ms >= EPOCH_MS:
        return datetime.fromtimestamp(at_ms / 1000).astimezone().strftime("%H:%M:%S")
    return f"{at_ms / 1000:.2f} s"
