"""The state of a game of Icebreaker: frozen, printed as one line, parsed back from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engines.errors import InvalidNotation
from engines.house_rules import Chosen, HouseRule, read_rulings, seat, write_rulings
from engines.icebreaker.board import SIZES, Board, board
from engines.icebreaker.explanations import ship_paths
from engines.state_notation import NONE, read_counts, read_line, read_state, write_line

SHIPS = 3

RULINGS = (
    HouseRule("size", "Rules", tuple(map(str, SIZES)), "cells along each side of the board"),
    HouseRule(
        "closest",
        "ruling icebreaker.1",
        ("any",),
        "any step that shortens the way to one of the closest icebergs; a ship that cannot"
        " reach any stays",
    ),
    HouseRule(
        "stuck",
        "ruling icebreaker.2",
        ("pass",),
        "if a player cannot move any ship, the turn passes by itself",
    ),
    HouseRule(
        "end",
        "ruling icebreaker.3",
        ("majority", "last"),
        "the game ends when a player has captured a majority, or with the last capture",
    ),
)


@dataclass(frozen=True)
class Setting:
    """What stays the same in a game: the players in turn order, and the rulings.

    From them follow `board`, `majority` (captures that win) and `enough` (captures that end the
    game).
    """

    players: tuple[str, ...]
    rulings: Chosen
    board: Board = field(init=False, compare=False, repr=False)
    majority: int = field(init=False, compare=False, repr=False)
    enough: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        in_force = dict(self.rulings)
        played = board(int(in_force["size"]))
        ice = played.ice.bit_count()
        object.__setattr__(self, "board", played)
        object.__setattr__(self, "majority", ice // 2 + 1)
        object.__setattr__(self, "enough", ice if in_force["end"] == "last" else ice // 2 + 1)


@dataclass(frozen=True, slots=True)
class State:
    """The whole state of a game.

    `ships` and `scores` go with the players; `seat` is whose turn it is, None once the game is
    over. Ships and ice are sets of cells, see `board`. The numbers of icebergs are always odd, so
    there are no draws.
    """

    setting: Setting
    ships: tuple[int, int]
    ice: int
    scores: tuple[int, int]
    seat: int | None

    @property
    def players(self) -> tuple[str, ...]:
        """In turn order."""
        return self.setting.players

    @property
    def next(self) -> str | None:
        """Who moves next, and can; None once the game is over."""
        return None if self.seat is None else self.setting.players[self.seat]

    def ways(self, seat: int) -> Mapping[int, tuple[int, int]]:
        """For each ship that a player can move: steps to its closest iceberg, and target cells."""
        return ship_paths(self.setting.board, self.ships[seat], self.ships[1 - seat], self.ice)

    def __str__(self) -> str:
        return write_line(
            {
                "players": " ".join(self.players),
                "scores": " ".join(map(str, self.scores)),
                "turn": self.next or NONE,
                "board": "/".join("".join(map(self._sign, row)) for row in self.setting.board.rows),
                "rulings": write_rulings(self.setting.rulings),
            }
        )

    def _sign(self, cell: int) -> str:
        first, second = self.ships
        return next(
            (
                sign
                for sign, cells in zip("12*", (first, second, self.ice), strict=True)
                if cells >> cell & 1
            ),
            ".",
        )

    @classmethod
    def parse(cls, text: str) -> State:
        """The state in a line of text; raises InvalidNotation, which quotes what is wrong.

        The board is written row by row from the far side: `1` and `2` ships of the first and second
        player, `*` ice, `.` open.
        """
        return read_state(_parse, text)


def fresh(players: Sequence[str], rulings: Chosen) -> State:
    """The state before the first move; the first player is the rules' Red.

    Raises InputError for players that cannot play.
    """
    setting = Setting(seat(players, 2, 2), rulings)
    first, second = setting.board.ships
    return State(setting, (first, second), setting.board.ice, (0, 0), 0)


def over(setting: Setting, scores: tuple[int, int]) -> bool:
    """True if the game has ended (ruling icebreaker.3)."""
    return (sum(scores) if setting.enough > setting.majority else max(scores)) >= setting.enough


_KEYS = ("players", "scores", "turn", "board", "rulings")


def _parse(text: str) -> State:
    words = read_line(text, _KEYS)
    setting = Setting(
        seat(words["players"].split(" "), 2, 2), read_rulings(RULINGS, words["rulings"])
    )
    first_score, second_score = read_counts(words, "scores", 2)
    first, second, ice = _read_board(setting.board, words["board"])
    if words["turn"] not in (*setting.players, NONE):
        raise InvalidNotation(
            f"expected {' or '.join(setting.players)} to move, or {NONE}, got {words['turn']!r}"
        )
    state = State(
        setting,
        (first, second),
        ice,
        (first_score, second_score),
        None if words["turn"] == NONE else setting.players.index(words["turn"]),
    )
    _check(state)
    return state


def _read_board(board: Board, text: str) -> tuple[int, int, int]:
    """The sets of the first player's ships, the second player's ships, and the ice."""
    rows = text.split("/")
    if [len(row) for row in rows] != [len(row) for row in board.rows] or set(text) - set("12*./"):
        lengths = " ".join(str(len(row)) for row in board.rows)
        raise InvalidNotation(
            f"expected a board of {len(board.rows)} rows with {lengths} of 1, 2, * and ., got"
            f" {text!r}"
        )
    signs = [
        (sign, cell)
        for row, cells in zip(rows, board.rows, strict=True)
        for sign, cell in zip(row, cells, strict=True)
    ]
    first, second, ice = (
        sum(1 << cell for sign, cell in signs if sign == wanted) for wanted in "12*"
    )
    return first, second, ice


def _check(state: State) -> None:
    """Refuse a state that no game can reach by counting its parts."""
    for player, ships in zip(state.players, state.ships, strict=True):
        if ships.bit_count() != SHIPS:
            raise InvalidNotation(f"expected {SHIPS} ships of {player}, got {ships.bit_count()}")
    captured = state.setting.board.ice.bit_count() - state.ice.bit_count()
    if sum(state.scores) != captured:
        raise InvalidNotation(
            f"expected scores that add up to the {captured} icebergs gone, got {sum(state.scores)}"
        )
    if over(state.setting, state.scores) != (state.seat is None):
        raise InvalidNotation(
            f"expected {NONE} for the turn once the game is over, and only then, got"
            f" {state.next or NONE}"
        )
    if state.seat is not None and not state.ways(state.seat):
        raise InvalidNotation(f"expected the turn of somebody who can move, got {state.next}")
