"""A game of Ice Storm as plain data."""

from __future__ import annotations

from typing import TypedDict

from engines.game_document import Announcement, GameDocument
from engines.ice_storm.fire import Shot
from engines.ice_storm.moves import Low, Pass, Throw
from engines.ice_storm.rules import outcome, shots, targets, turn, violation
from engines.ice_storm.state import State
from table.messages import msg, plain


class ShotDocument(TypedDict):
    """A shot that is possible: the squares from the shooter's on, and what it depends on."""

    shooter: str
    target: str
    way: str
    squares: list[str]
    certain: bool
    hangs_on: list[str]


class IceStormDocument(GameDocument):
    """The state of a game of Ice Storm.

    `phase` is `throw`, `attack` or `over`; `next` is who throws next, None while players fire;
    `starter` throws and fires first in this round; `attacker` fires now, None while pieces are
    thrown and when nobody can; `scores` are the points of all rounds, as if this one ended now.
    """

    on_board: dict[str, int]
    score: dict[str, int]
    """Enemy pieces that each has taken in this round."""
    too_close: bool
    """All that the attacker may hit is too close to call: the players decide."""
    round_over: dict[str, int] | None
    """Points of the round, once nobody can fire."""
    passed: list[str]
    """Who could have fired since the last piece was taken and passed, if that may be."""
    round: int
    thrown: dict[str, int]
    """Pieces that each has thrown in this round, wasted ones too."""
    totals: dict[str, int]
    """Points of earlier rounds."""
    pieces: dict[str, str]
    """In the notation of places: {"green1": "b3-b4>b4"}."""
    shots: list[ShotDocument]


def state_document(state: State) -> IceStormDocument:
    """The state as plain data for logs and programs, its messages in English: see `shown_state`."""
    document: IceStormDocument = plain(shown_state(state))
    return document


def shown_state(state: State) -> IceStormDocument:
    """The state as data for pages, its sentences as messages: every key of the type is there."""
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
        "thrown": {player: state.throws_of(player) for player in state.players},
        "totals": dict(zip(state.players, state.totals, strict=True)),
        "scores": dict(zip(state.players, state.scores, strict=True)),
        "turn": turn(state),
        "may_say": _announcements(state),
        "pieces": {piece.name: str(piece.place) for piece in state.pieces},
        "shots": [_shot_document(shot) for shot in shots(state)],
        "rulings": dict(state.rulings),
        "state": str(state),
        "outcome": ended.message if ended else None,
    }


def _announcements(state: State) -> list[Announcement]:
    """Return announcements of unseen throws, and of a player who does not fire.

    Anybody may report that a hand was too low (ruling ice_storm.12).
    """
    passes = [Pass(state.attacker)] if state.attacker and state.may_pass else []
    off = [Throw(state.next, None)] if state.next and not state.void else []
    low = [
        Low(player)
        for player in dict.fromkeys((state.last.player if state.last else None, state.next))
        if player
    ]
    rows: list[Announcement] = [
        {
            "label": msg("{player}'s throw is off the board", player=move.player),
            "said": {"player": move.player, "off": True},
        }
        for move in off
    ]
    rows += [
        {
            "label": msg(
                "{player}'s throw is on the board, but the camera cannot see it", player=move.player
            ),
            "said": {"player": move.player, "on": True},
        }
        for move in off
    ]
    rows += [
        {
            "label": msg("{player} does not fire", player=move.player),
            "said": {"player": move.player, "passes": True},
        }
        for move in passes
    ]
    rows += [
        {
            "label": msg("{player}'s hand was too low", player=move.player),
            "said": {"player": move.player, "low": True},
            "anybody": True,
        }
        for move in low
        if violation(state, move) is None
    ]
    return rows


def _shot_document(shot: Shot) -> ShotDocument:
    return {
        "shooter": shot.shooter,
        "target": shot.target,
        "way": shot.line.way,
        "squares": [str(square) for square in shot.line.squares],
        "certain": shot.certain,
        "hangs_on": list(shot.hangs_on),
    }
