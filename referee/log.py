"""The log: every event of every session in one SQLite file, on disk before anybody is shown it.

WAL journal, full sync, one writer.  Frames are JPEGs in a table of their own in the same file, so that a ruling and
its picture are one transaction: there is no ruling without its picture, no orphan to clean up and one file to carry
away.  SD cards wear by writing, so only the frames that a verdict rests on are kept.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from referee.events import Event, Record, SessionStarted, decode, encode, renumbered
from table.errors import InputError

SCHEMA = 1
"""Version of the tables, kept in SQLite's `user_version`."""
FRAMES_BYTES = 2_000_000_000
"""Room for pictures; beyond it the oldest go, those of the session at hand last.  What was ruled is never deleted."""
APPLICATION_ID = 0x52494E4B
"""`RINK`, so that `file` and this program tell a log from other databases."""

_TABLES = (
    "CREATE TABLE records (seq INTEGER PRIMARY KEY, session INTEGER NOT NULL, at_ms INTEGER NOT NULL, event TEXT NOT NULL)",
    "CREATE INDEX records_by_session ON records (session, seq)",
    "CREATE TABLE frames (seq INTEGER PRIMARY KEY REFERENCES records (seq), sha256 TEXT NOT NULL, jpeg BLOB NOT NULL)",
)
_ROWS = "SELECT r.seq, r.session, r.at_ms, r.event, f.seq IS NOT NULL FROM records r LEFT JOIN frames f ON f.seq = r.seq"
_SUMMARIES = """
SELECT r.session, coalesce(min(iif(r.seq = r.session, NULL, r.at_ms)), min(r.at_ms)), max(r.at_ms), count(*), count(f.seq),
       sum(json_extract(r.event, '$.fact') = 'ruled'),
       max(iif(json_extract(r.event, '$.fact') = 'session_ended', r.seq, 0)) > max(iif(json_extract(r.event, '$.fact') = 'reopened', r.seq, 0))
FROM records r LEFT JOIN frames f ON f.seq = r.seq GROUP BY r.session ORDER BY r.session"""


class LogFailed(InputError):  # noqa: N818 - a fact about the disk, not a mistake of the program
    """An event could not be brought to disk; the log is as it was before.  The ruling must not be shown."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One line of `rinkside log list`; times are of the camera's clock, the first of what came after the start, which may know no camera yet."""

    session: int
    game: str
    players: tuple[str, ...]
    names: dict[str, str]
    started_utc: str
    simulated: bool
    first_ms: int
    last_ms: int
    records: int
    rulings: int
    frames: int
    ended: bool


class LogReader:
    """A log that is only read; somebody else may be writing it at the same time.

    Raises InputError (one line, the path first) where there is no log, another kind of file, a damaged one, or one
    that a newer Rinkside wrote.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        if not path.is_file():
            raise InputError(f"{path}: expected a log, but there is no such file")
        self._open(_read_only_uri(path))

    def _open(self, uri: str) -> None:
        try:
            self._db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise InputError(f"{self.path}: expected a log that can be opened ({error})") from error
        try:
            with self._reading():
                self._prepare()
        except InputError:
            self._db.close()
            raise

    def sessions(self) -> tuple[SessionSummary, ...]:
        """All sessions, oldest first."""
        with self._reading():
            rows = self._db.execute(_SUMMARIES).fetchall()
        return tuple(self._summary(*row) for row in rows)

    def records(self, session: int | None = None, after: int = 0, most: int | None = None) -> tuple[Record, ...]:
        """Records with seq > `after`, in order of seq, the first `most`; of one session or of all.  An unknown session is an InputError."""
        limit = -1 if most is None else most
        with self._reading():
            if session is None:
                rows = self._db.execute(f"{_ROWS} WHERE r.seq > ? ORDER BY r.seq LIMIT ?", (after, limit)).fetchall()
            else:
                rows = self._db.execute(f"{_ROWS} WHERE r.session = ? AND r.seq > ? ORDER BY r.seq LIMIT ?", (session, after, limit)).fetchall()
        if session is not None and not rows:
            self._started(session)
        return tuple(self._record(*row) for row in rows)

    def frame(self, seq: int) -> bytes | None:
        """The JPEG kept with record `seq`, checked against its SHA-256; None if there is none.  Damaged: InputError."""
        with self._reading():
            row = self._db.execute("SELECT sha256, jpeg FROM frames WHERE seq = ?", (seq,)).fetchone()
        if row is None:
            return None
        sha256, jpeg = row
        if hashlib.sha256(jpeg).hexdigest() != sha256:
            raise InputError(f"{self.path}: frame {seq}: expected a picture with SHA-256 {sha256[:12]}..., but it was changed or damaged")
        return bytes(jpeg)

    def close(self) -> None:
        """Let go of the file; closing twice is allowed."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _prepare(self) -> None:
        self._check_version()

    def _check_version(self) -> None:
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables:
            raise InputError(f"{self.path}: expected a log of Rinkside, but it is empty; was it copied without its -wal file?")
        if application != APPLICATION_ID:
            raise InputError(f"{self.path}: expected a log of Rinkside, got another program's database")
        if version > SCHEMA:
            raise InputError(f"{self.path}: expected a log of version {SCHEMA} or older, got {version}; a newer Rinkside wrote it, update this one")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.ProgrammingError as error:
                raise ValueError(f"{self.path}: the log was closed") from error
            except sqlite3.Error as error:
                raise InputError(f"{self.path}: expected a log of Rinkside, but it cannot be used ({error})") from error

    def _record(self, seq: int, session: int, at_ms: int, text: str, frame: int) -> Record:
        event = decode(text, f"{self.path}: record {seq}")
        return Record(seq=seq, session=session, at_ms=at_ms, event=event, frame=bool(frame))

    def _started(self, session: int) -> SessionStarted:
        with self._reading():
            row = self._db.execute(f"{_ROWS} WHERE r.seq = ?", (session,)).fetchone()
            known = [number for (number,) in self._db.execute("SELECT DISTINCT session FROM records ORDER BY session")]
        started = self._record(*row).event if row else None
        if not isinstance(started, SessionStarted):
            listed = ", ".join(map(str, known[-10:])) or "none"
            raise InputError(f"{self.path}: expected the number of a session ({listed}), got {session}")
        return started

    def _summary(self, session: int, first_ms: int, last_ms: int, records: int, frames: int, rulings: int, ended: int) -> SessionSummary:
        started = self._started(session)
        return SessionSummary(
            session=session,
            game=started.game,
            players=started.players,
            names=started.names,
            started_utc=started.started_utc,
            simulated=started.simulated,
            first_ms=first_ms,
            last_ms=last_ms,
            records=records,
            rulings=rulings,
            frames=frames,
            ended=bool(ended),
        )


class Log(LogReader):
    """The one writer of a log, which is made if there is none.  A second writer is refused with InputError."""

    def __init__(self, path: Path, frames_bytes: int = FRAMES_BYTES) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._broken = False
        self._claim = -1
        self._frames_bytes = frames_bytes
        if not path.parent.is_dir():
            raise InputError(f"{path}: expected a folder to keep the log in, but there is no {path.parent}")
        try:
            self._open(f"{path.absolute().as_uri()}?mode=rwc")
        except InputError:
            self._let_go()
            raise

    def append(self, event: Event, at_ms: int, session: int | None = None, frame_jpeg: bytes | None = None) -> Record:
        """Add an event; returns only when the commit is on disk.  `session` None begins a session (SessionStarted).

        The record that comes back was read back from what was written.  Raises LogFailed (disk full, disk fault) and
        then the log is as it was before.
        """
        if (session is None) is not isinstance(event, SessionStarted):
            raise ValueError("a session begins with SessionStarted, and with nothing else")
        text = encode(event)
        with self._writing():
            self._db.execute("BEGIN IMMEDIATE")
            seq = self._db.execute("INSERT INTO records (session, at_ms, event) VALUES (?, ?, ?)", (session or 0, at_ms, text)).lastrowid
            if session is None:
                self._db.execute("UPDATE records SET session = seq WHERE seq = ?", (seq,))
            if frame_jpeg is not None:
                self._make_room(len(frame_jpeg), session or 0)
                self._keep(seq, frame_jpeg)
            row = self._db.execute(f"{_ROWS} WHERE r.seq = ?", (seq,)).fetchone()
            self._db.execute("COMMIT")
        return self._record(*row)

    def take_in(self, records: Sequence[Record], frames: Mapping[int, bytes]) -> int:
        """Add a session from elsewhere, all of it or nothing, and return its number here.

        `records` in order, the start of the session first, with the numbers that they had there; `frames` are JPEGs by these.
        """
        with self._writing():
            self._db.execute("BEGIN IMMEDIATE")
            (last,) = self._db.execute("SELECT coalesce(max(seq), 0) FROM records").fetchone()
            here = {record.seq: last + k for k, record in enumerate(records, 1)}
            for record in records:
                text = encode(renumbered(record.event, here))
                values = (here[record.seq], last + 1, record.at_ms, text)
                self._db.execute("INSERT INTO records (seq, session, at_ms, event) VALUES (?, ?, ?, ?)", values)
            self._make_room(sum(map(len, frames.values())), last + 1)
            for seq, jpeg in frames.items():
                self._keep(here[seq], jpeg)
            self._db.execute("COMMIT")
        return int(last + 1)

    def _keep(self, seq: int | None, jpeg: bytes) -> None:
        self._db.execute("INSERT INTO frames (seq, sha256, jpeg) VALUES (?, ?, ?)", (seq, hashlib.sha256(jpeg).hexdigest(), jpeg))

    def _make_room(self, more_bytes: int, session: int) -> None:
        """Delete the oldest pictures until `more_bytes` fit, those of `session` last, and in each the empty table after all others."""
        (kept,) = self._db.execute("SELECT coalesce(sum(length(jpeg)), 0) FROM frames").fetchone()
        over = kept + more_bytes - self._frames_bytes
        if over <= 0:
            return
        oldest = self._db.execute(
            "SELECT f.seq, length(f.jpeg) FROM frames f JOIN records r ON r.seq = f.seq ORDER BY r.session = ?, r.session,"
            " json_extract(r.event, '$.fact') IN ('session_started', 'reopened'), f.seq",
            (session,),
        ).fetchall()
        for seq, size in oldest:
            if over <= 0:
                break
            self._db.execute("DELETE FROM frames WHERE seq = ?", (seq,))
            over -= size

    def close(self) -> None:
        """Let go of the file; closing twice is allowed."""
        with self._lock:
            super().close()
            self._let_go()

    def _prepare(self) -> None:
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables:
            self._check_version()
        self._claim = _claim(self.path)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("BEGIN IMMEDIATE")
        if not tables:
            for statement in _TABLES:
                self._db.execute(statement)
            self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._db.execute(f"PRAGMA user_version = {SCHEMA}")
        self._db.execute("COMMIT")

    def _let_go(self) -> None:
        if self._claim >= 0:
            os.close(self._claim)
            self._claim = -1

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction; a failure rolls it back.  After a fault of the disk only reopening tells what is on it."""
        with self._lock:
            if self._broken:
                raise LogFailed(f"{self.path}: the disk failed before; nothing more is written until Rinkside is started again")
            try:
                yield
            except sqlite3.ProgrammingError as error:
                raise ValueError(f"{self.path}: the log was closed") from error
            except sqlite3.Error as error:
                with suppress(sqlite3.Error):
                    self._db.rollback()
                kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_IOERR) & 0xFF
                if kind == sqlite3.SQLITE_FULL:
                    raise LogFailed(f"{self.path}: the disk is full; nothing new was written and nothing is lost: make room") from error
                self._broken = kind == sqlite3.SQLITE_IOERR
                raise LogFailed(f"{self.path}: cannot be written ({error}); what was there is kept") from error


def _claim(path: Path) -> int:
    """Hold the right to write; the kernel gives it back however the process ends.

    A file of its own: closing any handle to the database itself would drop SQLite's own locks on it.  It holds the number of the process.
    """
    try:
        handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise InputError(f"{path}: expected a log in a folder that can be written to ({error.strerror})") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        pid = os.pread(handle, 20, 0).decode("ascii", "replace").strip()
        os.close(handle)
        other = f"another Rinkside (process {pid})" if pid.isdecimal() else "another Rinkside"
        raise InputError(f"{path}: {other} is writing this log; stop that one, or keep this log elsewhere: --data FOLDER, or --log FILE") from error
    # Only for that message: on a full disk it does without the number.
    with suppress(OSError):
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
    return handle


def _read_only_uri(path: Path) -> str:
    """SQLite needs to write beside a WAL database even to read it, unless nobody can be writing it."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    wal = Path(f"{path}-wal")
    sealed = not os.access(path.parent, os.W_OK) and not (wal.exists() and wal.stat().st_size)
    return f"{uri}&immutable=1" if sealed else uri
