"""What does not come through the lens: dice, and who says that they fire or hold fire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import msgspec

from engines.errors import Violation
from engines.heard import read_heard
from engines.verdict import Accepted, Ambiguous, Choice, Noted, Verdict, refusal
from engines.zamboni_wars.driving import reachable
from engines.zamboni_wars.moves import Die, Drive, Fire, Hold, Move, Roll, Take
from engines.zamboni_wars.phases import Aiming, Hit, Moving, Shooting
from engines.zamboni_wars.refusals import FIRING
from engines.zamboni_wars.rules import SEQUENCE, after, play, turn, violation
from engines.zamboni_wars.state import LAYER_SIZES, State
from table.errors import InputError


class DieSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player's die shows this."""

    player: str
    die: Annotated[int, msgspec.Meta(ge=1, le=6)]


class FireSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player fires at another."""

    player: str
    fire: str


class HoldSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player holds fire."""

    player: str
    hold: Literal[True]


def hear(state: State, said: Mapping[str, Any]) -> Verdict:
    """A verdict on `{"player": "red", "die": 5}`, `{"player": "red", "fire": "blue"}` or `{"player": "red", "hold": true}`."""
    heard = read_heard(said, DieSaid, FireSaid, HoldSaid)
    player = said["player"]
    if player not in state.players:
        raise InputError(f"input: player: expected {', '.join(state.players)}, got {player!r}")
    match heard:
        case DieSaid():
            return _die(state, player, heard.die)
        case FireSaid():
            return _note(state, player, (Fire(heard.fire),), "zamboni.fire", f"{player.capitalize()} fires at {heard.fire}.")
        case _:
            return _note(state, player, (Hold(),), "zamboni.hold", f"{player.capitalize()} holds fire.")


def _die(state: State, player: str, pips: int) -> Verdict:
    """A roll for movement or for a shot, whichever it is time for, and what must have happened before it that nobody said."""
    implied = _implied(state, player)
    now = after(state, implied)
    rolled: tuple[Move, ...] = (Roll(pips),)
    match now.phase:
        case Aiming(target) if now.left[target].layers > 1:
            rolled = (Fire(target), Die(pips))
        case Aiming(target):
            rolled = (Fire(target),)
        case Shooting():
            rolled = (Die(pips),)
    showed = f"{player.capitalize()}'s die shows {pips}."
    verdict = _note(now, player, rolled, "zamboni.roll" if isinstance(rolled[0], Roll) else "zamboni.shot", showed)
    if not isinstance(verdict, Noted):
        return verdict
    moves, said = tuple(map(str, (*implied, *rolled))), " ".join((*(_happened(state, move) for move in implied), verdict.said))
    if implied and isinstance(implied[0], Drive):
        return _ask(state, player, moves)
    if not isinstance(rolled[0], Roll) and not isinstance(after(now, rolled).phase, Hit):
        return Accepted(code="zamboni.miss", said=f"{player.capitalize()} misses. {said}", rests_on=FIRING, player=player, moves=moves)
    if implied and isinstance(implied[0], Take):
        return Accepted(code="zamboni.hit", said=said, rests_on=FIRING, player=state.to_move, moves=moves)
    return replace(verdict, said=said, moves=moves)


def _ask(state: State, player: str, moves: tuple[str, ...]) -> Ambiguous:
    """A die while a Zamboni is to drive, which may end where it lies: nothing that can be seen tells whether it has."""
    said = f"{state.to_move.capitalize()} was to drive. Has it, and ended where it began, with '{moves[0]}'?"
    choices = (Choice(f"{state.to_move.capitalize()} ended where it began", moves), Choice(f"{player.capitalize()} rolled too early", ()))
    return Ambiguous(code="zamboni.move", said=said, rests_on="Movement", player=state.to_move, choices=choices)


def _implied(state: State, player: str) -> tuple[Move, ...]:
    """What has happened if it is time for this player's die.

    A Zamboni that was to drive may have ended where it lay; a player who might fire holds fire when the next one rolls; and a
    piece that was to come off is off: the next look at the table tells whether that is true.
    """
    mover = state.mover
    match state.phase:
        case Moving(points) if Drive(mover.space, mover.facing) in reachable(state, points):
            done: Move = Drive(mover.space, mover.facing)
        case Aiming() if player == state.follower:
            done = Hold()
        case Hit(target) if player == play(state, Take(target)).to_move != state.to_move:
            done = Take(target)
        case _:
            return ()
    return (done, *_implied(play(state, done), player))


def _happened(state: State, move: Move) -> str:
    """What nobody said, in a sentence."""
    who = state.to_move.capitalize()
    match move:
        case Take(target):
            return f"{who} hit {target}, and its {LAYER_SIZES[state.left[target].layers]} piece is off."
        case _:
            return f"{who} held fire."


def _note(state: State, player: str, moves: tuple[Move, ...], code: str, said: str) -> Verdict:
    """The moves noted, if it is this player's turn and they are legal."""
    if player != state.to_move:
        wrong: Violation | None = Violation("zamboni.turn", SEQUENCE, f"{said} It is not {player}'s turn. {turn(state)}")
    else:
        wrong = violation(state, moves[0])
    if wrong:
        return refusal(Violation(code, wrong.clause, wrong.said), player, tuple(map(str, moves)), {"violation": wrong.code})
    return Noted(code=code, said=f"{said} {turn(after(state, moves))}", rests_on=SEQUENCE, player=player, moves=tuple(map(str, moves)))
