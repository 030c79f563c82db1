"""What a judge asks only where the table stays as it is: for a piece in somebody's hand nobody is
asked.
"""

from __future__ import annotations

from dataclasses import replace

from engines.verdict import Ambiguous, Unsettled, Verdict

SOON_MS = 1000
"""A table that matches neither the record nor a legal move is put on record after so long: within
two seconds of rest.
"""
STAYS_MS = 5000
"""A table that has been left alone for so long is not in the middle of a move."""
SET_UP_MS = 20_000
"""Nor is one that has been left alone for so long still being set up."""


class Patience:
    """The question of the verdict at hand, put once after somebody was at the table; feed it every
    frame that brings nothing new.
    """

    def __init__(self) -> None:
        self._question: Ambiguous | None = None
        self._stirred, self._since_ms = True, -1

    def stir(self) -> None:
        """Somebody is at the table, or it is another one."""
        self._stirred, self._since_ms = True, -1

    def judged(self, verdict: Verdict) -> None:
        """This is the verdict on the table; a ruling ends what was done at it."""
        self._question = None
        if not isinstance(verdict, Unsettled):
            self._stirred, self._since_ms = False, -1
        elif verdict.asks is not None:
            self._question = replace(verdict.asks, table=verdict.asks.table or verdict.table)

    def rests_ms(self, at_ms: int) -> int:
        """For how long the table has been left alone up to this frame, since it was judged."""
        self._since_ms = at_ms if self._since_ms < 0 else self._since_ms
        return at_ms - self._since_ms

    def due(self, at_ms: int) -> Ambiguous | None:
        """The question, where the table has been left alone for STAYS_MS up to this frame; None
        before, and where nobody was at it.
        """
        return self._question if self._stirred and self.rests_ms(at_ms) >= STAYS_MS else None
