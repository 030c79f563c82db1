"""What does not come through the lens: dice, and who says that they fire or hold fire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from engines.errors import Violation
from engines.heard import read_heard
from engines.verdict import Accepted, Noted, Verdict, refusal
from engines.zamboni_wars.moves import Die, Fire, Hold, Move, Roll, Take
from engines.zamboni_wars.phases import Aiming, Hit, Rolling, RollOff, Shooting
from engines.zamboni_wars.refusals import FIRING
from engines.zamboni_wars.rules import SEQUENCE, play, turn, violation
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
    """A roll for movement or for a shot, whichever it is time for.

    Who rolls for movement while another may fire has let that pass; while a piece is to come off, it is off: the next look at the
    table shows whether it is.
    """
    showed = f"{player.capitalize()}'s die shows {pips}."
    match state.phase:
        case Rolling() | RollOff():
            return _note(state, player, (Roll(pips),), "zamboni.roll", showed)
        case Aiming() if player == state.follower != state.to_move:
            held = f"{state.to_move.capitalize()} holds fire. {showed}"
            return _note(state, state.to_move, (Hold(), Roll(pips)), "zamboni.roll", held)
        case Aiming(target):
            shot: tuple[Move, ...] = (Fire(target), Die(pips)) if state.left[target].layers > 1 else (Fire(target),)
        case Shooting(target):
            shot = (Die(pips),)
        case Hit(target) if player == (after := play(state, Take(target))).to_move != state.to_move:
            said = (
                f"{state.to_move.capitalize()} hits {target}: its {LAYER_SIZES[state.left[target].layers]} piece is off, as {player} rolls: {pips}."
            )
            moves = (str(Take(target)), str(Roll(pips)))
            said = f"{said} {turn(play(after, Roll(pips)))}"
            return Accepted(code="zamboni.hit", said=said, rests_on=FIRING, player=state.to_move, moves=moves, evidence={"target": target})
        case _:
            return _note(state, player, (Roll(pips),), "zamboni.roll", showed)
    verdict = _note(state, player, shot, "zamboni.shot", showed)
    if not isinstance(verdict, Noted) or isinstance(_after(state, shot).phase, Hit):
        return verdict
    missed = f"{player.capitalize()} misses {target} with a {pips}. {turn(_after(state, shot))}"
    return Accepted(code="zamboni.miss", said=missed, rests_on=FIRING, player=player, moves=verdict.moves, evidence={"target": target, "die": pips})


def _note(state: State, player: str, moves: tuple[Move, ...], code: str, said: str) -> Verdict:
    """The moves noted, if it is this player's turn and they are legal."""
    if player != state.to_move:
        wrong: Violation | None = Violation("zamboni.turn", SEQUENCE, f"{said} It is not {player}'s turn. {turn(state)}")
    else:
        wrong = violation(state, moves[0]) or (violation(play(state, moves[0]), moves[1]) if len(moves) > 1 else None)
    if wrong:
        evidence = {"violation": wrong.code}
        return refusal(Violation(code, wrong.clause, wrong.said), player, tuple(map(str, moves)), evidence)
    return Noted(code=code, said=f"{said} {turn(_after(state, moves))}", rests_on=SEQUENCE, player=player, moves=tuple(map(str, moves)))


def _after(state: State, moves: tuple[Move, ...]) -> State:
    for move in moves:
        state = play(state, move)
    return state
