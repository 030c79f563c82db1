"""Announcements of Ice Boule: facts that the camera cannot see.

They are the starting line, an unseen target, sizes announced before play, pieces that left the play
area, and a stop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, cast

import msgspec

from engines.announcements import read_heard
from engines.errors import InvalidNotation
from engines.ice_boule import messages
from engines.ice_boule.moves import Line, LineMarked, Move, Stop, Target, Throw, Void, parse_move
from engines.ice_boule.ranking import Ranking, rank_layout
from engines.ice_boule.rules import PLAY, SCORING, SETUP, play, turn, violation
from engines.ice_boule.state import State
from engines.ice_boule.throws import TOO_CLOSE, label, orders
from engines.verdict import Accepted, Ambiguous, Choice, Verdict, Waiting, refusal
from table.errors import InputError
from table.files import shown
from table.messages import Message, any_of, msg, sentences
from table.pieces import COLOURS

H = TypeVar("H", Stop, Throw)


class StopSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player, alone with pieces left, throws no more."""

    player: str
    stop: Literal[True]


class OutSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player's throw left the play area, and moved nothing in it."""

    player: str
    out: Literal[True]


class VoidSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The target left the play area; `player` is whoever says so."""

    player: str
    void: Literal[True]


class SizeSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player chose a size for this end."""

    player: str
    size: str


class LineSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The starting player marked the starting line.

    `line` is true, or the two end points of the line in mm.
    """

    player: str
    line: Literal[True] | tuple[tuple[float, float], tuple[float, float]]


class TargetSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The target stands where the starting player threw it, and the camera does not see it.

    `target` is its colour, or true to be asked for the colour.
    """

    player: str
    target: Literal[True] | str


Said = StopSaid | OutSaid | VoidSaid | SizeSaid | LineSaid | TargetSaid


def hear(state: State, heard: Mapping[str, Any], _in_doubt: bool = False, /) -> Verdict:
    """Judge an announcement: `{"player": "red", "stop": true}`.

    Instead of `stop` it may have `out`, `void`, `size`, `line` or `target` (docs/FORMATS.md).
    Raises InputError for anything else.
    """
    form = cast(
        Said, read_heard(heard, StopSaid, OutSaid, VoidSaid, SizeSaid, LineSaid, TargetSaid)
    )
    match form:
        case StopSaid():
            return judge_stop(state, form.player)
        case OutSaid():
            return judge_out_of_play(state, form.player)
        case VoidSaid():
            return _judge_void(state, form.player)
        case SizeSaid():
            return _judge_size(state, form)
        case LineSaid():
            return _judge_line(state, form)
        case TargetSaid():
            return _judge_target(state, form)


def judge_stop(state: State, player: str) -> Verdict:
    """Judge that a player, alone with pieces left, stops throwing (ruling ice_boule.7).

    This is announced, not seen.
    """
    found = _announced_move(state, Stop(player), lambda ranking: Stop(player, ranking.layout()))
    if not isinstance(found, Stop):
        return found
    message = sentences(
        msg("{player} stops throwing.", player=player),
        messages.next_step(play(state, found), player),
    )
    return Accepted(
        code="boule.stop",
        message=message,
        rests_on=f"ruling ice_boule.7; {SCORING}",
        player=player,
        moves=(str(found),),
    )


def judge_out_of_play(state: State, player: str) -> Verdict:
    """Judge that a player's throw left the play area, possibly unseen.

    All other pieces are unchanged.
    """
    found = _announced_move(
        state,
        Throw(player, None, None, state.layout),
        lambda ranking: Throw(player, None, None, ranking.layout()),
    )
    if not isinstance(found, Throw):
        return found
    after = play(state, found)
    rests_on = SCORING if after.end else PLAY
    return Accepted(
        code="boule.throw",
        message=messages.throw(state, found, after, None),
        rests_on=rests_on,
        player=player,
        moves=(str(found),),
    )


def _judge_void(state: State, player: str) -> Verdict:
    if player not in state.players:
        raise InputError(
            msg(
                "input: player: expected {players}, got {raw}",
                players=any_of(state.players, "player"),
                raw=shown(player),
            )
        )
    if wrong := violation(state, Void()):
        return refusal(wrong, player, (str(Void()),), {})
    return target_out_of_play(state)


def target_out_of_play(state: State) -> Accepted:
    """Rule on a target that left the play area: the end is void (ruling ice_boule.4)."""
    message = sentences(
        msg("The {colour} target left the play area.", colour=state.target),
        messages.next_step(play(state, Void()), state.starter),
    )
    return Accepted(
        code="boule.void",
        message=message,
        rests_on="ruling ice_boule.4",
        player=state.next,
        moves=(str(Void()),),
    )


def _judge_size(state: State, heard: SizeSaid) -> Verdict:
    move = _parsed_move(f"size {heard.player} {heard.size}", "size")
    return _set_up(
        state,
        move,
        heard.player,
        "boule.size",
        msg("{player} throws {size} pieces in this end.", player=heard.player, size=heard.size),
    )


def _judge_line(state: State, heard: LineSaid) -> Verdict:
    if heard.player != state.starter:
        return Waiting(
            code="boule.line",
            message=msg("{player} chooses the starting line.", player=state.starter),
            rests_on=SETUP,
            player=state.starter,
        )
    points = () if heard.line is True else heard.line
    move = (
        _parsed_move("line " + " ".join(f"{x:.1f},{y:.1f}" for x, y in points), "line")
        if points
        else LineMarked()
    )
    assert isinstance(move, Line | LineMarked)
    return _set_up(state, move, heard.player, "boule.line", msg("The starting line is marked."))


def _judge_target(state: State, heard: TargetSaid) -> Verdict:
    """Judge an unseen target; its colour is asked for if it was not announced."""
    if heard.player != state.starter:
        return Waiting(
            code="boule.target",
            message=msg("{player} throws the target.", player=state.starter),
            rests_on=SETUP,
            player=state.starter,
        )
    choices = unseen_targets(state)
    if heard.target is True and choices:
        message = msg("What colour is the target that the camera cannot see?")
        choices = (*choices, Choice(msg("It is not standing yet"), ()))
        return ask_unseen_target(state, message, choices)
    colour = (
        next(colour for colour in COLOURS if colour not in state.players)
        if heard.target is True
        else heard.target
    )
    move = _parsed_move(f"target {colour}", "target")
    return _set_up(
        state,
        move,
        heard.player,
        "boule.target.unseen",
        msg("The {colour} target stands, but the camera cannot see it.", colour=colour),
    )


def _set_up(state: State, move: Move, player: str, code: str, message: str) -> Verdict:
    """Judge an announced move before an end's first throw; refused if the rules forbid it."""
    if wrong := violation(state, move):
        return refusal(wrong, player, (str(move),), {})
    return Accepted(
        code=code,
        message=sentences(message, turn(play(state, move))),
        rests_on=SETUP,
        player=player,
        moves=(str(move),),
    )


def ask_unseen_target(state: State, message: Message, choices: tuple[Choice, ...]) -> Ambiguous:
    """Ask about a target that the camera does not see."""
    return Ambiguous(
        code="boule.target.unseen",
        message=message,
        rests_on=SETUP,
        player=state.starter,
        choices=choices,
        withdrawn_if_table_changes=True,
    )


def unseen_targets(state: State, first: str | None = None) -> tuple[Choice, ...]:
    """Return the choices of an unseen target, one for each possible colour.

    `first` is the colour listed first. Empty if no target can be thrown.
    """
    colours = sorted(COLOURS, key=lambda colour: colour != first)
    targets = [Target(colour) for colour in colours]
    legal = [target for target in targets if violation(state, target) is None]
    return tuple(
        Choice(
            msg("A {colour} target stands there, but the camera cannot see it", colour=one.colour),
            (str(one),),
            confirms_record=True,
        )
        for one in legal
    )


def _parsed_move(text: str, key: str) -> Move:
    """Parse the move in an announcement; raises InputError that names `key`."""
    try:
        return parse_move(text)
    except InvalidNotation as error:
        raise InputError(msg("input: {field}: {text}", field=key, text=error.message)) from error


def _announced_move(state: State, as_it_lies: H, move: Callable[[Ranking], H]) -> H | Verdict:
    """Return a move that leaves all pieces in place, or a verdict if it cannot be accepted.

    It is refused if the rules forbid it. It is asked about if the end's result depends on distances
    too close to call.
    """
    wrong = violation(state, as_it_lies)
    if wrong is None:
        return as_it_lies
    if wrong.code != TOO_CLOSE:
        return refusal(wrong, as_it_lies.player, (str(as_it_lies),), {})
    moves = [move(order) for order in orders(state, rank_layout(state.layout), move)]
    if len(moves) == 1:
        return moves[0]
    choices = tuple(
        Choice(label(state, each, each.layout or state.layout), (str(each),)) for each in moves
    )
    message = msg(
        "Too close to call: {text}. Measure with a calliper or decide together.",
        text=state.layout.in_words,
    )
    return Ambiguous(
        code=TOO_CLOSE,
        message=message,
        rests_on="ruling ice_boule.2",
        player=as_it_lies.player,
        choices=choices,
    )
