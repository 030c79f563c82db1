"""Alternatives to a move that was ruled on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engines.alternatives import choices_near
from engines.icebreaker import rules
from engines.icebreaker.moves import Move
from engines.icebreaker.state import State
from engines.verdict import Choice


def alternatives(state: State, moves: Sequence[str]) -> tuple[Choice, ...]:
    """Other cells for the same ship, then other ships to the same cell."""
    return choices_near(rules, _nearby_moves, state, moves)


def _nearby_moves(state: State, ruled: Move) -> Iterator[tuple[str, Move]]:
    every = list(rules.legal_moves(state))
    for move in (
        *(m for m in every if m.from_cell == ruled.from_cell),
        *(m for m in every if m.to_cell == ruled.to_cell),
    ):
        yield rules.move_text(state, move), move
