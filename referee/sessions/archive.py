"""Sessions as files: one zip to export and import, with `records.jsonl` and `frames/000012.jpg`."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import IO, Any, BinaryIO

from engines import GAMES
from referee.sessions.event_store import ImportedSession, Log, LogReader
from referee.sessions.events import (
    InputRecorded,
    Record,
    SessionStarted,
    decode_document,
    record_document,
    renumbered,
)
from referee.sessions.private_files import OWNER_FILE
from referee.sessions.state import Games, SessionState, apply, begin, record_errors
from table.errors import InputError
from table.files import whole_file
from table.json_data import JsonObject
from table.messages import msg

RECORDS = "records.jsonl"
MOST_BYTES = 1_000_000_000
"""Largest unpacked size in bytes of an imported session, unless `--max-mb` allows more. It is two
evenings with all pictures.
"""
MOST_RECORDS, MOST_TEXT, MOST_LINE = 20_000, 32 << 20, 1 << 18
"""Most records of an imported session, and most bytes of all of them and of one. An hour in which
every throw is measured has 121, of 5 kB each.
"""
MOST_PICTURE, MOST_DIRECTORY = 32 << 20, 2 << 20
MOST_RATIO, RATIO_FROM_BYTES = 200, 1 << 20
"""Largest compression ratio, checked from this size in bytes on. Records are packed to a fortieth
or less, pictures not at all; deflated zeros to a thousandth.
"""
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    NotImplementedError,
    RuntimeError,
    EOFError,
    ValueError,
    OverflowError,
)
"""Exceptions of `zipfile` for files that are no zip, or damaged."""
PART = 100
"""Records read at a time."""
PLACE = ("seq", "session", "at_ms", "frame", "picture")
"""Fields of a line beside the event."""


def export_session(log: LogReader, session: int, path: Path) -> None:
    """Write a session as a zip that only its owner can read, whole or not at all.

    Raises InputError.
    """
    with whole_file(path, OWNER_FILE) as file:
        _pack(log, session, file)


def packed_session(log: LogReader, session: int) -> bytes:
    """Return a session as a zip; raises InputError for an unknown one."""
    packed = io.BytesIO()
    _pack(log, session, packed)
    return packed.getvalue()


def _pack(log: LogReader, session: int, file: BinaryIO) -> None:
    """Write a session as a zip; one picture and a few records are in memory at a time."""
    with zipfile.ZipFile(file, "w") as archive:
        for record in _read_in_parts(log, session):
            if record.frame:
                archive.writestr(
                    zipfile.ZipInfo(_picture(record.seq)), log.frame(record.seq) or b""
                )
        info = zipfile.ZipInfo(RECORDS)
        info.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(info, "w") as lines:
            for record in _read_in_parts(log, session):
                lines.write(f"{json.dumps(_line(record), ensure_ascii=False)}\n".encode())


def _line(record: Record) -> JsonObject:
    document = record_document(record)
    if isinstance(record.event, InputRecorded):
        document["moves"] = list(
            record.event.moves
        )  # include the secret: later records depend on it
    return document | {"picture": _picture(record.seq)} if record.frame else document


def _read_in_parts(log: LogReader, session: int) -> Iterator[Record]:
    part = log.records(session, most=PART)
    while part:
        yield from part
        part = log.records(session, part[-1].seq, PART)


def import_session(
    log: Log, path: Path, games: Games = GAMES, most_bytes: int = MOST_BYTES
) -> ImportedSession:
    """Import an exported session into a log, completely or not at all.

    Pictures for which the log has no room are left out. The sizes in the zip's directory are
    checked before unpacking; they may be wrong, so the unpacked bytes are counted as well. One
    record and one picture are in memory at a time.

    Raises InputError for a file that is no zip of Rinkside or is damaged, or that unpacks to more
    than `most_bytes`. Also for records that do not follow from one another, and for a session that
    the log has already.
    """
    try:
        with BoundedZipFile(path) as file, zipfile.ZipFile(file) as archive:
            check_directory(archive, path, most_bytes)
            records = sum(1 for _ in _lines(archive, path))
            with closing(_records(archive, path)) as read:
                first = next(read, None)
            if first is None or not isinstance(first.event, SessionStarted):
                raise InputError(
                    msg(
                        "{path}: {name}: expected the start of a session first",
                        path=path,
                        name=RECORDS,
                    )
                )
            _refuse_twice(log, first.event, records, path)
            return log.take_in(
                _checked_records(_records(archive, path), games, path),
                lambda seq: _jpeg(archive, seq, path),
            )
    except InputError:
        raise
    except OSError as error:
        raise InputError(
            msg(
                "{path}: expected an exported session, but it cannot be read ({raw})",
                path=path,
                raw=error.strerror,
            )
        ) from error
    except DAMAGED as error:
        raise InputError(
            msg(
                "{path}: expected an exported session (a zip file), but it is damaged or"
                " something else ({raw})",
                path=path,
                raw=error,
            )
        ) from error


class BoundedZipFile(io.BufferedReader):
    """A file for `zipfile` that refuses to read a directory of more than 2 MB.

    `zipfile` reads a zip's whole directory at once, whatever its stated size. 2 MB is more than
    enough for 20,000 members.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path))
        self._path, self._size = path, path.stat().st_size

    def read(self, size: int | None = -1, /) -> bytes:
        """As `BufferedReader.read`; raises InputError for more than a directory may have."""
        wanted = self._size - self.tell() if size is None or size < 0 else size
        if wanted > MOST_DIRECTORY:
            raise InputError(
                msg(
                    "{path}: expected a zip whose directory is at most {n} MB, got {n2} MB",
                    path=self._path,
                    n=MOST_DIRECTORY >> 20,
                    n2=wanted >> 20,
                )
            )
        return super().read(size)


def check_directory(archive: zipfile.ZipFile, path: Path, most_bytes: int) -> None:
    """Raise InputError for a directory that states over `most_bytes`, or is a zip bomb."""
    members = archive.infolist()
    if len(members) > MOST_RECORDS + 1:
        raise InputError(
            msg(
                "{path}: expected at most {n} files in it, got {n2}",
                path=path,
                n=MOST_RECORDS + 1,
                n2=len(members),
            )
        )
    if wrong := next(
        (
            one
            for one in members
            if one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        ),
        None,
    ):
        raise InputError(
            msg(
                "{path}: {name}: expected a stored or deflated file, got method {raw}",
                path=path,
                name=wrong.filename,
                raw=wrong.compress_type,
            )
        )
    unpacked = sum(one.file_size for one in members)
    if unpacked > most_bytes:
        raise InputError(
            msg(
                "{path}: expected at most {n} MB unpacked, got {n2} MB; see --max-mb",
                path=path,
                n=most_bytes // 10**6,
                n2=unpacked // 10**6,
            )
        )
    packed = max(1, path.stat().st_size)
    if unpacked > RATIO_FROM_BYTES and unpacked > MOST_RATIO * packed:
        raise InputError(
            msg(
                "{path}: expected a zip that unpacks to at most {n} times its size, got {n2} times",
                path=path,
                n=MOST_RATIO,
                n2=unpacked // packed,
            )
        )


def _picture(seq: int) -> str:
    return f"frames/{seq:06d}.jpg"


def _open_member(archive: zipfile.ZipFile, name: str, path: Path) -> IO[bytes]:
    try:
        return archive.open(name)
    except KeyError:
        raise InputError(
            msg(
                "{path}: expected {name} in it, but it is missing; was it exported with"
                " rinkside log export?",
                path=path,
                name=name,
            )
        ) from None


def _jpeg(archive: zipfile.ZipFile, seq: int, path: Path) -> bytes:
    data = bytearray()
    with _open_member(archive, _picture(seq), path) as file:
        # In pieces, as BoundedZipFile refuses larger reads, which stored files would need.
        while len(data) <= MOST_PICTURE and (piece := file.read(MOST_DIRECTORY)):
            data += piece
    if len(data) > MOST_PICTURE:
        raise InputError(
            msg(
                "{path}: {name}: expected a picture of at most {n} MB, got more",
                path=path,
                name=_picture(seq),
                n=MOST_PICTURE >> 20,
            )
        )
    if not data.startswith(b"\xff\xd8"):
        raise InputError(
            msg(
                "{path}: {name}: expected a JPEG, got something else", path=path, name=_picture(seq)
            )
        )
    return bytes(data)


def _lines(archive: zipfile.ZipFile, path: Path) -> Iterator[tuple[str, bytes]]:
    """Lines of the records, each with its place."""
    read = 0
    with _open_member(archive, RECORDS, path) as file:
        for number in count(1):
            where = f"{path}: {RECORDS}: line {number}"
            line = file.readline(MOST_LINE + 1)
            read += len(line)
            if not line:
                return
            if len(line) > MOST_LINE:
                raise InputError(
                    msg(
                        "{where}: expected a record of at most {n} kB, got more",
                        where=where,
                        n=MOST_LINE >> 10,
                    )
                )
            if number > MOST_RECORDS or read > MOST_TEXT:
                raise InputError(
                    msg(
                        "{path}: {name}: expected at most {n} records and {n2} MB, got more",
                        path=path,
                        name=RECORDS,
                        n=MOST_RECORDS,
                        n2=MOST_TEXT >> 20,
                    )
                )
            yield where, line


def _records(archive: zipfile.ZipFile, path: Path) -> Generator[Record, None, None]:
    for where, line in _lines(archive, path):
        try:
            document: Any = json.loads(line.decode())
        except UnicodeDecodeError as error:
            raise InputError(
                msg(
                    "{path}: {name}: expected text in UTF-8 ({raw})",
                    path=path,
                    name=RECORDS,
                    raw=error.reason,
                )
            ) from error
        except (ValueError, RecursionError) as error:
            raise InputError(
                msg("{where}: expected a record as JSON ({raw})", where=where, raw=error)
            ) from error
        place = (
            {name: document.pop(name, None) for name in PLACE} if isinstance(document, dict) else {}
        )
        numbers = [place.get(name) for name in ("seq", "session", "at_ms")]
        if not all(type(value) is int and abs(value) < 2**53 for value in numbers):
            raise InputError(
                msg(
                    "{where}: expected a record with numbers seq, session and at_ms, got {raw}",
                    where=where,
                    raw=repr(line[:60].decode(errors="replace")),
                )
            )
        event = decode_document(document, where)
        yield Record(
            seq=place["seq"],
            session=place["session"],
            at_ms=place["at_ms"],
            event=event,
            frame=bool(place["frame"]),
        )


def _checked_records(records: Iterator[Record], games: Games, path: Path) -> Iterator[Record]:
    """Yield the records, each checked by the rules of the game against those before it."""
    where = f"{path}: {RECORDS}"
    ledger: SessionState | None = None
    known: dict[int, int] = {}
    before: Record | None = None
    for record in records:
        if before is not None and (record.seq <= before.seq or record.session != before.session):
            raise InputError(
                msg("{where}: expected the records of one session in the order of seq", where=where)
            )
        known[record.seq] = record.seq
        try:
            renumbered(record.event, known)
        except KeyError as error:
            raise InputError(
                msg(
                    "{where}: record {n}: expected a reference to an earlier record, got {n2}",
                    where=where,
                    n=record.seq,
                    n2=error,
                )
            ) from None
        with record_errors(record, where):
            ledger = begin(record, games) if ledger is None else apply(ledger, record)
        before = record
        yield record


def _refuse_twice(log: LogReader, started: SessionStarted, records: int, path: Path) -> None:
    for summary in log.sessions():
        if summary.records == records and log.records(summary.session, most=1)[0].event == started:
            raise InputError(
                msg(
                    "{path}: expected a session that is not in the log yet, but it is"
                    " already there as session {n}",
                    path=path,
                    n=summary.session,
                )
            )
