"""How a piece lies on the board: the squares it touches, and where its tip is.

| written | says |
|---|---|
| `b3` | entirely within b3: a centre piece |
| `b3-b4>b4` | touches b3 and b4, its tip is in b4: an edge piece |
| `b3-b4-c4>c4` | touches b3, b4 and c4, its tip is in c4: a corner piece |
| `b3-b4^` | stands upright on b3 and b4 |
| `b3-b4?>b3` | touches b3; whether it touches b4 too is too close to call (ruling ice_storm.2) |
| `b3-b4>b3/b4` | touches both; in which of them its tip is, is too close to call |
| `b3-b4?>b4?/b3` | if it touches b4 at all, then with its tip, which else is in b3 |
| `a1-off?` | touches a1; whether it lies partly off the board is too close to call |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from engines.errors import InvalidNotation
from engines.ice_storm.squares import SIDE, SQUARE, Square
from table.pieces import COLOURS

UPRIGHT = "^"
OFF_DOUBTFUL = "off?"
_TIPS = rf">(?P<reached>{SQUARE}\?/)?(?P<tips>{SQUARE}(?:/{SQUARE})*)"
_PLACE = re.compile(
    rf"(?P<squares>{SQUARE}\??(?:-{SQUARE}\??)*)(?P<off>-off\?)?(?:(?P<upright>\^)|{_TIPS})?"
)
_NAME = re.compile(r"([a-z]+)([1-9])")


@dataclass(frozen=True, slots=True)
class Reading:
    """One possible place of a piece: the squares it touches, and the square of its tip.

    `tip` is None for a piece that stands upright.
    """

    squares: frozenset[Square]
    tip: Square | None

    @property
    def fires_from(self) -> frozenset[Square]:
        """Squares that count as those of its tip.

        All that it touches if it stands upright (printed rules, "Attack").
        """
        return self.squares if self.tip is None else frozenset({self.tip})


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a piece: `clear` squares are surely touched, `doubtful` ones are too close to call.

    All other squares are surely not touched. The tip is in `reached`, if that doubtful square is
    touched. Else it is in one of `tips`: of those that are touched, or, if none is, of all that are
    touched. No tips: the piece stands upright. `off_doubtful`: it may lie partly off the board.
    """

    clear: frozenset[Square]
    doubtful: frozenset[Square] = frozenset()
    tips: frozenset[Square] = frozenset()
    reached: Square | None = None
    off_doubtful: bool = False

    def __post_init__(self) -> None:
        if self.clear & self.doubtful:
            raise InvalidNotation(f"expected each square once, got '{self}'")
        if not self.tips <= self.squares:
            raise InvalidNotation(
                f"expected the tip in a square that the piece touches, got '{self}'"
            )
        if self.reached and (
            self.reached not in self.doubtful or self.reached in self.tips or not self.tips
        ):
            raise InvalidNotation(
                "expected a doubtful square that only the tip may reach, and where else the tip"
                f" is, got '{self}'"
            )
        if (
            frozenset().union(*shapes(self.clear, self.doubtful)) != self.squares
            or not self.squares
        ):
            raise InvalidNotation(
                "expected one square, two side by side, or three or four that share a corner"
                f" (ruling ice_storm.6), got '{self}'"
            )

    @property
    def squares(self) -> frozenset[Square]:
        """All squares that the piece touches or may touch."""
        return self.clear | self.doubtful

    @property
    def in_doubt(self) -> bool:
        """True if anything about it is too close to call."""
        return self.off_doubtful or len(readings(self)) > 1

    def settles(self, other: Place) -> bool:
        """True if this place leaves less open than `other`, and nothing that `other` excludes."""
        return set(readings(self)) < set(readings(other)) and not self.off_doubtful

    def __str__(self) -> str:
        squares = "-".join(
            f"{square}{'?' * (square in self.doubtful)}" for square in sorted(self.squares)
        )
        reached = f"{self.reached}?/" if self.reached else ""
        tip = f">{reached}{'/'.join(map(str, sorted(self.tips)))}" if self.tips else UPRIGHT
        return (
            squares
            + f"-{OFF_DOUBTFUL}" * self.off_doubtful
            + tip * (tip == UPRIGHT or len(self.squares) > 1)
        )

    @classmethod
    def parse(cls, text: str) -> Place:
        """Parse a place such as `b3-b4?>b3`; raises InvalidNotation."""
        found = _PLACE.fullmatch(text)
        if not found:
            raise InvalidNotation(
                f"expected a place such as 'b3', 'b3-b4>b4' or, upright, 'b3-b4^', got {text!r}"
            )
        words = found["squares"].split("-")
        squares = [Square.parse(word.removesuffix("?")) for word in words]
        if len(set(squares)) < len(squares):
            raise InvalidNotation(f"expected each square once, got {text!r}")
        if len(squares) > 1 and not found["upright"] and not found["tips"]:
            raise InvalidNotation(
                "expected the square of the tip, as in 'b3-b4>b4', or '^' for an upright piece,"
                f" got {text!r}"
            )
        doubtful = frozenset(
            square for square, word in zip(squares, words, strict=True) if word.endswith("?")
        )
        tips = (
            frozenset(map(Square.parse, found["tips"].split("/")))
            if found["tips"]
            else frozenset(squares)
        )
        reached = Square.parse(found["reached"][:2]) if found["reached"] else None
        return cls(
            frozenset(squares) - doubtful,
            doubtful,
            frozenset() if found["upright"] else tips,
            reached,
            bool(found["off"]),
        )


@lru_cache(maxsize=4096)
def readings(place: Place) -> tuple[Reading, ...]:
    """Return every possible place of a piece.

    One if nothing is in doubt, none if pieces cannot lie so.
    """
    return tuple(
        Reading(squares, tip)
        for squares in shapes(place.clear, place.doubtful)
        for tip in (_tips(place, squares) if place.tips else (None,))
    )


def shapes(clear: frozenset[Square], doubtful: frozenset[Square]) -> list[frozenset[Square]]:
    """Possible sets of touched squares: the `clear` ones and some `doubtful` ones, fewest first.

    Pieces touch one square, two side by side, or three or four that share a corner (ruling
    ice_storm.6).
    """
    found = {
        clear.union(extra)
        for block in _BLOCKS
        if clear <= block
        for count in range(len(doubtful & block) + 1)
        for extra in combinations(doubtful & block, count)
    }
    return sorted(
        (squares for squares in found if squares and not _meet_at_corner(squares)),
        key=lambda squares: (len(squares), sorted(squares)),
    )


_BLOCKS = [
    frozenset(Square(file + east, rank + north) for east in (0, 1) for north in (0, 1))
    for file in range(SIDE - 1)
    for rank in range(SIDE - 1)
]
"""All sets of four squares that share a corner."""


def _meet_at_corner(squares: frozenset[Square]) -> bool:
    """True if these are two squares that meet only at a corner."""
    return (
        len(squares) == 2
        and len({square.file for square in squares})
        == len({square.rank for square in squares})
        == 2
    )


def _tips(place: Place, squares: frozenset[Square]) -> list[Square]:
    """Possible squares of the tip, if these squares are touched."""
    return [place.reached] if place.reached in squares else sorted(place.tips & squares or squares)


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece on the board, named by colour and number: `red2`.

    `number` counts its owner's throws of the round.
    """

    colour: str
    number: int
    place: Place

    @property
    def name(self) -> str:
        """Its name in moves."""
        return f"{self.colour}{self.number}"

    def __str__(self) -> str:
        return f"{self.name} {self.place}"

    @classmethod
    def parse(cls, text: str) -> Piece:
        """`red2 b3-b4>b4`; raises InvalidNotation."""
        name, _, place = text.partition(" ")
        return cls(*parse_name(name), Place.parse(place))


def parse_name(text: str) -> tuple[str, int]:
    """Colour and number in `red2`; raises InvalidNotation."""
    found = _NAME.fullmatch(text)
    if not found or found[1] not in COLOURS:
        raise InvalidNotation(
            f"expected a piece such as 'red2', a colour and a number, got {text!r}"
        )
    return found[1], int(found[2])
