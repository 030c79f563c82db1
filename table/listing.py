"""Phrases that the sentences of every game share."""

from __future__ import annotations

from collections.abc import Iterable

from table.messages import Message, msg, sentences


def cannot_be_read(place_mm: Iterable[float]) -> Message:
    """The sentence that something at a place (2,) cannot be read."""
    x, y = (f"{mm:.0f}" for mm in place_mm)
    return sentences(
        msg("Rinkside cannot read what is at ({n}, {n2}) mm.", n=x, n2=y),
        msg("Show it more clearly."),
    )


def as_recorded(mm: float, decimals: int = 1) -> str:
    """A length as records keep it, rounded from hundredths.

    So a length measured and then recorded is shown as one number.
    """
    return f"{round(mm, 2):.{decimals}f}"


def inside(clause: str) -> str:
    """A clause as it is written inside a sentence: no capital letter."""
    return clause[:1].lower() + clause[1:]
