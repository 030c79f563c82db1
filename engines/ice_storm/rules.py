"""The rules of Ice Storm: what is legal, what a move does, when it is over.  Pure: no clock, no
chance, no I/O.

Clauses are sections of the printed rules ("Deployment", "Attack", "Scoring") or rulings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from engines.errors import Violation
from engines.house_rules import choose
from engines.ice_storm import fire
from engines.ice_storm.examples import settlements, throws
from engines.ice_storm.moves import (
    LEANING,
    LOW,
    OFF,
    OTHER_SIZE,
    Capture,
    Change,
    Low,
    Move,
    Moved,
    Pass,
    Settle,
    Throw,
    Void,
    parse_move,
)
from engines.ice_storm.place import Piece, Place
from engines.ice_storm.state import RULINGS, LastThrow, State, fresh
from engines.ice_storm.touches import check_board
from engines.legal_moves import Legal
from table.boards import Board
from table.listing import listed

__all__ = [
    "RULINGS",
    "LegalMoves",
    "Outcome",
    "State",
    "legal_moves",
    "outcome",
    "parse_move",
    "play",
    "set_up",
    "shots",
    "start",
    "turn",
    "violation",
]

DEPLOYMENT, ATTACK, SCORING = "Deployment", "Attack", "Scoring"
FIRE = "Attack; rulings ice_storm.3 to ice_storm.5"
DOUBT = "ruling ice_storm.2"
LOW_HAND = "Deployment; ruling ice_storm.12"
MUST = "Attack; ruling ice_storm.10"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended: who has most points (several: they share the win), and every player's
    score.
    """

    winners: tuple[str, ...]
    players: tuple[str, ...]
    scores: tuple[int, ...]

    def __str__(self) -> str:
        scores = dict(zip(self.players, self.scores, strict=True))
        others = [
            f"{player}'s {points}"
            for player, points in scores.items()
            if player not in self.winners
        ]
        won = (
            f"{listed(self.winners)} {'won' if len(self.winners) == 1 else 'share the win'} with"
            f" {max(self.scores)} points"
        )
        return won + (f" to {listed(others)}" if others else "")


class LegalMoves(Legal[State, Move]):
    """What is legal now.

    Where pieces come to rest is continuous, so `in` answers for every throw; iterating gives
    examples, each itself legal: a throw on every square, in all kinds of places, one that is off
    the board, and for each piece one that knocks it off. Captures are listed by piece, and
    everything that may be settled.  `len` counts what is listed.  Prints what is allowed.
    """

    def __contains__(self, move: object) -> bool:
        return isinstance(move, Move) and violation(self.state, move) is None

    def _list(self) -> Iterator[Move]:
        state = self.state
        if state.next:
            yield from throws(state.next, () if state.round_over else state.pieces, state.thrown)
        elif state.attacker:
            yield from (
                Capture(piece.colour, piece.number)
                for piece, certain in targets(state).items()
                if certain
            )
            if state.may_pass:
                yield Pass(state.attacker)
            yield from settlements(state.pieces)

    def __str__(self) -> str:
        if self.state.next:
            throw = f"throw {self.state.next}"
            return f"{throw} PLACE[: MOVED] | {throw} {OFF}[: MOVED]"
        return " | ".join(map(str, self)) or "nothing: the game is over"


def start(players: Sequence[str], rulings: Mapping[str, str]) -> State:
    """A new game: `players` are 3 to 5 colours, each to the left of the one before; the first one
    starts.  Raises InputError.
    """
    return fresh(players, choose(RULINGS, rulings))


def set_up(players: Sequence[str], rulings: Mapping[str, str], board: Board | None) -> State:
    """As `start`; raises InputError for another board than a chessboard too."""
    if board is not None:
        check_board(board)
    return start(players, rulings)


def play(state: State, move: Move) -> State:
    """The state after a move; raises IllegalMove."""
    wrong = violation(state, move)
    if wrong:
        raise wrong.error(move)
    match move:
        case Throw():
            return _throw(_next_round(state) if state.round_over else state, move)
        case Void():
            return replace(_settle_changes(state, move.player, move.changes), void=False, last=None)
        case Moved():
            return _settle_changes(state, move.player, move.changes)
        case Low():
            return (
                _void_last(state, state.last)
                if _is_last(state, move)
                else replace(state, void=True)
            )
        case Capture():
            return _take(state, _meant(state, move)[0])
        case Pass():
            return replace(
                state,
                turn=_left_of(state, move.player),
                passed=(*state.passed, move.player),
                last=None,
            )
        case Settle():
            pieces = (
                replace(piece, place=move.place) if piece.name == move.name else piece
                for piece in state.pieces
            )
            return replace(state, pieces=tuple(pieces))
        case _:
            assert_never(move)


def violation(state: State, move: Move) -> Violation | None:
    """Which rule forbids the move now, or None."""
    match move:
        case Throw():
            return (
                _over(state, move) or _turn_violation(state, move) or _throw_violation(state, move)
            )
        case Void():
            return (
                _over(state, move) or _turn_violation(state, move) or _void_violation(state, move)
            )
        case Moved():
            return _over(state, move) or _moved_violation(state, move)
        case Low():
            return _low_violation(state, move)
        case Capture():
            return _over(state, move) or _capture_violation(state, move)
        case Pass():
            return _over(state, move) or _pass_violation(state, move)
        case Settle():
            return _over(state, move) or _settle_violation(state, move)
        case _:
            assert_never(move)


def legal_moves(state: State) -> LegalMoves:
    """All moves that are legal now."""
    return LegalMoves(state)


def outcome(state: State) -> Outcome | None:
    """Who won; None until every player has started a round.  Equal scores share the win: the
    printed rules break no tie.
    """
    if not state.over:
        return None
    best = max(state.scores)
    winners = tuple(
        player for player, score in zip(state.players, state.scores, strict=True) if score == best
    )
    return Outcome(winners, state.players, state.scores)


def shots(state: State, player: str | None = None) -> tuple[fire.Shot, ...]:
    """Who may shoot whom along which line, each with what it hangs on: shots of a player's pieces,
    or of whoever fires now.

    None are listed for nobody.  A piece may have several shots at another, along several lines.
    """
    firing = player or state.attacker
    return fire.shots(state.pieces, firing, state.stops) if firing else ()


def targets(state: State) -> Mapping[Piece, bool]:
    """What whoever fires now can take, and whether that is certain; nothing where nobody fires."""
    return fire.captures(state.pieces, state.attacker, state.stops) if state.attacker else {}


def turn(state: State) -> str:
    """Whose turn it is, in a sentence."""
    if state.next:
        again = f"Round {state.round} is over. " if state.round_over else ""
        return f"{again}{state.next.capitalize()} throws next."
    if state.attacker is None:
        return f"The game is over: {outcome(state)}."
    sure = any(targets(state).values())
    unable = "" if state.attacker == state.turn else f"{str(state.turn).capitalize()} has no shot. "
    doubt = "" if sure else " if a touch that is too close to call is so; the players decide"
    next_or_never = " next, or passes" if state.may_pass else " next"
    return f"{unable}{state.attacker.capitalize()} fires{doubt or next_or_never}."


def _next_round(state: State) -> State:
    """An empty board; ruling ice_storm.9."""
    nought = (0,) * len(state.players)
    return replace(
        state,
        round=state.round + 1,
        totals=state.scores,
        stacks=nought,
        thrown=0,
        turn=None,
        pieces=(),
        passed=(),
    )


def _throw(state: State, move: Throw) -> State:
    """After a throw has come to rest."""
    after = _settle_changes(state, move.player, move.changes)
    if move.place:
        pieces = [*after.pieces, Piece(move.player, state.thrown_by(move.player) + 1, move.place)]
        pieces.sort(key=lambda piece: (state.players.index(piece.colour), piece.number))
        after = replace(after, pieces=tuple(pieces))
    after = replace(
        after, thrown=state.thrown + 1, last=LastThrow(move.player, state.pieces, state.stacks)
    )
    return replace(after, turn=after.starter) if after.all_thrown else after


def _settle_changes(state: State, thrower: str, changes: Sequence[Change]) -> State:
    """With what a throw moved: enemy pieces off the board are the thrower's, its own are wasted
    (ruling ice_storm.7), or all of them are.
    """
    moved = {change.name: change.place for change in changes}
    stay = tuple(
        replace(piece, place=place)
        for piece in state.pieces
        if (place := moved.get(piece.name, piece.place))
    )
    off = [piece for piece in state.pieces if moved.get(piece.name, piece.place) is None]
    taken = sum(piece.colour != thrower for piece in off) if state.scores_knocked else 0
    return replace(state, stacks=_credit(state, thrower, taken), pieces=stay)


def _void_last(state: State, last: LastThrow | None) -> State:
    """Without the throw that was ruled last; what it moved or knocked off stays so, unless the
    option says otherwise.
    """
    assert last is not None, "there is one to be made void"
    thrown = f"{last.player}{state.thrown_by(last.player)}"
    before = replace(state, thrown=state.thrown - 1, turn=None, last=None)
    if state.undoes_low:
        return replace(before, pieces=last.pieces, stacks=last.stacks)
    return replace(before, pieces=tuple(piece for piece in state.pieces if piece.name != thrown))


def _is_last(state: State, move: Low | Moved) -> bool:
    return state.last is not None and state.last.player == move.player


def _take(state: State, target: Piece) -> State:
    """After a capture it is the attacked player's turn (printed rules, "Attack"; ruling
    ice_storm.10).
    """
    stay = tuple(piece for piece in state.pieces if piece != target)
    return replace(
        state,
        stacks=_credit(state, state.attacker, 1),
        pieces=stay,
        turn=target.colour,
        passed=(),
        last=None,
    )


def _left_of(state: State, player: str) -> str:
    return state.players[(state.players.index(player) + 1) % len(state.players)]


def _credit(state: State, player: str | None, pieces: int) -> tuple[int, ...]:
    return tuple(
        stack + pieces * (other == player)
        for other, stack in zip(state.players, state.stacks, strict=True)
    )


def _over(state: State, move: Move) -> Violation | None:
    if state.over:
        return Violation(
            "storm.over", SCORING, f"'{move}' was tried, but the game is over: {outcome(state)}."
        )
    return None


def _turn_violation(state: State, move: Throw | Void) -> Violation | None:
    thrower = move.player.capitalize()
    if move.player not in state.players:
        return Violation(
            "storm.throw.player",
            DEPLOYMENT,
            f"{thrower} threw, and nobody plays {move.player}. {turn(state)}",
        )
    if state.next is None:
        return Violation(
            "storm.throw.time",
            DEPLOYMENT,
            f"{thrower} threw, but all pieces of this round are thrown. {turn(state)}",
        )
    if move.player != state.next:
        clause = "Deployment; ruling ice_storm.9" if state.round_over else DEPLOYMENT
        return Violation("storm.throw.turn", clause, f"{thrower} threw out of turn. {turn(state)}")
    return None


def _throw_violation(state: State, move: Throw) -> Violation | None:
    if wrong := _names_violation(state, move):
        return wrong
    player = move.player.capitalize()
    if move.again == LEANING:
        said = (
            f"{player}'s piece leans on another or lies on one, and is thrown again. What it moved"
            " stays where it is."
        )
        return Violation("storm.throw.leaning", "Deployment; ruling ice_storm.8", said)
    if move.again == OTHER_SIZE:
        said = (
            f"{player}'s piece is of another size than this game's, is taken away and thrown again."
            " What it moved stays where it is."
        )
        return Violation("storm.throw.size", "Deployment; ruling ice_storm.13", said)
    if move.again == LOW or state.void:
        what = "Put back what it moved" if state.undoes_low else "What it moved stays where it is"
        said = (
            f"{player}'s hand was lower than 6 inches (152 mm), so the throw is void. {what}; pick"
            " the piece up and throw again."
        )
        return Violation("storm.throw.low", LOW_HAND, said)
    return _off_violation([(f"{move.player}'s throw", move.place), *_ends(move)])


def _void_violation(state: State, move: Void) -> Violation | None:
    return _names_violation(state, move) or _off_violation(_ends(move))


def _moved_violation(state: State, move: Moved) -> Violation | None:
    if not _is_last(state, move):
        said = (
            f"'{move}' was tried, but {move.player}'s throw is not the one that was ruled last."
            f" {turn(state)}"
        )
        return Violation("storm.moved.time", DEPLOYMENT, said)
    return _names_violation(state, move) or _off_violation(_ends(move))


def _ends(move: Throw | Void | Moved) -> list[tuple[str, Place | None]]:
    """Names of the pieces that a throw moved, and where they ended."""
    return [(change.name, change.place) for change in move.changes]


def _names_violation(state: State, move: Throw | Void | Moved) -> Violation | None:
    lie = () if state.round_over else tuple(piece.name for piece in state.pieces)
    for change in move.changes:
        if change.name not in lie:
            said = (
                f"{move.player.capitalize()}'s throw cannot have moved {change.name}: the board"
                f" holds {listed(lie, none='nothing yet')}."
            )
            return Violation("storm.throw.pieces", DEPLOYMENT, said)
    return None


def _off_violation(placed: Sequence[tuple[str, Place | None]]) -> Violation | None:
    for name, place in placed:
        if place and place.off_doubtful:
            said = (
                f"Whether {name} lies partly off the board is too close to call ({place}). The"
                " players decide whether it is on or off."
            )
            return Violation("storm.too_close", f"Deployment; {DOUBT}", said)
    return None


def _low_violation(state: State, move: Low) -> Violation | None:
    """A throw is void as long as the next one is not ruled: the last one, or the one that is being
    made.
    """
    if _is_last(state, move) or (state.next == move.player and not state.void):
        return None
    player = move.player.capitalize()
    if state.void and state.next == move.player:
        said = f"{player}'s throw is void already: pick the piece up and throw again."
    else:
        said = (
            f"No throw of {move.player}'s can be void now: the next one is ruled already, or nobody"
            f" throws. {turn(state)}"
        )
    return Violation("storm.low.time", LOW_HAND, said)


def _capture_violation(state: State, move: Capture) -> Violation | None:
    attacker = state.attacker
    if attacker is None:
        said = (
            f"'{move}' was tried, but players fire when all pieces of a round are thrown, until"
            f" nobody can. {turn(state)}"
        )
        return Violation("storm.attack.time", ATTACK, said)
    can, meant = targets(state), _meant(state, move)
    if not meant:
        wanted = f"{move.colour}{move.number}" if move.number else f"{move.colour} piece"
        where = f"touches {move.square}" if move.square else "is on the board"
        return Violation(
            "storm.attack.piece",
            ATTACK,
            f"'{move}' was tried, but no {wanted} {where}. {_allowed(can, attacker)}",
        )
    found = [piece for piece in meant if piece in can]
    if not found:
        return Violation(
            "storm.attack", FIRE, f"{_no_line(state, meant)} {_allowed(can, attacker)}"
        )
    if len({piece.place for piece in found}) > 1:
        names = listed([str(piece) for piece in found], "or")
        which = tuple(str(Capture(piece.colour, piece.number)) for piece in found)
        said = f"'{move}' may mean several pieces that {attacker} can take: say which, {names}."
        return Violation("storm.attack.which", ATTACK, said, which)
    if not can[found[0]]:
        hang = dict.fromkeys(
            cause
            for shot in shots(state)
            if shot.target == found[0].name
            for cause in shot.hangs_on
        )
        said = (
            f"Whether {attacker} hits {found[0].name} is too close to call: it hangs on whether"
            f" {listed(tuple(hang), 'or')}. The players decide."
        )
        return Violation("storm.too_close", f"Attack; {DOUBT}", said)
    return None


def _meant(state: State, move: Capture) -> list[Piece]:
    """Pieces that a capture may mean; those that can be taken first."""
    can = targets(state)
    meant = [
        piece
        for piece in state.pieces
        if piece.colour == move.colour
        and move.number in (None, piece.number)
        and (move.square is None or move.square in piece.place.squares)
    ]
    return sorted(meant, key=lambda piece: piece not in can)


def _no_line(state: State, meant: Sequence[Piece]) -> str:
    """What was tried in vain."""
    attacker = str(state.attacker)
    if meant[0].colour == attacker:
        return (
            f"{attacker.capitalize()} fires on enemy pieces only, and {meant[0].name} is its own."
        )
    target = " or ".join(str(piece) for piece in meant)
    aims = [f"{piece} fires {listed(_ways(piece), 'or')}" for piece in state.of(attacker)]
    ends = " Lines of fire end at the first square with another piece on it." if state.stops else ""
    return f"No line of fire of {attacker}'s reaches {target}: {'; '.join(aims)}.{ends}"


def _ways(piece: Piece) -> tuple[str, ...]:
    lines = fire.aims(piece)
    return (
        ("in every direction",)
        if any(line.way == fire.HOME for line in lines)
        else tuple(map(str, lines))
    )


def _allowed(can: Mapping[Piece, bool], attacker: str) -> str:
    sure = [piece.name for piece, certain in can.items() if certain]
    if sure:
        return f"{attacker.capitalize()} can take {listed(sure, 'or')}."
    return (
        f"Whether {attacker} can take {listed([piece.name for piece in can], 'or')} is too close to"
        " call."
    )


def _pass_violation(state: State, move: Pass) -> Violation | None:
    attacker = state.attacker
    if attacker is None:
        said = (
            f"'{move}' was tried, but players fire when all pieces of a round are thrown, until"
            f" nobody can. {turn(state)}"
        )
        return Violation("storm.attack.time", ATTACK, said)
    if move.player != attacker:
        return Violation(
            "storm.pass.turn",
            ATTACK,
            f"'{move}' was tried, but it is {attacker}'s turn to fire. {turn(state)}",
        )
    if not state.may_pass:
        said = (
            f"{attacker.capitalize()} cannot pass: who can attack on their turn must."
            f" {_allowed(targets(state), attacker)}"
        )
        return Violation("storm.pass", MUST, said)
    return None


def _settle_violation(state: State, move: Settle) -> Violation | None:
    if state.attacker is None:
        return Violation(
            "storm.settle.time",
            DOUBT,
            f"'{move}' was tried, but touches are decided when pieces fire. {turn(state)}",
        )
    piece = state.named(move.name)
    if piece is None or not piece.place.in_doubt:
        doubtful = listed((other for other in state.pieces if other.place.in_doubt), none="nothing")
        said = (
            f"Nothing about {move.name} is too close to call on this board; there is to decide:"
            f" {doubtful}."
        )
        return Violation("storm.settle.piece", DOUBT, said)
    if not move.place.settles(piece.place):
        ways = listed(tuple(str(choice.place) for choice in settlements((piece,))), "or")
        said = (
            f"What was seen of {move.name} is {piece.place}: it may be settled as {ways}, not as"
            f" {move.place}."
        )
        return Violation("storm.settle.place", DOUBT, said)
    return None
