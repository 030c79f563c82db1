"""What does not come through the lens: dice, and who says that they fire or hold fire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from engines.errors import Violation
from engines.heard import read_heard
from engines.verdict import Accepted, Ambiguous, Choice, Noted, Verdict, refusal
from engines.zamboni_wars.moves import Drive, Early, Fire, Hold, Move, Roll, Take
from engines.zamboni_wars.phases import Hit, Moving
from engines.zamboni_wars.refusals import FIRING, MOVEMENT
from engines.zamboni_wars.rules import SEQUENCE, after, after_early, stands_for, turn, violation
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


def hear(state: State, said: Mapping[str, Any], in_doubt: bool = False, /) -> Verdict:
    """A verdict on `{"player": "red", "die": 5}`, `{"player": "red", "fire": "blue"}` or `{"player": "red", "hold": true}`."""
    heard = read_heard(said, DieSaid, FireSaid, HoldSaid)
    player = said["player"]
    if player not in state.players:
        raise InputError(f"input: player: expected {', '.join(state.players)}, got {player!r}")
    match heard:
        case DieSaid():
            return _die(state, player, heard.die, in_doubt)
        case FireSaid():
            return _note(state, player, (Fire(heard.fire),), "zamboni.fire", f"{player.capitalize()} fires at {heard.fire}.")
        case _:
            return _note(state, player, (Hold(),), "zamboni.hold", f"{player.capitalize()} holds fire.")


def _die(state: State, player: str, pips: int, in_doubt: bool) -> Verdict:
    """A roll for movement or for a shot, whichever it is time for, and what must have happened before it that nobody said.

    Who drives may be at the die sooner than the camera has read the end of the move.  So may the next player, but where nothing about the
    table is `in_doubt` nobody has driven yet, or ended where the move began.
    """
    showed = f"{player.capitalize()}'s die shows {pips}."
    if isinstance(state.phase, Moving) and not violation(state, early := Early(player, pips)):
        if player == state.to_move or in_doubt:
            said = f"{showed} It counts as soon as {state.to_move}'s Zamboni is seen to have moved. {turn(state)}"
            return Noted(code="zamboni.early", said=said, rests_on=SEQUENCE, player=player, moves=(str(early),))
        if not violation(state, still := Drive(state.mover.space, state.mover.facing)):
            return _ask(state, player, pips, still)
    moves = stands_for(state, player, pips)
    if moves is None:
        return _note(state, player, (Roll(pips),), "zamboni.roll", showed)
    then = after(state, moves)
    said = " ".join([*(_happened(state, move) for move in moves if isinstance(move, Hold | Take)), showed, turn(then)])
    words = tuple(map(str, moves))
    if isinstance(moves[0], Take):
        return Accepted(code="zamboni.hit", said=said, rests_on=FIRING, player=state.to_move, moves=words)
    if isinstance(moves[-1], Roll) or isinstance(then.phase, Hit):
        code = "zamboni.roll" if isinstance(moves[-1], Roll) else "zamboni.shot"
        return Noted(code=code, said=said, rests_on=SEQUENCE, player=player, moves=words)
    return Accepted(code="zamboni.miss", said=f"{player.capitalize()} misses. {said}", rests_on=FIRING, player=player, moves=words)


def _ask(state: State, player: str, pips: int, still: Drive) -> Ambiguous:
    """A die while a Zamboni is to drive, which may end where it lies: nothing that can be seen tells whether it has."""
    moves = (str(still), *map(str, stands_for(after_early(state, still)[0], player, pips) or ()))
    said = f"{state.to_move.capitalize()} was to drive. Has it, and ended where it began, with '{still}'?"
    choices = (Choice(f"{state.to_move.capitalize()} ended where it began", moves), Choice(f"{player.capitalize()} rolled too early", ()))
    return Ambiguous(code="zamboni.move", said=said, rests_on=MOVEMENT, player=state.to_move, choices=choices)


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
