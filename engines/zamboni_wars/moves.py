"""Moves of Zamboni Wars and their notation.

| move | says |
|---|---|
| `roll 5` | the player's die for movement shows 5; before play, with cover dice, it is the player's roll in the roll-off |
| `c6 E` | the Zamboni ends its move on c6 and looks east; cover dice lie where they lay |
| `c6 E dice b4 e2` | so too, and cover dice were pushed: now they lie on b4 and e2 |
| `fire red` | the laser is fired at red; a Zamboni with one layer left is hit at once, others by the die |
| `hold` | the laser is not fired |
| `die 4` | the die for the shot shows 4 |

A move on the board is told by how it ends, as that is what can be seen and all that matters afterwards: the way there is
not part of it.  Cover dice are alike; all of them are named, and only when one of them ends where none lay before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from engines.errors import InvalidNotation
from engines.zamboni_wars.board import FACINGS, Space
from table.pieces import COLOURS

_DICE = "dice"


@dataclass(frozen=True, slots=True)
class _Pips:
    """What a six-sided die shows."""

    pips: int

    def __post_init__(self) -> None:
        if self.pips not in range(1, 7):
            raise InvalidNotation(f"expected a die of 1 to 6, got {self.pips!r}")


@dataclass(frozen=True, slots=True)
class Roll(_Pips):
    """A die for movement."""

    def __str__(self) -> str:
        return f"roll {self.pips}"


@dataclass(frozen=True, slots=True)
class Drive:
    """Where a Zamboni ends its move and how it looks; `dice`, in order, where the cover dice lie if any was pushed."""

    space: Space
    facing: str
    dice: tuple[Space, ...] = ()

    def __str__(self) -> str:
        return " ".join(map(str, (self.space, self.facing, *((_DICE, *self.dice) if self.dice else ()))))


@dataclass(frozen=True, slots=True)
class Fire:
    """The laser is fired at the Zamboni of a colour."""

    colour: str

    def __str__(self) -> str:
        return f"fire {self.colour}"


@dataclass(frozen=True, slots=True)
class Hold:
    """The laser is not fired."""

    def __str__(self) -> str:
        return "hold"


@dataclass(frozen=True, slots=True)
class Die(_Pips):
    """A die for a shot."""

    def __str__(self) -> str:
        return f"die {self.pips}"


Move = Roll | Drive | Fire | Hold | Die


def parse_move(text: str) -> Move:
    """The move that a line of notation says; raises InvalidNotation, which quotes the text."""
    first, *rest = text.split() or [""]
    if first not in _KINDS and not re.fullmatch(r"[a-zA-Z]\d+", first):
        raise InvalidNotation(f"expected a move such as {_EXAMPLES}, got {text!r}")
    try:
        return _KINDS[first](rest) if first in _KINDS else _drive(first, rest)
    except InvalidNotation as error:
        raise InvalidNotation(f"{error}; in the move {text!r}") from None


def parse_facing(text: str) -> str:
    """A compass point such as `NE`; raises InvalidNotation."""
    if text not in FACINGS:
        raise InvalidNotation(f"expected a facing ({', '.join(FACINGS)}), got {text!r}")
    return text


def parse_pips(text: str) -> int:
    """What a six-sided die shows; raises InvalidNotation."""
    if not re.fullmatch("[1-6]", text):
        raise InvalidNotation(f"expected a die of 1 to 6, got {text!r}")
    return int(text)


def _drive(space: str, rest: list[str]) -> Drive:
    if len(rest) == 2 or rest[1:2] not in ([], [_DICE]):
        raise InvalidNotation(f"expected 'SPACE FACING' or 'SPACE FACING dice SPACES', got {' '.join([space, *rest])!r}")
    dice = tuple(Space.parse(word) for word in rest[2:])
    if len(set(dice)) < len(dice):
        raise InvalidNotation(f"expected dice on different spaces, got {' '.join(rest[2:])!r}")
    return Drive(Space.parse(space), parse_facing("".join(rest[:1])), tuple(sorted(dice)))


def _roll(rest: list[str]) -> Roll:
    return Roll(parse_pips(" ".join(rest)))


def _fire(rest: list[str]) -> Fire:
    colour = " ".join(rest)
    if colour not in COLOURS:
        raise InvalidNotation(f"expected a colour ({', '.join(COLOURS)}), got {colour!r}")
    return Fire(colour)


def _hold(rest: list[str]) -> Hold:
    if rest:
        raise InvalidNotation(f"expected nothing after 'hold', got {' '.join(rest)!r}")
    return Hold()


def _die(rest: list[str]) -> Die:
    return Die(parse_pips(" ".join(rest)))


_KINDS: dict[str, Callable[[list[str]], Move]] = {"roll": _roll, "fire": _fire, "hold": _hold, "die": _die}
_EXAMPLES = "'roll 5', 'c6 E', 'fire red', 'hold' or 'die 4'"
