"""Games by their names, found by entry points of the group `rinkside.games`.

A game is a package, or any object, that `engines.game.Game` describes. This module uses only what
lies below the rules: its name, and `FACTS.table`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

import msgspec

from table.boards import Board
from table.errors import InputError
from table.game_facts import NO_TABLE_FACTS, DefaultTable, Measuring, TableFacts
from table.messages import msg
from table.plugins import MOST_NAME, Broken, Plugin, find, log_line

GROUP = "rinkside.games"
OWN_FOLDER = "engines"
"""Folder of this project's games."""


@dataclass(frozen=True, slots=True)
class FoundGames:
    """Games by name, this project's first, with their plugins.

    `broken` are the unusable ones, with reasons.
    """

    games: Mapping[str, Any]
    plugins: Mapping[str, Plugin]
    broken: tuple[Broken, ...]


def find_games() -> FoundGames:
    """Load every installed game. A failure does not affect the others."""
    found = find(GROUP, _in_the_folder, _checked)
    return FoundGames(found.parts, found.plugins, found.broken)


def _checked(game: Any, plugin: Plugin) -> Any:
    """Check a game's name and table; raises ValueError if one is wrong."""
    if plugin.name != game.NAME:
        raise ValueError(f"expected this name, got {game.NAME!r:.{MOST_NAME}}")
    table = getattr(getattr(game, "FACTS", None), "table", NO_TABLE_FACTS)
    if not isinstance(table, TableFacts):
        raise ValueError(f"FACTS.table: expected TableFacts, got {type(table).__name__}")
    if table.default is not None:
        board = table.default.board(table.default.cell_mm)
        try:  # created by code, so that its limits are unchecked
            msgspec.convert(msgspec.to_builtins(board), Board)
        except msgspec.ValidationError as error:
            raise ValueError(f"FACTS.table.default.board: {error}") from error
    return game


def _in_the_folder() -> Iterator[metadata.EntryPoint]:
    spec = find_spec(OWN_FOLDER)
    for module in iter_modules(spec.submodule_search_locations if spec else None):
        if module.ispkg:
            yield metadata.EntryPoint(module.name, f"{OWN_FOLDER}.{module.name}", GROUP)


@cache
def found_games() -> FoundGames:
    """Run `find_games` once per process; broken games are logged."""
    found = find_games()
    for broken in found.broken:
        log_line(broken.line("the game"))
    return found


def package_of(game: object) -> str:
    """Name of a game's package, or of its class's module, where its files are."""
    return str(getattr(game, "__name__", type(game).__module__))


MOST_TEXT_BYTES = 1 << 20
"""Most bytes of a game's text file."""


def package_text(game: object, name: str) -> str:
    """Return a text file beside a game's code; empty without one.

    Raises ValueError if it is no text, or too large.
    """
    try:
        file = resources.files(package_of(game)) / name
    except TypeError:  # a module that is no package has no files
        return ""
    if not file.is_file():
        return ""
    with file.open("rb") as opened:
        text = opened.read(MOST_TEXT_BYTES + 1)
    if len(text) > MOST_TEXT_BYTES:
        raise ValueError(f"{name}: expected at most {MOST_TEXT_BYTES} bytes, got more")
    return text.decode("utf-8")


def game_called(text: str) -> str | None:
    """Find a game's name, whatever its spaces, dashes and capitals.

    None if no installed game has it.
    """
    games = found_games().games
    if text in games:
        return text
    meant = _letters(text)
    return next((name for name in games if meant in (_letters(name), _letters(_title(name)))), None)


def _letters(text: str) -> str:
    """Normalize a name: no capitals, spaces or dashes."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def table_facts(game: str) -> TableFacts:
    """Facts of a game about its table; defaults if it is not installed."""
    facts = getattr(found_games().games.get(game), "FACTS", None)
    own = getattr(facts, "table", None)
    return own if isinstance(own, TableFacts) else NO_TABLE_FACTS


def all_table_facts() -> dict[str, TableFacts]:
    """Table facts of every game, by name."""
    return {name: table_facts(name) for name in found_games().games}


def default_game_on(kind: str) -> tuple[str, DefaultTable] | None:
    """First game whose default table has a board of this kind, and that table."""
    tables = ((name, facts.default) for name, facts in all_table_facts().items())
    return next(((name, one) for name, one in tables if one and one.kind == kind), None)


def usual_game() -> str:
    """Default game of commands; empty without any game.

    It is the first game on open ground, which needs no board, or else the first of all.
    """
    played = default_game_on("open")
    return played[0] if played else next(iter(found_games().games), "")


def titles_with_target() -> str:
    """Titles of the games with a target, separated by commas."""
    tables = {name: facts.default for name, facts in all_table_facts().items()}
    return ", ".join(_title(name) for name, one in tables.items() if one and one.target)


def _title(game: str) -> str:
    facts = getattr(found_games().games[game], "FACTS", None)
    return str(getattr(facts, "title", game))


def measuring() -> tuple[str, Measuring]:
    """First game that measures pieces from a target: its title, and how it measures.

    Raises InputError if no installed game does.
    """
    for name, facts in all_table_facts().items():
        if facts.measuring is not None:
            return _title(name), facts.measuring
    raise InputError(msg("expected a game that measures from a target, but none is installed"))
