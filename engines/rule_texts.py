"""The clauses that verdicts cite, in our own words: sections of the printed rules, and rulings.

Each game keeps its words in `clauses.toml` in its package; a test checks that every clause that its
code cites is there.
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
    """The text of every clause of a game, by its name; empty for a game without texts.

    A file of another package that cannot be read is logged and left out.
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
    """The clauses that a verdict rests on (`Attack; rulings GAME.3 to GAME.5`), each with its text.

    A clause without a text, as the log of another version may cite, has an empty one.
    """
    known = words(game)
    return tuple(
        Clause(name, known.get(name, ""))
        for part in filter(None, rests_on.split("; "))
        for name in _names(part)
    )


def _names(part: str) -> Iterator[str]:
    """The clauses in one part of a citation, which may be a range of rulings."""
    if not (several := _RANGE.fullmatch(part)):
        yield part
        return
    game, first, joint, last = several.groups()
    numbers = range(int(first), int(last) + 1) if joint == "to" else (int(first), int(last))
    yield from (f"ruling {game}.{number}" for number in numbers)
