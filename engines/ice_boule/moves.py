"""Moves of Ice Boule and their notation.

| move | says |
|---|---|
| `line 0,80 600,80` | the starting player marked the starting line, from (0, 80) to (600, 80) mm |
| `target green` | the target was thrown and stood upright |
| `sizes blue=large yellow=medium` | the sizes that the players chose for this end |
| `throw yellow large 12.05: yellow 12.05 < blue 29.37` | a throw, where it came to rest, and how all pieces then lie |
| `throw yellow out: blue 29.37` | a throw that left the play area; nobody asks its size |
| `stop yellow` | the leader throws no more; `stop yellow: LAYOUT` settles distances that were too close to call |
| `void` | the target left the play area |

A throw carries the whole layout because it may knock other pieces: so the state follows from the moves alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from engines.errors import InvalidNotation
from engines.ice_boule.layout import Layout, Lie
from table.pieces import COLOURS

OUT = "out"
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
class Target:
    """The target, a piece of a colour that nobody plays, was thrown and stood upright."""

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
class Throw:
    """A throw at rest: `lie` of the projectile (None: it left the play area, and its size is not asked), then all pieces."""

    player: str
    size: str | None
    lie: Lie | None
    layout: Layout

    def __post_init__(self) -> None:
        if (self.size is None) != (self.lie is None):
            raise InvalidNotation(f"expected a size for a piece in play and none for one that is out, got {self.size!r} for {self.lie}")
        if self.lie is not None and (self.lie.colour != self.player or self.lie not in self.layout.lies):
            raise InvalidNotation(f"expected the thrown piece '{self.player} {self.lie.distance}' among the pieces, got '{self.layout}'")

    @property
    def distance(self) -> str:
        """Where the projectile ended: mm, `touching`, `on` or `out`."""
        return self.lie.distance if self.lie else OUT

    def __str__(self) -> str:
        size = f"{self.size} " if self.size else ""
        return f"throw {self.player} {size}{self.distance}: {self.layout}"


@dataclass(frozen=True, slots=True)
class Stop:
    """The leader, alone with pieces left, throws no more; `layout` where it settles what was too close to call."""

    player: str
    layout: Layout | None = None

    def __str__(self) -> str:
        return f"stop {self.player}" + (f": {self.layout}" if self.layout else "")


@dataclass(frozen=True, slots=True)
class Void:
    """The target left the play area."""

    def __str__(self) -> str:
        return "void"


Move = Line | Target | Sizes | Throw | Stop | Void


def parse_move(text: str) -> Move:
    """The move that a line of notation says; raises InvalidNotation, which quotes the text."""
    words = " ".join(text.split())
    kind, _, rest = words.partition(" ")
    if kind not in _KINDS:
        raise InvalidNotation(f"expected a move such as {_EXAMPLES}, got {text!r}")
    try:
        return _KINDS[kind](rest)
    except InvalidNotation as error:
        raise InvalidNotation(f"{error}; in the move {text!r}") from None


def line_text(line: Line) -> str:
    """`0,80 600,80`: how a line is written in moves and states."""
    return " ".join(f"{x:g},{y:g}" for x, y in (line.from_mm, line.to_mm))


def parse_line(text: str) -> Line:
    """The line in `0,80 600,80`; raises InvalidNotation."""
    points = [_POINT.fullmatch(word) for word in text.split(" ")]
    if len(points) != 2 or not (points[0] and points[1]):
        raise InvalidNotation(f"expected two points in mm such as '0,80 600,80', got {text!r}")
    (x0, y0), (x1, y1) = (tuple(round(float(number), 1) + 0.0 for number in point.groups()) for point in points if point)
    return Line((x0, y0), (x1, y1))


def parse_size(text: str) -> str:
    """A size by its name, such as `large`; which names there are is the set's matter.  Raises InvalidNotation."""
    if not _SIZE.fullmatch(text) or text == OUT:
        raise InvalidNotation(f"expected a size such as 'large', got {text!r}")
    return text


def _colour(text: str) -> str:
    if text not in COLOURS:
        raise InvalidNotation(f"expected a colour ({', '.join(COLOURS)}), got {text!r}")
    return text


def _target(rest: str) -> Target:
    return Target(_colour(rest))


def _sizes(rest: str) -> Sizes:
    pairs = [word.partition("=") for word in rest.split(" ")]
    return Sizes(tuple((_colour(player), parse_size(size)) for player, _, size in pairs))


def _throw(rest: str) -> Throw:
    head, colon, layout = rest.partition(":")
    words = head.split(" ")
    if not colon or len(words) not in (2, 3) or (len(words) == 2) != (words[-1] == OUT):
        raise InvalidNotation(f"expected 'PLAYER SIZE DISTANCE: PIECES' or 'PLAYER out: PIECES' after 'throw', got {rest!r}")
    player = _colour(words[0])
    if len(words) == 2:
        return Throw(player, None, None, Layout.parse(layout.strip()))
    return Throw(player, parse_size(words[1]), Lie.parse(f"{player} {words[2]}"), Layout.parse(layout.strip()))


def _stop(rest: str) -> Stop:
    player, colon, layout = rest.partition(":")
    return Stop(_colour(player), Layout.parse(layout.strip()) if colon else None)


def _void(rest: str) -> Void:
    if rest:
        raise InvalidNotation(f"expected nothing after 'void', got {rest!r}")
    return Void()


_KINDS: dict[str, Callable[[str], Move]] = {
    "line": parse_line,
    "target": _target,
    "sizes": _sizes,
    "throw": _throw,
    "stop": _stop,
    "void": _void,
}
_EXAMPLES = "'target green', 'throw blue large 57.52: blue 57.52', 'stop blue' or 'void'"
