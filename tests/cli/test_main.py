"""The command line as a whole."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from click.shell_completion import ShellComplete
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


@pytest.mark.parametrize("name", ["Ice Boule", "ice-boule", "iceboule", "ICE_BOULE", " ice  boule"])
def test_a_game_is_called_as_people_write_it(name: str) -> None:
    """Whatever they write, it is the same game."""
    result = CliRunner().invoke(main, ["rules", name, "--json"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == CliRunner().invoke(main, ["rules", "ice_boule", "--json"]).stdout


@pytest.mark.parametrize("command", ["rules", "demo", "play", "referee"])
def test_a_game_that_nobody_knows_is_one_line_with_those_that_there_are(command: str) -> None:
    option = [] if command == "rules" else ["--game"]
    result = CliRunner().invoke(main, [command, *option, "halma"])
    assert result.exit_code == 2
    assert "expected a game (" in result.stderr
    assert all(game in result.stderr for game in GAMES)
    assert result.stderr.count("\n") == 1


def test_without_a_game_the_options_of_all_are_listed() -> None:
    document = json.loads(CliRunner().invoke(main, ["rules", "--json"]).stdout)
    assert list(document) == list(GAMES)
    listed = CliRunner().invoke(main, ["rules"]).stdout
    assert all(f"({game})" in listed for game in GAMES)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_are_told_how_to_complete(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    assert "_RINKSIDE_COMPLETE" in result.stdout


def test_commands_and_games_are_completed() -> None:
    def completed(*words: str) -> set[str]:
        found = ShellComplete(main, {}, "rinkside", "_RINKSIDE_COMPLETE")
        return {item.value for item in found.get_completions(list(words[:-1]), words[-1])}

    assert completed("cal") == {"calibrate"}
    assert completed("rules", "ice-") == {name for name in GAMES if name.startswith("ice_")}
    assert "ice_storm" in completed("demo", "--game", "")


def test_the_manual_page_names_every_command_and_option_and_is_sound() -> None:
    page = CliRunner().invoke(main, ["man"]).stdout
    for name in COMMANDS:
        assert f'.SS "rinkside {name.replace("-", chr(92) + "-")} ' in page
    assert "\\-\\-power\\-off" in page
    assert "--" not in page
    assert "door" not in page
    if (groff := shutil.which("groff")) is not None:
        read = subprocess.run(
            [groff, "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True, check=True
        )
        assert read.stderr == ""


def test_a_simulated_game_has_the_names_of_its_players_or_says_why_not():
    words = ("demo", "--port", "0", "--seed", "1", "--names", "mauve=Anna")
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, done.output.count("\n")) == (2, 1)
    assert "--names: expected names for players" in done.output
