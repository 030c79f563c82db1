"""Sessions as files: one zip to carry away and to take in elsewhere, `records.jsonl` and `frames/000012.jpg`."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from engines import GAMES
from referee.events import Noted, Record, SessionStarted, decode, record_document, renumbered
from referee.ledger import Games, fold
from referee.log import Log, LogReader
from table.documents import write_whole
from table.errors import InputError

RECORDS = "records.jsonl"
MOST_BYTES, MOST_TEXT = 32 << 20, 256 << 20
"""No picture of a table, and no session in words, is longer than this."""
PLACE = ("seq", "session", "at_ms", "frame", "picture")
"""What a line of the file has beside the event."""


def export_session(log: LogReader, session: int, path: Path) -> None:
    """Write a session as a zip, whole or not at all; raises InputError."""
    write_whole(path, packed_session(log, session))


def packed_session(log: LogReader, session: int) -> bytes:
    """A session as a zip; raises InputError for no such one."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        lines = []
        for record in log.records(session):
            document = record_document(record)
            if isinstance(record.event, Noted):
                document["moves"] = list(record.event.moves)  # a secret is carried along: what follows rests on it
            if record.frame:
                document["picture"] = _picture(record.seq)
                archive.writestr(zipfile.ZipInfo(document["picture"]), log.frame(record.seq) or b"")
            lines.append(json.dumps(document, ensure_ascii=False) + "\n")
        archive.writestr(zipfile.ZipInfo(RECORDS), "".join(lines), compress_type=zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def import_session(log: Log, path: Path, games: Games = GAMES) -> int:
    """Take a session that was exported into a log, all of it or nothing, and return its number there.

    Raises InputError: no zip of Rinkside, a damaged one, records that do not follow from one another, or a session that the
    log has already.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            records = tuple(_records(_read(archive, RECORDS, MOST_TEXT, path), path))
            _check(records, games, path)
            frames = {record.seq: _jpeg(archive, record.seq, path) for record in records if record.frame}
    except OSError as error:
        raise InputError(f"{path}: expected a session that was exported, but it cannot be read ({error.strerror})") from error
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise InputError(f"{path}: expected a session that was exported (a zip file), but it is damaged or something else ({error})") from error
    _refuse_twice(log, records, path)
    return log.take_in(records, frames)


def _picture(seq: int) -> str:
    return f"frames/{seq:06d}.jpg"


def _read(archive: zipfile.ZipFile, name: str, most_bytes: int, path: Path) -> bytes:
    """A file of the archive; one that claims or turns out to be longer than it can be is refused before it fills the memory."""
    try:
        with archive.open(name) as file:
            data = file.read(most_bytes + 1)
    except KeyError:
        raise InputError(f"{path}: expected {name} in it, but it is not there; was it exported by rinkside log export?") from None
    if len(data) > most_bytes:
        raise InputError(f"{path}: {name}: expected {most_bytes >> 20} MB at most, got more")
    return data


def _jpeg(archive: zipfile.ZipFile, seq: int, path: Path) -> bytes:
    data = _read(archive, _picture(seq), MOST_BYTES, path)
    if not data.startswith(b"\xff\xd8"):
        raise InputError(f"{path}: {_picture(seq)}: expected a JPEG, got something else")
    return data


def _records(data: bytes, path: Path) -> Iterator[Record]:
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: {RECORDS}: expected text in UTF-8 ({error.reason})") from error
    for number, line in enumerate(lines, 1):
        where = f"{path}: {RECORDS}: line {number}"
        try:
            document: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: expected a record as JSON ({error})") from error
        place = {name: document.pop(name, None) for name in PLACE} if isinstance(document, dict) else {}
        numbers = [place.get(name) for name in ("seq", "session", "at_ms")]
        if not all(type(value) is int and abs(value) < 2**53 for value in numbers):
            raise InputError(f"{where}: expected a record with numbers seq, session and at_ms, got {line[:60]!r}")
        event = decode(json.dumps(document), where)
        yield Record(seq=place["seq"], session=place["session"], at_ms=place["at_ms"], event=event, frame=bool(place["frame"]))


def _check(records: tuple[Record, ...], games: Games, path: Path) -> None:
    """Do the records follow from one another, by the rules of the game?"""
    if not records or not isinstance(records[0].event, SessionStarted):
        raise InputError(f"{path}: {RECORDS}: expected the start of a session first")
    if any(b.seq <= a.seq or b.session != a.session for a, b in pairwise(records)):
        raise InputError(f"{path}: {RECORDS}: expected the records of one session in the order of seq")
    before: dict[int, int] = {}
    for record in records:
        before[record.seq] = record.seq
        try:
            renumbered(record.event, before)
        except KeyError as error:
            raise InputError(f"{path}: {RECORDS}: record {record.seq}: expected it to name a record before it, got {error}") from None
    fold(records, games, f"{path}: {RECORDS}")


def _refuse_twice(log: LogReader, records: tuple[Record, ...], path: Path) -> None:
    started = records[0].event
    for summary in log.sessions():
        if summary.records == len(records) and log.records(summary.session)[0].event == started:
            raise InputError(f"{path}: expected a session that is not in the log yet, but session {summary.session} is this one")
