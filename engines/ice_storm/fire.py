"""Lines of fire, and who may shoot whom (printed rules, "Attack"; rulings ice_storm.2 to .5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from engines.ice_storm.place import Piece, Reading, readings
from engines.ice_storm.squares import Square
from table.messages import Message, any_of, msg

WAYS = {
    (0, 1): "north",
    (1, 1): "northeast",
    (1, 0): "east",
    (1, -1): "southeast",
    (0, -1): "south",
    (-1, -1): "southwest",
    (-1, 0): "west",
    (-1, 1): "northwest",
}
"""The eight directions as steps in files and ranks; north is up the ranks."""
HOME = "at home"
"""`way` of a centre piece's own square, into which it may fire too."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of fire to the edge of the board: the `way`, and its squares in order."""

    way: str
    squares: tuple[Square, ...]

    @property
    def message(self) -> Message:
        """The line in words: `north on b3-b8`, `at home on b3`."""
        ends = "-".join(map(str, dict.fromkeys((self.squares[0], self.squares[-1]))))
        if self.way == HOME:
            return msg("into its own square {cell}", cell=ends)
        return msg("{way} on {cell}", way=self.way, cell=ends)

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class Shot:
    """A shot: `shooter` may shoot `target` along a line.

    `hangs_on` are sentences about the touches, too close to call, that it depends on.
    """

    shooter: str
    target: str
    line: Line
    hangs_on: tuple[str, ...] = ()

    @property
    def certain(self) -> bool:
        """True if it depends on nothing that is too close to call."""
        return not self.hangs_on

    def __str__(self) -> str:
        return f"{self.shooter} {self.line}: {self.target}" + (
            f" if {' and '.join(self.hangs_on)}" if self.hangs_on else ""
        )


@lru_cache(maxsize=4096)
def lines(reading: Reading) -> tuple[Line, ...]:
    """Return the lines of fire of a piece with this place.

    One square: its own and all eight ways. Two: from the square of the tip on, away from the other.
    Three or four: diagonally away from their common corner, from the square of the tip on. Upright:
    as if the tip were in each.
    """
    if len(reading.squares) == 1:
        (home,) = reading.squares
        ahead = ((way, home.step(east, north), east, north) for (east, north), way in WAYS.items())
        return (
            Line(HOME, (home,)),
            *(
                Line(way, tuple(_run(first, east, north)))
                for way, first, east, north in ahead
                if first
            ),
        )
    # Twice the middle of the squares, which is the middle of an edge or the corner: so that it
    # is an integer.
    files, ranks = ({square[axis] for square in reading.squares} for axis in (0, 1))
    middle = (min(files) + max(files), min(ranks) + max(ranks))
    found = []
    for square in sorted(reading.fires_from):
        east, north = 2 * square.file - middle[0], 2 * square.rank - middle[1]
        found.append(Line(WAYS[east, north], tuple(_run(square, east, north))))
    return tuple(found)


@lru_cache(maxsize=4096)
def squares_under_fire(reading: Reading) -> frozenset[Square]:
    """All squares that a piece with this place may fire into."""
    return frozenset(square for line in lines(reading) for square in line.squares)


def lines_of_fire(piece: Piece) -> tuple[Line, ...]:
    """All lines of fire that a piece may have, in any of its possible places."""
    return tuple(
        dict.fromkeys(line for reading in readings(piece.place) for line in lines(reading))
    )


@lru_cache(maxsize=256)
def captures(pieces: tuple[Piece, ...], player: str, stops: bool = False) -> Mapping[Piece, bool]:
    """Return the enemy pieces that `player` can capture, and whether that is certain.

    It is certain if some piece hits the target in every possible combination of places. Two
    doubtful shots may so make one certain capture. With `stops`, a line of fire ends at the first
    square with another piece. Then every capture called certain is certain, but not every certain
    capture is found.
    """
    if stops:
        return _first_hit(pieces, player)
    own = [
        [squares_under_fire(reading) for reading in readings(piece.place)]
        for piece in pieces
        if piece.colour == player
    ]
    found = {}
    for target in pieces:
        if target.colour == player:
            continue
        possible, certain = False, True
        for lies in readings(target.place):
            hits = [
                [not squares.isdisjoint(lies.squares) for squares in shooter] for shooter in own
            ]
            possible = possible or any(map(any, hits))
            certain = certain and any(map(all, hits))
        if possible:
            found[target] = certain
    return MappingProxyType(found)


def shots(pieces: Sequence[Piece], player: str, stops: bool = False) -> tuple[Shot, ...]:
    """Return every possible shot of a player's pieces, by shooter, target and line.

    `stops` as in `captures`.
    """
    own = [piece for piece in pieces if piece.colour == player]
    enemies = [piece for piece in pieces if piece.colour != player]
    among = pieces if stops else ()
    return tuple(
        shot for shooter in own for target in enemies for shot in _shots(shooter, target, among)
    )


def _first_hit(pieces: tuple[Piece, ...], player: str) -> Mapping[Piece, bool]:
    """As `captures`, with lines of fire that end at the first square with another piece."""
    own = [
        (piece, [lines(reading) for reading in readings(piece.place)])
        for piece in pieces
        if piece.colour == player
    ]
    found = {}
    for target in (piece for piece in pieces if piece.colour != player):
        possible, certain = False, True
        for lies in readings(target.place):
            free, sure = False, False
            for shooter, aimed in own:
                others = _between(pieces, shooter, target)
                ways = [[_way_to(line, lies, others) for line in each] for each in aimed]
                free = free or any(way in ("free", "in doubt") for each in ways for way in each)
                sure = sure or all("free" in each for each in ways)
            possible, certain = possible or free, certain and sure
        if possible:
            found[target] = certain
    return MappingProxyType(found)


def reach(line: Line, among: Sequence[Piece]) -> Line:
    """Return a line of fire up to the first square that one of these pieces surely touches."""
    stops = (
        at
        for at, square in enumerate(line.squares, 1)
        if any(_stops(piece, (square,)) for piece in among)
    )
    return Line(line.way, line.squares[: next(stops, len(line.squares))])


def _between(pieces: Sequence[Piece], shooter: Piece, target: Piece) -> list[Piece]:
    """Pieces that may block a shot of one at another."""
    return [piece for piece in pieces if piece not in (shooter, target)]


def _way_to(
    line: Line, lies: Reading, others: Sequence[Piece]
) -> Literal["free", "in doubt", "stopped", "misses"]:
    """True if a line of fire reaches a piece with this place, and no other piece blocks it."""
    at = next((at for at, square in enumerate(line.squares) if square in lies.squares), None)
    if at is None:
        return "misses"
    stops = [_stops(piece, line.squares[:at]) for piece in others]
    return "stopped" if True in stops else "in doubt" if None in stops else "free"


def _stops(piece: Piece, squares: Sequence[Square]) -> bool | None:
    """True if a piece touches any of these squares; None: too close to call."""
    touched = {not lies.squares.isdisjoint(squares) for lies in readings(piece.place)}
    return touched.pop() if len(touched) == 1 else None


def _shots(shooter: Piece, target: Piece, among: Sequence[Piece]) -> Iterator[Shot]:
    """Return shots of one piece at another, which any piece `among` others may block.

    Lines that differ only in their beginning, by the shooter's place, count as one.
    """
    others = _between(among, shooter, target)
    rays = [
        {(line.way, line.squares[-1]): line for line in lines(reading)}
        for reading in readings(shooter.place)
    ]
    for ray in dict.fromkeys(ray for each in rays for ray in each):
        aimed = [each.get(ray) for each in rays]
        ways = [
            [_way_to(line, lies, others) if line else "misses" for lies in readings(target.place)]
            for line in aimed
        ]
        hits = [[way in ("free", "in doubt") for way in each] for each in ways]
        if not any(map(any, hits)):
            continue
        line = reach(
            max(filter(None, aimed), key=lambda line: len(line.squares)),
            [piece for piece in among if piece != shooter],
        )
        hangs_on = []
        if any(hit != hits[0] for hit in hits):
            hangs_on.append(
                msg(
                    "{piece} ({cell}) fires {lines}",
                    piece=shooter.name,
                    cell=shooter.place,
                    lines=line.message,
                )
            )
        if any(any(hit) and not all(hit) for hit in hits):
            touched = [square for square in line.squares if square in target.place.doubtful]
            hangs_on.append(
                msg("{piece} touches {cells}", piece=target.name, cells=any_of(touched, "cell"))
            )
        if any("in doubt" in each for each in ways):
            hangs_on += [
                msg("{piece} is in the way", piece=piece.name)
                for piece in others
                if _stops(piece, line.squares) is None
            ]
        yield Shot(shooter.name, target.name, line, tuple(hangs_on))


def _run(square: Square | None, east: int, north: int) -> Iterator[Square]:
    """Squares from this one on to the edge of the board."""
    while square:
        yield square
        square = square.step(east, north)
