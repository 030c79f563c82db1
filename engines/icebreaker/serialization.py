"""A game of Icebreaker as plain data."""

from __future__ import annotations

from engines.game_document import GameDocument
from engines.icebreaker.board import label, members
from engines.icebreaker.rules import legal_moves, outcome, turn
from engines.icebreaker.state import State
from table.messages import plain


class IcebreakerDocument(GameDocument):
    """The state of a game of Icebreaker.

    `next` and `to_move` are who moves next; `scores` are icebergs captured.
    """

    score: dict[str, int | float]
    """The same as `scores`."""
    ships: dict[str, list[str]]
    """Their cells: {"red": ["A1", "I5", "E9"]}."""
    ice: list[str]
    """Cells with icebergs."""
    left: int
    """How many icebergs they are."""
    majority: int
    """Captures that win."""
    moves: list[str]
    """Legal now: ["A1-B1", "A1-A2"]."""


def state_document(state: State) -> IcebreakerDocument:
    """The state as plain data for logs and programs, its messages in English: see `shown_state`."""
    document: IcebreakerDocument = plain(shown_state(state))
    return document


def shown_state(state: State) -> IcebreakerDocument:
    """The state as data for pages, its sentences as messages: every key of the type is there."""
    ended = outcome(state)
    scores: dict[str, int | float] = dict(zip(state.players, state.scores, strict=True))
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
