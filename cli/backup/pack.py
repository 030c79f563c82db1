"""Write a backup: a zip with a consistent snapshot of the log, and the small files beside it."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import zipfile
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Literal

import msgspec

from cli.paths import LOG_NAME
from referee.sessions.event_reader import read_only_uri
from referee.sessions.event_store import LogReader
from referee.sessions.event_tables import damage, damaged
from referee.sessions.private_files import OWNER_FILE
from table.errors import InputError
from table.files import read_bytes, whole_file
from table.messages import msg, phrase

MANIFEST = "rinkside-backup.json"
MOST_FILES = 200
MOST_SMALL_BYTES = 64 << 20
"""Maximum size of a file beside the log, such as a picture of the empty table."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_ -]{0,99}(?:\.[A-Za-z0-9_-]{1,40}){0,3}", re.ASCII)
"""Valid file names in a backup: no folders, no hidden files, no path traversal."""
SMALL = (".json", ".toml")
EMPTY = re.compile(r"empty\.(?:png|jpe?g)", re.IGNORECASE)
"""A picture of the empty table, as the service names it."""
PART_BYTES = 1 << 20


class PackedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Size and checksum of a file in a backup."""

    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Contents of a backup by name; `version` is the Rinkside that made it."""

    format: Literal["rinkside-backup/1"] = "rinkside-backup/1"
    made_utc: str
    version: str
    files: dict[str, PackedFile]


def is_kept(name: str) -> bool:
    """True for a file of a data folder that is backed up beside the log."""
    return bool(NAME.fullmatch(name)) and (
        name.endswith(SMALL) or EMPTY.fullmatch(name) is not None
    )


def pack(data: Path, named: Mapping[str, Path], target: Path) -> Manifest:
    """Write a backup of a data folder atomically, readable by its owner only.

    `named` are files from elsewhere, by their names in the backup. A game may be running: the log
    is copied as a consistent snapshot. Raises InputError for a damaged log, for an unreadable file,
    and if there is nothing to back up.
    """
    found = {
        path.name: path
        for path in (sorted(data.iterdir()) if data.is_dir() else ())
        if path.is_file() and is_kept(path.name)
    }
    small = found | dict(named)
    if len(small) >= MOST_FILES:
        raise InputError(
            msg(
                "{path}: expected at most {n} files to keep, got {n2}: name Rinkside's own folder"
                " with --data",
                path=data,
                n=MOST_FILES,
                n2=len(small),
            )
        )
    log = data / LOG_NAME
    if not small and not log.exists():
        raise InputError(
            msg("{path}: expected sessions or settings of Rinkside, but there are none", path=data)
        )
    with whole_file(target, OWNER_FILE) as file, TemporaryDirectory(dir=target.parent) as beside:
        copy = Path(beside) / LOG_NAME
        if log.exists():
            copy_log(log, copy)
        return _write(file, copy if log.exists() else None, small)


def copy_log(log: Path, copy: Path) -> None:
    """Copy a consistent snapshot of a log, even while it is written, and check the copy.

    Raises InputError for a file that is damaged or not a log.
    """
    LogReader(log).close()  # rejects files that are not logs
    try:
        with (
            closing(sqlite3.connect(read_only_uri(log), uri=True)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
            (version,) = target.execute("PRAGMA user_version").fetchone()
            wrong = damage(target, version, whole=True)
    except sqlite3.Error as error:
        raise InputError(
            msg("{path}: expected a log that can be copied ({raw})", path=log, raw=error)
        ) from error
    if wrong:
        raise damaged(log, wrong)


def _write(file: BinaryIO, log: Path | None, small: Mapping[str, Path]) -> Manifest:
    files: dict[str, PackedFile] = {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, path in small.items():
            data = read_bytes(path, phrase("a file for the backup"), MOST_SMALL_BYTES)
            archive.writestr(name, data)
            files[name] = PackedFile(len(data), hashlib.sha256(data).hexdigest())
        if log is not None:
            with log.open("rb") as source, archive.open(LOG_NAME, "w", force_zip64=True) as packed:
                checksum = hashlib.sha256()
                while part := source.read(PART_BYTES):
                    checksum.update(part)
                    packed.write(part)
            files[LOG_NAME] = PackedFile(log.stat().st_size, checksum.hexdigest())
        manifest = Manifest(
            made_utc=datetime.now(UTC).isoformat(timespec="seconds"),
            version=metadata.version("rinkside"),
            files=files,
        )
        archive.writestr(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
    return manifest
