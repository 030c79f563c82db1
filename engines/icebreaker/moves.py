"""Moves of Icebreaker and their notation: `A1-B2`, from cell to cell.  A capture is written like any other move."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from engines.errors import InvalidNotation
from engines.icebreaker.board import label, members, parse_cell


class Move(NamedTuple):
    """A ship goes from one cell to another; prints as `A1-B2`."""

    from_cell: int
    to_cell: int

    def __str__(self) -> str:
        return f"{label(self.from_cell)}-{label(self.to_cell)}"


def parse_move(text: str) -> Move:
    """The move that a line of notation says; raises InvalidNotation, which quotes the text."""
    cells = text.strip().split("-")
    try:
        if len(cells) != 2:
            raise InvalidNotation(f"expected a move such as 'A1-B2', got {text!r}")
        return Move(parse_cell(cells[0]), parse_cell(cells[1]))
    except InvalidNotation as error:
        raise InvalidNotation(str(error) if repr(text) in str(error) else f"{error}; in the move {text!r}") from None


@cache
def moves(from_cell: int, to_cells: int) -> tuple[Move, ...]:
    """A move to each cell of a set; kept, as there are few: a set is made of the six cells beside."""
    return tuple(Move(from_cell, cell) for cell in members(to_cells))
