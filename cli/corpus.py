"""Corpora of table pictures with ground truth: `image.jpg`, `table.json`, `truth.json` per folder.

A corpus is a folder or a zip. A zip is not unpacked to disk; one picture is in memory at a time.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

import msgspec

from calibration.quality.truth import Truth, parse_truth
from referee.live.shared_tables import SharedTable
from referee.sessions.archive import (
    DAMAGED,
    MOST_DIRECTORY,
    MOST_PICTURE,
    BoundedZipFile,
    check_directory,
)
from table.errors import InputError
from table.files import parse_json, read_bytes, whole_file
from table.messages import msg, phrase
from table.table_config import Setup, parse_table, table_document
from vision.cameras.base import other_size
from vision.cameras.frame import Image
from vision.cameras.image_files import decode_image

PICTURE, TABLE, TRUTH, READING = "image.jpg", "table.json", "truth.json", "reading.json"
MOST_BYTES = 1_000_000_000
"""Default limit of a zip's unpacked size (`--max-mb`)."""
MOST_JSON = 2 << 20
"""Maximum size of a table or truth file, in bytes."""
Read = Callable[[str, str, int], bytes]
"""Reads a file of the corpus; arguments are its name, its expected kind, and the maximum size.
"""


class Case(NamedTuple):
    """One picture of a corpus; `truth` is None without ground truth."""

    name: str
    image: Image
    setup: Setup
    truth: Truth | None


def write_corpus(target: Path, tables: Iterable[SharedTable]) -> None:
    """Write tables as a zip, atomically; raises InputError."""
    with whole_file(target) as file:
        _pack(file, tables)


def _pack(file: BinaryIO, tables: Iterable[SharedTable]) -> None:
    """Write the zip; all files have the same date, 1980, and no owner."""
    with zipfile.ZipFile(file, "w") as archive:
        for number, table in enumerate(tables, 1):
            for name, data in files_of(table).items():
                info = zipfile.ZipInfo(f"{number:04d}/{name}")
                if name != PICTURE:
                    info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, data)


def files_of(table: SharedTable) -> dict[str, bytes]:
    """The files of a shared table, by name."""
    files = {
        PICTURE: table.jpeg,
        TABLE: _json(table_document(table.setup)),
        READING: _json(table.reading),
    }
    return files if table.truth is None else files | {TRUTH: _json(table.truth)}


def _json(document: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def read_corpus(source: Path, most_bytes: int = MOST_BYTES) -> Iterator[Case]:
    """The pictures of a folder or a zip, by name.

    Raises InputError for a source that is neither or has no pictures; for a zip that is damaged or
    unpacks to more than `most_bytes`; and for an invalid picture, table or truth.
    """
    if source.is_dir():
        names = {path.relative_to(source).as_posix() for path in source.rglob("*.*")}
        yield from _cases(
            names,
            lambda name, expected, most: read_bytes(source / name, expected, most),
            source,
            source,
        )
        return
    with _open_corpus(source, most_bytes) as archive:
        yield from _cases(
            set(archive.namelist()),
            lambda name, expected, most: _member(archive, name, expected, most, source),
            source,
        )


@contextmanager
def _open_corpus(source: Path, most_bytes: int) -> Iterator[zipfile.ZipFile]:
    try:
        with BoundedZipFile(source) as file, zipfile.ZipFile(file) as archive:
            check_directory(archive, source, most_bytes)
            _check_names(archive, source)
            yield archive
    except InputError:
        raise
    except OSError as error:
        raise InputError(
            msg(
                "{path}: expected a folder or a zip of pictures, but it cannot be read ({raw})",
                path=source,
                raw=error.strerror,
            )
        ) from error
    except DAMAGED as error:
        raise InputError(
            msg(
                "{path}: expected a zip of pictures, but it is damaged or something else ({raw})",
                path=source,
                raw=error,
            )
        ) from error


def _check_names(archive: zipfile.ZipFile, source: Path) -> None:
    """Raise InputError for unsafe names, which would matter if the zip were unpacked by hand."""
    names = archive.namelist()
    if len(set(names)) != len(names):
        raise InputError(msg("{path}: expected each name in it once", path=source))
    for name in names:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name:
            raise InputError(
                msg(
                    "{path}: expected names inside the zip, got {raw}",
                    path=source,
                    raw=repr(name[:80]),
                )
            )


def _member(
    archive: zipfile.ZipFile, name: str, expected: str, most_bytes: int, source: Path
) -> bytes:
    data = bytearray()
    with archive.open(name) as file:
        # In pieces, as BoundedZipFile refuses to read more at once, and a stored file is.
        while len(data) <= most_bytes and (piece := file.read(MOST_DIRECTORY)):
            data += piece
    if len(data) > most_bytes:
        raise InputError(
            msg(
                "{path}: {name}: expected {text} of at most {n} MB, got more",
                path=source,
                name=name,
                text=expected,
                n=most_bytes >> 20,
            )
        )
    return bytes(data)


def _cases(names: set[str], read: Read, source: Path, folder: Path | None = None) -> Iterator[Case]:
    """The cases of a corpus; custom piece sets are allowed only in a `folder`."""
    found = sorted(name for name in names if PurePosixPath(name).name == PICTURE)
    if not found:
        raise InputError(
            msg(
                "{path}: expected folders with {name}, {name2} and {name3}, found none",
                path=source,
                name=PICTURE,
                name2=TABLE,
                name3=TRUTH,
            )
        )
    for name in found:
        beside = PurePosixPath(name).parent
        where = f"{source}: {beside}"
        table = str(beside / TABLE)
        if table not in names:
            raise InputError(
                msg("{path}: expected {name} beside {name2}", path=where, name=TABLE, name2=PICTURE)
            )
        raw = parse_json(read(table, phrase("a table.json"), MOST_JSON), f"{where}/{TABLE}")
        game = raw.get("game") if isinstance(raw, dict) else None
        if folder is None and isinstance(game, dict):
            _check_pieces(game.get("pieces"), f"{where}/{TABLE}")
        setup = parse_table(raw, f"{where}/{TABLE}", folder and folder / beside)
        truth = None
        if str(beside / TRUTH) in names:
            said = read(str(beside / TRUTH), phrase("a truth.json"), MOST_JSON)
            truth = parse_truth(parse_json(said, f"{where}/{TRUTH}"), f"{where}/{TRUTH}", setup)
        jpeg = read(name, phrase("a picture"), MOST_PICTURE)
        yield Case(str(beside), _image(jpeg, f"{where}/{PICTURE}", setup), setup, truth)


def _check_pieces(named: object, where: str) -> None:
    if isinstance(named, str) and named.endswith(".toml"):
        raise InputError(
            msg(
                "{where}: game.pieces: expected pyramids that Rinkside knows, as in any zip,"
                " got {raw}",
                where=where,
                raw=repr(named[:80]),
            )
        )


def _image(jpeg: bytes, where: str, setup: Setup) -> Image:
    image = decode_image(jpeg, where, setup.camera.orientation)
    if wrong := other_size(image.shape[1], image.shape[0], setup):
        raise InputError(msg("{path}: {text}", path=where, text=wrong))
    return image
