"""Moves of Ice Boule and their notation.

| move | says |
|---|---|
| `line 0,80 600,80` | the starting player marked the starting line, from (0, 80) to (600, 80) mm |
| `line marked` | the starting player marked the starting line; nobody told where it is |
| `target green` | the target was thrown and stood upright |
| `sizes blue=large yellow=medium` | the sizes that the players chose for this end |
| `size blue large` | the size that one player chose for this end |
| `throw yellow large 12.05: yellow 12.05 < blue 29.37` | a throw, where it came to rest, and how all pieces then lie |
| `throw yellow out: blue 29.37` | a throw that left the play area; nobody asks its size |
| `stop yellow` | the leader throws no more; `stop yellow: LAYOUT` settles distances that were too close to call |
| `void` | the target left the play area |

A throw carries the whole layout because it may knock other pieces: so the state follows from the
moves alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

from engines.errors import InvalidNotation
from engines.ice_boule.layout import Layout, Lie
from engines.move_notation import Notation, parse_colour
from table.messages import msg

OUT, MARKED = "out", "marked"
_SIZE = re.compile(r"[a-zA-Z][\w-]*")
_POINT = re.compile(r"(-?\d{1,5}(?:\.\d+)?),(-?\d{1,5}(?:\.\d+)?)")
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """The starting line, between two points in mm, kept to 0.1 mm."""

    from_mm: Point
    to_mm: Point

    def __str__(self) -> str:
        return f"line {line_text(self)}"


@dataclass(frozen=True, slots=True)
class LineMarked:
    """The starting line was marked, at a place that nobody told."""

    def __str__(self) -> str:
        return f"line {MARKED}"


@dataclass(frozen=True, slots=True)
class Target:
    """The target, a piece of a colour that is not in play, was thrown and stood upright."""

    colour: str

    def __str__(self) -> str:
        return f"target {self.colour}"


@dataclass(frozen=True, slots=True)
class Sizes:
    """What each player chose to throw in this end: (player, size)."""

    chosen: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "sizes " + " ".join(f"{player}={size}" for player, size in self.chosen)


@dataclass(frozen=True, slots=True)
class Size:
    """What one player chose to throw in this end."""

    player: str
    size: str

    def __str__(self) -> str:
        return f"size {self.player} {self.size}"


@dataclass(frozen=True, slots=True)
class Throw:
    """A throw at rest: `lie` of the projectile, and the layout of all pieces after it.

    `lie` is None if the projectile left the play area; its size is then not asked.
    """

    player: str
    size: str | None
    lie: Lie | None
    layout: Layout

    def __post_init__(self) -> None:
        if (self.size is None) != (self.lie is None):
            raise InvalidNotation(
                msg(
                    "expected a size for a piece in play and none for one that is out, got {raw}"
                    " for {raw2}",
                    raw=repr(self.size),
                    raw2=self.lie,
                )
            )
        if self.lie is not None and (
            self.lie.colour != self.player or self.lie not in self.layout.lies
        ):
            raise InvalidNotation(
                msg(
                    "expected the thrown piece '{raw}' among the pieces, got '{raw2}'",
                    raw=f"{self.player} {self.lie.distance}",
                    raw2=self.layout,
                )
            )

    @property
    def distance(self) -> str:
        """Where the projectile ended: mm, `touching`, `on` or `out`."""
        return self.lie.distance if self.lie else OUT

    def __str__(self) -> str:
        size = f"{self.size} " if self.size else ""
        return f"throw {self.player} {size}{self.distance}: {self.layout}"


@dataclass(frozen=True, slots=True)
class Stop:
    """The leader, alone with pieces left, stops throwing.

    `layout` is given where it settles what was too close to call.
    """

    player: str
    layout: Layout | None = None

    def __str__(self) -> str:
        return f"stop {self.player}" + (f": {self.layout}" if self.layout else "")


@dataclass(frozen=True, slots=True)
class Void:
    """The target left the play area."""

    def __str__(self) -> str:
        return "void"


Move = Line | LineMarked | Target | Sizes | Size | Throw | Stop | Void


def parse_move(text: str) -> Move:
    """The move that a line of notation says; raises InvalidNotation, which quotes the text."""
    return _NOTATION.parse(text)


def line_text(line: Line) -> str:
    """`0,80 600,80`: how a line is written in moves and states."""
    return " ".join(f"{x:g},{y:g}" for x, y in (line.from_mm, line.to_mm))


def parse_line(text: str) -> Line:
    """The line in `0,80 600,80`; raises InvalidNotation."""
    from_mm, _, to_mm = text.partition(" ")
    return Line(_point(from_mm), _point(to_mm))


def _point(text: str) -> Point:
    found = _POINT.fullmatch(text)
    if not found:
        raise InvalidNotation(
            msg("expected a point in mm such as '600,80', got {raw}", raw=repr(text))
        )
    return round(float(found[1]), 1) + 0.0, round(float(found[2]), 1) + 0.0


def parse_size(text: str) -> str:
    """The text, if it may name a size, such as `large`; raises InvalidNotation.

    Which sizes exist is not checked here.
    """
    if not _SIZE.fullmatch(text) or text == OUT:
        raise InvalidNotation(msg("expected a size such as 'large', got {raw}", raw=repr(text)))
    return text


def _chosen(text: str) -> tuple[tuple[str, str], ...]:
    pairs = [word.partition("=") for word in text.split(" ")]
    return tuple((parse_colour(player), parse_size(size)) for player, _, size in pairs)


def _parse_throw_lie(player: str, size: str, distance: str, layout: Layout) -> Throw:
    return Throw(player, size, Lie.parse(f"{player} {distance}"), layout)


_NOTATION: Notation[Move] = Notation(
    "'target green', 'throw blue large 57.52: blue 57.52', 'stop blue' or 'void'",
    {
        f"line {MARKED}": LineMarked,
        "line {from_mm} {to_mm}": Line,
        "target {colour}": Target,
        "sizes {chosen}": Sizes,
        "size {player} {size}": Size,
        f"throw {{player}} {OUT}: {{layout}}": partial(Throw, size=None, lie=None),
        "throw {player} {size} {distance}: {layout}": _parse_throw_lie,
        "stop {player}: {layout}": Stop,
        "stop {player}": Stop,
        "void": Void,
    },
    {
        "from_mm": _point,
        "to_mm": _point,
        "colour": parse_colour,
        "player": parse_colour,
        "chosen": _chosen,
        "size": parse_size,
        "distance": str,
        "layout": Layout.parse,
    },
)
