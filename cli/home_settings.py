"""What the set-up of a table leaves in the data folder, beside `table.json`: the camera."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from table.files import convert, read_json, write_whole

TABLE_NAME, LENS_NAME, SETTINGS_NAME = "table.json", "lens.json", "home.json"


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
