"""Announcements of Zamboni Wars: facts that the camera cannot see.

They are dice, who fires or does not, and a move that ends where it began.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

from engines.announcements import check_player, read_heard
from engines.errors import Violation
from engines.game_document import Announcement
from engines.verdict import Accepted, Ambiguous, Choice, Noted, Verdict, Waiting, refusal
from engines.zamboni_wars.moves import Drive, EarlyRoll, Fire, Hold, Move, Roll, Take
from engines.zamboni_wars.phases import Aiming, Hit, Moving, Over, Rolling, RollOff, Shooting
from engines.zamboni_wars.refusals import FIRING, MOVEMENT
from engines.zamboni_wars.rules import (
    PIPS,
    SEQUENCE,
    after,
    after_early,
    early_dice,
    moves_of_die,
    play,
    turn,
    violation,
)
from engines.zamboni_wars.state import LAYER_SIZES, State
from table.messages import Message, msg, phrase, sentences


class DieSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The number that a player's die shows."""

    player: str
    die: Annotated[int, msgspec.Meta(ge=1, le=6)]


class FireSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player fires at another."""

    player: str
    fire: str


class HoldSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player does not fire."""

    player: str
    hold: Literal[True]


class StaysSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player's Zamboni has moved and lies where it lay, which nobody can see."""

    player: str
    stays: Literal[True]


def hear(state: State, heard: Mapping[str, Any], in_doubt: bool = False, /) -> Verdict:
    """The verdict on an announcement: `{"player": "red", "die": 5}`.

    Others are `{"player": "red", "fire": "blue"}`, `{"player": "red", "hold": true}` and
    `{"player": "red", "stays": true}`.
    """
    form = read_heard(heard, DieSaid, FireSaid, HoldSaid, StaysSaid)
    player = heard["player"]
    check_player(player, state.players)
    match form:
        case DieSaid():
            return _die(state, player, form.die, in_doubt)
        case FireSaid() | HoldSaid() if isinstance(state.phase, Moving) and player == state.to_move:
            unseen = sentences(
                msg(
                    "The camera has not seen {player}'s move yet. Say this again when it has.",
                    player=player,
                ),
                turn(state),
            )
            return Waiting(code="zamboni.early", message=unseen, rests_on=SEQUENCE, player=player)
        case FireSaid():
            return _note(
                state,
                player,
                (Fire(form.fire),),
                "zamboni.fire",
                msg("{player} fires at {player2}.", player=player, player2=form.fire),
            )
        case StaysSaid():
            return _judge_stays(state, player)
        case _:
            return _note(
                state,
                player,
                (Hold(),),
                "zamboni.hold",
                msg("{player} does not fire.", player=player),
            )


def may_say(state: State) -> list[Announcement]:
    """Return the announcements that are due now, each with a button's label.

    Those marked `aside` come last: early dice, or dice for unannounced acts.
    """
    if isinstance(state.phase, Over):
        return []
    who = state.to_move
    rows: list[Announcement] = []
    match state.phase:
        case Aiming(target):
            rows = _dice(who) if state.remaining_zambonis[target].layers > 1 else []
            rows += [
                {
                    "label": msg("fire at {player}", player=target),
                    "said": {"player": who, "fire": target},
                }
            ]
            rows += (
                []
                if violation(state, Hold())
                else [{"label": msg("do not fire"), "said": {"player": who, "hold": True}}]
            )
        case RollOff() | Rolling() | Shooting():
            rows = _dice(who)
        case Moving() if violation(state, Drive(state.mover.space, state.mover.facing)) is None:
            rows = [
                {
                    "label": phrase("{player} ends the move where it began", player=who),
                    "said": {"player": who, "stays": True},
                }
            ]
    waited_for = any("die" in row["said"] for row in rows)
    early = [
        player
        for player in (who, state.follower)
        if not (waited_for and player == who) and _may_roll(state, player)
    ]
    return rows + [
        row | {"label": phrase("{player}: {text}", player=player, text=row["label"]), "aside": True}
        for player in early
        for row in _dice(player)
    ]


def _dice(player: str) -> list[Announcement]:
    return [
        {"label": msg("die {n}", n=pips), "said": {"player": player, "die": pips}} for pips in PIPS
    ]


def _may_roll(state: State, player: str) -> bool:
    """True if a die of this player may count now, or after the current move.

    Its number does not matter.
    """
    pips = PIPS[-1]
    return moves_of_die(state, player, pips) is not None or (
        isinstance(state.phase, Moving) and violation(state, EarlyRoll(player, pips)) is None
    )


def _judge_stays(state: State, player: str) -> Verdict:
    """Judge a move that ends where it began, with nothing pushed.

    It may have counted for a shot that was announced.
    """
    drive, message = (
        Drive(state.mover.space, state.mover.facing),
        msg("{player} ends the move where it began.", player=player),
    )
    wrong = violation(state, drive)
    if player != state.to_move:
        wrong = _not_your_turn(state, player, message)
    if wrong:
        return refusal(
            Violation("zamboni.move", wrong.clause, wrong.message),
            player,
            (str(drive),),
            {"violation": wrong.code},
        )
    message = sentences(message, *early_dice(state, drive), turn(play(state, drive)))
    return Accepted(
        code="zamboni.move", message=message, rests_on=MOVEMENT, player=player, moves=(str(drive),)
    )


def _die(state: State, player: str, pips: int, in_doubt: bool) -> Verdict:
    """Judge a roll for movement or for a shot, whichever is due.

    It includes unannounced moves that must have come before. The driving player may roll before the
    camera has read the end of the move, and so may the next player. If nothing about the table is
    `in_doubt`, however, nobody has driven yet, or the move ended where it began.
    """
    showed = msg("{player}'s die shows {n}.", player=player, n=pips)
    if isinstance(state.phase, Moving) and not violation(state, early := EarlyRoll(player, pips)):
        if player == state.to_move or in_doubt:
            counts = msg(
                "It counts as soon as the camera sees that {player}'s Zamboni has moved.",
                player=state.to_move,
            )
            return Noted(
                code="zamboni.early",
                message=sentences(showed, counts, turn(state)),
                rests_on=SEQUENCE,
                player=player,
                moves=(str(early),),
            )
        if not violation(state, still := Drive(state.mover.space, state.mover.facing)):
            return _ask(state, player, pips, still)
    moves = moves_of_die(state, player, pips)
    if moves is None:
        return _note(state, player, (Roll(pips),), "zamboni.roll", showed)
    then = after(state, moves)
    message = sentences(
        *(_move_text(state, move) for move in moves if isinstance(move, Hold | Take)),
        showed,
        *_rolled_off(state, then),
        turn(then),
    )
    words = tuple(map(str, moves))
    if isinstance(moves[0], Take):
        return Accepted(
            code="zamboni.hit", message=message, rests_on=FIRING, player=state.to_move, moves=words
        )
    if isinstance(moves[-1], Roll) or isinstance(then.phase, Hit):
        code = "zamboni.roll" if isinstance(moves[-1], Roll) else "zamboni.shot"
        return Noted(code=code, message=message, rests_on=SEQUENCE, player=player, moves=words)
    return Accepted(
        code="zamboni.miss",
        message=sentences(msg("{player} misses.", player=player), message),
        rests_on=FIRING,
        player=player,
        moves=words,
    )


def _ask(state: State, player: str, pips: int, still: Drive) -> Ambiguous:
    """Ask about a die rolled while a Zamboni has to drive, which may end where it lies.

    It cannot be seen whether it has driven.
    """
    moves = (str(still), *map(str, moves_of_die(after_early(state, still)[0], player, pips) or ()))
    message = sentences(
        msg("It was {player}'s turn to drive.", player=state.to_move),
        msg(
            "Did the Zamboni drive and end where it began, on {cell}, facing {cell2}?",
            cell=still.space,
            cell2=still.facing,
        ),
    )
    choices = (
        Choice(msg("{player} ended the move where it began", player=state.to_move), moves),
        Choice(msg("{player} rolled too early", player=player), ()),
    )
    return Ambiguous(
        code="zamboni.move",
        message=message,
        rests_on=MOVEMENT,
        player=state.to_move,
        choices=choices,
    )


def _move_text(state: State, move: Move) -> Message:
    """Describe an unannounced move."""
    who = state.to_move
    match move:
        case Take(target):
            return msg(
                "{player} hit {player2}, who loses the {size} piece.",
                player=who,
                player2=target,
                size=LAYER_SIZES[state.remaining_zambonis[target].layers],
            )
        case _:
            return msg("{player} did not fire.", player=who)


def _not_your_turn(state: State, player: str, message: Message) -> Violation:
    """Describe why an announcement out of turn does not count."""
    not_yours = msg("It is not {player}'s turn.", player=player)
    return Violation("zamboni.turn", SEQUENCE, sentences(message, not_yours, turn(state)))


def _rolled_off(state: State, then: State) -> Iterator[Message]:
    """Describe who got a cover die by a roll of the roll-off, and who rolls again."""
    if not isinstance(state.phase, RollOff):
        return
    for player in state.uncovered:
        if player not in then.uncovered:
            yield msg("{player} gets the cover die.", player=player)
    last = sum(pips is None for _, pips in state.phase.rolls) == 1
    if last and isinstance(then.phase, RollOff) and then.dice == state.dice:
        yield msg("{players} tie and roll again.", players=[one for one, _ in then.phase.rolls])


def _note(
    state: State, player: str, moves: tuple[Move, ...], code: str, message: Message
) -> Verdict:
    """Return the verdict that records the moves, if they are legal and it is this player's turn."""
    wrong = (
        _not_your_turn(state, player, message)
        if player != state.to_move
        else violation(state, moves[0])
    )
    if wrong:
        return refusal(
            Violation(code, wrong.clause, wrong.message),
            player,
            tuple(map(str, moves)),
            {"violation": wrong.code},
        )
    return Noted(
        code=code,
        message=sentences(message, turn(after(state, moves))),
        rests_on=SEQUENCE,
        player=player,
        moves=tuple(map(str, moves)),
    )
