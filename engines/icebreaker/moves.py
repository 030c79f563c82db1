"""Moves of Icebreaker and their notation: `A1-B2`, from cell to cell.

A capture is written like any other move.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from engines.icebreaker.board import label, members, parse_cell
from engines.move_notation import Notation


class Move(NamedTuple):
    """A ship goes from one cell to another; prints as `A1-B2`."""

    from_cell: int
    to_cell: int

    def __str__(self) -> str:
        return f"{label(self.from_cell)}-{label(self.to_cell)}"


_NOTATION = Notation(
    "'A1-B2'", {"{from_cell}-{to_cell}": Move}, {"from_cell": parse_cell, "to_cell": parse_cell}
)


def parse_move(text: str) -> Move:
    """The move that a line of notation says; raises InvalidNotation, which quotes the text."""
    return _NOTATION.parse(text)


@cache
def moves(from_cell: int, to_cells: int) -> tuple[Move, ...]:
    """A move to each cell of a set.

    Cached: there are few, as a set is made of the six cells around.
    """
    return tuple(Move(from_cell, cell) for cell in members(to_cells))
