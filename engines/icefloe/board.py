"""The pond: 25 places, the tiles that float there, their pyramids, and how far a pyramid can move.

Written as people would: places `a1` to `e5` (files from the left, ranks from the near side), tiles
by suit and value (`S4`; `n` null, `a` ace), pyramids by letter and suit (`ES`). Suits: S suns, M
moons, C crowns, A arms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from engines.errors import InvalidNotation

SUITS = {"S": "suns", "M": "moons", "C": "crowns", "A": "arms"}
VALUES = {"n": "null", "a": "ace", "2": "2", "3": "3", "4": "4", "5": "5"}
LETTERS = "ABCDEF"
WEIGHTS = {"A": 1, "B": 1, "C": 2, "D": 2, "E": 3, "F": 3}
"""Printed rules, "Piece Movement"."""
POINTS = {"A": 1, "B": 2, "C": 3, "D": 4, "E": 5, "F": 6}
"""Printed rules, "Scoring Table"."""
WEIGHT_MOST = 5
"""The greatest weight that a tile carries (printed rules, "Piece Movement")."""

PLACES = tuple(f"{file}{rank}" for file in "abcde" for rank in "12345")
CORNERS = ("a1", "a5", "e1", "e5")
"""Places that three players leave empty (printed rules, "The Board")."""
_LAYOUT = """
S2 S3 Ca M2 M3
S4 S5 Aa M4 M5
Mn Cn -- Sn An
A2 A3 Ma C2 C3
A4 A5 Sa C4 C5
"""
"""Printed rules, "The Board"; rows from the far side, the middle place without a tile."""

_ORTHOGONAL = ((0, 1), (1, 0), (0, -1), (-1, 0))
_DIAGONAL = ((1, 1), (1, -1), (-1, -1), (-1, 1))
_FLOE = re.compile(r"([a-e][1-5])=([SMCA][na2-5])((?:\+[A-F][SMCA])*)")


def _links(ways: Iterable[tuple[int, int]], spaces: int) -> dict[str, tuple[str, ...]]:
    """For every place, those `spaces` away in one of the directions."""
    reached = {
        place: [
            chr(ord(place[0]) + spaces * right) + str(int(place[1]) + spaces * up)
            for right, up in ways
        ]
        for place in PLACES
    }
    return {
        place: tuple(there for there in near if there in PLACES) for place, near in reached.items()
    }


STEPS = _links(_ORTHOGONAL + _DIAGONAL, 1)
JUMPS = _links(_ORTHOGONAL + _DIAGONAL, 2)
SLIDES = _links(_ORTHOGONAL, 1)


@dataclass(frozen=True, slots=True)
class Floe:
    """A tile on its place, with the pyramids on it in the order of the alphabet."""

    place: str
    tile: str
    pyramids: tuple[str, ...] = ()

    @property
    def weight(self) -> int:
        """The weight of all pyramids on it."""
        return sum(WEIGHTS[pyramid[0]] for pyramid in self.pyramids)

    def __str__(self) -> str:
        return "+".join((f"{self.place}={self.tile}", *self.pyramids))

    @classmethod
    def parse(cls, text: str) -> Floe:
        """Parse a floe such as `b3=S4` or `b3=S4+AC+ES`; raises InvalidNotation."""
        found = _FLOE.fullmatch(text)
        if not found:
            raise InvalidNotation(
                "expected a tile on its place with its pyramids such as 'b3=S4+AC+ES', got"
                f" {text!r}"
            )
        place, tile, pyramids = found.groups()
        return cls(place, tile, tuple(sorted(pyramids.split("+")[1:])))


@dataclass(frozen=True, slots=True)
class Board:
    """All tiles in play, by place; nothing is on the other places."""

    floes: tuple[Floe, ...]

    def at(self, place: str) -> Floe | None:
        """Floe on a place; None without one."""
        return next((floe for floe in self.floes if floe.place == place), None)

    def floe_of(self, tile: str | None) -> Floe | None:
        """Floe of a tile, None if it is out of the game."""
        return next((floe for floe in self.floes if floe.tile == tile), None)

    def floe_under(self, pyramid: str) -> Floe | None:
        """Floe under a pyramid; None if the pyramid is out of the game."""
        return next((floe for floe in self.floes if pyramid in floe.pyramids), None)

    @property
    def pyramids(self) -> tuple[str, ...]:
        """All pyramids in play."""
        return tuple(pyramid for floe in self.floes for pyramid in floe.pyramids)

    @property
    def empty(self) -> tuple[Floe, ...]:
        """Tiles without a pyramid."""
        return tuple(floe for floe in self.floes if not floe.pyramids)

    def without_tile(self, tile: str) -> Board:
        """The board without a tile and all that stands on it."""
        return Board(tuple(floe for floe in self.floes if floe.tile != tile))

    def with_pyramid(self, pyramid: str, place: str) -> Board:
        """Return the board with a pyramid on the tile of a place, wherever it was before."""

        def load(floe: Floe) -> Floe:
            if floe.place != place and pyramid not in floe.pyramids:
                return floe
            rest = tuple(other for other in floe.pyramids if other != pyramid)
            return replace(
                floe, pyramids=tuple(sorted((*rest, pyramid))) if floe.place == place else rest
            )

        return Board(tuple(load(floe) for floe in self.floes))

    def slid(self, origin: str, target: str) -> Board:
        """The board with the tile on `origin`, and every pyramid on it, on `target`."""
        moved = (
            replace(floe, place=target) if floe.place == origin else floe for floe in self.floes
        )
        return Board(tuple(sorted(moved, key=lambda floe: floe.place)))

    def __str__(self) -> str:
        return " ".join(map(str, self.floes))

    @classmethod
    def parse(cls, text: str) -> Board:
        """Parse floes with spaces between them, each place, tile and pyramid once.

        Raises InvalidNotation.
        """
        board = cls(tuple(sorted(map(Floe.parse, text.split(" ")), key=lambda floe: floe.place)))
        named = [
            *(floe.place for floe in board.floes),
            *(floe.tile for floe in board.floes),
            *board.pyramids,
        ]
        for name in named:
            if named.count(name) > 1:
                raise InvalidNotation(
                    f"expected each place, tile and pyramid once, got {name!r} {named.count(name)}"
                    " times"
                )
        return board


def starting_board(players: int) -> Board:
    """The tiles before the first pyramid is placed."""
    rows = zip("54321", _LAYOUT.split("\n")[1:], strict=False)
    floes = (
        Floe(f"{file}{rank}", tile)
        for rank, row in rows
        for file, tile in zip("abcde", row.split(), strict=True)
        if tile != "--"
    )
    left_out = CORNERS if players == 3 else ()
    return Board(
        tuple(
            sorted(
                (floe for floe in floes if floe.place not in left_out), key=lambda floe: floe.place
            )
        )
    )


def reachable_places(board: Board, pyramid: str, origin: str) -> frozenset[str]:
    """Places of the tiles that a pyramid on `origin` can reach, also those that sink under it.

    `origin` is included if it can come back. A move is a step, a jump, or two of them with at most
    one jump (printed rules, "Piece Movement"; ruling icefloe.4). A tile that sinks ends it (ruling
    icefloe.3).
    """
    weights = {floe.place: floe.weight for floe in board.floes}
    weights[origin] -= WEIGHTS[pyramid[0]]
    return _landing_places(origin, weights, WEIGHT_MOST - WEIGHTS[pyramid[0]])


def span(origin: str) -> frozenset[str]:
    """As `reachable_places`, with a tile that never sinks on every place."""
    return _landing_places(origin, dict.fromkeys(PLACES, 0), WEIGHT_MOST)


def _landing_places(origin: str, weights: Mapping[str, int], room: int) -> frozenset[str]:
    lands = set()
    for first, further in ((STEPS, (STEPS, JUMPS)), (JUMPS, (STEPS,))):
        for place in first[origin]:
            if place in weights:
                lands.add(place)
                if weights[place] <= room:
                    lands.update(
                        there for second in further for there in second[place] if there in weights
                    )
    return frozenset(lands)
