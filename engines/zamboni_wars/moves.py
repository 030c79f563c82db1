"""Moves of Zamboni Wars and their notation.

| move | says |
|---|---|
| `roll 5` | the player's die for movement shows 5; before play, with cover dice, it is the player's roll in the roll-off |
| `c6 E` | the Zamboni ends its move on c6 and looks east; cover dice lie where they lay |
| `c6 E dice b4 e2` | so too, and cover dice were pushed: now they lie on b4 and e2 |
| `fire red` | the laser is fired at red; a Zamboni with one layer left is hit without a die |
| `hold` | the laser is not fired |
| `die 4` | the die for the shot shows 4 |
| `take red` | the outermost piece of red's nest, which was hit, is taken off the board |
| `early red 6` | red's die shows 6 before the end of the move at hand was seen; it counts as soon as that is |

A move on the board is told by how it ends, as that is what can be seen and all that matters
afterwards: the way there is not part of it.  Cover dice are alike; all of them are named, and only
when one of them ends where none lay before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engines.errors import InvalidNotation
from engines.move_notation import Notation, parse_colour
from engines.zamboni_wars.board import FACINGS, Space
from table.messages import msg


def no_die(got: object) -> InvalidNotation:
    """The exception for something that no six-sided die shows."""
    return InvalidNotation(msg("expected a die of 1 to 6, got {raw}", raw=repr(got)))


@dataclass(frozen=True, slots=True)
class _Pips:
    """What a six-sided die shows."""

    pips: int

    def __post_init__(self) -> None:
        if self.pips not in range(1, 7):
            raise no_die(self.pips)


@dataclass(frozen=True, slots=True)
class Roll(_Pips):
    """A die for movement."""

    def __str__(self) -> str:
        return f"roll {self.pips}"


@dataclass(frozen=True, slots=True)
class Drive:
    """Where a Zamboni ends its move and how it faces.

    `dice`, in order, are the spaces of the cover dice if any was pushed.
    """

    space: Space
    facing: str
    dice: tuple[Space, ...] = ()

    def __str__(self) -> str:
        pushed = f" dice {' '.join(map(str, self.dice))}" if self.dice else ""
        return f"{self.space} {self.facing}{pushed}"


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


@dataclass(frozen=True, slots=True)
class Take:
    """The outermost piece of a nest is taken off the board."""

    colour: str

    def __str__(self) -> str:
        return f"take {self.colour}"


@dataclass(frozen=True, slots=True)
class EarlyRoll:
    """A player's die that was announced before the end of the current move was seen.

    It counts as soon as that end is seen.
    """

    colour: str
    pips: int

    def __str__(self) -> str:
        return f"early {self.colour} {self.pips}"


Move = Roll | Drive | Fire | Hold | Die | Take | EarlyRoll


def parse_move(text: str) -> Move:
    """The move that a line of notation says; raises InvalidNotation, which quotes the text."""
    return _NOTATION.parse(text)


def parse_facing(text: str) -> str:
    """A compass point such as `NE`; raises InvalidNotation."""
    if text not in FACINGS:
        raise InvalidNotation(
            msg("expected a facing ({raw}), got {raw2}", raw=", ".join(FACINGS), raw2=repr(text))
        )
    return text


def parse_pips(text: str) -> int:
    """Parse what a six-sided die shows; raises InvalidNotation."""
    if not re.fullmatch("[1-6]", text):
        raise no_die(text)
    return int(text)


def _dice(text: str) -> tuple[Space, ...]:
    """Spaces of cover dice, in their own order."""
    dice = tuple(sorted(map(Space.parse, text.split(" "))))
    if len(set(dice)) < len(dice):
        raise InvalidNotation(msg("expected dice on different spaces, got {raw}", raw=repr(text)))
    return dice


_NOTATION: Notation[Move] = Notation(
    "'roll 5', 'c6 E', 'fire red', 'hold', 'die 4' or 'take red'",
    {
        "roll {pips}": Roll,
        "{space} {facing} dice {dice}": Drive,
        "{space} {facing}": Drive,
        "fire {colour}": Fire,
        "hold": Hold,
        "die {pips}": Die,
        "take {colour}": Take,
        "early {colour} {pips}": EarlyRoll,
    },
    {
        "pips": parse_pips,
        "space": Space.parse,
        "facing": parse_facing,
        "dice": _dice,
        "colour": parse_colour,
    },
)
