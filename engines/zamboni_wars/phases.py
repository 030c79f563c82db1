"""The phases of a game of Zamboni Wars: what it waits for.

A closed union of frozen values, each printed in a word or two and parsed back.
"""

from __future__ import annotations

from dataclasses import dataclass

from engines.errors import InvalidNotation
from engines.state_notation import NONE
from engines.zamboni_wars.moves import parse_pips


@dataclass(frozen=True, slots=True)
class RollOff:
    """Before play: the rolls for a cover die, in turn order.

    None for a player who is yet to roll.
    """

    rolls: tuple[tuple[str, int | None], ...]

    def __str__(self) -> str:
        return "roll-off " + " ".join(f"{player}={pips or NONE}" for player, pips in self.rolls)


@dataclass(frozen=True, slots=True)
class Rolling:
    """The roll for movement."""

    def __str__(self) -> str:
        return "roll"


@dataclass(frozen=True, slots=True)
class Moving:
    """The move, with the points that were rolled.

    `early` are dice, by player, that were announced before its end was seen.
    """

    points: int
    early: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        early = (
            f" early {' '.join(f'{player}={pips}' for player, pips in self.early)}"
            if self.early
            else ""
        )
        return f"move {self.points}{early}"


@dataclass(frozen=True, slots=True)
class Aiming:
    """To fire at the Zamboni in sight, or not to fire."""

    target: str

    def __str__(self) -> str:
        return f"fire {self.target}"


@dataclass(frozen=True, slots=True)
class Shooting:
    """The die for the shot at a Zamboni with two layers or more."""

    target: str

    def __str__(self) -> str:
        return f"shot {self.target}"


@dataclass(frozen=True, slots=True)
class Hit:
    """The outermost piece of the Zamboni that was hit, to be taken off the board."""

    target: str

    def __str__(self) -> str:
        return f"hit {self.target}"


@dataclass(frozen=True, slots=True)
class Over:
    """Nothing: one Zamboni is left."""

    def __str__(self) -> str:
        return "over"


Phase = RollOff | Rolling | Moving | Aiming | Shooting | Hit | Over


def parse_phase(text: str) -> Phase:
    """Parse a phase such as `move 4`; raises InvalidNotation."""
    kind, _, rest = text.partition(" ")
    match kind:
        case "roll-off":
            return RollOff(_rolls(rest))
        case "roll" if not rest:
            return Rolling()
        case "move":
            points, _, early = rest.partition(" early ")
            return Moving(parse_pips(points), _parse_early_dice(early))
        case "fire":
            return Aiming(rest)
        case "shot":
            return Shooting(rest)
        case "hit":
            return Hit(rest)
        case "over" if not rest:
            return Over()
    raise InvalidNotation(
        "expected a phase such as 'roll', 'move 4', 'fire red', 'shot red', 'hit red' or 'over',"
        f" got {text!r}"
    )


def _parse_early_dice(text: str) -> tuple[tuple[str, int], ...]:
    words = [word.partition("=") for word in text.split()]
    return tuple((player, parse_pips(pips)) for player, _, pips in words)


def _rolls(text: str) -> tuple[tuple[str, int | None], ...]:
    words = [word.partition("=") for word in text.split(" ")]
    return tuple((player, None if pips == NONE else parse_pips(pips)) for player, _, pips in words)
