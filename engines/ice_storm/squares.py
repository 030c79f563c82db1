"""Squares of the chessboard, with their names."""

from __future__ import annotations

import re
from typing import NamedTuple

from engines.errors import InvalidNotation

SIDE = 8
"""Squares along each side of a chessboard."""
FILES = "abcdefgh"
SQUARE = rf"[{FILES}][1-{SIDE}]"
"""A square in a regular expression."""


class Square(NamedTuple):
    """A square by its file and rank, counted from 0 at a1; ordered by file, then rank."""

    file: int
    rank: int

    def __str__(self) -> str:
        return f"{FILES[self.file]}{self.rank + 1}"

    @classmethod
    def parse(cls, text: str) -> Square:
        """Parse a square such as `b4`; raises InvalidNotation."""
        if not re.fullmatch(SQUARE, text):
            raise InvalidNotation(f"expected a square, a1 to h8, got {text!r}")
        return cls(FILES.index(text[0]), int(text[1]) - 1)

    def step(self, east: int, north: int) -> Square | None:
        """The square `east` files and `north` ranks on; None off the board."""
        file, rank = self.file + east, self.rank + north
        return Square(file, rank) if 0 <= file < SIDE and 0 <= rank < SIDE else None
