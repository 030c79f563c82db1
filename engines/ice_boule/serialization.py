"""A game of Ice Boule as plain data: its state, and what is measured on its table."""

from __future__ import annotations

from typing import Any

from engines.ice_boule.measure import measure, measurement_document
from engines.ice_boule.moves import Line
from engines.ice_boule.rules import SIZES, outcome, turn
from engines.ice_boule.state import State
from table.messages import msg, phrase, plain
from table.observation import Observation


def measurement(state: State, seen: Observation) -> dict[str, Any]:
    """The gaps and the call of `rinkside-observation/1`; empty between ends, without a target."""
    return (
        measurement_document(measure(seen, state.target, state.ruling("on_target") == "lowest"))
        if state.target
        else {}
    )


def state_document(state: State) -> dict[str, Any]:
    """The state as plain data for logs and programs, its messages in English: see `shown_state`."""
    document = shown_state(state)
    messages = {name: plain(document[name]) for name in ("turn", "may_say", "outcome")}
    return document | messages


def shown_state(state: State) -> dict[str, Any]:
    """The state as data for pages, every key always there; lengths in mm.

    ::

        {"leading": "blue",              # who leads this end, or led the one just over; None:
        nobody
         "next": "yellow",               # who throws a projectile next; None between ends
         "points_if_over": 1,            # points of the leader if the end stopped now, or of the
         end just over; 0 for a tie
         "points_too_close": False,      # those points hang on a distance too close to call
         "gap_mm": 57.52,                # of the last throw when it had come to rest; None: out of
         play, not measured, or nothing thrown
         "end": None,                    # the end just over: {"kind": "won" | "tied" | "void",
         "winner": "blue" or None, "points": 2}
         "phase": "throw",               # target | throw | over
         "starter": "blue",              # who throws, or threw, the target of this end
         "target": "green",              # its colour, None between ends
         "turn": "Yellow throws next.",  # in a sentence
         "may_stop": False,              # the next player may stop instead (ruling ice_boule.7)
         "may_say": [{"label": "yellow's throw left the play area", "said": {"player": "yellow",
         "out": True}}],  # what `hear` waits for;
                                         # with "anybody": True where any player may say it
         "scores": {"blue": 0, "yellow": 0},
         "left": {"blue": 3, "yellow": 4},          # projectiles each may still throw in this end
         "sizes": {"blue": "large", "yellow": None},
         "pieces": "blue 57.52",         # the layout, in the notation of moves
         "line": ((0.0, 80.0), (600.0, 80.0)) or None,
         "line_marked": True,            # also where nobody told where it is
         "rulings": {"stop": "may"},
         "state": "players blue yellow; ...",       # the line that State.parse reads
         "outcome": None}                # a sentence when the game is over
    """
    ended = outcome(state)
    leaders = state.layout.leaders
    points = state.layout.points(next(iter(leaders))) if len(leaders) == 1 else 0
    end = state.end
    return {
        "leading": state.leading,
        "next": state.next,
        "points_if_over": end.points if end else points,
        "points_too_close": any(state.layout.points_in_doubt(leader) for leader in leaders),
        "gap_mm": (
            state.last.lie.gap_mm
            if state.last and state.last.lie and state.last.lie.measured
            else None
        ),
        "end": {"kind": end.kind, "winner": end.winner, "points": end.points} if end else None,
        "phase": "over" if ended else "throw" if state.target else "target",
        "starter": state.starter,
        "target": state.target,
        "turn": msg("The game is over: {text}.", text=ended.message) if ended else turn(state),
        "may_stop": state.may_stop,
        "may_say": _may_say(state),
        "scores": dict(zip(state.players, state.scores, strict=True)),
        "left": {player: state.left(player) for player in state.players},
        "sizes": dict(zip(state.players, state.sizes, strict=True)),
        "pieces": str(state.layout),
        "line": (state.line.from_mm, state.line.to_mm) if isinstance(state.line, Line) else None,
        "line_marked": state.line is not None,
        "rulings": dict(state.rulings),
        "state": str(state),
        "outcome": ended.message if ended else None,
    }


def _may_say(state: State) -> list[dict[str, Any]]:
    """What players may say because no camera sees it.

    The starting line, a target, sizes before play, what left the play area, the leader's stop.
    """
    if state.winner:
        return []
    if state.next is None:
        marked = {
            "label": phrase("{player} has marked the starting line", player=state.starter),
            "said": {"player": state.starter, "line": True},
        }
        unseen = {
            "label": msg("the target stands there, and the camera does not see it"),
            "said": {"player": state.starter, "target": True},
        }
        return [unseen] if state.line else [marked, unseen]
    player = state.next
    sizes = [
        {
            "label": phrase("{player} throws {size} pieces", player=chooser, size=size),
            "said": {"player": chooser, "size": size},
        }
        for chooser in state.undeclared
        for size in SIZES
    ]
    out = {
        "label": phrase("{player}'s throw left the play area", player=player),
        "said": {"player": player, "out": True},
    }
    stop = {
        "label": phrase("{player} throws no more", player=player),
        "said": {"player": player, "stop": True},
    }
    void = {
        "label": msg("the target left the play area"),
        "said": {"player": player, "void": True},
        "anybody": True,
    }
    return [*(sizes or [out]), *([stop] if state.may_stop else []), void]
