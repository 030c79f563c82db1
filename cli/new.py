"""`rinkside new`: write the skeleton of a plug-in package."""

from __future__ import annotations

import re
import shutil
import tempfile
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

import click

from cli.terminal import say
from table.errors import InputError
from table.games import found_games
from table.messages import msg
from table.plugins import MOST_NAME, NAME

SKELETON = "skeleton"
WRITTEN_SO = ("my_game", "my-game", "My Game")
"""Name of the game in the skeleton: as a module, as a package, and as a title."""


@click.group()
def new() -> None:
    """Write the beginning of a package of your own."""


@new.command()
@click.argument("name")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder to be made; by default the name with dashes.",
)
def game(name: str, out: Path | None) -> None:
    """Write a package with a game called NAME that is refereed, played and tested as written.

    Players put pyramids on a board in turn, and three in a row win: change that into your game.
    """
    name = name.strip().lower().replace("-", "_").replace(" ", "_")
    _check(name)
    folder = out if out is not None else Path(name.replace("_", "-"))
    if folder.exists():
        raise InputError(
            msg("{path}: expected a folder that is not there yet, got one that is", path=folder)
        )
    write_game(name, folder)
    say(msg("{path} is written. It plays and passes its tests:", path=folder))
    say(
        f"  cd {folder}",
        '  pip install -e ".[tests]"',
        "  pytest",
        f"  rinkside demo --game {name}",
    )


def _check(name: str) -> None:
    """Raise InputError for a name that a game's package cannot have."""
    if not NAME.fullmatch(name) or len(name) > MOST_NAME // 2:
        raise InputError(
            msg(
                "name: expected a name such as red_tower, small letters, digits and _, at most"
                " {n} characters, got {raw}",
                n=MOST_NAME // 2,
                raw=repr(name[:MOST_NAME]),
            )
        )
    if name in found_games().games or find_spec(name) is not None:
        raise InputError(
            msg("name: expected one that no game and no package has, got {raw}", raw=repr(name))
        )


def write_game(name: str, folder: Path) -> None:
    """Write the package of a game; the folder is created atomically."""
    title = name.replace("_", " ").title()
    names = dict(zip(WRITTEN_SO, (name, name.replace("_", "-"), title), strict=True))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".rinkside-") as made:
        whole = Path(made, "package")
        _write(resources.files("cli") / SKELETON, whole, names)
        shutil.move(whole, folder)


def _write(source: resources.abc.Traversable, target: Path, names: dict[str, str]) -> None:
    if source.is_dir():
        target.mkdir()
        for one in source.iterdir():
            called = "my_game" if one.name == "game" else one.name.removesuffix(".txt")
            _write(one, target / _renamed(called, names), names)
    else:
        target.write_text(_renamed(source.read_text(encoding="utf-8"), names), encoding="utf-8")


def _renamed(text: str, names: dict[str, str]) -> str:
    return re.sub("|".join(names), lambda found: names[found[0]], text)
