"""Texts of the clauses that verdicts cite: sections of the printed rules, and rulings.

Each game has them in `clauses.toml` in its package; a test checks that every clause cited in its
code is there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from engines import GAMES
from table.games import package_of, package_text
from table.plugins import log_broken

CLAUSES = "clauses.toml"
_RANGE = re.compile(r"rulings ([a-z_]+)\.(\d+) (to|and) \1\.(\d+)")


class Clause(NamedTuple):
    """A section of the printed rules or a ruling that verdicts cite, and its text in our words."""

    name: str
    text: str


@cache
def words(game: str) -> Mapping[str, str]:
    """Texts of a game's clauses by name; empty for a game without texts.

    An unreadable file of another package is logged and left out.
    """
    if (found := GAMES.get(game)) is None:
        return MappingProxyType({})
    try:
        read = tomllib.loads(package_text(found, CLAUSES))
    except ValueError as error:
        log_broken("the clauses of", game, package_of(found), error)
        return MappingProxyType({})
    return MappingProxyType({name: text for name, text in read.items() if isinstance(text, str)})


def explain(game: str, rests_on: str) -> tuple[Clause, ...]:
    """Return the clauses that a verdict rests on (`Attack; rulings GAME.3 to GAME.5`), with texts.

    A clause of another version's log may have an empty text.
    """
    known = words(game)
    return tuple(
        Clause(name, known.get(name, ""))
        for part in filter(None, rests_on.split("; "))
        for name in _names(part)
    )


def _names(part: str) -> Iterator[str]:
    """Clauses in one part of a citation, which may be a range of rulings."""
    if not (several := _RANGE.fullmatch(part)):
        yield part
        return
    game, first, joint, last = several.groups()
    numbers = range(int(first), int(last) + 1) if joint == "to" else (int(first), int(last))
    yield from (f"ruling {game}.{number}" for number in numbers)
