"""What the home page keeps in the data folder, beside `table.json`.

That is the camera, and the session that is being played.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from table.errors import InputError
from table.files import convert, read_json, read_text, write_whole
from table.messages import phrase

TABLE_NAME, LENS_NAME, SETTINGS_NAME = "table.json", "lens.json", "home.json"
RUNNING_NAME = "playing.txt"
MOST_DIGITS = 18
"""Digits of a session's number that are read."""


class HomeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`home.json`: the camera, as --camera takes it."""

    format: Literal["rinkside-home/1"] = "rinkside-home/1"
    camera: str = ""


def load_home(folder: Path) -> HomeSettings:
    """The settings of a data folder, the defaults where there are none; raises InputError."""
    path = folder / SETTINGS_NAME
    return convert(read_json(path), HomeSettings, str(path)) if path.exists() else HomeSettings()


def save_home(settings: HomeSettings, folder: Path) -> None:
    """Write the settings into a data folder; raises InputError."""
    write_whole(
        folder / SETTINGS_NAME, msgspec.json.format(msgspec.json.encode(settings)) + b"\n", 0o600
    )


def remember_running(session: int, folder: Path) -> None:
    """Keep the number of a session that is being played, until people end it."""
    write_whole(folder / RUNNING_NAME, f"{session}\n".encode(), 0o600)


def running_session(folder: Path) -> int | None:
    """The session that was being played when Rinkside was last cut off, or is played now."""
    path = folder / RUNNING_NAME
    try:
        text = read_text(path, phrase("the number of a session")).strip() if path.exists() else ""
    except InputError:
        return None
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def forget_running(folder: Path) -> None:
    """No session is being played any more."""
    (folder / RUNNING_NAME).unlink(missing_ok=True)
