"""Write a folder of files atomically."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from table.errors import InputError
from table.messages import msg

MARK = ".rinkside-site"
"""Marker file of a folder that this program wrote and may replace."""


def check_folder(folder: Path) -> None:
    """Raise InputError if the path exists and this program did not write it."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(
            msg("{path}: expected a new folder, got something else; choose another", path=folder)
        )
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise InputError(
            msg(
                "{path}: expected a new folder, or one that was exported before, but other files"
                " are in it; nothing was changed",
                path=folder,
            )
        )


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write these files as a folder, in place of an earlier export.

    Raises InputError. After any exception `folder` is unchanged. A kill between the two renames
    leaves no `folder`; the old one is then beside it.
    """
    check_folder(folder)
    folder = folder.absolute()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name[:100]}."))
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        new = beside / "new"
        new.mkdir()
        for name, data in (*files.items(), (MARK, b"rinkside hub export-site\n")):
            with (new / name).open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        _swap(new, folder, beside / "old")
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _swap(new: Path, folder: Path, old: Path) -> None:
    """Replace `folder` by `new`; raises OSError with `folder` unchanged."""
    if not folder.exists():
        new.rename(folder)
        return
    folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        old.rename(folder)
        raise


def _unwritable(folder: Path, error: OSError) -> InputError:
    return InputError(
        msg(
            "{path}: could not be written ({raw}); nothing was changed",
            path=folder,
            raw=error.strerror or type(error).__name__,
        )
    )
