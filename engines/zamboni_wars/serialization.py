"""A game of Zamboni Wars as plain data."""

from __future__ import annotations

from typing import Any

from engines.zamboni_wars.announcements import may_say
from engines.zamboni_wars.phases import Aiming, Moving, RollOff
from engines.zamboni_wars.rules import outcome, turn
from engines.zamboni_wars.state import State, Zamboni
from table.messages import plain


def state_document(state: State) -> dict[str, Any]:
    """The state as plain data for logs and programs, its messages in English: see `shown_state`."""
    document: dict[str, Any] = plain(shown_state(state))
    return document


def shown_state(state: State) -> dict[str, Any]:
    """The state as data for pages, every key always there.

    ::

        {"next": "yellow",               # who chooses next; None while dice are rolled, and when
        the game is over
         "scores": {"yellow": 3, "red": 0},         # layers left
         "to_move": "yellow",            # whose turn it is; the winner when the game is over
         "phase": "move",                # roll-off | roll | move | fire | shot | hit | over
         "points": 5,                    # to be spent in the phase move, else None
         "early": {"yellow": 6},         # dice that were heard before the end of the move was seen;
         empty in every other phase
         "may_shoot": ["red"],           # whom the player to move may fire at now; empty in every
         other phase
         "zambonis": {"yellow": {"space": "a6", "facing": "E", "layers": 3}, "red": None},       #
         None: destroyed
         "dice": ["b5"],                 # spaces of the cover dice
         "rolls": {"yellow": 5, "red": None},       # of the roll-off; empty in every other phase
         "turn": "Yellow moves and spends 5 points.",
         "may_say": [{"label": "die 5", "said": {"player": "yellow", "die": 5}}],  # what `hear`
         waits for, and `aside` what it does not
         "board": "yellow=SE red=SW green=NE blue=NW",
         "rulings": {"warp": "off", "cover": "on", "fire": "may"},
         "state": "players yellow red; ...",        # the line that State.parse reads
         "outcome": None}                # a sentence when the game is over
    """
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


def _nest(nest: Zamboni | None) -> dict[str, Any] | None:
    return (
        {"space": str(nest.space), "facing": nest.facing, "layers": nest.layers} if nest else None
    )
