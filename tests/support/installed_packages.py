"""Packages that bring games, as they lie in a folder after they were installed, and forgotten again
after a test.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

import engines
from engines.rule_texts import words as clause_words
from hardware.plugins import device_plugins
from simulation.tables import installed_players
from table.game_words import game_words
from table.games import found_games
from table.languages import catalogue
from vision.cameras.plugins import camera_plugins
from webui.pages.help import games_pages, heading

ROOT = Path(__file__).parents[2]
CACHES = (
    clause_words,
    found_games,
    installed_players,
    game_words,
    catalogue,
    games_pages,
    heading,
    device_plugins,
    camera_plugins,
)
"""What a process remembers of installed packages."""


def announce(
    site: Path, package: str, version: str, groups: Mapping[str, Mapping[str, str]]
) -> None:
    """Write what an installer would about a package, with its entry points by group."""
    dist_info = site / f"{package.replace('-', '_')}-{version}.dist-info"
    dist_info.mkdir()
    (dist_info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
    )
    text = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in groups.items()
    )
    (dist_info / "entry_points.txt").write_text(text)


def install(folder: Path, site: Path) -> None:
    """Put the package of a folder with a pyproject.toml into a site, without building it."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    for name in project["tool"]["setuptools"]["packages"]:
        copytree(folder / name, site / name, ignore=ignore_patterns("__pycache__"))
    metadata = project["project"]
    announce(site, metadata["name"], metadata["version"], metadata["entry-points"])


@contextmanager
def on_the_path(site: Path, *modules: str) -> Iterator[None]:
    """The packages of a site, in this process; their modules and what is known of them go again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        importlib.invalidate_caches()
        _forget()
        for name, game in engines.usable_games(found_games())[0].items():
            patch.setitem(engines.GAMES, name, game)
        yield
    _forget()
    for name in [name for name in sys.modules if name.partition(".")[0] in modules]:
        del sys.modules[name]


def _forget() -> None:
    for cache in CACHES:
        cache.cache_clear()


def rinkside(site: Path, *words: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command of this checkout where the packages of a site are installed."""
    return subprocess.run(
        [sys.executable, "-c", "from cli.main import main; main()", *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
