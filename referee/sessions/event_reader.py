"""Read a log: sessions, records and pictures, each checked against its checksum."""

from __future__ import annotations

import hmac
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from referee.sessions.event_tables import (
    ERRORS,
    INT64,
    MOST_VALUE,
    LogIdentity,
    damaged,
    identity_of,
    is_damage,
    picture_checksum,
    record_checksum,
    version_of,
)
from referee.sessions.events import Record, SessionStarted, decode
from table.errors import InputError
from table.messages import NONE, msg, phrase

Connect = Callable[..., sqlite3.Connection]
"""`sqlite3.connect`, or a replacement: tests pass connections that fail."""

_SUMMARIES = """
SELECT r.session, coalesce(min(iif(r.seq = r.session, NULL, r.at_ms)), min(r.at_ms)), max(r.at_ms), count(*), count(f.seq),
       sum(json_extract(r.event, '$.fact') = 'ruled'),
       max(iif(json_extract(r.event, '$.fact') = 'session_ended', r.seq, 0)) > max(iif(json_extract(r.event, '$.fact') = 'reopened', r.seq, 0))
FROM records r LEFT JOIN frames f ON f.seq = r.seq GROUP BY r.session ORDER BY r.session"""  # noqa: E501


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """Summary of a session, a line of `rinkside log list`.

    Times are of the camera's clock. The first is that of the first record after the start, when the
    camera may not be known yet.
    """

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


@dataclass(frozen=True, slots=True)
class Checked:
    """Result of checking a log: its size and its errors.

    `version` is that of its tables; `wrong` has a sentence for each error.
    """

    sessions: int
    records: int
    frames: int
    version: int
    wrong: tuple[str, ...]


class LogReader:
    """A log opened for reading; another program may write it at the same time.

    Raises InputError (one line, the path first) for a missing log, another kind of file, a damaged
    log, or one of a newer Rinkside.
    """

    def __init__(self, path: Path, connect: Connect = sqlite3.connect) -> None:
        self.path = path
        self._connect = connect
        self._lock = threading.RLock()
        if not path.is_file():
            raise InputError(msg("{path}: expected a log, but there is no such file", path=path))
        self._open(read_only_uri(path))
        if not self._version:
            self._db.close()
            raise InputError(
                msg(
                    "{path}: expected a log of Rinkside, but it is empty; was it copied"
                    " without its -wal file?",
                    path=path,
                )
            )

    def _open(self, uri: str) -> None:
        """Connect; `_version` is then 0 for a database without tables."""
        try:
            self._db = self._connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise InputError(
                msg("{path}: expected a log that can be opened ({raw})", path=self.path, raw=error)
            ) from error
        try:
            self._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE)
            self._version = version_of(self._db, self.path)
        except ERRORS as error:
            self._db.close()
            raise self._unusable(error) from error
        except BaseException:
            self._db.close()
            raise

    def sessions(self) -> tuple[SessionSummary, ...]:
        """All sessions, oldest first."""
        with self._reading():
            rows = self._db.execute(_SUMMARIES).fetchall()
        return tuple(self._summary(*row) for row in rows)

    def records(
        self, session: int | None = None, after: int = 0, most: int | None = None
    ) -> tuple[Record, ...]:
        """Return records with seq > `after` in order, the first `most`; of one session or of all.

        Each is checked against its checksum. Raises InputError for an unknown session or a damaged
        record.
        """
        after, limit = (
            max(-1, min(after, INT64 - 1)),
            -1 if most is None else max(0, min(most, INT64 - 1)),
        )
        with self._reading():
            if session is None:
                rows = self._db.execute(
                    f"{self._rows} WHERE r.seq > ? ORDER BY r.seq LIMIT ?", (after, limit)
                ).fetchall()
            elif abs(session) < INT64:
                rows = self._db.execute(
                    f"{self._rows} WHERE r.session = ? AND r.seq > ? ORDER BY r.seq LIMIT ?",
                    (session, after, limit),
                ).fetchall()
            else:
                rows = []
        if session is not None and not rows:
            self._session_start(session)
        return tuple(self._record(*row) for row in rows)

    def identity(self) -> LogIdentity | None:
        """Identity of this log among all logs.

        None for an old log, which gets one when it is next opened to write.
        """
        with self._reading():
            return identity_of(self._db)

    def fingerprints(self, after: int = 0, most: int | None = None) -> dict[int, str]:
        """Return a keyed fingerprint of each record, by seq.

        HMAC-SHA256 of the record's checksum with the key of `identity`, hexadecimal, for the first
        `most` records with seq > `after`. Empty for a log without an identity.
        """
        if (identity := self.identity()) is None:
            return {}
        after, limit = max(-1, min(after, INT64 - 1)), -1 if most is None else max(0, most)
        with self._reading():
            rows = self._db.execute(
                "SELECT seq, sha256 FROM records WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)
            ).fetchall()
        return {
            seq: hmac.digest(identity.key, sha256.encode(), "sha256").hex() for seq, sha256 in rows
        }

    def frame(self, seq: int) -> bytes | None:
        """Return the JPEG of record `seq`, checked against its SHA-256; None without one.

        Raises InputError for a damaged one.
        """
        if abs(seq) >= INT64:
            return None
        with self._reading():
            row = self._db.execute(
                "SELECT sha256, jpeg FROM frames WHERE seq = ?", (seq,)
            ).fetchone()
        if row is None:
            return None
        sha256, jpeg = row
        if picture_checksum(jpeg) != sha256:
            raise InputError(
                msg(
                    "{path}: frame {n}: expected a picture with SHA-256 {raw}..., but it"
                    " was changed or damaged",
                    path=self.path,
                    n=seq,
                    raw=sha256[:12],
                )
            )
        return bytes(jpeg)

    def check(self) -> Checked:
        """Read the whole file and compare every checksum.

        Errors are returned, not raised.
        """
        wrong: list[str] = []
        with self._reading():
            try:
                found = " ".join(
                    " ".join(text.split()) for (text,) in self._db.execute("PRAGMA integrity_check")
                )
                wrong += [] if found == "ok" else [f"the file's structure: {found[:200]}"]
                numbers = [
                    [seq for (seq,) in self._db.execute(f"SELECT seq FROM {table} ORDER BY seq")]
                    for table in ("records", "frames")
                ]
            except ERRORS as error:
                if not is_damage(error):
                    raise
                return Checked(0, 0, 0, self._version, (*wrong, f"the file's structure: {error}"))
        for seq in numbers[0]:
            wrong += self._read_errors(self._row, seq)
        for seq in numbers[1]:
            wrong += self._read_errors(self.frame, seq)
        with self._reading():
            (sessions,) = self._db.execute("SELECT count(DISTINCT session) FROM records").fetchone()
        return Checked(sessions, len(numbers[0]), len(numbers[1]), self._version, tuple(wrong))

    def _read_errors(self, read: Callable[[int], object], seq: int) -> list[str]:
        try:
            read(seq)
        except InputError as error:
            return [str(error).removeprefix(f"{self.path}: ")]
        return []

    def close(self) -> None:
        """Close the file; closing twice is allowed."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def _rows(self) -> str:
        sha256 = "r.sha256" if self._version > 1 else "NULL"
        return (
            f"SELECT r.seq, r.session, r.at_ms, r.event, f.seq IS NOT NULL, {sha256} FROM records r"
            " LEFT JOIN frames f ON f.seq = r.seq"
        )

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.ProgrammingError as error:
                raise ValueError(f"{self.path}: the log was closed") from error
            except ERRORS as error:
                raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> InputError:
        if is_damage(error) and getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_NOTADB:
            return damaged(self.path, str(error))
        return InputError(
            msg(
                "{path}: expected a log of Rinkside, but it cannot be used ({raw})",
                path=self.path,
                raw=error,
            )
        )

    def _record(
        self, seq: int, session: int, at_ms: int, text: str, frame: int, sha256: str | None
    ) -> Record:
        if sha256 is not None and record_checksum(seq, session, at_ms, text) != sha256:
            raise damaged(self.path, phrase("the checksum of record {n} is wrong", n=seq))
        event = decode(text, f"{self.path}: record {seq}")
        return Record(seq=seq, session=session, at_ms=at_ms, event=event, frame=bool(frame))

    def _row(self, seq: int) -> Record | None:
        with self._reading():
            row = self._db.execute(f"{self._rows} WHERE r.seq = ?", (seq,)).fetchone()
        return self._record(*row) if row else None

    def _session_start(self, session: int) -> SessionStarted:
        known: list[int] = []
        row = None
        with self._reading():
            if abs(session) < INT64:
                row = self._db.execute(f"{self._rows} WHERE r.seq = ?", (session,)).fetchone()
            if row is None or row[1] != session:
                known = [
                    number
                    for (number,) in self._db.execute(
                        "SELECT DISTINCT session FROM records ORDER BY session"
                    )
                ]
        started = self._record(*row).event if row else None
        if not isinstance(started, SessionStarted):
            listed = ", ".join(map(str, known[-10:])) or NONE
            got = str(session) if abs(session) < INT64 else phrase("a number that is too large")
            raise InputError(
                msg(
                    "{path}: expected the number of a session ({text}), got {text2}",
                    path=self.path,
                    text=listed,
                    text2=got,
                )
            )
        return started

    def _summary(
        self,
        session: int,
        first_ms: int,
        last_ms: int,
        records: int,
        frames: int,
        rulings: int,
        ended: int,
    ) -> SessionSummary:
        started = self._session_start(session)
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


def read_only_uri(path: Path) -> str:
    """Return the URI of a log for reading.

    SQLite has to write beside a WAL database even to read it, unless nobody can be writing it.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro"
    wal = Path(f"{path}-wal")
    sealed = not os.access(path.parent, os.W_OK) and not (wal.exists() and wal.stat().st_size)
    return f"{uri}&immutable=1" if sealed else uri
