"""The rules of Convoy: pyramids step forward, and those that stand in line push together.

Pure: no clock, no random numbers, no I/O.  Clauses are sections of `clauses.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from engines.errors import InvalidNotation, Violation
from engines.house_rules import Chosen, HouseRule, choose, read_rulings, seat, write_rulings
from engines.legal_moves import Legal
from engines.state_notation import read_counts, read_line, read_state, write_line
from table.boards import Board, Chessboard, kind_in_words
from table.cells import FILES
from table.errors import InputError
from table.messages import Message, msg, phrase

FILE_COUNT, RANK_COUNT = 5, 6
"""The usual board."""
SMALLEST, LARGEST = 4, 8
STEP, PUSH, WINNING = "Step", "Push", "Winning"
RULINGS = (HouseRule("goal", WINNING, ("3", "2", "4"), "points that win the game"),)
Rows = tuple[str, ...]
"""Ranks of the board from the near one, such as `1..2.`: pyramids of first and second player."""
_MOVE = re.compile(r"([a-h][1-9])-([a-h][1-9])")


@dataclass(frozen=True, slots=True, order=True)
class Move:
    """A step from one square to another, `b2-b3`; pyramids ahead are pushed."""

    origin: str
    target: str

    def __str__(self) -> str:
        return f"{self.origin}-{self.target}"


def parse_move(text: str) -> Move:
    """Parse a move such as `b2-b3`; raises InvalidNotation."""
    found = _MOVE.fullmatch(text.strip())
    if not found:
        raise InvalidNotation(msg("expected a move such as 'b2-b3', got {raw}", raw=repr(text)))
    return Move(*found.groups())


@dataclass(frozen=True, slots=True)
class State:
    """A game: the board, how many pyramids each player has `lost`, and whose `turn` it is."""

    players: tuple[str, ...]
    rows: Rows
    lost: tuple[int, int]
    turn: int
    rulings: Chosen

    @property
    def scores(self) -> tuple[int, int]:
        """Points: own pyramids on the far rank, plus the opponent's that were pushed off."""
        first, second = self.rows[-1].count("1"), self.rows[0].count("2")
        return first + self.lost[1], second + self.lost[0]

    @property
    def goal(self) -> int:
        """Points that win."""
        return int(dict(self.rulings)["goal"])

    @property
    def next(self) -> str | None:
        """The player to move; None once the game is over."""
        over = max(self.scores) >= self.goal or not _legal(self.rows, self.turn)
        return None if over else self.players[self.turn]

    @property
    def pieces(self) -> dict[str, str]:
        """The player whose pyramid stands on a square, by square."""
        return standing(self.rows, self.players)

    @property
    def cells(self) -> list[str]:
        """All squares."""
        ranks = range(1, len(self.rows) + 1)
        return [f"{file}{rank}" for rank in ranks for file in FILES[: len(self.rows[0])]]

    def __str__(self) -> str:
        return write_line(
            {
                "players": " ".join(self.players),
                "turn": self.players[self.turn],
                "board": "/".join(reversed(self.rows)),
                "lost": " ".join(map(str, self.lost)),
                "rulings": write_rulings(self.rulings),
            }
        )

    @classmethod
    def parse(cls, text: str) -> State:
        """Parse a state written by `str`; raises InvalidNotation."""
        return read_state(_parse, text)


def _parse(text: str) -> State:
    words = read_line(text, ("players", "turn", "board", "lost", "rulings"))
    players = seat(words["players"].split(" "), 2, 2)
    if words["turn"] not in players:
        raise InvalidNotation(f"expected {' or '.join(players)}, got {words['turn']!r}")
    rows = tuple(reversed(words["board"].split("/")))
    first, second = read_counts(words, "lost", 2)
    width = len(rows[0])
    fits = all(SMALLEST <= size <= LARGEST for size in (width, len(rows)))
    if not fits or any(len(row) != width or set(row) - set("12.") for row in rows):
        raise InvalidNotation(f"expected rows of 1, 2 and ., got {words['board']!r}")
    for sign, lost in (("1", first), ("2", second)):
        if (there := "".join(rows).count(sign) + lost) != width:
            raise InvalidNotation(f"expected {width} pyramids of player {sign}, got {there}")
    rulings = read_rulings(RULINGS, words["rulings"])
    return State(players, rows, (first, second), players.index(words["turn"]), rulings)


def standing(rows: Rows, players: Sequence[str]) -> dict[str, str]:
    """The player whose pyramid stands on a square, by square."""
    return {
        f"{FILES[file]}{rank + 1}": players[int(sign) - 1]
        for rank, row in enumerate(rows)
        for file, sign in enumerate(row)
        if sign != "."
    }


def start(players: Sequence[str], rulings: Mapping[str, str]) -> State:
    """The state before the first move on the usual board; raises InputError."""
    return set_up(players, rulings, None)


def set_up(players: Sequence[str], rulings: Mapping[str, str], board: Board | None) -> State:
    """As `start`, on a chessboard of 4 to 8 squares each way."""
    files, ranks = FILE_COUNT, RANK_COUNT
    if board is not None:
        if not isinstance(board, Chessboard):
            got = kind_in_words(board)
            raise InputError(msg("board: Convoy needs a chessboard, got {text}", text=got))
        files, ranks = board.files, board.ranks
    if not all(SMALLEST <= size <= LARGEST for size in (files, ranks)):
        raise InputError(
            msg(
                "board: Convoy needs {n} to {n2} squares each way, got {n3} by {n4}",
                n=SMALLEST,
                n2=LARGEST,
                n3=files,
                n4=ranks,
            )
        )
    rows = ("1" * files, *("." * files for _ in range(ranks - 2)), "2" * files)
    return State(seat(players, 2, 2), rows, (0, 0), 0, choose(RULINGS, rulings))


class LegalMoves(Legal[State, Move]):
    """The legal moves of a state."""

    def _list(self) -> Iterator[Move]:
        yield from _legal(self.state.rows, self.state.turn) if self.state.next else ()

    def __contains__(self, move: object) -> bool:
        return isinstance(move, Move) and violation(self.state, move) is None


def legal_moves(state: State) -> LegalMoves:
    """All legal moves; empty only once the game is over."""
    return LegalMoves(state)


def violation(state: State, move: Move) -> Violation | None:
    """The rule that forbids a move, or None."""
    if ended := outcome(state):
        message = msg("The game is over: {text}.", text=ended.message)
        return Violation("convoy.over", WINNING, message)
    return _violation(state.rows, state.turn, state.players[state.turn], move)


def play(state: State, move: Move) -> State:
    """The state after a move; raises IllegalMove."""
    if wrong := violation(state, move):
        raise wrong.error(move)
    rows, fallen = pushed(state.rows, move)
    lost = list(state.lost)
    if fallen:
        lost[int(fallen) - 1] += 1
    return replace(state, rows=rows, lost=(lost[0], lost[1]), turn=1 - state.turn)


def resign(state: State, _player: str) -> State:
    """The state unchanged: with one of two players left, the game is over."""
    return state


@dataclass(frozen=True, slots=True)
class Outcome:
    """The winner, and whether the other player cannot move."""

    winner: str
    stuck: str = ""

    @property
    def message(self) -> Message:
        """The sentence, without its full stop."""
        if self.stuck:
            fields = {"player": self.winner, "player2": self.stuck}
            return phrase("{player} won, as {player2} cannot move", **fields)
        return phrase("{player} won", player=self.winner)

    def __str__(self) -> str:
        return self.message


def outcome(state: State) -> Outcome | None:
    """None while the game runs."""
    if max(state.scores) >= state.goal:
        return Outcome(state.players[state.scores.index(max(state.scores))])
    if state.next is None:
        return Outcome(state.players[1 - state.turn], stuck=state.players[state.turn])
    return None


def pushed(rows: Rows, move: Move) -> tuple[Rows, str]:
    """The board after a move, legal or not, and the sign of a pyramid that fell off, if any.

    A step straight ahead pushes what stands there; any other replaces it.
    """
    (file, rank), (to_file, to_rank) = _place(move.origin), _place(move.target)
    board = [list(row) for row in rows]
    sign, board[rank][file] = board[rank][file], "."
    step = to_rank - rank
    while 0 <= to_rank < len(board):
        sign, board[to_rank][to_file] = board[to_rank][to_file], sign
        if sign == "." or to_file != file or abs(step) != 1:
            return tuple("".join(row) for row in board), ""
        to_rank += step
    return tuple("".join(row) for row in board), sign


def _violation(rows: Rows, turn: int, player: str, move: Move) -> Violation | None:
    (file, rank), (to_file, to_rank) = _place(move.origin), _place(move.target)
    for cell, on_file, on_rank in ((move.origin, file, rank), (move.target, to_file, to_rank)):
        if on_file >= len(rows[0]) or on_rank >= len(rows):
            message = msg("There is no square {cell} on this board.", cell=cell)
            return Violation("convoy.square", STEP, message)
    if rows[rank][file] != "12"[turn]:
        message = msg("{player} has no pyramid on {cell}.", player=player, cell=move.origin)
        return Violation("convoy.own", STEP, message)
    if to_rank - rank != (1, -1)[turn] or abs(to_file - file) > 1:
        message = msg("A pyramid moves one square forward, straight or diagonally.")
        return Violation("convoy.step", STEP, message)
    if to_file != file:
        message = msg(
            "The square {cell} is taken, and a diagonal step does not push.", cell=move.target
        )
        taken = rows[to_rank][to_file] != "."
        return Violation("convoy.diagonal", STEP, message) if taken else None
    own, others, end = _line(rows, turn, file, rank)
    if others >= own:
        message = msg("A line of {n} cannot push {n2}: it takes more.", n=own, n2=others)
        return Violation("convoy.weak", PUSH, message)
    if end == "own" or (end == "edge" and not others):
        message = msg("There is no room ahead of the line on {cell}.", cell=move.origin)
        return Violation("convoy.room", PUSH, message)
    return None


def _line(rows: Rows, turn: int, file: int, rank: int) -> tuple[int, int, str]:
    """Numbers of own pyramids in line from a square, and of opposing ones after them.

    Also what follows: `room`, an `own` pyramid or the `edge` of the board.
    """
    column = [row[file] for row in rows]
    ahead = "".join(column[rank:] if turn == 0 else reversed(column[: rank + 1]))
    after_own = ahead.lstrip("12"[turn])
    rest = after_own.lstrip("21"[turn])
    end = "edge" if not rest else "room" if rest[0] == "." else "own"
    return len(ahead) - len(after_own), len(after_own) - len(rest), end


@lru_cache(4096)
def _legal(rows: Rows, turn: int) -> tuple[Move, ...]:
    """Legal moves, ignoring whether the game is over."""
    squares = [(file, rank) for rank in range(len(rows)) for file in range(len(rows[0]))]
    moves = (
        Move(f"{FILES[file]}{rank + 1}", f"{FILES[to]}{rank + 1 + (1, -1)[turn]}")
        for file, rank in squares
        for to in (file - 1, file, file + 1)
        if to in range(len(rows[0])) and rank + (1, -1)[turn] in range(len(rows))
    )
    return tuple(move for move in moves if _violation(rows, turn, "", move) is None)


def _place(cell: str) -> tuple[int, int]:
    return FILES.index(cell[0]), int(cell[1]) - 1
