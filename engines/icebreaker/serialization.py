"""A game of Icebreaker as plain data."""

from __future__ import annotations

from typing import Any

from engines.icebreaker.board import label, members
from engines.icebreaker.rules import legal_moves, outcome, turn
from engines.icebreaker.state import State
from table.messages import plain


def state_document(state: State) -> dict[str, Any]:
    """The state as plain data for logs and programs, its messages in English: see `shown_state`."""
    document: dict[str, Any] = plain(shown_state(state))
    return document


def shown_state(state: State) -> dict[str, Any]:
    """The state as data for pages, every key always there.

    ::

        {"next": "red",                  # who moves next; None once the game is over
         "to_move": "red",               # the same
         "turn": "Red moves next.",      # in a sentence
         "scores": {"red": 0, "black": 0},          # icebergs captured
         "score": {"red": 0, "black": 0},           # the same
         "ships": {"red": ["A1", "I5", "E9"], "black": ["E1", "A5", "I9"]},
         "ice": ["B1", "C1", "D1"],      # cells with icebergs
         "left": 55,                     # how many they are
         "majority": 28,                 # captures that win
         "moves": ["A1-B1", "A1-A2"],    # legal now
         "rulings": {"size": "5"},
         "state": "players red black; ...",         # the line that State.parse reads
         "outcome": None}                # a sentence when the game is over
    """
    ended = outcome(state)
    scores = dict(zip(state.players, state.scores, strict=True))
    return {
        "next": state.next,
        "to_move": state.next,
        "turn": turn(state),
        "scores": scores,
        "score": scores,
        "ships": {
            player: list(map(label, members(ships)))
            for player, ships in zip(state.players, state.ships, strict=True)
        },
        "ice": list(map(label, members(state.ice))),
        "left": state.ice.bit_count(),
        "majority": state.setting.majority,
        "moves": list(map(str, legal_moves(state))),
        "rulings": dict(state.setting.rulings),
        "state": str(state),
        "outcome": ended.message if ended else None,
    }
