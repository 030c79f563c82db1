"""Phrases shared by the sentences of all games."""

from __future__ import annotations

from collections.abc import Iterable

from table.messages import Message, msg, sentences


def cannot_be_read(place_mm: Iterable[float]) -> Message:
    """Sentence that something at a place (2,) cannot be read."""
    x, y = (f"{mm:.0f}" for mm in place_mm)
    return sentences(
        msg("Rinkside cannot read what is at ({n}, {n2}) mm.", n=x, n2=y),
        msg("Show it more clearly."),
    )


def as_recorded(mm: float, decimals: int = 1) -> str:
    """Format a length as it is recorded, rounded from hundredths.

    A measured length and its record are so shown as the same number.
    """
    return f"{round(mm, 2):.{decimals}f}"


def inside(clause: str) -> str:
    """Start a clause with a small letter, for use inside a sentence."""
    return clause[:1].lower() + clause[1:]
