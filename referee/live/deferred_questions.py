"""Defer questions until the table has been left alone, so that no held piece is asked about."""

from __future__ import annotations

from dataclasses import replace

from engines.verdict import Ambiguous, Unsettled, Verdict
from referee.live.stability import StabilityMonitor

SOON_MS = 1000
"""Time after which a table that matches neither the record nor a legal move is recorded."""
STAYS_MS = 5000
"""A table left alone for this long is not in the middle of a move."""
SET_UP_MS = 20_000
"""A table left alone for this long is no longer being set up."""


class DeferredQuestion:
    """The question of the last verdict, asked once after somebody was at the table."""

    def __init__(self, stability: StabilityMonitor) -> None:
        """`stability` measures how long the table has been left alone."""
        self._stability = stability
        self._question: Ambiguous | None = None
        self._armed = True
        """True if somebody was at the table since the last verdict that settled it."""

    def arm(self) -> None:
        """Allow the question: somebody is at the table, or the table has changed."""
        self._armed = True
        self._stability.restart_rest_timer()

    def follow(self, verdict: Verdict) -> None:
        """Replace the pending question by that of this verdict.

        A verdict that settles the table disarms it.
        """
        self._question = None
        if not isinstance(verdict, Unsettled):
            self._armed = False
            self._stability.restart_rest_timer()
        elif verdict.asks is not None:
            self._question = replace(verdict.asks, table=verdict.asks.table or verdict.table)

    def due(self, at_ms: int) -> Ambiguous | None:
        """The pending question, once the table has been left alone for STAYS_MS.

        None before that, and if nobody was at the table since it was settled.
        """
        if not self._armed or self._stability.left_alone_ms(at_ms) < STAYS_MS:
            return None
        return self._question
