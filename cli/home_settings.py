"""The home page's files in the data folder, beside `table.json`: camera, and running session."""

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
"""Maximum number of digits of a session's number."""


class HomeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`home.json`: the camera, as --camera takes it."""

    format: Literal["rinkside-home/1"] = "rinkside-home/1"
    camera: str = ""


def load_home(folder: Path) -> HomeSettings:
    """The settings of a data folder, by default empty; raises InputError."""
    path = folder / SETTINGS_NAME
    return convert(read_json(path), HomeSettings, str(path)) if path.exists() else HomeSettings()


def save_home(settings: HomeSettings, folder: Path) -> None:
    """Write the settings into a data folder; raises InputError."""
    write_whole(
        folder / SETTINGS_NAME, msgspec.json.format(msgspec.json.encode(settings)) + b"\n", 0o600
    )


def remember_running(session: int, folder: Path) -> None:
    """Store the number of the running session, until it is ended."""
    write_whole(folder / RUNNING_NAME, f"{session}\n".encode(), 0o600)


def running_session(folder: Path) -> int | None:
    """The running session, or the one that was interrupted."""
    path = folder / RUNNING_NAME
    try:
        text = read_text(path, phrase("the number of a session")).strip() if path.exists() else ""
    except InputError:
        return None
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def forget_running(folder: Path) -> None:
    """Delete the number of the running session."""
    (folder / RUNNING_NAME).unlink(missing_ok=True)
