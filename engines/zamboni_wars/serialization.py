"""A game of Zamboni Wars as plain data."""

from __future__ import annotations

from typing import TypedDict

from engines.game_document import GameDocument
from engines.zamboni_wars.announcements import may_say
from engines.zamboni_wars.phases import Aiming, Moving, RollOff
from engines.zamboni_wars.rules import outcome, turn
from engines.zamboni_wars.state import State, Zamboni
from table.messages import plain


class ZamboniDocument(TypedDict):
    """A Zamboni on the board: {"space": "a6", "facing": "E", "layers": 3}."""

    space: str
    facing: str
    layers: int


class ZamboniWarsDocument(GameDocument):
    """The state of a game of Zamboni Wars.

    `phase` is `roll-off`, `roll`, `move`, `fire`, `shot`, `hit` or `over`; `next` chooses next,
    None while dice are rolled; `to_move` is whose turn it is, the winner when the game is over;
    `scores` are layers left; `points` are to be spent in the phase `move`, else None; `rolls` are
    of the roll-off, and empty in every other phase.
    """

    early: dict[str, int]
    """Dice that were heard before the end of the move was seen; empty in every other phase."""
    may_shoot: list[str]
    """Whom the player to move may fire at now; empty in every other phase."""
    zambonis: dict[str, ZamboniDocument | None]
    """None: destroyed."""
    dice: list[str]
    """Spaces of the cover dice."""
    board: str
    """`yellow=SE red=SW green=NE blue=NW`."""


def state_document(state: State) -> ZamboniWarsDocument:
    """The state as plain data for logs and programs, its messages in English: see `shown_state`."""
    document: ZamboniWarsDocument = plain(shown_state(state))
    return document


def shown_state(state: State) -> ZamboniWarsDocument:
    """The state as data for pages, its sentences as messages: every key of the type is there."""
    ended = outcome(state)
    return {
        "next": state.next,
        "scores": dict(zip(state.players, state.scores, strict=True)),
        "to_move": state.to_move,
        "phase": str(state.phase).partition(" ")[0],
        "points": state.phase.points if isinstance(state.phase, Moving) else None,
        "early": dict(state.phase.early) if isinstance(state.phase, Moving) else {},
        "may_shoot": [state.phase.target] if isinstance(state.phase, Aiming) else [],
        "zambonis": {
            player: _nest(nest) for player, nest in zip(state.players, state.zambonis, strict=True)
        },
        "dice": [str(space) for space in state.dice],
        "rolls": dict(state.phase.rolls) if isinstance(state.phase, RollOff) else {},
        "turn": turn(state),
        "may_say": may_say(state),
        "board": str(state.board),
        "rulings": dict(state.rulings),
        "state": str(state),
        "outcome": ended.message if ended else None,
    }


def _nest(nest: Zamboni | None) -> ZamboniDocument | None:
    return (
        {"space": str(nest.space), "facing": nest.facing, "layers": nest.layers} if nest else None
    )
