"""What a judge asks only where the table stays as it is: for a piece in somebody's hand nobody is asked."""

from __future__ import annotations

from dataclasses import replace

from engines.verdict import Ambiguous, Unsettled, Verdict

STAYS_MS = 5000
"""A table that has been left alone for so long is not in the middle of a move."""


class Patience:
    """The question of the verdict at hand, put once after somebody was at the table; feed it every frame that brings nothing new."""

    def __init__(self) -> None:
        self._question: Ambiguous | None = None
        self._stirred, self._since_ms = True, -1

    def stir(self) -> None:
        """Somebody is at the table, or it is another one."""
        self._stirred, self._since_ms = True, -1

    def judged(self, verdict: Verdict) -> None:
        """This is the verdict on the table; a ruling ends what was done at it."""
        self._question, self._since_ms = None, -1
        if not isinstance(verdict, Unsettled):
            self._stirred = False
        elif verdict.asks is not None:
            self._question = replace(verdict.asks, table=verdict.asks.table or verdict.table)

    def due(self, at_ms: int) -> Ambiguous | None:
        """The question, where the table has been left alone for STAYS_MS up to this frame; None before, and where nobody was at it."""
        if self._question is None or not self._stirred:
            return None
        self._since_ms = at_ms if self._since_ms < 0 else self._since_ms
        return self._question if at_ms - self._since_ms >= STAYS_MS else None
