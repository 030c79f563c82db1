"""The hexagon of hexagons: cells, their names, and their neighbours.

A cell is a number, column + 16 × row from 0, on boards of every size: column letters run A to O,
row numbers 1 to 15, row 1 nearest to the players, and a cell is on a board of `size` a side where
column and row differ by less than `size`. A set of cells is an int with one bit a cell, so that a
whole set moves one step by shifting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from engines.errors import InvalidNotation

SIZES = (5, 4, 6, 7, 8)
"""Cells a side; the printed rules call 5 the default."""
ROW = 16
_LETTERS = "ABCDEFGHIJKLMNO"
_LABEL = re.compile(rf"([{_LETTERS}])([1-9]|1[0-5])")


def label(cell: int) -> str:
    """Label of a cell: `E5`."""
    return f"{_LETTERS[cell % ROW]}{cell // ROW + 1}"


def parse_cell(text: str) -> int:
    """Parse a cell's label, on the largest board or beyond its corners; raises InvalidNotation."""
    found = _LABEL.fullmatch(text.upper())
    if not found:
        raise InvalidNotation(f"expected a cell such as 'E5', got {text!r}")
    return _LETTERS.index(found[1]) + ROW * (int(found[2]) - 1)


def members(cells: int) -> Iterator[int]:
    """The cells of a set, in order."""
    while cells:
        lowest = cells & -cells
        yield lowest.bit_length() - 1
        cells ^= lowest


def union(*cells: int) -> int:
    """Return the set of these cells."""
    return sum(1 << cell for cell in set(cells))


class Board:
    """A board of `size` cells a side.

    Use `board`, which creates each once: boards are equal only to themselves. `rows` are its cells
    from the far side to the near one; `cells` is the set of them. `around[cell]` is the set beside
    a cell. `ships` are the two starting sets, at the corners in turn; `ice` is the rest.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        last = 2 * size - 2
        columns = [
            range(max(0, row - size + 1), min(last, row + size - 1) + 1) for row in range(last + 1)
        ]
        self.rows = tuple(
            tuple(column + ROW * row for column in columns[row]) for row in range(last, -1, -1)
        )
        self.cells = union(*(cell for row in self.rows for cell in row))
        self.around = tuple(self.neighbours(1 << cell) for cell in range(self.cells.bit_length()))
        middle, end = size - 1, last
        first = union(0, end + ROW * middle, middle + ROW * end)
        self.ships = (first, union(middle, ROW * middle, end + ROW * end))
        self.ice = self.cells & ~first & ~self.ships[1]

    def neighbours(self, cells: int) -> int:
        """The set of cells on the board that are one step from a cell of the set."""
        moved = (
            cells << 1
            | cells >> 1
            | cells << ROW
            | cells >> ROW
            | cells << ROW + 1
            | cells >> ROW + 1
        )
        return moved & self.cells


@cache
def board(size: int) -> Board:
    """Return the board of a size."""
    return Board(size)
