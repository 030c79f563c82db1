"""Restore a backup: unpack it beside the data folder, check it, then swap the folders.

The archive is untrusted. Sizes are checked before unpacking and counted during it; only plain names
listed in the manifest are written.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from calibration.lens.file import load_lens
from cli.backup.pack import MANIFEST, MOST_FILES, NAME, PART_BYTES, Manifest, is_kept
from cli.paths import CODES_NAME, LOG_NAME, OWN
from hardware.settings import load_settings
from referee.sessions.archive import DAMAGED, BoundedZipFile
from referee.sessions.event_reader import read_only_uri
from referee.sessions.event_store import LogReader
from referee.sessions.private_files import OWNER_FILE, OWNER_FOLDER, claim
from table.errors import InputError
from table.files import convert, parse_json, read_json, read_toml
from table.messages import Message, msg, phrase
from table.table_config import load_table
from webui.security.codes import StoredCodes

MOST_BYTES = 8_000_000_000
"""Default limit of the unpacked size (`--max-mb`); a full log has 2 GB of pictures."""
MOST_MANIFEST_BYTES = 1 << 20
ROOM_BYTES = 50 << 20
"""Disk space to leave free, in bytes."""
STAGED, KEPT = ".rinkside-restore-", "before-restore-"
"""Prefixes of folder names: for staged files, and for the old files."""
FOLDER_NAME = "rinkside"
"""Name by which a data folder counts as Rinkside's own, whatever its contents."""


def unpack(source: Path, data: Path, most_bytes: int = MOST_BYTES) -> tuple[Manifest, Path | None]:
    """Replace a data folder by a backup; returns the manifest, and the path of the old folder.

    Everything is checked before any change, and the old files are kept beside it. Raises InputError
    for a file that is not a backup, is damaged or too large; for an unusable log or setting; while
    a game is running; and for a folder with foreign files.
    """
    data = data.resolve()
    _check_place(data)
    with _staging(data) as staged:
        manifest = _extract(source, staged, most_bytes)
        _check(staged, manifest, source)
        return manifest, _swap(staged, data)


def _check_place(data: Path) -> None:
    if data.exists() and not data.is_dir():
        raise InputError(msg("{path}: expected a folder, or nothing yet", path=data))
    if not data.exists():
        return
    strange = [] if data.name == FOLDER_NAME else [one.name for one in data.iterdir()]
    other = next((name for name in sorted(strange) if not _is_own_file(name)), None)
    if other is not None:
        raise InputError(
            msg(
                "{path}: expected a folder with files of Rinkside only, found {raw}: name another"
                " one with --data",
                path=data,
                raw=repr(other),
            )
        )


def _is_own_file(name: str) -> bool:
    return name.startswith((*OWN, KEPT)) or is_kept(name.removesuffix(".bak"))


@contextmanager
def _staging(data: Path) -> Iterator[Path]:
    """An empty folder on the same disk, removed at the end unless it was renamed."""
    disk = data if os.path.ismount(data) else data.parent
    try:
        disk.mkdir(parents=True, exist_ok=True)
        staged = Path(mkdtemp(prefix=STAGED, dir=disk))
    except OSError as error:
        raise InputError(
            msg(
                "{path}: expected a folder that can be written to ({raw})",
                path=disk,
                raw=error.strerror,
            )
        ) from error
    try:
        yield staged
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _extract(source: Path, staged: Path, most_bytes: int) -> Manifest:
    try:
        with BoundedZipFile(source) as file, zipfile.ZipFile(file) as archive:
            manifest = _manifest(archive, source)
            _check_members(archive, manifest, source, most_bytes)
            free = shutil.disk_usage(staged).free - ROOM_BYTES
            needed = sum(one.bytes for one in manifest.files.values())
            if needed > free:
                raise InputError(
                    msg(
                        "{path}: expected {n} MB of free disk space, got {n2} MB",
                        path=source,
                        n=needed // 10**6 + 1,
                        n2=max(0, free) // 10**6,
                    )
                )
            for name in manifest.files:
                _write(archive, name, manifest, staged, source)
    except InputError:
        raise
    except OSError as error:
        raise InputError(
            msg(
                "{path}: expected a backup, but it cannot be read or unpacked ({raw})",
                path=source,
                raw=error.strerror,
            )
        ) from error
    except DAMAGED as error:
        raise _damaged(source, str(error)) from error
    return manifest


def _damaged(source: Path, reason: str | Message) -> InputError:
    return InputError(
        msg(
            "{path}: expected a backup of Rinkside, but it is damaged or something else ({raw});"
            " nothing was changed",
            path=source,
            raw=reason,
        )
    )


def _manifest(archive: zipfile.ZipFile, source: Path) -> Manifest:
    try:
        with archive.open(MANIFEST) as file:
            text = file.read(MOST_MANIFEST_BYTES + 1)
    except KeyError:
        raise _damaged(source, phrase("{name} is missing", name=MANIFEST)) from None
    if len(text) > MOST_MANIFEST_BYTES:
        raise _damaged(source, phrase("{name} is too large", name=MANIFEST))
    where = f"{source}: {MANIFEST}"
    return convert(parse_json(text, where), Manifest, where)


def _check_members(
    archive: zipfile.ZipFile, manifest: Manifest, source: Path, most_bytes: int
) -> None:
    """Raise InputError unless the archive contains exactly the files of its manifest."""
    members = {one.filename: one for one in archive.infolist()}
    if len(members) != len(archive.infolist()) or len(members) > MOST_FILES + 1:
        raise _damaged(source, phrase("duplicate names, or too many files"))
    for name, one in members.items():
        mode = one.external_attr >> 16
        if not NAME.fullmatch(name) or (mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode)):
            raise _damaged(source, phrase("{raw} is not a regular file", raw=repr(name)[:80]))
        if name != MANIFEST and name != LOG_NAME and not is_kept(name):
            raise _damaged(source, phrase("{raw} does not belong there", raw=repr(name)[:80]))
    if set(members) != {MANIFEST, *manifest.files}:
        raise _damaged(source, phrase("its list and its content differ"))
    unpacked = sum(max(one.file_size, 0) for one in members.values())
    stated = sum(one.bytes for one in manifest.files.values())
    if max(unpacked, stated) > most_bytes or any(one.bytes < 0 for one in manifest.files.values()):
        raise InputError(
            msg(
                "{path}: expected at most {n} MB unpacked, got {n2} MB; see --max-mb",
                path=source,
                n=most_bytes // 10**6,
                n2=max(unpacked, stated) // 10**6,
            )
        )


def _write(
    archive: zipfile.ZipFile, name: str, manifest: Manifest, staged: Path, source: Path
) -> None:
    """Unpack one file, writing at most its stated size."""
    stated, read, checksum = manifest.files[name], 0, hashlib.sha256()
    handle = os.open(staged / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_FILE)
    with archive.open(name) as packed, os.fdopen(handle, "wb") as file:
        while part := packed.read(PART_BYTES):
            read += len(part)
            if read > stated.bytes:
                break
            checksum.update(part)
            file.write(part)
        file.flush()
        os.fsync(file.fileno())
    if (read, checksum.hexdigest()) != (stated.bytes, stated.sha256):
        raise _damaged(source, phrase("the checksum of {name} is wrong", name=name))


def _check(staged: Path, manifest: Manifest, source: Path) -> None:
    """Parse every file as Rinkside would; raises InputError for an unusable one."""
    if LOG_NAME in manifest.files:
        with LogReader(staged / LOG_NAME) as log:
            wrong = log.check().wrong
        if wrong or _has_code(staged / LOG_NAME):
            raise _damaged(source, wrong[0] if wrong else phrase("its log contains programs"))
    readers: dict[str, Callable[[Path], object]] = {
        "table.json": load_table,
        "lens.json": load_lens,
        "rinkside.toml": load_settings,
        CODES_NAME: lambda path: convert(read_json(path), StoredCodes, path.name),
    }
    for name in manifest.files:
        if name in readers:
            readers[name](staged / name)
        elif name.endswith(".json"):
            read_json(staged / name)
        elif name.endswith(".toml"):
            read_toml(staged / name)


def _has_code(log: Path) -> bool:
    """True if a database contains triggers or views, which could run code on use."""
    with closing(sqlite3.connect(read_only_uri(log), uri=True)) as database:
        kinds = {kind for (kind,) in database.execute("SELECT type FROM sqlite_master")}
    return not kinds <= {"table", "index"}


def _swap(staged: Path, data: Path) -> Path | None:
    """Replace the data folder by the staged one; the old one is kept beside it."""
    staged.chmod(OWNER_FOLDER)
    if not data.exists():
        staged.rename(data)
        return None
    handle = claim(data / LOG_NAME) if (data / LOG_NAME).exists() else -1
    try:
        _give_to_owner(staged, data)
        if staged.parent == data:
            return _swap_files(staged, data)
        old = _unused_path(data.with_name(f"{data.name}.{KEPT}"))
        data.rename(old)
        try:
            staged.rename(data)
        except OSError:
            old.rename(data)
            raise
        return old
    except OSError as error:
        raise InputError(
            msg(
                "{path}: expected a folder that can be replaced ({raw}); nothing was changed",
                path=data,
                raw=error.strerror,
            )
        ) from error
    finally:
        if handle >= 0:
            os.close(handle)


def _swap_files(staged: Path, data: Path) -> Path:
    """As `_swap`, file by file, for a data folder that is a mount point and cannot be renamed.

    If one file cannot be moved, all are moved back.
    """
    old = _unused_path(data / KEPT)
    old.mkdir(OWNER_FOLDER)
    moved: list[tuple[Path, Path]] = []
    try:
        for source, target in ((data, old), (staged, data)):
            for path in sorted(source.iterdir()):
                if source == staged or path.is_file():
                    path.rename(target / path.name)
                    moved.append((target / path.name, path))
    except OSError:
        for now, before in reversed(moved):
            now.rename(before)
        old.rmdir()
        raise
    return old


def _unused_path(beginning: Path) -> Path:
    """The first free path with this prefix and a number."""
    number = 1
    while (path := beginning.with_name(f"{beginning.name}{number}")).exists():
        number += 1
    return path


def _give_to_owner(staged: Path, data: Path) -> None:
    """Change the owner of the new files to the old folder's, if run as root."""
    owner = data.stat()
    if os.geteuid() == 0:
        for path in (staged, *staged.iterdir()):
            with suppress(PermissionError):  # a file system without owners
                os.chown(path, owner.st_uid, owner.st_gid)
