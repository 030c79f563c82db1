"""What is true of one game stands in its own folder: no other source names a game."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engines import GAMES, facts_of

ROOT = Path(__file__).parents[1]
ROOMS = (
    "table",
    "vision",
    "calibration",
    "engines",
    "hardware",
    "referee",
    "simulation",
    "webui",
    "hub",
    "cli",
    "conformance",
)
SOURCES = (".py", ".html", ".svg", ".js", ".css", ".toml", ".ino", ".json")
FOLDERS = (
    *(f"engines/{game}/" for game in GAMES),
    *(f"simulation/players/{game}" for game in GAMES),
    "simulation/generate/",
)
"""Where games are at home.  Made-up tables of every game are drawn in simulation/generate: the
networks are trained on them, and their seeds must not change.
"""
EXCEPTIONS: frozenset[str] = frozenset()
"""Files that name a game all the same."""
NAMES = sorted(
    {
        word.lower()
        for game in GAMES
        for word in re.split(r"[_ ]", f"{game} {facts_of(game).title}")
        if word.lower() not in ("ice", "wars")
    }
)


def named_in(text: str) -> list[str]:
    """Names of games in a text, each once: whole ones and the words that they are made of."""
    return sorted({found.lower() for found in re.findall("|".join(NAMES), text, re.IGNORECASE)})


def sources() -> list[Path]:
    return [
        path.relative_to(ROOT)
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*"))
        if path.suffix in SOURCES and not path.relative_to(ROOT).as_posix().startswith(FOLDERS)
    ]


def test_the_names_that_are_looked_for_are_those_of_the_games() -> None:
    assert NAMES == ["boule", "icebreaker", "icefloe", "storm", "zamboni"]
    assert named_in("if view.game == 'ice_boule' or code == 'storm.attack':") == ["boule", "storm"]


@pytest.mark.parametrize("room", ROOMS)
def test_no_game_is_named_outside_its_folder(room: str) -> None:
    found = {
        path.as_posix(): named
        for path in sources()
        if path.parts[0] == room
        and (named := named_in((ROOT / path).read_text(encoding="utf-8")))
        and path.as_posix() not in EXCEPTIONS
    }
    assert found == {}


def test_every_exception_still_is_one() -> None:
    """A file that names no game any more is held to it from then on."""
    named = {path.as_posix() for path in sources() if named_in((ROOT / path).read_text("utf-8"))}
    assert named >= EXCEPTIONS
