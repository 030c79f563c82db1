"""The rules of Ice Storm: legal moves, their effect, and the end of the game.

Pure: no clock, no chance, no I/O. Clauses are sections of the printed rules ("Deployment",
"Attack", "Scoring") or rulings.
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
from engines.resigned import in_turn_order
from table.boards import Board
from table.messages import NOTHING, Message, any_of, msg, phrase, phrases, sentences

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
    """Outcome of a game: the players with most points, and every player's score.

    Several `winners` share the victory.
    """

    winners: tuple[str, ...]
    players: tuple[str, ...]
    scores: tuple[int, ...]

    @property
    def message(self) -> Message:
        """Who won, with how many points, and how many the others have."""
        others = [
            msg("{player}'s {n}", player=player, n=points)
            for player, points in zip(self.players, self.scores, strict=True)
            if player not in self.winners
        ]
        won: dict[str, object] = {"players": self.winners, "n": max(self.scores)}
        if others and len(self.winners) == 1:
            return phrase("{players} won with {n} points to {text}", text=others, **won)
        if others:
            return phrase(
                "{players} share the victory with {n} points to {text}", text=others, **won
            )
        if len(self.winners) == 1:
            return phrase("{players} won with {n} points", **won)
        return phrase("{players} share the victory with {n} points", **won)

    def __str__(self) -> str:
        return self.message


class LegalMoves(Legal[State, Move]):
    """The legal moves of a state.

    Where pieces come to rest is continuous, so `in` answers for every throw. Iteration gives legal
    examples. They are throws on every square in all kinds of places, one off the board, and one per
    piece that knocks it off. Captures by piece and all settlements are listed. `len` counts what is
    listed. Prints what is allowed.
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
    """Return a new game of 3 to 5 players, who are colours; the first one starts.

    Each sits to the left of the one before. Raises InputError.
    """
    return fresh(players, choose(RULINGS, rulings))


def set_up(players: Sequence[str], rulings: Mapping[str, str], board: Board | None) -> State:
    """As `start`; also raises InputError for a board that is no chessboard."""
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
                _without_resigned_throws(_void_last(state, state.last))
                if _is_last_thrower(state, move)
                else replace(state, void=True)
            )
        case Capture():
            return _take(state, _possible_targets(state, move)[0])
        case Pass():
            return replace(
                state,
                turn=_left_neighbour(state, move.player),
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


def resign(state: State, player: str) -> State:
    """The state after a player resigned while others play on."""
    void, last = state.void and state.next != player, state.last
    after = replace(
        state, resigned=in_turn_order(state.players, (*state.resigned, player)), void=void
    )
    return _without_resigned_throws(
        replace(after, last=None if last is None or last.player == player else last)
    )


def violation(state: State, move: Move) -> Violation | None:
    """Which rule forbids the move now, or None."""
    match move:
        case Throw():
            return _over(state) or _turn_violation(state, move) or _throw_violation(state, move)
        case Void():
            return _over(state) or _turn_violation(state, move) or _void_violation(state, move)
        case Moved():
            return _over(state) or _moved_violation(state, move)
        case Low():
            return _low_violation(state, move)
        case Capture():
            return _over(state) or _capture_violation(state, move)
        case Pass():
            return _over(state) or _pass_violation(state, move)
        case Settle():
            return _over(state) or _settle_violation(state, move)
        case _:
            assert_never(move)


def legal_moves(state: State) -> LegalMoves:
    """All moves that are legal now."""
    return LegalMoves(state)


def outcome(state: State) -> Outcome | None:
    """Who won; None until every player has started a round.

    Equal scores share the victory: the printed rules break no tie.
    """
    if not state.over:
        return None
    score = {
        player: points
        for player, points in zip(state.players, state.scores, strict=True)
        if player not in state.resigned
    }
    winners = tuple(player for player, points in score.items() if points == max(score.values()))
    return Outcome(winners, state.players, state.scores)


def shots(state: State, player: str | None = None) -> tuple[fire.Shot, ...]:
    """Return the shots of a player's pieces, or of the player who fires now.

    Each has what it depends on. Empty without such a player. A piece may have several shots at
    another, along several lines.
    """
    firing = player or state.attacker
    return fire.shots(state.pieces, firing, state.stops) if firing else ()


def targets(state: State) -> Mapping[Piece, bool]:
    """Targets of the player who fires now, each with whether it is certain; empty without one."""
    return fire.captures(state.pieces, state.attacker, state.stops) if state.attacker else {}


def turn(state: State) -> Message:
    """Describe whose turn it is."""
    if state.next:
        again = msg("Round {n} is over.", n=state.round) if state.round_over else NOTHING
        return sentences(again, msg("{player} throws next.", player=state.next))
    if ended := outcome(state):
        return msg("The game is over: {text}.", text=ended.message)
    attacker = state.attacker
    if not any(targets(state).values()):
        fires = msg(
            "{player} can fire if a touch counts that is too close to call; the players decide.",
            player=attacker,
        )
    elif state.may_pass:
        fires = msg("{player} fires next, or passes.", player=attacker)
    else:
        fires = msg("{player} fires next.", player=attacker)
    able = state.turn in (attacker, *state.resigned)
    unable = NOTHING if able else msg("{player} has no shot.", player=state.turn)
    return sentences(unable, fires)


def _next_round(state: State) -> State:
    """The next round, with an empty board (ruling ice_storm.9)."""
    nought = (0,) * len(state.players)
    return replace(
        state,
        round=state.next_round or state.round,
        totals=state.scores,
        stacks=nought,
        thrown=0,
        turn=None,
        pieces=(),
        passed=(),
    )


def _throw(state: State, move: Throw) -> State:
    """The state after a throw has come to rest."""
    after = _settle_changes(state, move.player, move.changes)
    if move.place:
        pieces = [*after.pieces, Piece(move.player, state.throws_of(move.player) + 1, move.place)]
        pieces.sort(key=lambda piece: (state.players.index(piece.colour), piece.number))
        after = replace(after, pieces=tuple(pieces))
    after = replace(
        after, thrown=state.thrown + 1, last=LastThrow(move.player, state.pieces, state.stacks)
    )
    return _without_resigned_throws(after)


def _without_resigned_throws(state: State) -> State:
    """Count the throws of resigned players as wasted; once all are thrown, players fire."""
    while not state.all_thrown and state.next in state.resigned:
        state = replace(state, thrown=state.thrown + 1)
    return replace(state, turn=state.starter) if state.all_thrown and state.turn is None else state


def _settle_changes(state: State, thrower: str, changes: Sequence[Change]) -> State:
    """Return the state with the pieces that a throw moved.

    Enemy pieces off the board are the thrower's, its own are wasted (ruling ice_storm.7), or all of
    them are wasted.
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
    """Return the state without the last ruled throw.

    What it moved or knocked off stays so, unless the house rule says otherwise.
    """
    assert last is not None, "there is one to be made void"
    thrown = f"{last.player}{state.throws_of(last.player)}"
    before = replace(state, thrown=state.thrown - 1, turn=None, last=None)
    while before.next != last.player:  # resigned players' throws, which count as made, followed
        before = replace(before, thrown=before.thrown - 1)
    if state.restores_after_low:
        return replace(before, pieces=last.pieces, stacks=last.stacks)
    return replace(before, pieces=tuple(piece for piece in state.pieces if piece.name != thrown))


def _is_last_thrower(state: State, move: Low | Moved) -> bool:
    return state.last is not None and state.last.player == move.player


def _take(state: State, target: Piece) -> State:
    """The state after a capture: it is the attacked player's turn.

    See printed rules, "Attack"; ruling ice_storm.10.
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


def _left_neighbour(state: State, player: str) -> str:
    return state.players[(state.players.index(player) + 1) % len(state.players)]


def _credit(state: State, player: str | None, pieces: int) -> tuple[int, ...]:
    return tuple(
        stack + pieces * (other == player)
        for other, stack in zip(state.players, state.stacks, strict=True)
    )


def _over(state: State) -> Violation | None:
    if (ended := outcome(state)) is None:
        return None
    return Violation("storm.over", SCORING, msg("The game is over: {text}.", text=ended.message))


def _turn_violation(state: State, move: Throw | Void) -> Violation | None:
    thrower = move.player
    if move.player not in state.players:
        return Violation(
            "storm.throw.player",
            DEPLOYMENT,
            sentences(
                msg(
                    "{player} threw, but nobody plays {player2}.",
                    player=thrower,
                    player2=move.player,
                ),
                turn(state),
            ),
        )
    if state.next is None:
        return Violation(
            "storm.throw.time",
            DEPLOYMENT,
            sentences(
                msg(
                    "{player} threw, but all pieces of this round have been thrown.", player=thrower
                ),
                turn(state),
            ),
        )
    if move.player != state.next:
        clause = "Deployment; ruling ice_storm.9" if state.round_over else DEPLOYMENT
        return Violation(
            "storm.throw.turn",
            clause,
            sentences(msg("{player} threw out of turn.", player=thrower), turn(state)),
        )
    return None


def _throw_violation(state: State, move: Throw) -> Violation | None:
    if wrong := _names_violation(state, move):
        return wrong
    player = move.player
    if move.again == LEANING:
        message = sentences(
            msg("{player}'s piece leans or lies on another, so it is thrown again.", player=player),
            msg("What it moved stays where it is."),
        )
        return Violation("storm.throw.leaning", "Deployment; ruling ice_storm.8", message)
    if move.again == OTHER_SIZE:
        message = sentences(
            msg(
                "{player}'s piece is the wrong size for this game: take it away and throw again.",
                player=player,
            ),
            msg("What it moved stays where it is."),
        )
        return Violation("storm.throw.size", "Deployment; ruling ice_storm.13", message)
    if move.again == LOW or state.void:
        message = sentences(
            msg(
                "{player}'s hand was lower than 6 inches (152 mm), so the throw is void.",
                player=player,
            ),
            (
                msg("Put back what it moved, pick the piece up and throw again.")
                if state.restores_after_low
                else msg("What it moved stays where it is; pick the piece up and throw again.")
            ),
        )
        return Violation("storm.throw.low", LOW_HAND, message)
    if move.place and move.place.off_doubtful:
        return _partly_off_violation(
            msg(
                "Is {player}'s throw partly off the board? It is too close to call ({cell}).",
                player=player,
                cell=move.place,
            )
        )
    return _off_violation(_end_places(move))


def _void_violation(state: State, move: Void) -> Violation | None:
    return _names_violation(state, move) or _off_violation(_end_places(move))


def _moved_violation(state: State, move: Moved) -> Violation | None:
    if not _is_last_thrower(state, move):
        message = sentences(
            msg("The last throw ruled on was not {player}'s.", player=move.player), turn(state)
        )
        return Violation("storm.moved.time", DEPLOYMENT, message)
    return _names_violation(state, move) or _off_violation(_end_places(move))


def _end_places(move: Throw | Void | Moved) -> list[tuple[str, Place | None]]:
    """Names of the pieces that a throw moved, and their new places."""
    return [(change.name, change.place) for change in move.changes]


def _names_violation(state: State, move: Throw | Void | Moved) -> Violation | None:
    lie = () if state.round_over else tuple(piece.name for piece in state.pieces)
    for change in move.changes:
        if change.name not in lie:
            common = {"player": move.player, "piece": change.name}
            message = (
                msg(
                    "{player}'s throw cannot have moved {piece}. On the board: {pieces}.",
                    pieces=lie,
                    **common,
                )
                if lie
                else msg(
                    "{player}'s throw cannot have moved {piece}: the board is still empty.",
                    **common,
                )
            )
            return Violation("storm.throw.pieces", DEPLOYMENT, message)
    return None


def _off_violation(placed: Sequence[tuple[str, Place | None]]) -> Violation | None:
    for name, place in placed:
        if place and place.off_doubtful:
            return _partly_off_violation(
                msg(
                    "Is {piece} partly off the board? It is too close to call ({cell}).",
                    piece=name,
                    cell=place,
                )
            )
    return None


def _partly_off_violation(doubt: Message) -> Violation:
    message = sentences(doubt, msg("The players decide whether it is on or off."))
    return Violation("storm.too_close", f"Deployment; {DOUBT}", message)


def _low_violation(state: State, move: Low) -> Violation | None:
    """Return why a throw cannot be void; None if it can.

    It can until the next throw is ruled on. That is the last throw, or the one being made.
    """
    if _is_last_thrower(state, move) or (state.next == move.player and not state.void):
        return None
    player = move.player
    if state.void and state.next == move.player:
        message = msg(
            "{player}'s throw is already void: pick the piece up and throw again.", player=player
        )
    else:
        message = sentences(
            msg(
                "{player} has no throw that can be void now: the next one is already ruled"
                " on, or nobody is throwing.",
                player=move.player,
            ),
            turn(state),
        )
    return Violation("storm.low.time", LOW_HAND, message)


def _no_attack(state: State) -> Violation:
    """Violation if a player fires or passes although no pieces fire now."""
    message = sentences(
        msg("Firing starts when all pieces of a round are thrown and ends when nobody can fire."),
        turn(state),
    )
    return Violation("storm.attack.time", ATTACK, message)


def _capture_violation(state: State, move: Capture) -> Violation | None:
    attacker = state.attacker
    if attacker is None:
        return _no_attack(state)
    can, meant = targets(state), _possible_targets(state, move)
    if not meant:
        message = sentences(_no_such_piece(move), _allowed(can, attacker))
        return Violation("storm.attack.piece", ATTACK, message)
    found = [piece for piece in meant if piece in can]
    if not found:
        return Violation(
            "storm.attack", FIRE, sentences(_no_line(state, meant), _allowed(can, attacker))
        )
    if len({piece.place for piece in found}) > 1:
        names = any_of(
            [msg("{piece} ({cell})", piece=piece.name, cell=piece.place) for piece in found]
        )
        which = tuple(str(Capture(piece.colour, piece.number)) for piece in found)
        message = msg(
            "{player} can take several {colour} pieces. Which one: {text}?",
            player=attacker,
            colour=move.colour,
            text=names,
        )
        return Violation("storm.attack.which", ATTACK, message, which)
    if not can[found[0]]:
        hang = dict.fromkeys(
            cause
            for shot in shots(state)
            if shot.target == found[0].name
            for cause in shot.hangs_on
        )
        message = sentences(
            msg(
                "Does {player} hit {piece}? It is too close to call and depends on whether {text}.",
                player=attacker,
                piece=found[0].name,
                text=any_of(hang),
            ),
            msg("The players decide."),
        )
        return Violation("storm.too_close", f"Attack; {DOUBT}", message)
    return None


def _no_such_piece(move: Capture) -> Message:
    """Sentence that no piece on the board matches a capture."""
    name = f"{move.colour}{move.number}"
    if move.number and move.square:
        return msg("The piece {piece} does not touch {cell}.", piece=name, cell=move.square)
    if move.number:
        return msg("There is no {piece} on the board.", piece=name)
    if move.square:
        return msg("No {colour} piece touches {cell}.", colour=move.colour, cell=move.square)
    return msg("No {colour} piece is on the board.", colour=move.colour)


def _possible_targets(state: State, move: Capture) -> list[Piece]:
    """Pieces that a capture may mean, capturable ones first."""
    can = targets(state)
    meant = [
        piece
        for piece in state.pieces
        if piece.colour == move.colour
        and move.number in (None, piece.number)
        and (move.square is None or move.square in piece.place.squares)
    ]
    return sorted(meant, key=lambda piece: piece not in can)


def _no_line(state: State, meant: Sequence[Piece]) -> Message:
    """Describe the shots that do not reach a target."""
    attacker = str(state.attacker)
    if meant[0].colour == attacker:
        return msg(
            "{player} may fire only at enemy pieces, but {piece} is their own.",
            player=attacker,
            piece=meant[0].name,
        )
    target = any_of(
        [msg("{piece} ({cell})", piece=piece.name, cell=piece.place) for piece in meant]
    )
    aims = [_aims(piece) for piece in state.of(attacker)]
    reached = msg(
        "{player} has no line of fire to {text}: {text2}.",
        player=attacker,
        text=target,
        text2=phrases(*aims),
    )
    if not state.stops:
        return reached
    ends = msg("Lines of fire end at the first square with another piece on it.")
    return sentences(reached, ends)


def _aims(piece: Piece) -> Message:
    """Describe the lines along which a piece fires."""
    lines = fire.lines_of_fire(piece)
    if any(line.way == fire.HOME for line in lines):
        return msg("{piece} ({cell}) fires in every direction", piece=piece.name, cell=piece.place)
    along = any_of(line.message for line in lines)
    return msg("{piece} ({cell}) fires {lines}", piece=piece.name, cell=piece.place, lines=along)


def _allowed(can: Mapping[Piece, bool], attacker: str) -> Message:
    sure = [piece.name for piece, certain in can.items() if certain]
    if sure:
        return msg("{player} can take {pieces}.", player=attacker, pieces=any_of(sure, "piece"))
    return msg(
        "Can {player} take {pieces}? It is too close to call.",
        player=attacker,
        pieces=any_of([piece.name for piece in can], "piece"),
    )


def _pass_violation(state: State, move: Pass) -> Violation | None:
    attacker = state.attacker
    if attacker is None:
        return _no_attack(state)
    if move.player != attacker:
        return Violation(
            "storm.pass.turn",
            ATTACK,
            sentences(msg("It is {player}'s turn to fire.", player=attacker), turn(state)),
        )
    if not state.may_pass:
        message = sentences(
            msg(
                "{player} cannot pass: a player who can attack on their turn must do so.",
                player=attacker,
            ),
            _allowed(targets(state), attacker),
        )
        return Violation("storm.pass", MUST, message)
    return None


def _settle_violation(state: State, move: Settle) -> Violation | None:
    if state.attacker is None:
        return Violation(
            "storm.settle.time",
            DOUBT,
            sentences(msg("Touches are decided only when pieces fire."), turn(state)),
        )
    piece = state.piece_named(move.name)
    if piece is None or not piece.place.in_doubt:
        doubtful = [
            msg("{piece} ({cell})", piece=other.name, cell=other.place)
            for other in state.pieces
            if other.place.in_doubt
        ]
        message = msg(
            "Nothing about {piece} is too close to call here; still to decide: {text}.",
            piece=move.name,
            text=doubtful or msg("nothing"),
        )
        return Violation("storm.settle.piece", DOUBT, message)
    if not move.place.settles(piece.place):
        ways = any_of((choice.place for choice in settlements((piece,))), "cell")
        message = msg(
            "The camera read {piece} as {cell}: you can settle it as {cells}, but not as {cell2}.",
            piece=move.name,
            cell=piece.place,
            cells=ways,
            cell2=move.place,
        )
        return Violation("storm.settle.place", DOUBT, message)
    return None
