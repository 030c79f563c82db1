"""`rinkside new game`: what it writes is a game, and the recipe of docs/architecture.md holds."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import main
from engines import GAMES
from table.languages import translated
from tests.support.installed_packages import ROOT, install, on_the_path

RECIPE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
STEPS = RECIPE.partition("### Add a game")[2].partition("### Add a camera")[0]


def new_game(folder: Path, name: str = "Red-Tower", *words: str) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return CliRunner().invoke(main, ["new", "game", name, *words])


def test_the_new_game_is_written_found_and_speaks_three_languages(tmp_path: Path) -> None:
    result = new_game(tmp_path)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0] == ("red-tower is written. It plays and passes its tests:")
    folder, site = tmp_path / "red-tower", tmp_path / "site"
    for path in folder.rglob("*"):
        assert not re.search("my.game", path.as_posix(), re.I)
        assert path.is_dir() or not re.search("my.game", path.read_text(encoding="utf-8"), re.I)
    site.mkdir()
    install(folder, site)
    with on_the_path(site, "red_tower"):
        game = GAMES["red_tower"]
        state = game.start(("red", "blue"), {})
        message = game.violation(state, game.parse_move("blue a1")).message
        assert message == "It is the turn of red."
        assert translated(message, "de") == "Rot ist am Zug."
        assert translated(message, "es") == "Le toca a rojo."


def test_the_recipe_names_what_the_new_game_has(tmp_path: Path) -> None:
    assert new_game(tmp_path).exit_code == 0
    folder = tmp_path / "red-tower"
    there = {path.name for path in folder.rglob("*")}
    named = set(re.findall(r"`(\w+\.(?:py|toml|txt))`", STEPS))
    assert {"rules.py", "judge.py", "clauses.toml", "violations.txt"} <= named <= there
    shown = (folder / "red_tower" / "shown.py").read_text(encoding="utf-8")
    assert "FACTS = GameFacts(" in shown
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    assert {*project["project"]["entry-points"]} == {"rinkside.games", "rinkside.players"}


@pytest.mark.parametrize(
    "name", ["", "2fast", "red/tower", "../red", "räd", "x" * 40, "icefloe", "json", "tests"]
)
def test_a_name_that_will_not_do_is_refused_and_nothing_is_written(
    tmp_path: Path, name: str
) -> None:
    result = new_game(tmp_path, name)
    assert result.exit_code == 2
    assert "expected" in result.stderr
    assert result.stderr.count("\n") == 1
    assert [*tmp_path.iterdir()] == []


def test_a_folder_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "red-tower").mkdir()
    result = new_game(tmp_path)
    assert result.exit_code == 2
    assert "expected a folder that is not there yet" in result.stderr
    assert [*(tmp_path / "red-tower").iterdir()] == []
    assert new_game(tmp_path, "red_tower", "--out", "other").exit_code == 0
    assert (tmp_path / "other" / "pyproject.toml").is_file()


def product() -> dict[str, bytes]:
    """Every file of the checkout that git knows."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("git, which knows what belongs to the checkout, cannot be asked")
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return {str(path): path.read_bytes() for path in paths if path.is_file()}


@pytest.mark.slow
def test_the_recipe_is_followed_to_the_letter(tmp_path: Path) -> None:
    """With no file of the product touched.  `pip` would change the environment of the tests: what
    is installed lies in a folder of its own instead.
    """
    before = product()
    (commands,) = re.findall(r"```sh\n(.*?)```", STEPS, re.DOTALL)
    folder, site = tmp_path, tmp_path / "site"
    site.mkdir()
    environment = os.environ | {"PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    programs = {
        "rinkside": ("-c", "from cli.main import main; main()"),
        "pytest": ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "conformance.plugin"),
    }
    for line in commands.splitlines():
        program, *words = shlex.split(line)
        if program == "cd":
            folder = folder / words[0]
        elif program == "pip":
            assert words == ["install", "."]
            install(folder, site)
        else:
            result = subprocess.run(
                [sys.executable, *programs[program], *words],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert result.returncode == 0, (line, result.stdout[-3000:], result.stderr)
            if program == "pytest":
                assert "skipped" not in result.stdout
            if line == "rinkside plugins list":
                assert "red_tower" in result.stdout
    assert (folder / "board.pdf").read_bytes().startswith(b"%PDF")
    after = product()
    assert [path for path in before if before[path] != after.get(path)] == []
