"""Where Rinkside keeps what must last."""

from __future__ import annotations

import os
from pathlib import Path

from table.errors import InputError

LOG_NAME = "log.sqlite"
CODES_NAME = "access.json"


def data_folder() -> Path:
    """The user's data folder by the XDG rules: `$XDG_DATA_HOME/rinkside`, or `~/.local/share/rinkside`."""
    base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".local" / "share") / "rinkside"


def log_path(folder: Path | None = None) -> Path:
    """The log in a data folder, the user's unless another is named."""
    return (folder or data_folder()) / LOG_NAME


def codes_path(folder: Path | None = None) -> Path:
    """The panel's codes, beside the log of a data folder."""
    return (folder or data_folder()) / CODES_NAME


def ready_folder(folder: Path | None = None) -> Path:
    """The data folder, made if it is not there; raises InputError where it cannot be."""
    folder = folder or data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: expected a folder that can be made and written to ({error.strerror})") from error
    return folder
