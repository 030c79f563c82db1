"""Places of Rinkside's permanent files."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from referee.sessions.private_files import OWNER_FOLDER, tighten
from table.errors import InputError
from table.messages import msg

LOG_NAME = "log.sqlite"
CODES_NAME = "access.json"
OWN_NAMES = (LOG_NAME, CODES_NAME, "table.json", "lens.json", "home.json", "playing.txt")
OWN = (*OWN_NAMES, *(f".{name}" for name in OWN_NAMES))
"""Prefixes of the names of Rinkside's files, including temporary ones."""


def data_folder() -> Path:
    """The user's data folder by the XDG rules.

    `$XDG_DATA_HOME/rinkside`, or `~/.local/share/rinkside`.
    """
    base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".local" / "share") / "rinkside"


def log_path(folder: Path | None = None) -> Path:
    """The log in a data folder, by default the user's."""
    return (folder or data_folder()) / LOG_NAME


def codes_path(folder: Path | None = None) -> Path:
    """The panel's codes, beside the log of a data folder."""
    return (folder or data_folder()) / CODES_NAME


def ready_folder(folder: Path | None = None) -> Path:
    """Create the data folder if it is missing, accessible to its owner only.

    In the user's own data folder, other users' permissions are removed. In a named folder this
    happens only if it contains nothing but Rinkside's files, as it may be a home or shared folder.
    Raises InputError if it cannot be created.
    """
    named, folder = folder is not None, folder or data_folder()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=OWNER_FOLDER, exist_ok=True)
        if not named or (
            not folder.stat().st_mode & stat.S_ISVTX
            and all(entry.name.startswith(OWN) for entry in folder.iterdir())
        ):
            tighten(folder, OWNER_FOLDER)
    except OSError as error:
        raise InputError(
            msg(
                "{folder}: expected a folder that can be created and written to ({raw})",
                folder=folder,
                raw=error.strerror,
            )
        ) from error
    return folder
