"""Games that are like another one but for what they say otherwise."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from engines.verdict import Ambiguous, Choice, Waiting


class Variant:
    """The game itself; who inherits from it changes what it says."""

    def __init__(self, game):
        self.game = game

    def __getattr__(self, name):
        return getattr(self.game, name)


THERE, NOT_SO = "It lies there", "Not so"


class Looking(Variant):
    """Pegs, but one that is not seen is asked about, unless the last ruling was made without it."""

    def __init__(self, pegs, wrong=None):
        super().__init__(pegs)
        self.wrong = wrong

    def judge(self, state, table, before, board):
        verdict = self.game.judge(state, table, before, board)
        missing = Counter(state.pegs) - Counter(piece.colour for piece in table.pieces)
        known = before is not None and len(before.pieces) < len(state.pegs)
        if not isinstance(verdict, Waiting) or not missing or known:
            return verdict
        choices = (Choice(THERE, (), confirms_record=True), Choice(NOT_SO, ()))
        asks = Ambiguous(
            code="pegs.unseen",
            message="Is it there?",
            choices=choices,
            withdrawn_if_table_changes=True,
        )
        return self.wrong(asks) if self.wrong else replace(verdict, asks=asks)
