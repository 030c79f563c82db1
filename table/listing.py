"""Words that the sentences of every game are made of."""

from __future__ import annotations

from collections.abc import Iterable


def listed(things: Iterable[object], joint: str = "and", none: str = "nobody") -> str:
    """`red`, `red and blue`, `red, yellow and blue`; `none` where there are none."""
    *first, last = [*map(str, things)] or [none]
    return f"{', '.join(first)} {joint} {last}" if first else last


def cannot_be_read(place_mm: Iterable[float]) -> str:
    """Of what lies at a place (2,)."""
    x, y = place_mm
    return f"Something lies at ({x:.0f}, {y:.0f}) mm that cannot be read. Show it more clearly."


def as_recorded(mm: float, decimals: int = 1) -> str:
    """A length, rounded from hundredths, as records keep it: one that is measured and then recorded
    is not shown as two.
    """
    return f"{round(mm, 2):.{decimals}f}"


def inside(clause: str) -> str:
    """A clause as it is written inside a sentence: no capital letter."""
    return clause[:1].lower() + clause[1:]
