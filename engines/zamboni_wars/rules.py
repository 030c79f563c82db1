"""The rules of Zamboni Wars: what is legal, what a move does, and when the game is over.

Pure: no clock, no chance, no I/O. Clauses are sections of the printed rules ("Turn Sequence",
"Movement", "Firing Your Laser", "Winning", the two optional rules) or rulings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from engines.errors import Violation
from engines.house_rules import choose
from engines.legal_moves import Legal
from engines.resigned import in_turn_order
from engines.zamboni_wars.board import PLACES, USUAL, Board
from engines.zamboni_wars.driving import reachable
from engines.zamboni_wars.moves import (
    Die,
    Drive,
    EarlyRoll,
    Fire,
    Hold,
    Move,
    Roll,
    Take,
    parse_move,
)
from engines.zamboni_wars.phases import Aiming, Hit, Moving, Over, Rolling, RollOff, Shooting
from engines.zamboni_wars.refusals import FIRING, drive_violation, fire_violation, firing
from engines.zamboni_wars.state import LAYER_SIZES, RULINGS, State, Zamboni, fresh
from table.messages import Message, msg, phrase, sentences

__all__ = [
    "RULINGS",
    "LegalMoves",
    "Outcome",
    "State",
    "legal_moves",
    "outcome",
    "parse_move",
    "play",
    "reachable",
    "start",
    "turn",
    "violation",
]

SEQUENCE, WINNING = "Turn Sequence", "Winning"
PIPS = range(1, 7)
HIT_FROM = {3: 5, 2: 4, 1: 1}
"""The least that a die must show to hit a Zamboni, by the layers that it has left; with one layer
no die is rolled.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended: whose Zamboni is the last, and its layers.

    With `resigned`, it is the last of those who did not resign.
    """

    winner: str
    layers: int
    resigned: bool = False

    @property
    def message(self) -> Message:
        """Who won, and with how many layers."""
        won: dict[str, object] = {"player": self.winner, "n": self.layers}
        if self.resigned and self.layers == 1:
            return phrase(
                "{player} won with the last Zamboni of the players who did not resign, {n}"
                " piece left",
                **won,
            )
        if self.resigned:
            return phrase(
                "{player} won with the last Zamboni of the players who did not resign, {n}"
                " pieces left",
                **won,
            )
        if self.layers == 1:
            return phrase("{player} won with the last Zamboni, {n} piece left", **won)
        return phrase("{player} won with the last Zamboni, {n} pieces left", **won)

    def __str__(self) -> str:
        return self.message


class LegalMoves(Legal[State, Move]):
    """The legal moves of a state: iterates, counts, answers `in`, and prints in words."""

    def __contains__(self, move: object) -> bool:
        return isinstance(move, Move) and violation(self.state, move) is None

    def _list(self) -> Iterator[Move]:
        match self.state.phase:
            case RollOff() | Rolling():
                yield from map(Roll, PIPS)
            case Moving(points):
                yield from reachable(self.state, points)
            case Aiming(target):
                yield Fire(target)
                if self.state.ruling("fire") == "may":
                    yield Hold()
            case Shooting():
                yield from map(Die, PIPS)
            case Hit(target):
                yield Take(target)
            case Over():
                return
            case _:
                assert_never(self.state.phase)

    def __str__(self) -> str:
        match self.state.phase:
            case RollOff() | Rolling():
                return "roll 1 to 6"
            case Shooting():
                return "die 1 to 6"
            case Over():
                return "nothing: the game is over"
            case _:
                return " | ".join(map(str, self))


def start(players: Sequence[str], rulings: Mapping[str, str], board: Board = USUAL) -> State:
    """A new game of 2 to 4 players, who are colours of coasters in turn order, clockwise.

    `rulings` are the house rules that differ from the defaults. Raises InputError.
    """
    return fresh(players, choose(RULINGS, rulings), board)


def play(state: State, move: Move) -> State:
    """The state after a move; raises IllegalMove."""
    wrong = violation(state, move)
    if wrong:
        raise wrong.error(move)
    match state.phase, move:
        case RollOff(), Roll(pips):
            return _roll_off(state, state.phase, pips)
        case _, Roll(pips):
            return replace(state, phase=Moving(pips))
        case Moving(points, early), EarlyRoll(player, pips):
            return replace(state, phase=Moving(points, (*early, (player, pips))))
        case Moving(), Drive():
            return after_early(state, move)[0]
        case _, Fire(target):
            return replace(
                state,
                phase=Shooting(target)
                if state.remaining_zambonis[target].layers > 1
                else Hit(target),
            )
        case Shooting(target), Die(pips):
            return (
                replace(state, phase=Hit(target))
                if pips >= HIT_FROM[state.remaining_zambonis[target].layers]
                else _next(state)
            )
        case _, Take(target):
            return _next(_strip(state, target))
        case _:
            return _next(state)


def resign(state: State, player: str) -> State:
    """The state after a player resigned while others play on; a hit that was rolled counts."""
    after = replace(state, resigned=in_turn_order(state.players, (*state.resigned, player)))
    if len(after.remaining_players) < 2:
        return replace(after, to_move=after.follower, phase=Over())
    match state.phase:
        case RollOff(rolls):
            return _after_roll_off(
                after, {roller: pips for roller, pips in rolls if roller != player}
            )
        case Hit(target) if state.to_move == player:
            return _next(_strip(after, target))
        case _ if state.to_move == player:
            return _next(after)
        case Moving(points, early):
            return replace(
                after, phase=Moving(points, tuple(die for die in early if die[0] != player))
            )
    return after


def after_early(state: State, drive: Drive) -> tuple[State, tuple[str, ...]]:
    """The state after a legal drive and the dice announced before its end was seen.

    The second value lists the players whose dice count for nothing.
    """
    assert isinstance(state.phase, Moving), "only a move at hand has an end that is yet to be seen"
    nest = replace(state.mover, space=drive.space, facing=drive.facing)
    driven = _aim(_changed(replace(state, dice=drive.dice or state.dice), state.to_move, nest))
    unused = []
    for player, pips in state.phase.early:
        moves = moves_of_die(driven, player, pips)
        if moves is None:
            unused.append(player)
        else:
            driven = after(driven, moves)
    return driven, tuple(unused)


def drive_end_text(player: str, drive: Drive) -> Message:
    """How a player's Zamboni ended, and where the cover dice lie if one was pushed."""
    fields = {"player": player, "cell": drive.space, "cell2": drive.facing}
    if not drive.dice:
        return msg("{player}'s Zamboni ended on {cell}, facing {cell2}", **fields)
    return msg(
        "{player}'s Zamboni ended on {cell}, facing {cell2}, with the cover dice on {cells}",
        cells=drive.dice,
        **fields,
    )


def early_dice(state: State, drive: Drive) -> list[Message]:
    """What becomes of dice announced before the end of a legal drive was seen, a sentence each."""
    _, unused = after_early(state, drive)
    early = state.phase.early if isinstance(state.phase, Moving) else ()
    return [
        msg("{player}'s die does not count.", player=player)
        if player in unused
        else msg("{player}'s die shows {n}.", player=player, n=pips)
        for player, pips in early
    ]


def moves_of_die(state: State, player: str, pips: int) -> tuple[Move, ...] | None:
    """The moves that a player's die stands for, with unannounced ones before it; None if not due.

    A player who might fire does not when the next one rolls, and a piece that was to come off is
    off: the next look at the table shows whether that is true.
    """
    match state.phase:
        case RollOff() | Rolling() if player == state.to_move:
            return (Roll(pips),)
        case Shooting() if player == state.to_move:
            return (Die(pips),)
        case Aiming(target) if player == state.to_move:
            return (
                (Fire(target), Die(pips))
                if state.remaining_zambonis[target].layers > 1
                else (Fire(target),)
            )
        case Aiming() if player == state.follower and violation(state, Hold()) is None:
            done: Move = Hold()
        case Hit(target) if player == play(state, Take(target)).to_move != state.to_move:
            done = Take(target)
        case _:
            return None
    more = moves_of_die(play(state, done), player, pips)
    return None if more is None else (done, *more)


def after(state: State, moves: Iterable[Move]) -> State:
    """The state after several moves; raises IllegalMove."""
    for move in moves:
        state = play(state, move)
    return state


def violation(state: State, move: Move) -> Violation | None:
    """Which rule forbids the move now, or None."""
    match state.phase, move:
        case Over(), _:
            return Violation(
                "zamboni.over", WINNING, msg("The game is over: {text}.", text=_ending_text(state))
            )
        case (RollOff() | Rolling(), Roll()) | (Shooting(), Die()):
            return None
        case Moving(points), Drive():
            return drive_violation(state, points, move)
        case Moving(points), EarlyRoll(player, pips) if any(
            moves_of_die(after_early(state, end)[0], player, pips)
            for end in reachable(state, points)
        ):
            return None
        case Aiming(), Fire(target):
            return fire_violation(state, target)
        case Hit(target), Take(colour):
            if colour == target:
                return None
            return Violation(
                "zamboni.take.other",
                FIRING,
                sentences(
                    msg(
                        "One of {player}'s pieces was taken, but the hit was on {player2}.",
                        player=colour,
                        player2=target,
                    ),
                    turn(state),
                ),
            )
        case Aiming(target), Hold():
            if state.ruling("fire") == "may":
                return None
            message = sentences(
                msg(
                    "{player} does not fire. House rule: a laser aimed at a Zamboni must be fired.",
                    player=state.to_move,
                ),
                turn(state),
            )
            return Violation("zamboni.hold.ruling", "ruling zamboni_wars.8", message)
        case _:
            code, message = _OUT_OF_TIME[type(move)]
            return Violation(code, SEQUENCE, sentences(message, turn(state)))


def legal_moves(state: State) -> LegalMoves:
    """All moves that are legal now."""
    return LegalMoves(state)


def outcome(state: State) -> Outcome | None:
    """Who won, None while the game runs."""
    return (
        Outcome(state.to_move, state.mover.layers, bool(state.others))
        if isinstance(state.phase, Over)
        else None
    )


def _ending_text(state: State) -> Message:
    """How a game that is over ended."""
    return Outcome(state.to_move, state.mover.layers, bool(state.others)).message


def turn(state: State) -> Message:
    """Who is to do what now, in a sentence."""
    who = state.to_move
    match state.phase:
        case RollOff():
            return msg("{player} rolls for the cover die: the highest roll gets it.", player=who)
        case Rolling():
            return msg("{player} rolls for movement.", player=who)
        case Moving(points):
            if points == 1:
                return msg("{player} moves and spends {n} point.", player=who, n=points)
            return msg("{player} moves and spends {n} points.", player=who, n=points)
        case Aiming():
            return firing(state)
        case Shooting(target):
            return msg(
                "{player} rolls for the shot at {player2}; {n} or more hits.",
                player=who,
                player2=target,
                n=HIT_FROM[state.remaining_zambonis[target].layers],
            )
        case Hit(target):
            return msg(
                "{player} hit {player2}: take the {size} {colour} piece off the board.",
                player=who,
                player2=target,
                size=LAYER_SIZES[state.remaining_zambonis[target].layers],
                colour=target,
            )
        case Over():
            return msg("The game is over: {text}.", text=_ending_text(state))
        case _:
            assert_never(state.phase)


_OUT_OF_TIME = {
    Roll: ("zamboni.roll.time", msg("Nobody rolls for movement now.")),
    Drive: ("zamboni.move.time", msg("No Zamboni moves now.")),
    Fire: ("zamboni.fire.time", msg("Nobody fires now.")),
    Hold: ("zamboni.hold.time", msg("There is no shot to give up now.")),
    Die: ("zamboni.die.time", msg("No shot is rolled for now.")),
    Take: ("zamboni.take.time", msg("A piece was taken, but there is no hit now.")),
    EarlyRoll: ("zamboni.die.time", msg("No shot is rolled for now.")),
}


def _changed(state: State, player: str, nest: Zamboni | None) -> State:
    """The state with another Zamboni for a player; None for a destroyed one."""
    return replace(
        state,
        zambonis=tuple(
            nest if owner == player else old
            for owner, old in zip(state.players, state.zambonis, strict=True)
        ),
    )


def _aim(state: State) -> State:
    """The state after a move: to fire if somebody is in sight, else the next player's turn."""
    return replace(state, phase=Aiming(state.in_sight)) if state.in_sight else _next(state)


def _strip(state: State, target: str) -> State:
    """The state with one layer less; the last one destroys the Zamboni."""
    nest = state.remaining_zambonis[target]
    return _changed(
        state, target, replace(nest, layers=nest.layers - 1) if nest.layers > 1 else None
    )


def _next(state: State) -> State:
    """The state at the next player's turn, or the end of the game when nobody else is left."""
    return replace(
        state,
        to_move=state.follower,
        phase=Rolling() if len(state.remaining_players) > 1 else Over(),
    )


def _roll_off(state: State, rolling: RollOff, pips: int) -> State:
    """The state after one more roll of the roll-off.

    When all have rolled, the highest get a cover die, and tied players roll again. One space holds
    one die, so two dice go to two players: each in a roll-off of its own, or both in one (ruling
    `roll_off`).
    """
    return _after_roll_off(
        state,
        {player: pips if player == state.to_move else rolled for player, rolled in rolling.rolls},
    )


def _after_roll_off(state: State, rolls: Mapping[str, int | None]) -> State:
    wanted = state.cover_dice - len(state.dice) if state.ruling("roll_off") == "once" else 1
    rolled = sorted((roll for roll in rolls.values() if roll), reverse=True)
    enough = len(rolls) <= wanted  # as others resigned
    if len(rolled) < len(rolls) and not enough:
        return _to_roll(state, rolls)
    won = [
        PLACES[state.board.place(player)]
        for player, roll in rolls.items()
        if enough or (roll or 0) > rolled[wanted]
    ]
    covered = replace(state, dice=tuple(sorted((*state.dice, *won))))
    if len(covered.dice) == covered.cover_dice:
        return replace(covered, to_move=covered.remaining_players[0], phase=Rolling())
    level = (
        covered.uncovered
        if enough or len(won) == wanted
        else [player for player, roll in rolls.items() if roll == rolled[wanted]]
    )
    return _after_roll_off(covered, dict.fromkeys(level))


def _to_roll(state: State, rolls: Mapping[str, int | None]) -> State:
    """The state where the roll-off goes on with the first player who is yet to roll."""
    return replace(
        state,
        to_move=next(player for player, rolled in rolls.items() if rolled is None),
        phase=RollOff(tuple(rolls.items())),
    )
