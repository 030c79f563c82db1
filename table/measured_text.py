"""Format measured values with their ± and sensible digits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime

from table.listing import as_recorded

Z_95 = 1.96
"""Half-width of the 95 % interval of a normal distribution, in standard deviations."""
EPOCH_MS, LAST_MS = 10**11, 253_402_300_799_999
"""Range of times that count from 1970, between 1973 and the year 10000, where calendars end. Others
count from the start of a recording.
"""


def with_margin(value: float, sigma: float) -> str:
    """Format a value with its 95 % interval: `12.3 ± 0.2`.

    Two decimals only if the interval is less than 0.1.
    """
    margin = Z_95 * sigma
    decimals = 2 if margin < 0.095 else 1
    return f"{as_recorded(value, decimals)} ± {max(margin, 10**-decimals):.{decimals}f}"


def shown_mm(mm: float, sigma_mm: float | None) -> str:
    """Format a length with its 95 % interval, `12.3 ± 0.2`; without it if not measured."""
    return as_recorded(mm) if sigma_mm is None else with_margin(mm, sigma_mm)


def fine_margin(value: float, sigma: float) -> str:
    """Format with two digits of the 95 % interval: `1640.3 ± 1.2`, `-0.0486 ± 0.0031`."""
    margin = Z_95 * sigma
    decimals = max(0, 1 - math.floor(math.log10(margin))) if margin > 0 else 6
    return f"{value:.{decimals}f} ± {margin:.{decimals}f}"


def shown_time(at_ms: int) -> str:
    """Format a camera's time: the local time of day, or seconds into a recording."""
    if EPOCH_MS <= at_ms < LAST_MS - 86_400_000:
        return datetime.fromtimestamp(at_ms / 1000).astimezone().strftime("%H:%M:%S")
    return f"{at_ms / 1000:.2f} s"


def shown_date(utc: str) -> str:
    """Format an ISO 8601 time as local date and time; other text is unchanged."""
    try:
        return datetime.fromisoformat(utc).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return utc


def called(player: str, names: Mapping[str, str]) -> str:
    """Player with name: `Anna (red)`, or the colour without a known name."""
    return f"{names[player]} ({player})" if player in names else player


def time_utc(at_ms: int) -> str:
    """Format a live camera's time as ISO 8601; empty for a recording's."""
    return (
        datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="seconds")
        if EPOCH_MS <= at_ms <= LAST_MS
        else ""
    )
