"""Options of a game: each is a named ruling with a default, chosen before play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from table.errors import InputError

Chosen = tuple[tuple[str, str], ...]
"""Every ruling of a game and the value in force, in the game's own order."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """`values` that may be chosen, the default first; `cites` the ruling or section it stands for; `said` explains it."""

    name: str
    cites: str
    values: tuple[str, ...]
    said: str


def choose(rulings: tuple[Ruling, ...], given: Mapping[str, str]) -> Chosen:
    """All rulings with the values that were given, else their defaults; raises InputError for a name or value unknown."""
    names = [ruling.name for ruling in rulings]
    for name in given:
        if name not in names:
            raise InputError(f"rulings: expected names among {', '.join(names)}, got {name!r}")
    for ruling in rulings:
        value = given.get(ruling.name, ruling.values[0])
        if value not in ruling.values:
            raise InputError(f"rulings.{ruling.name}: expected {' or '.join(ruling.values)}, got {value!r}")
    return tuple((ruling.name, given.get(ruling.name, ruling.values[0])) for ruling in rulings)
