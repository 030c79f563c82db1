"""Settings before play: the players, and a game's house rules, each with a default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engines.errors import InvalidNotation
from table.errors import InputError
from table.messages import in_a_row, msg
from table.pieces import COLOURS

Chosen = tuple[tuple[str, str], ...]
"""Every house rule of a game with its value in force, in the game's own order."""


@dataclass(frozen=True, slots=True)
class HouseRule:
    """A house rule: the `values` that may be chosen, the default first.

    `cites` is the ruling or section that it stands for; `description` explains it.
    """

    name: str
    cites: str
    values: tuple[str, ...]
    description: str


def choose(rulings: tuple[HouseRule, ...], given: Mapping[str, str]) -> Chosen:
    """Return all house rules with the given values, else their defaults.

    Raises InputError for an unknown name or value.
    """
    names = [ruling.name for ruling in rulings]
    for name in given:
        if name not in names:
            raise InputError(
                msg(
                    "rulings: expected one of the names {raw}, got {raw2}",
                    raw=", ".join(names),
                    raw2=repr(name),
                )
            )
    for ruling in rulings:
        value = given.get(ruling.name, ruling.values[0])
        if value not in ruling.values:
            raise InputError(
                msg(
                    "rulings.{raw}: expected {raw2}, got {raw3}",
                    raw=ruling.name,
                    raw2=" or ".join(ruling.values),
                    raw3=repr(value),
                )
            )
    return tuple((ruling.name, given.get(ruling.name, ruling.values[0])) for ruling in rulings)


def write_rulings(chosen: Chosen) -> str:
    """Format the house rules in force for a state: `repeat=next stop=may`."""
    return " ".join(f"{name}={value}" for name, value in chosen)


def read_rulings(rulings: tuple[HouseRule, ...], text: str) -> Chosen:
    """Parse the house rules written by `write_rulings`; raises InputError."""
    pairs = [word.split("=") for word in text.split(" ")]
    if any(len(pair) != 2 for pair in pairs) or len({pair[0] for pair in pairs}) < len(pairs):
        raise InvalidNotation(
            f"expected rulings such as {rulings[0].name}={rulings[0].values[0]}, each once, got"
            f" {text!r}"
        )
    return choose(rulings, dict(pairs))


def seat(players: Sequence[str], least: int, most: int) -> tuple[str, ...]:
    """Return the players, who are colours, in turn order.

    Raises InputError for too few or too many players, an unknown colour, or a colour given twice.
    """
    if not least <= len(players) <= most:
        raise InputError(
            msg("players: expected {n}, got {n2}", n=least, n2=len(players))
            if least == most
            else msg("players: expected {n} to {n2}, got {n3}", n=least, n2=most, n3=len(players))
        )
    for player in players:
        if player not in COLOURS:
            raise InputError(
                msg(
                    "players: expected colours ({text}), got {raw}",
                    text=in_a_row(COLOURS, "colour"),
                    raw=repr(player),
                )
            )
        if (times := list(players).count(player)) > 1:
            raise InputError(
                msg(
                    "players: expected each colour once, got '{player}' {n} times",
                    player=player,
                    n=times,
                )
            )
    return tuple(players)
