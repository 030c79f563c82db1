"""A game of Ice Boule as plain data: its state, and what is measured on its table."""

from __future__ import annotations

from engines.game_document import Announcement, GameDocument
from engines.ice_boule.measure import measure, measurement_document
from engines.ice_boule.moves import Line
from engines.ice_boule.rules import SIZES, outcome, turn
from engines.ice_boule.state import State
from table.messages import msg, phrase, plain
from table.observation import Observation
from table.observation_document import MeasurementDocument

PointMm = tuple[float, float]


class IceBouleDocument(GameDocument):
    """The state of a game of Ice Boule; lengths in mm.

    `phase` is `target`, `throw` or `over`; `next` is who throws a projectile next, None between
    ends; `starter` throws, or threw, the target of this end; `leading` leads this end, or led the
    one just over, None: nobody. The `kind` of an `end` is `won`, `tied` or `void`.
    """

    points_if_over: int
    """Points of the leader if the end stopped now, or of the end just over; 0 for a tie."""
    points_too_close: bool
    """Those points hang on a distance too close to call."""
    gap_mm: float | None
    """Of the last throw when it had come to rest; None: out of play, not measured, or nothing was
    thrown.
    """
    target: str | None
    """Its colour; None between ends."""
    may_stop: bool
    """The next player may stop instead (ruling ice_boule.7)."""
    left: dict[str, int]
    """Projectiles that each may still throw in this end."""
    sizes: dict[str, str | None]
    """`large`, or None where it is not declared."""
    pieces: str
    """The layout in the notation of moves: `blue 57.52`."""
    line: tuple[PointMm, PointMm] | None
    """The starting line: ((0.0, 80.0), (600.0, 80.0))."""
    line_marked: bool
    """True also where nobody told where the line is."""


def measurement(state: State, seen: Observation) -> MeasurementDocument:
    """The gaps and the call of `rinkside-observation/1`; empty between ends, without a target."""
    return (
        measurement_document(measure(seen, state.target, state.ruling("on_target") == "lowest"))
        if state.target
        else {}
    )


def state_document(state: State) -> IceBouleDocument:
    """The state as plain data for logs and programs, its messages in English: see `shown_state`."""
    document = shown_state(state)
    document["turn"] = plain(document["turn"])
    document["may_say"] = plain(document["may_say"])
    document["outcome"] = plain(document["outcome"])
    return document


def shown_state(state: State) -> IceBouleDocument:
    """The state as data for pages, its sentences as messages: every key of the type is there."""
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
        "may_say": _announcements(state),
        "scores": dict(zip(state.players, state.scores, strict=True)),
        "left": {player: state.remaining_projectiles(player) for player in state.players},
        "sizes": dict(zip(state.players, state.sizes, strict=True)),
        "pieces": str(state.layout),
        "line": (state.line.from_mm, state.line.to_mm) if isinstance(state.line, Line) else None,
        "line_marked": state.line is not None,
        "rulings": dict(state.rulings),
        "state": str(state),
        "outcome": ended.message if ended else None,
    }


def _announcements(state: State) -> list[Announcement]:
    """Return announcements of facts that no camera sees.

    They are the starting line, a target, sizes before play, pieces that left the play area, and the
    leader's stop.
    """
    if state.winner:
        return []
    if state.next is None:
        marked: Announcement = {
            "label": phrase("{player} has marked the starting line", player=state.starter),
            "said": {"player": state.starter, "line": True},
        }
        unseen: Announcement = {
            "label": msg("the target stands there, but the camera cannot see it"),
            "said": {"player": state.starter, "target": True},
        }
        return [unseen] if state.line else [marked, unseen]
    player = state.next
    sizes: list[Announcement] = [
        {
            "label": phrase("{player} throws {size} pieces", player=chooser, size=size),
            "said": {"player": chooser, "size": size},
        }
        for chooser in state.undeclared
        for size in SIZES
    ]
    out: Announcement = {
        "label": phrase("{player}'s throw left the play area", player=player),
        "said": {"player": player, "out": True},
    }
    stop: Announcement = {
        "label": phrase("{player} stops throwing", player=player),
        "said": {"player": player, "stop": True},
    }
    void: Announcement = {
        "label": msg("the target left the play area"),
        "said": {"player": player, "void": True},
        "anybody": True,
    }
    return [*(sizes or [out]), *([stop] if state.may_stop else []), void]
