"""Games by their names, found by entry points of the group `rinkside.games`.

A game is a package, or any object, that `engines.game.Game` describes. This module uses only what
lies below the rules: its name, and `FACTS.table`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

from table.errors import InputError
from table.game_facts import NO_TABLE_FACTS, DefaultTable, Measuring, TableFacts
from table.messages import msg
from table.text import printable

GROUP = "rinkside.games"
OWN, OWN_FOLDER = "rinkside", "engines"
"""The name of this package, and of the folder whose packages are its games."""


@dataclass(frozen=True, slots=True)
class FoundGames:
    """Games by name, this project's first.

    `broken` says in one line each why a game cannot be used.
    """

    games: Mapping[str, Any]
    broken: tuple[str, ...]


def find_games() -> FoundGames:
    """Load every installed game. One that cannot be loaded does not stop the others."""
    games = {}
    broken: list[str] = []
    for entry, package in announced(GROUP, _in_the_folder):
        try:
            if entry.name in games:
                raise ValueError("another game has this name")
            game = entry.load()
            if entry.name != game.NAME:
                raise ValueError(f"expected this name, got {game.NAME!r}")
            games[entry.name] = game
        except (Exception, SystemExit) as error:
            broken.append(unusable_message("the game", entry.name, package, error))
    return FoundGames(games, tuple(broken))


def unusable_message(what: str, name: str, package: str, error: BaseException) -> str:
    """The sentence that a part of a package cannot be used, in one line."""
    why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return printable(" ".join(f"{what} {name!r} of {package} cannot be used: {why}".split()))


def log_broken(what: str, name: str, package: str, error: BaseException) -> None:
    """Log that a part of a package cannot be used; without a handler it goes to stderr."""
    logging.getLogger(OWN).warning("rinkside: %s", unusable_message(what, name, package, error))


def announced(
    group: str, own: Callable[[], Iterable[metadata.EntryPoint]]
) -> Iterator[tuple[metadata.EntryPoint, str]]:
    """Entry points of a group with the name of their distribution, this project's first, each once.

    `own` are this project's where it announces none: it is run from a checkout that is not
    installed, or was installed before there were any.
    """
    entries = {
        (entry.dist.name if entry.dist else "", entry.name, entry.value): entry
        for entry in metadata.entry_points(group=group)
    }
    if not any(package == OWN for package, _, _ in entries):
        yield from ((entry, OWN) for entry in own())
    keys = sorted(entries, key=lambda key: (key[0] != OWN, *key))
    yield from ((entries[key], key[0]) for key in keys)


def _in_the_folder() -> Iterator[metadata.EntryPoint]:
    spec = find_spec(OWN_FOLDER)
    for module in iter_modules(spec.submodule_search_locations if spec else None):
        if module.ispkg:
            yield metadata.EntryPoint(module.name, f"{OWN_FOLDER}.{module.name}", GROUP)


@cache
def found_games() -> FoundGames:
    """`find_games`, run once a process; broken games are logged."""
    found = find_games()
    for line in found.broken:
        logging.getLogger(OWN).warning("rinkside: %s", line)
    return found


def package_of(game: object) -> str:
    """The package that a game is, or whose class it is of: where its files are."""
    return str(getattr(game, "__name__", type(game).__module__))


def package_text(game: object, name: str) -> str:
    """A text file that a game's package has beside its code; empty where it has none."""
    try:
        file = resources.files(package_of(game)) / name
    except TypeError:  # a module that is no package keeps no files
        return ""
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def game_called(text: str) -> str | None:
    """The name of the game that people mean, however they write its spaces, dashes and capitals.

    None for a name that no installed game has.
    """
    games = found_games().games
    if text in games:
        return text
    meant = _letters(text)
    return next((name for name in games if meant in (_letters(name), _letters(_title(name)))), None)


def _letters(text: str) -> str:
    """A name without what people write otherwise: capitals, spaces, dashes."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def table_facts(game: str) -> TableFacts:
    """What the game of a name states about its table; defaults for one that is not installed."""
    facts = getattr(found_games().games.get(game), "FACTS", None)
    own = getattr(facts, "table", None)
    return own if isinstance(own, TableFacts) else NO_TABLE_FACTS


def all_table_facts() -> dict[str, TableFacts]:
    """The table facts of every game, by name."""
    return {name: table_facts(name) for name in found_games().games}


def played_on(kind: str) -> tuple[str, DefaultTable] | None:
    """The first game whose default table has a board of this kind, and that table."""
    tables = ((name, facts.default) for name, facts in all_table_facts().items())
    return next(((name, one) for name, one in tables if one and one.kind == kind), None)


def usual_game() -> str:
    """The default game of commands; empty where there is none.

    It is the first on open ground, which needs no board.
    """
    played = played_on("open")
    return played[0] if played else next(iter(found_games().games), "")


def titles_with_target() -> str:
    """Games that are played around a target, by their titles, in words."""
    tables = {name: facts.default for name, facts in all_table_facts().items()}
    return ", ".join(_title(name) for name, one in tables.items() if one and one.target)


def _title(game: str) -> str:
    facts = getattr(found_games().games[game], "FACTS", None)
    return str(getattr(facts, "title", game))


def measuring() -> tuple[str, Measuring]:
    """The first game that measures pieces from a target: its title, and how it measures.

    Raises InputError where no installed game does.
    """
    for name, facts in all_table_facts().items():
        if facts.measuring is not None:
            return _title(name), facts.measuring
    raise InputError(msg("expected a game that measures from a target, but none is installed"))
