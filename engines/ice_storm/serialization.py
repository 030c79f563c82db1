"""A game of Ice Storm as plain data."""

from __future__ import annotations

from typing import Any

from engines.ice_storm.fire import Shot
from engines.ice_storm.moves import Low, Pass, Throw
from engines.ice_storm.rules import outcome, shots, targets, turn, violation
from engines.ice_storm.state import State
from table.messages import msg, plain


def state_document(state: State) -> dict[str, Any]:
    """The state as plain data for logs and programs, its messages in English: see `shown_state`."""
    document: dict[str, Any] = plain(shown_state(state))
    return document


def shown_state(state: State) -> dict[str, Any]:
    """The state as data for pages, every key always there.

    ::

        {"next": "green",                # who throws next; None while players fire, and when the
        game is over
         "on_board": {"green": 1, ...},
         "score": {"green": 0, ...},     # enemy pieces that each has taken in this round
         "attacker": None,               # who fires now, None while pieces are thrown and when
         nobody can
         "too_close": False,             # all that the attacker may hit is too close to call: the
         players decide
         "round_over": None,             # points of the round, {"green": 5, ...}, once nobody can
         fire
         "passed": [],                   # who could have fired since the last piece was taken and
         passed, if that may be
         "phase": "throw",               # throw | attack | over
         "round": 1,
         "starter": "green",             # who throws and fires first in this round
         "thrown": {"green": 1, ...},    # pieces that each has thrown in this round, wasted ones
         too
         "totals": {"green": 0, ...},    # points of earlier rounds
         "scores": {"green": 1, ...},    # points of all rounds, as if this one ended now
         "turn": "Black throws next.",   # in a sentence
         "may_say": [{"label": "red's throw is off the board", "said": {"player": "red", "off":
         True}}],  # what `hear` waits for, for buttons
         "pieces": {"green1": "b3-b4>b4", ...},  # in the notation of places
         "shots": [{"shooter": "green1", "target": "black2", "way": "north", "squares": ["b4", ...],
         "certain": True, "hangs_on": []}],
         "rulings": {"touching": "contact", ...},
         "state": "players green ...",   # the line that State.parse reads
         "outcome": None}                # a sentence when the game is over
    """
    ended = outcome(state)
    can = targets(state)
    return {
        "next": state.next,
        "on_board": {player: len(state.of(player)) for player in state.players},
        "score": dict(zip(state.players, state.stacks, strict=True)),
        "attacker": state.attacker,
        "too_close": bool(can) and not any(can.values()),
        "round_over": (
            dict(zip(state.players, state.points, strict=True)) if state.round_over else None
        ),
        "passed": list(state.passed),
        "phase": "over" if ended else "throw" if state.next else "attack",
        "round": state.round,
        "starter": state.starter,
        "thrown": {player: state.thrown_by(player) for player in state.players},
        "totals": dict(zip(state.players, state.totals, strict=True)),
        "scores": dict(zip(state.players, state.scores, strict=True)),
        "turn": turn(state),
        "may_say": _may_say(state),
        "pieces": {piece.name: str(piece.place) for piece in state.pieces},
        "shots": [_shot_document(shot) for shot in shots(state)],
        "rulings": dict(state.rulings),
        "state": str(state),
        "outcome": ended.message if ended else None,
    }


def _may_say(state: State) -> list[dict[str, Any]]:
    """What players may say of a throw that the camera does not see, and that nobody fires.

    Anybody may say that a hand was too low (ruling ice_storm.12).
    """
    passes = [Pass(state.attacker)] if state.attacker and state.may_pass else []
    off = [Throw(state.next, None)] if state.next and not state.void else []
    low = [
        Low(player)
        for player in dict.fromkeys((state.last.player if state.last else None, state.next))
        if player
    ]
    return [
        *(
            {
                "label": msg("{player}'s throw is off the board", player=move.player),
                "said": {"player": move.player, "off": True},
            }
            for move in off
        ),
        *(
            {
                "label": msg(
                    "{player}'s throw lies on the board, and the camera does not see it",
                    player=move.player,
                ),
                "said": {"player": move.player, "on": True},
            }
            for move in off
        ),
        *(
            {
                "label": msg("{player} does not fire", player=move.player),
                "said": {"player": move.player, "passes": True},
            }
            for move in passes
        ),
        *(
            {
                "label": msg("{player}'s hand was too low", player=move.player),
                "said": {"player": move.player, "low": True},
                "anybody": True,
            }
            for move in low
            if violation(state, move) is None
        ),
    ]


def _shot_document(shot: Shot) -> dict[str, Any]:
    return {
        "shooter": shot.shooter,
        "target": shot.target,
        "way": shot.line.way,
        "squares": [str(square) for square in shot.line.squares],
        "certain": shot.certain,
        "hangs_on": list(shot.hangs_on),
    }
