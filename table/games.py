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
"""The folder whose packages are this project's games."""


@dataclass(frozen=True, slots=True)
class FoundGames:
    """Games by name, this project's first, with who brings them.

    `broken` says why a game cannot be used.
    """

    games: Mapping[str, Any]
    plugins: Mapping[str, Plugin]
    broken: tuple[Broken, ...]


def find_games() -> FoundGames:
    """Load every installed game. One that cannot be loaded does not stop the others."""
    found = find(GROUP, _in_the_folder, _checked)
    return FoundGames(found.parts, found.plugins, found.broken)


def _checked(game: Any, plugin: Plugin) -> Any:
    """A game whose name and table are what they should be; raises ValueError for another."""
    if plugin.name != game.NAME:
        raise ValueError(f"expected this name, got {game.NAME!r:.{MOST_NAME}}")
    table = getattr(getattr(game, "FACTS", None), "table", NO_TABLE_FACTS)
    if not isinstance(table, TableFacts):
        raise ValueError(f"FACTS.table: expected TableFacts, got {type(table).__name__}")
    if table.default is not None:
        board = table.default.board(table.default.cell_mm)
        try:  # made by code, so that its limits are not checked yet
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
    """`find_games`, run once a process; broken games are logged."""
    found = find_games()
    for broken in found.broken:
        log_line(broken.line("the game"))
    return found


def package_of(game: object) -> str:
    """The package that a game is, or whose class it is of: where its files are."""
    return str(getattr(game, "__name__", type(game).__module__))


MOST_TEXT_BYTES = 1 << 20
"""Greatest size of a text file of a game."""


def package_text(game: object, name: str) -> str:
    """A text file that a game's package has beside its code; empty where it has none.

    Raises ValueError where it is no text, or larger than any such file.
    """
    try:
        file = resources.files(package_of(game)) / name
    except TypeError:  # a module that is no package keeps no files
        return ""
    if not file.is_file():
        return ""
    with file.open("rb") as opened:
        text = opened.read(MOST_TEXT_BYTES + 1)
    if len(text) > MOST_TEXT_BYTES:
        raise ValueError(f"{name}: expected at most {MOST_TEXT_BYTES} bytes, got more")
    return text.decode("utf-8")


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


def default_game_on(kind: str) -> tuple[str, DefaultTable] | None:
    """The first game whose default table has a board of this kind, and that table."""
    tables = ((name, facts.default) for name, facts in all_table_facts().items())
    return next(((name, one) for name, one in tables if one and one.kind == kind), None)


def usual_game() -> str:
    """The default game of commands; empty where there is none.

    It is the first on open ground, which needs no board.
    """
    played = default_game_on("open")
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
