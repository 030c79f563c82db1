"""Pytest plugin: selects the games under test and their data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance import VERSION
from conformance.rows import Rows
from engines import GAMES, Game, facts_of, unusable_games
from table.games import table_facts

OF_GAMES = ("rules", "notation", "facts", "computer_player", "texts", "marks", "table")
OF_DEVICES = ("cameras", "lamps", "dice", "buttons", "sounds", "outputs")
pytest.register_assert_rewrite(*(f"conformance.{suite}" for suite in (*OF_GAMES, *OF_DEVICES)))
ROWS = ("violation_row", "move_row", "state_row", "sentence_row", "playthrough")
"""Test arguments that are parametrised over the rows of a game's data."""
SUITES = f"{__name__.partition('.')[0]}."


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options for the game under test and its data folder."""
    group = parser.getgroup("rinkside", "tests that every game of Rinkside passes")
    group.addoption(
        "--rinkside-game",
        action="append",
        default=[],
        help="a game to be tested, by its name; without any, all that are installed",
    )
    parser.addini("rinkside_games", "as --rinkside-game, a name a line", "linelist", [])
    parser.addini(
        "rinkside_data",
        "the folder with the data of a game's tests; {game} stands for its name",
        default="tests/data",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark of slow tests."""
    config.addinivalue_line("markers", "slow: takes seconds; `-m 'not slow'` leaves it out")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Reject an unusable game before tests are collected.

    Plugins that wrap collection, such as Schemathesis, would report it as an error in a test file.
    """
    names(session.config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests of whole evenings as slow; deselect tests of features that a game lacks."""
    without = [item for item in items if _asks_for_a_missing_computer_player(item)]
    if without:
        config.hook.pytest_deselected(items=without)
        items[:] = [item for item in items if item not in without]
    for item in items:
        function = getattr(item, "function", None)
        if getattr(function, "__module__", "") == f"{SUITES}table":
            item.add_marker(pytest.mark.slow)


def _asks_for_a_missing_computer_player(item: pytest.Item) -> bool:
    """True for a test of the computer player if the game has none."""
    function, call = getattr(item, "function", None), getattr(item, "callspec", None)
    if getattr(function, "__module__", "") != f"{SUITES}computer_player" or call is None:
        return False
    return facts_of(call.params["name"]).computer_player is None


def pytest_report_header(config: pytest.Config) -> str:
    """The version of the suites, and the games."""
    return f"rinkside: conformance suites {VERSION}; games: {', '.join(names(config))}"


def names(config: pytest.Config) -> list[str]:
    """Names of the games under test; raises UsageError for an unusable one."""
    wanted = config.getoption("--rinkside-game") or config.getini("rinkside_games") or [*GAMES]
    for name in wanted:
        if name not in GAMES:
            why = [one.line("The game") for one in unusable_games() if one.plugin.name == name]
            known = ", ".join(GAMES)
            raise pytest.UsageError(
                f"--rinkside-game: expected a game ({known}), got {name!r}. {' '.join(why)}"
            )
    return list(wanted)


def data_of(config: pytest.Config, name: str) -> Rows:
    """The test data of a game."""
    folder = str(config.getini("rinkside_data")).replace("{game}", name)
    return Rows(name, config.rootpath / folder)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise a test over all games, or over the rows of a game's data."""
    if not metafunc.function.__module__.startswith(SUITES):
        return
    wanted = names(metafunc.config)
    rows = [argument for argument in ROWS if argument in metafunc.fixturenames]
    if not rows:
        if "name" in metafunc.fixturenames:
            metafunc.parametrize("name", wanted, scope="module")
        return
    found = [row for name in wanted for row in data_of(metafunc.config, name).of(rows[0])]
    metafunc.parametrize(rows[0], [row for _, row in found], ids=[title for title, _ in found])


@pytest.fixture
def game(name: str) -> Game:
    """The game under test."""
    return GAMES[name]


@pytest.fixture
def data(name: str, pytestconfig: pytest.Config) -> Rows:
    """The test data of the game under test."""
    return data_of(pytestconfig, name)


@pytest.fixture
def starts(data: Rows, game: Game) -> list[Any]:
    """Initial states: those of `starts.txt`, else that of the default table."""
    default = table_facts(game.NAME).default
    usual = [(default.colours if default else ("red", "blue"), dict[str, str]())]
    return [game.start(players, rulings) for players, rulings in data.starts() or usual]


@pytest.fixture
def pieces_add_up() -> Callable[[Game, Any], bool]:
    """Check that no piece of a state is missing; a package may override this fixture."""
    return lambda _game, _state: True
