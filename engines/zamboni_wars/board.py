"""Four Martian Coasters, 3 x 3 spaces each: spaces, compass points, and arrows.

A space may be left along its arrows. Spaces are named as people write them: files a to f from the
left, rows 1 to 6 from the near side. North is away from the players, so `b4` is the second from the
left, the fourth from the near side.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import NamedTuple

from engines.errors import InvalidNotation
from table.json_data import JsonObject
from table.messages import msg
from table.pieces import COLOURS

FACINGS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
"""The eight directions that a Zamboni may face, clockwise."""
STRAIGHT = ("N", "E", "S", "W")
"""The directions along which arrows lead and Zambonis drive."""
CORNERS = ("NW", "NE", "SE", "SW")
"""Corners of a coaster and of the board, clockwise."""
_NORTHWARD = {"N": 1, "NE": 1, "E": 0, "SE": -1, "S": -1, "SW": -1, "W": 0, "NW": 1}
AHEAD = {
    facing: (_NORTHWARD[FACINGS[at - 2]], _NORTHWARD[facing]) for at, facing in enumerate(FACINGS)
}
"""Files and rows that one space in each direction spans."""
_QUARTER = str.maketrans("NESW", "ESWN")
"""Translation of arrows when their coaster is turned clockwise by a quarter of a circle."""
SIDE = 3
"""Spaces along a side of a coaster."""
FILES = "abcdef"


class Space(NamedTuple):
    """A space of the board: file and row, both from 0; prints as `c6`."""

    file: int
    row: int

    def __str__(self) -> str:
        return f"{FILES[self.file]}{self.row + 1}"

    @classmethod
    def parse(cls, text: str) -> Space:
        """Parse a space such as `c6`; raises InvalidNotation."""
        if not re.fullmatch("[a-f][1-6]", text):
            raise InvalidNotation(msg("expected a space (a1 to f6), got {raw}", raw=repr(text)))
        return cls(FILES.index(text[0]), int(text[1]) - 1)

    def ahead(self, facing: str, spaces: int = 1) -> Space | None:
        """The space `spaces` ahead, diagonally too; None off the board."""
        files, rows = AHEAD[facing]
        there = Space(self.file + spaces * files, self.row + spaces * rows)
        return there if there in _ON_BOARD else None


SPACES = tuple(Space(file, row) for row in reversed(range(2 * SIDE)) for file in range(2 * SIDE))
"""All spaces, row by row from the far left."""
_ON_BOARD = frozenset(SPACES)
PLACES = {"NW": Space(1, 4), "NE": Space(4, 4), "SE": Space(4, 1), "SW": Space(1, 1)}
"""The middle space (bull's-eye, warp zone) of the coaster in each corner of the board,
clockwise.
"""
MIDDLES = frozenset(PLACES.values())


@dataclass(frozen=True, slots=True)
class Coaster:
    """A coaster as it lies: its colour, and the corner in which its dot is."""

    colour: str
    dot: str

    def __str__(self) -> str:
        return f"{self.colour}={self.dot}"


@dataclass(frozen=True, slots=True)
class Board:
    """The coasters as they lie: far left, far right, near left, near right.

    Prints `yellow=SE red=SW green=NE blue=NW`.
    """

    coasters: tuple[Coaster, Coaster, Coaster, Coaster]

    def __post_init__(self) -> None:
        for coaster in self.coasters:
            if coaster.colour not in COLOURS:
                raise InvalidNotation(
                    f"expected a colour ({', '.join(COLOURS)}), got {coaster.colour!r}"
                )
            if coaster.dot not in CORNERS:
                raise InvalidNotation(
                    f"expected the corner of a dot ({', '.join(CORNERS)}), got {coaster.dot!r}"
                )
        if len({coaster.colour for coaster in self.coasters}) < len(self.coasters):
            raise InvalidNotation(f"expected coasters of four different colours, got '{self}'")

    def __str__(self) -> str:
        return " ".join(map(str, self.coasters))

    @classmethod
    def parse(cls, text: str) -> Board:
        """Parse a board such as `yellow=SE red=SW green=NE blue=NW`; raises InvalidNotation."""
        words = [word.split("=") for word in text.split(" ")]
        if len(words) != 4 or any(len(word) != 2 for word in words):
            raise InvalidNotation(
                f"expected four coasters such as yellow=SE red=SW green=NE blue=NW, got {text!r}"
            )
        far_left, far_right, near_left, near_right = (Coaster(*word) for word in words)
        return cls((far_left, far_right, near_left, near_right))

    @classmethod
    def usual(cls, colours: Sequence[Sequence[str]]) -> Board:
        """The board with all dots in the middle.

        `colours` are two rows of two, the far one first (`layout` of table.json). Raises
        InvalidNotation.
        """
        if [len(row) for row in colours] != [2, 2]:
            raise InvalidNotation(
                f"expected two rows of two coasters, got {[list(row) for row in colours]}"
            )
        return cls.parse(
            " ".join(
                f"{colour}={dot}"
                for colour, dot in zip(
                    [*colours[0], *colours[1]], ("SE", "SW", "NE", "NW"), strict=True
                )
            )
        )

    @property
    def colours(self) -> dict[str, str]:
        """The colour of the coaster in each corner of the board, clockwise from the far left."""
        far_left, far_right, near_left, near_right = (coaster.colour for coaster in self.coasters)
        return {"NW": far_left, "NE": far_right, "SE": near_right, "SW": near_left}

    def place(self, colour: str) -> str:
        """The corner of the board in which the coaster of a colour lies."""
        return next(place for place, there in self.colours.items() if there == colour)

    @property
    def arrows(self) -> Mapping[Space, frozenset[str]]:
        """Directions in which a piece may leave each space, off the board included."""
        return _arrows(self)


@cache
def _arrows(board: Board) -> Mapping[Space, frozenset[str]]:
    arrows = {}
    for place, coaster in enumerate(board.coasters):
        file, row = place % 2 * SIDE, (2 - place // 2) * SIDE - 1
        for down, ways in enumerate(_coaster_arrows(coaster.dot)):
            for across, way in enumerate(ways):
                arrows[Space(file + across, row - down)] = frozenset(way)
    return arrows


def _coaster_arrows(dot: str) -> list[list[str]]:
    """The arrows of a coaster that lies with its dot in a corner, rows from the far side."""
    ways: list[list[str]] = _PRINTED["printed"]["leave"]
    for _ in range((CORNERS.index(dot) - CORNERS.index(_PRINTED["printed"]["dot"])) % 4):
        ways = [
            [way.translate(_QUARTER) for way in column]
            for column in zip(*reversed(ways), strict=True)
        ]
    return ways


_PRINTED: JsonObject = tomllib.loads(
    (resources.files(__package__) / "coasters.toml").read_text(encoding="utf-8")
)
USUAL = Board.usual(_PRINTED["usual"]["colours"])
"""The usual arrangement, as on most pictures of the game."""
