"""Moves of Ice Storm and their notation; `place` describes how places are written.

| move | says |
|---|---|
| `throw red c4-c5>c5` | red's throw came to rest on c4 and c5, its tip in c5, and moved nothing |
| `throw red c4^: green2 d4-d5>d5, black1 off` | it stands on c4; it moved green2 and knocked black1 off the board, or partly off |
| `throw red off` | it came to rest off the board, or partly off: wasted |
| `throw red leaning` | it leans on another piece or lies on one: it is thrown again |
| `throw red low` | the hand was too low: it is thrown again |
| `throw red size` | the piece is of another size than the game's: another one is thrown |
| `void red: green2 d4-d5>d5, black1 off` | a throw of red's did not count; what it moved or knocked off stays so |
| `moved red: green2 d4-d5>d5` | red's throw, which was ruled before that was seen, moved green2 too |
| `low red` | red's hand was too low: the throw just ruled, or the one just made and not ruled yet, is void |
| `capture black2` | the player whose turn it is fires and takes black2 |
| `capture black`, `capture black b4` | the same, where only one black piece, or one that touches b4, can be taken |
| `pass red` | red could fire and does not |
| `settle black2 b3-b4>b4` | the players decided how black2 lies, which was too close to call |

A throw names every piece that lies otherwise than the state says: so the state follows from the
moves alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from engines.errors import InvalidNotation
from engines.ice_storm.place import Place, parse_name
from engines.ice_storm.squares import Square
from engines.move_notation import Notation, parse_colour
from table.pieces import COLOURS

OFF, LEANING, LOW, OTHER_SIZE = "off", "leaning", "low", "size"


@dataclass(frozen=True, slots=True)
class Change:
    """A piece that a throw moved, by its name, and where it ended.

    `place` None: off the board or partly off.
    """

    name: str
    place: Place | None

    def __str__(self) -> str:
        return f"{self.name} {self.place or OFF}"


@dataclass(frozen=True, slots=True)
class Throw:
    """A throw at rest: `place` of the thrown piece, and the `changes` that it made.

    `place` is None where the piece is off the board. `again` says why the throw has to be repeated:
    `leaning`, `low` or `size`; empty where it does not.
    """

    player: str
    place: Place | None
    changes: tuple[Change, ...] = ()
    again: str = ""

    def __post_init__(self) -> None:
        _check_changes(self.changes)
        if self.again and self.place:
            raise InvalidNotation(
                f"expected no place for a piece that is thrown again, got '{self.place}'"
            )

    def __str__(self) -> str:
        return (
            f"throw {self.player} {self.again or self.place or OFF}{_changes_suffix(self.changes)}"
        )


@dataclass(frozen=True, slots=True)
class Void:
    """A throw that did not count is picked up; what it moved stays.

    See rulings ice_storm.8, ice_storm.12 and ice_storm.13.
    """

    player: str
    changes: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        _check_changes(self.changes)

    def __str__(self) -> str:
        return f"void {self.player}{_changes_suffix(self.changes)}"


@dataclass(frozen=True, slots=True)
class Moved:
    """What the throw ruled on last moved besides.

    It was said to be off the board before the board was seen.
    """

    player: str
    changes: tuple[Change, ...]

    def __post_init__(self) -> None:
        _check_changes(self.changes)

    def __str__(self) -> str:
        return f"moved {self.player}{_changes_suffix(self.changes)}"


@dataclass(frozen=True, slots=True)
class Low:
    """A hand was lower than 6 inches: the player's last throw is void (ruling ice_storm.12)."""

    player: str

    def __str__(self) -> str:
        return f"low {self.player}"


@dataclass(frozen=True, slots=True)
class Pass:
    """The player whose turn it is to fire does not.

    Legal where the players agreed that they may pass (ruling ice_storm.10).
    """

    player: str

    def __str__(self) -> str:
        return f"pass {self.player}"


@dataclass(frozen=True, slots=True)
class Capture:
    """The player whose turn it is takes a piece.

    It is of a colour, with a number, or touching a square; None: not given.
    """

    colour: str
    number: int | None = None
    square: Square | None = None

    def __str__(self) -> str:
        return f"capture {self.colour}{self.number or ''}" + (
            f" {self.square}" if self.square else ""
        )


@dataclass(frozen=True, slots=True)
class Settle:
    """The players decided how a piece lies (ruling ice_storm.2)."""

    name: str
    place: Place

    def __str__(self) -> str:
        return f"settle {self.name} {self.place}"


Move = Throw | Void | Moved | Low | Capture | Pass | Settle


def parse_move(text: str) -> Move:
    """The move that a line of notation says; raises InvalidNotation, which quotes the text."""
    return _NOTATION.parse(text)


def _check_changes(changes: tuple[Change, ...]) -> None:
    names = [change.name for change in changes]
    if len(set(names)) < len(names):
        raise InvalidNotation(f"expected each moved piece once, got {', '.join(names)!r}")


def _changes_suffix(changes: tuple[Change, ...]) -> str:
    return f": {', '.join(map(str, changes))}" if changes else ""


def _place(text: str) -> Place | None:
    return None if text == OFF else Place.parse(text)


def _name(text: str) -> str:
    parse_name(text)
    return text


def _changes(text: str) -> tuple[Change, ...]:
    moved = [part.strip().partition(" ") for part in text.split(",")]
    return tuple(Change(_name(name), _place(place)) for name, _, place in moved)


def _capture(target: str, square: Square | None = None) -> Capture:
    return (
        Capture(target, None, square) if target in COLOURS else Capture(*parse_name(target), square)
    )


def _settle(name: str, place: Place | None) -> Settle:
    if place is None:
        raise InvalidNotation(f"expected a place on the board for {name}, got {OFF!r}")
    return Settle(name, place)


_NOTATION: Notation[Move] = Notation(
    "'throw red c4-c5>c5', 'capture black2' or 'settle black2 b3'",
    {
        f"throw {{player}} {OTHER_SIZE}: {{changes}}": partial(Throw, place=None, again=OTHER_SIZE),
        f"throw {{player}} {OTHER_SIZE}": partial(Throw, place=None, again=OTHER_SIZE),
        f"throw {{player}} {LEANING}: {{changes}}": partial(Throw, place=None, again=LEANING),
        f"throw {{player}} {LEANING}": partial(Throw, place=None, again=LEANING),
        f"throw {{player}} {LOW}": partial(Throw, place=None, again=LOW),
        "throw {player} {place}: {changes}": Throw,
        "throw {player} {place}": Throw,
        "void {player}: {changes}": Void,
        "void {player}": Void,
        "moved {player}: {changes}": Moved,
        "low {player}": Low,
        "pass {player}": Pass,
        "capture {target} {square}": _capture,
        "capture {target}": _capture,
        "settle {name} {place}": _settle,
    },
    {
        "player": parse_colour,
        "place": _place,
        "changes": _changes,
        "target": str,
        "square": Square.parse,
        "name": _name,
    },
)
