"""Save the readable part of a damaged log as a new log (`rinkside log rescue`)."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from engines import GAMES
from referee.sessions.event_reader import read_only_uri
from referee.sessions.event_tables import (
    ERRORS,
    MOST_VALUE,
    LogIdentity,
    create,
    identify,
    identity_of,
    picture_checksum,
    record_checksum,
)
from referee.sessions.events import Record, SessionStarted, decode
from referee.sessions.private_files import create_private
from referee.sessions.sqlite_pages import rows
from referee.sessions.state import Games, SessionState, apply, begin
from table.errors import InputError
from table.messages import msg

LEAST_ROW = 32
"""Fewest bytes of a record: bounds the number of records in a file."""


@dataclass(frozen=True, slots=True)
class RescueResult:
    """Numbers of sessions, records and pictures saved; `lost` describes what was not."""

    sessions: int
    records: int
    frames: int
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """A record as stored in the file."""

    seq: int
    session: int
    at_ms: int
    text: str


@dataclass(slots=True)
class _FoundRecords:
    """Records by number, and the numbers of unreadable ones."""

    rows: dict[int, _Row] = field(default_factory=dict)
    lost: set[int] = field(default_factory=set)
    reachable: bool = True
    """True if SQLite could tell how many there are."""


def rescue(bad: Path, good: Path, games: Games = GAMES) -> RescueResult:
    """Save the readable part of the log `bad` as `good`; records keep their numbers.

    `bad` is not changed. Records and pictures are saved if their checksums are right. A session is
    saved as far as its records follow from one another by its game's rules. After a lost record, it
    ends at the first one that does not follow or has another state. Raises InputError if nothing
    can be read.
    """
    if not bad.is_file():
        raise InputError(msg("{path}: expected a log, but there is no such file", path=bad))
    try:
        create_private(good)
    except OSError as error:
        raise InputError(
            msg(
                "{path}: expected the name of a new file in a writable folder ({raw})",
                path=good,
                raw=error.strerror,
            )
        ) from error
    try:
        with closing(_connect(bad)) as damaged:
            return _save(bad, damaged, good, games)
    except BaseException as error:
        good.unlink(missing_ok=True)
        if isinstance(error, (*ERRORS, OSError)):
            raise InputError(
                msg("{path}: could not be saved as {out} ({raw})", path=bad, out=good, raw=error)
            ) from error
        raise


def _connect(bad: Path) -> sqlite3.Connection:
    db = sqlite3.connect(read_only_uri(bad), uri=True, isolation_level=None)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE)
    with suppress(*ERRORS):
        db.execute(
            "PRAGMA writable_schema = ON"
        )  # a truncated file is then read as far as possible
    return db


def _save(bad: Path, damaged: sqlite3.Connection, good: Path, games: Games) -> RescueResult:
    found = _records_in(bad, damaged)
    if not found.rows:
        raise InputError(
            msg("{path}: expected a log of Rinkside, but no record can be read in it", path=bad)
        )
    message = [f"records {_ranges(found.lost)} cannot be read"] if found.lost else []
    kept: dict[int, _Row] = {}
    sessions = 0
    for session, rows_of in _by_session(found.rows).items():
        whole = _following_rows(rows_of, found.lost, games)
        kept |= {row.seq: row for row in whole}
        sessions += bool(whole)
        if len(whole) < len(rows_of):
            left_out = [row.seq for row in rows_of[len(whole) :]]
            why = "its start is lost" if not whole else "they do not follow without what is lost"
            message.append(
                f"session {session}: records {_ranges(left_out)} can be read and are left out:"
                f" {why}"
            )
    frames, lost_frames = _write(bad, damaged, good, kept)
    if lost_frames:
        message.append(
            f"the pictures of records {_ranges(lost_frames)} cannot be read, where there were any"
        )
    return RescueResult(sessions, len(kept), frames, tuple(message))


def _records_in(bad: Path, damaged: sqlite3.Connection) -> _FoundRecords:
    found, top, most = _FoundRecords(), 0, bad.stat().st_size // LEAST_ROW
    for question in ("records", "records INDEXED BY records_by_session", "frames"):
        try:
            top = max(
                top, damaged.execute(f"SELECT coalesce(max(seq), 0) FROM {question}").fetchone()[0]
            )
        except ERRORS:
            found.reachable = False
    top, with_checksum = min(top, most), _has_checksums(damaged)
    for seq in range(1, top + 1):
        try:
            row = damaged.execute(
                f"SELECT session, at_ms, event{', sha256' if with_checksum else ''} FROM records"
                " WHERE seq = ?",
                (seq,),
            ).fetchone()
        except ERRORS:
            row = None
        if row is None or not _take(found, seq, *row):
            found.lost.add(seq)
    if found.lost or not found.reachable:
        for seq, values in rows(bad, MOST_VALUE):
            if (
                len(values) in (4, 5)
                and values[0] is None
                and seq not in found.rows
                and seq <= most
                and _take(found, seq, *values[1:])
            ):
                found.lost.discard(seq)
        found.lost |= set(range(1, max(found.rows, default=0))) - found.rows.keys()
    return found


def _has_checksums(damaged: sqlite3.Connection) -> bool:
    try:
        return bool(
            damaged.execute(
                "SELECT count(*) FROM pragma_table_info('records') WHERE name = 'sha256'"
            ).fetchone()[0]
        )
    except ERRORS:
        return False


def _take(
    found: _FoundRecords,
    seq: int,
    session: object,
    at_ms: object,
    text: object,
    sha256: object = None,
) -> bool:
    """Keep a row if it is a record.

    Rows of version 1 have no checksum, and count as records if they can be decoded.
    """
    if not (
        isinstance(session, int)
        and isinstance(at_ms, int)
        and isinstance(text, str)
        and 0 < session <= seq
    ):
        return False
    if sha256 is not None and record_checksum(seq, session, at_ms, text) != sha256:
        return False
    try:
        decode(text, "record")
    except InputError:
        return False
    found.rows[seq] = _Row(seq, session, at_ms, text)
    return True


def _by_session(found: dict[int, _Row]) -> dict[int, list[_Row]]:
    sessions: defaultdict[int, list[_Row]] = defaultdict(list)
    for seq in sorted(found):
        sessions[found[seq].session].append(found[seq])
    return sessions


def _following_rows(rows_of: list[_Row], lost: set[int], games: Games) -> list[_Row]:
    """Return a session's records up to the first that does not follow from those before it.

    Records may be missing between them.
    """
    first = rows_of[0]
    if first.seq != first.session or not isinstance(decode(first.text, "record"), SessionStarted):
        return []
    missing = min(lost.intersection(range(first.seq, rows_of[-1].seq)), default=None)
    if missing is None:
        return rows_of
    ledger: SessionState | None = None
    comparable = True
    for number, row in enumerate(rows_of):
        record = Record(
            seq=row.seq, session=row.session, at_ms=row.at_ms, event=decode(row.text, "record")
        )
        try:
            ledger = begin(record, games) if ledger is None else apply(ledger, record)
            same = _agrees_with_state(record, ledger)
        except ValueError:
            if row.seq < missing:
                return rows_of  # by an older program: the current rules cannot check it
            return rows_of[:number]
        if row.seq < missing:
            comparable = comparable and same
        elif not (comparable and same):
            return rows_of[:number]
    return rows_of


def _agrees_with_state(record: Record, ledger: SessionState) -> bool:
    """True if a record's state is the one that it leads to, or if it has none."""
    state = getattr(record.event, "state", None)
    return not state or state == json.loads(json.dumps(ledger.engine.state_document(ledger.state)))


def _write(
    bad: Path, damaged: sqlite3.Connection, good: Path, kept: dict[int, _Row]
) -> tuple[int, list[int]]:
    """Write the new log; returns the number of pictures, and the records that lost theirs."""
    frames, lost = 0, set[int]()
    with closing(sqlite3.connect(good, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        create(db)
        identify(db, _identity(damaged))
        for row in kept.values():
            values = (
                row.seq,
                row.session,
                row.at_ms,
                row.text,
                record_checksum(row.seq, row.session, row.at_ms, row.text),
            )
            db.execute(
                "INSERT INTO records (seq, session, at_ms, event, sha256) VALUES (?, ?, ?, ?, ?)",
                values,
            )
        for seq in kept:
            try:
                row_of = damaged.execute(
                    "SELECT sha256, jpeg FROM frames WHERE seq = ?", (seq,)
                ).fetchone()
            except ERRORS:
                lost.add(seq)
                continue
            if row_of is not None and not _store_picture(db, seq, *row_of):
                lost.add(seq)
            frames += row_of is not None and seq not in lost
        if lost:
            for seq, values_of in rows(bad, MOST_VALUE):
                if seq in lost and len(values_of) == 3 and _store_picture(db, seq, *values_of[1:]):
                    lost.discard(seq)
                    frames += 1
        db.execute("COMMIT")
    return frames, sorted(lost)


def _identity(damaged: sqlite3.Connection) -> LogIdentity | None:
    """Identity of the damaged log, which the rescued one replaces; None if it is lost."""
    try:
        return identity_of(damaged)
    except ERRORS:
        return None


def _store_picture(db: sqlite3.Connection, seq: int, sha256: object, jpeg: object) -> bool:
    if not isinstance(jpeg, bytes) or picture_checksum(jpeg) != sha256:
        return False
    db.execute("INSERT INTO frames (seq, sha256, jpeg) VALUES (?, ?, ?)", (seq, sha256, jpeg))
    return True


def _ranges(numbers: Iterable[int]) -> str:
    """Format numbers as `3, 5-9, 12`."""
    return ", ".join(_spans(sorted(numbers)))


def _spans(numbers: list[int]) -> Iterator[str]:
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        span = [number for _, number in run]
        yield str(span[0]) if len(span) == 1 else f"{span[0]}-{span[-1]}"
