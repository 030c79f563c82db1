"""Moves of Ice Storm and their notation; how places are written is told in `place`.

| move | says |
|---|---|
| `throw red c4-c5>c5` | red's throw came to rest on c4 and c5, its tip in c5, and moved nothing |
| `throw red c4^: green2 d4-d5>d5, black1 off` | it stands on c4; it moved green2 and knocked black1 off the board, or partly off |
| `throw red off` | it came to rest off the board, or partly off: wasted |
| `throw red leaning` | it leans on another piece or lies on one: it is thrown again |
| `capture black2` | the player whose turn it is fires and takes black2 |
| `capture black`, `capture black b4` | the same, where only one black piece, or one that touches b4, can be taken |
| `settle black2 b3-b4>b4` | the players decided how black2 lies, which was too close to call |

A throw names every piece that lies otherwise than before, also what the same player's throws that had to be repeated
moved: so the state follows from the moves alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from engines.errors import InvalidNotation
from engines.ice_storm.place import Place, parse_name
from engines.ice_storm.squares import Square
from table.pieces import COLOURS

OFF = "off"
LEANING = "leaning"


@dataclass(frozen=True, slots=True)
class Change:
    """A piece that a throw moved, by its name, and where it ended; None: off the board or partly off."""

    name: str
    place: Place | None

    def __str__(self) -> str:
        return f"{self.name} {self.place or OFF}"


@dataclass(frozen=True, slots=True)
class Throw:
    """A throw at rest: `place` of the thrown piece, None where it is off the board, or `leaning`; then what it moved."""

    player: str
    place: Place | None
    changes: tuple[Change, ...] = ()
    leaning: bool = False

    def __post_init__(self) -> None:
        names = [change.name for change in self.changes]
        if len(set(names)) < len(names):
            raise InvalidNotation(f"expected each moved piece once, got {', '.join(names)!r}")
        if self.leaning and self.place:
            raise InvalidNotation(f"expected no place for a piece that is thrown again, got '{self.place}'")

    def __str__(self) -> str:
        moved = f": {', '.join(map(str, self.changes))}" if self.changes else ""
        return f"throw {self.player} {LEANING if self.leaning else self.place or OFF}{moved}"


@dataclass(frozen=True, slots=True)
class Capture:
    """The player whose turn it is takes a piece: of a colour, with a number, or touching a square; None: not said."""

    colour: str
    number: int | None = None
    square: Square | None = None

    def __str__(self) -> str:
        return f"capture {self.colour}{self.number or ''}" + (f" {self.square}" if self.square else "")


@dataclass(frozen=True, slots=True)
class Settle:
    """The players decided how a piece lies (ruling ice_storm.2)."""

    name: str
    place: Place

    def __str__(self) -> str:
        return f"settle {self.name} {self.place}"


Move = Throw | Capture | Settle


def parse_move(text: str) -> Move:
    """The move that a line of notation says; raises InvalidNotation, which quotes the text."""
    kind, _, rest = " ".join(text.split()).partition(" ")
    if kind not in _KINDS:
        raise InvalidNotation(f"expected a move such as 'throw red c4-c5>c5', 'capture black2' or 'settle black2 b3', got {text!r}")
    try:
        return _KINDS[kind](rest)
    except InvalidNotation as error:
        raise InvalidNotation(f"{error}; in the move {text!r}") from None


def _throw(rest: str) -> Throw:
    head, colon, moved = rest.partition(":")
    player, _, place = head.strip().partition(" ")
    if player not in COLOURS:
        raise InvalidNotation(f"expected a colour ({', '.join(COLOURS)}), got {player!r}")
    changes = tuple(_change(word.strip()) for word in moved.split(",")) if colon else ()
    leaning = place == LEANING
    return Throw(player, None if leaning else _place(place), changes, leaning)


def _change(text: str) -> Change:
    name, _, place = text.partition(" ")
    parse_name(name)
    return Change(name, _place(place))


def _place(text: str) -> Place | None:
    return None if text == OFF else Place.parse(text)


def _capture(rest: str) -> Capture:
    found = re.fullmatch(r"([a-z]+)([1-9])?(?: (\w+))?", rest)
    if not found or found[1] not in COLOURS:
        raise InvalidNotation(f"expected a piece such as 'red2', 'red' or 'red b4' after 'capture', got {rest!r}")
    return Capture(found[1], int(found[2]) if found[2] else None, Square.parse(found[3]) if found[3] else None)


def _settle(rest: str) -> Settle:
    name, _, place = rest.partition(" ")
    parse_name(name)
    return Settle(name, Place.parse(place))


_KINDS: dict[str, Callable[[str], Move]] = {"throw": _throw, "capture": _capture, "settle": _settle}
