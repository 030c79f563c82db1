"""The command line as a whole."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from cli.main import COMMANDS, main
from engines import GAMES


def test_every_command_is_listed_and_tells_how_to_use_it() -> None:
    listed = CliRunner().invoke(main, ["--help"])
    for name in COMMANDS:
        assert f"  {name} " in listed.stdout
        result = CliRunner().invoke(main, [name, "--help"])
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.startswith(f"Usage: main {name}")


def test_says_its_version() -> None:
    result = CliRunner().invoke(main, ["--version"])
    assert (result.exit_code, result.stdout.split()[0]) == (0, "rinkside")


@pytest.mark.parametrize("game", GAMES)
def test_the_options_of_every_game_are_listed(game: str) -> None:
    result = CliRunner().invoke(main, ["rules", game, "--json"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert [option["name"] for option in json.loads(result.stdout)] == [
        ruling.name for ruling in GAMES[game].RULINGS
    ]
    assert CliRunner().invoke(main, ["rules", game]).exit_code == 0
