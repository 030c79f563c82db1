"""The log: every event of every session in one SQLite file, on disk before it is shown.

WAL journal, full sync, one writer. Frames are JPEGs in a table of their own in the same file, so
that a ruling and its picture are one transaction. There is no ruling without its picture, no
orphaned picture, and one file to copy. SD cards wear by writing, so only the frames that a verdict
rests on are kept.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from referee.sessions.event_reader import Connect, LogReader, SessionSummary, read_only_uri
from referee.sessions.event_tables import (
    ERRORS,
    INT64,
    LogIdentity,
    create,
    damage,
    damaged,
    identify,
    identity_of,
    picture_checksum,
    record_checksum,
    upgrade,
    version_of,
)
from referee.sessions.events import Event, Record, SessionStarted, encode, renumbered
from referee.sessions.private_files import OWNER_FILE, claim, create_private, tighten
from table.errors import InputError, LogFailed
from table.messages import msg

logger = logging.getLogger(__name__)

__all__ = ["FRAMES_BYTES", "ImportedSession", "Log", "LogFailed", "LogReader", "SessionSummary"]

FRAMES_BYTES = 2_000_000_000
"""Room for pictures in bytes. Beyond it the oldest are deleted, those of the current session last.
Rulings are never deleted.
"""
JOURNAL_BYTES = 16 << 20
"""Size of the journal after a checkpoint. An import may have made it as large as the session."""
BESIDE = ("", "-wal", "-shm", ".lock")
"""Suffixes of a log's files."""

_HARMLESS = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
"""Errors after which a connection is still usable."""


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """An imported session: its number here, and its pictures.

    `frames` counts the pictures that were kept, `left_out` those for which there was no room.
    """

    session: int
    frames: int
    left_out: int


class Log(LogReader):
    """The only writer of a log; creates the log if there is none.

    A second writer and a damaged log are refused with InputError. After a disk error the log is
    reopened before its next use, and what is then on disk counts. An event for which `append`
    raised is not in it, one that `append` returned is.
    """

    def __init__(
        self, path: Path, frames_bytes: int = FRAMES_BYTES, connect: Connect = sqlite3.connect
    ) -> None:
        self.path = path
        self._connect = connect
        self._lock = threading.RLock()
        self._closed = self._in_doubt = False
        """True if an error left the content on disk unknown; then nothing is read or written until
        it is known.
        """
        self._last = 0
        """Newest record that was written and returned to the caller."""
        self._claim: int | None = None
        self._frames_bytes = frames_bytes
        logger.info("%s: opening to write", path)
        if not path.parent.is_dir():
            raise InputError(
                msg(
                    "{path}: expected a folder for the log, but {raw} does not exist",
                    path=path,
                    raw=path.parent,
                )
            )
        try:
            self._open_to_write(first=True)
        except BaseException:
            self._close_connection()
            raise

    def append(
        self, event: Event, at_ms: int, session: int | None = None, frame_jpeg: bytes | None = None
    ) -> Record:
        """Add an event; returns only when the commit is on disk.

        `session` None begins a session (SessionStarted). The returned record was read back from the
        file. Raises LogFailed (disk full, disk fault), and InputError for text that is no valid
        Unicode. After any exception the log is as it was before, and usable.
        """
        if (session is None) is not isinstance(event, SessionStarted):
            raise ValueError("a session begins with SessionStarted, and with nothing else")
        if abs(at_ms) >= INT64:
            raise InputError(
                msg(
                    "{raw}: expected a time of 64 bits in ms, got a number that is too large",
                    raw=type(event).__name__,
                )
            )
        text = encode(event)
        with self._writing():
            seq = self._last + 1
            self._insert(seq, seq if session is None else session, at_ms, text)
            if frame_jpeg is not None:
                self._make_room(len(frame_jpeg), session or 0)
                self._store_picture(seq, frame_jpeg)
            row = self._db.execute(f"{self._rows} WHERE r.seq = ?", (seq,)).fetchone()
            record = self._record(*row)
        logger.debug("record %d: %s", record.seq, type(event).__name__)
        return record

    def take_in(
        self, records: Iterable[Record], picture: Callable[[int], bytes]
    ) -> ImportedSession:
        """Add a session from elsewhere, completely or not at all.

        `records` are in order with their original numbers, the start of the session first.
        `picture` returns a record's JPEG by its original number. An exception of either undoes
        everything. Pictures without room are left out; no others are deleted for them.
        """
        here: dict[int, int] = {}
        frames = left_out = 0
        with self._writing():
            first = self._last + 1
            room = self._frames_bytes - self._picture_bytes()
            for seq, record in enumerate(records, first):
                here[record.seq] = seq
                self._insert(seq, first, record.at_ms, encode(renumbered(record.event, here)))
                if not record.frame:
                    continue
                if len(jpeg := picture(record.seq)) > room:
                    left_out += 1
                    continue
                self._store_picture(seq, jpeg)
                room -= len(jpeg)
                frames += 1
        return ImportedSession(first, frames, left_out)

    def rename(self) -> str:
        """Give this log another `log_id`, and return it.

        Use it for a copy that becomes a log of its own. The key stays, so that fingerprints of
        common records remain equal.
        """
        with self._writing():
            before = identity_of(self._db)
            assert before is not None, "opening gave it one"
            identify(self._db, LogIdentity(str(uuid4()), before.key))
            after = identity_of(self._db)
        assert after is not None
        return after.log_id

    def _insert(self, seq: int, session: int, at_ms: int, text: str) -> None:
        values = (seq, session, at_ms, text, record_checksum(seq, session, at_ms, text))
        self._db.execute(
            "INSERT INTO records (seq, session, at_ms, event, sha256) VALUES (?, ?, ?, ?, ?)",
            values,
        )

    def _store_picture(self, seq: int, jpeg: bytes) -> None:
        self._db.execute(
            "INSERT INTO frames (seq, sha256, jpeg) VALUES (?, ?, ?)",
            (seq, picture_checksum(jpeg), jpeg),
        )

    def _picture_bytes(self) -> int:
        (kept,) = self._db.execute("SELECT coalesce(sum(length(jpeg)), 0) FROM frames").fetchone()
        return int(kept)

    def _make_room(self, more_bytes: int, session: int) -> None:
        """Delete the oldest pictures until `more_bytes` fit.

        Those of `session` go last, and in each session the picture of the empty table goes last.
        """
        over = self._picture_bytes() + more_bytes - self._frames_bytes
        if over <= 0:
            return
        oldest = self._db.execute(
            "SELECT f.seq, length(f.jpeg) FROM frames f JOIN records r ON r.seq = f.seq ORDER BY"
            " r.session = ?, r.session, json_extract(r.event, '$.fact') IN ('session_started',"
            " 'reopened'), f.seq",
            (session,),
        ).fetchall()
        for seq, size in oldest:
            if over <= 0:
                break
            self._db.execute("DELETE FROM frames WHERE seq = ?", (seq,))
            over -= size

    def close(self) -> None:
        """Close the file; closing twice is allowed."""
        with self._lock:
            if not self._closed:
                with suppress(sqlite3.Error):
                    self._db.execute(
                        "PRAGMA wal_checkpoint(TRUNCATE)"
                    )  # a journal with something in it tells that nobody closed the log
            self._closed = True
            self._close_connection()

    def _close_connection(self) -> None:
        with suppress(AttributeError, sqlite3.Error):
            self._db.close()
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None

    def _open_to_write(self, first: bool) -> None:
        """Check for damage, connect, and create or upgrade the tables; raises InputError."""
        if first:
            self._create_file()
        self._claim_and_check(first)
        self._open(f"{self.path.absolute().as_uri()}?mode={'rwc' if first else 'rw'}")
        try:
            for pragma in (
                "journal_mode = WAL",
                "synchronous = FULL",
                f"journal_size_limit = {JOURNAL_BYTES}",
            ):
                self._db.execute(f"PRAGMA {pragma}")
            self._db.execute("BEGIN IMMEDIATE")
            if not self._version:
                create(self._db)
            elif self._version == 1:
                upgrade(self._db)
            if identity_of(self._db) is None:
                identify(self._db)
            (last,) = self._db.execute("SELECT coalesce(max(seq), 0) FROM records").fetchone()
            self._db.execute("COMMIT")
            self._version = version_of(self._db, self.path)
            self._last = last if first else self._last
        except BaseException as error:
            self._db.close()
            if isinstance(error, ERRORS):
                raise self._unusable(error) from error
            raise

    def _claim_and_check(self, first: bool) -> None:
        """Claim the right to write, then check the file over a read-only connection.

        Raises InputError for a file that is no log, or a damaged one.
        """
        journal = Path(f"{self.path}-wal")
        cut_off = journal.exists() and journal.stat().st_size > 0
        self._open(read_only_uri(self.path))
        try:
            if first:
                self._claim = claim(self.path)
                for end in BESIDE:
                    if not tighten(Path(f"{self.path}{end}"), OWNER_FILE):
                        break  # one warning is enough
            if self._version and (
                found := damage(self._db, self._version, whole=first and cut_off)
            ):
                raise damaged(self.path, found)
        except ERRORS as error:
            raise self._unusable(error) from error
        finally:
            self._db.close()

    def _create_file(self) -> None:
        try:
            create_private(self.path)
        except FileExistsError:
            return
        except OSError as error:
            raise InputError(
                msg(
                    "{path}: expected a log in a writable folder ({raw})",
                    path=self.path,
                    raw=error.strerror,
                )
            ) from error

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock:
            self._ensure_usable()
            try:
                yield
            except ERRORS as error:
                self._in_doubt = self._in_doubt or not _harmless(error)
                raise self._unusable(error) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction: committed at the end of the block, rolled back by every exception."""
        with self._lock:
            self._ensure_usable()
            committing = False
            try:
                self._db.execute("BEGIN IMMEDIATE")
                yield
                (last,) = self._db.execute("SELECT coalesce(max(seq), 0) FROM records").fetchone()
                committing = True
                self._db.execute("COMMIT")
                self._last = last
            except BaseException as error:
                self._roll_back(error, committing)
                if not isinstance(error, sqlite3.Error):
                    raise
                if committing and self._is_commit_on_disk(error):
                    return
                raise self._failed(error) from error

    def _roll_back(self, error: BaseException, committing: bool) -> None:
        """Roll back the current transaction.

        If that fails, or the disk did, the content on disk is in doubt.
        """
        # An interrupted commit without an open transaction may have been written.
        self._in_doubt = (isinstance(error, sqlite3.Error) and not _harmless(error)) or (
            committing and not self._db.in_transaction
        )
        try:
            if self._db.in_transaction:
                self._db.rollback()
        except sqlite3.Error:
            self._in_doubt = True

    def _is_commit_on_disk(self, error: sqlite3.Error) -> bool:
        """True if a commit that failed is on disk all the same.

        Raises LogFailed if that cannot be determined now.
        """
        if not self._in_doubt:
            return False
        before = self._last
        if _harmless(
            error
        ):  # the connection is good, so it is asked; on a full disk it could not be opened again
            with suppress(sqlite3.Error):
                (self._last,) = self._db.execute(
                    "SELECT coalesce(max(seq), 0) FROM records"
                ).fetchone()
                self._in_doubt = False
                return self._last > before
        try:
            self._reopen(keep=True)
        except InputError as again:
            raise self._failed(error) from again
        return self._last > before

    def _ensure_usable(self) -> None:
        if self._closed:
            raise ValueError(f"{self.path}: the log was closed")
        if self._in_doubt:
            try:
                self._reopen(keep=False)
            except InputError as error:
                if (
                    isinstance(cause := error.__cause__, sqlite3.Error)
                    and _code(cause) == sqlite3.SQLITE_FULL
                ):
                    raise self._failed(cause) from error
                raise LogFailed(
                    msg(
                        "{path}: the disk failed, and the log cannot be reopened: {text}",
                        path=self.path,
                        text=error.message,
                    )
                ) from error

    def _reopen(self, keep: bool) -> None:
        """Determine what is on disk after an error.

        Records after the last returned one were committed by a call that raised, so nobody has seen
        them. They are kept, or deleted with `keep` false. The checkpoint writes the kept data
        again, as a failed sync may have lost them. It also empties the journal, where a failed
        commit may have left pages.
        """
        with suppress(sqlite3.Error):
            self._db.close()
        self._open_to_write(first=False)
        try:
            if not keep:
                self._db.execute("BEGIN IMMEDIATE")
                for table in ("frames", "records"):
                    self._db.execute(f"DELETE FROM {table} WHERE seq > ?", (self._last,))
                self._db.execute("COMMIT")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            (last,) = self._db.execute("SELECT coalesce(max(seq), 0) FROM records").fetchone()
        except ERRORS as error:
            raise self._unusable(error) from error
        if last < self._last:
            raise InputError(
                msg(
                    "{path}: expected records up to {n} on disk, found {n2}: start Rinkside again",
                    path=self.path,
                    n=self._last,
                    n2=last,
                )
            )
        self._last, self._in_doubt = last, False

    def _failed(self, error: sqlite3.Error) -> LogFailed:
        if _code(error) == sqlite3.SQLITE_FULL:
            return LogFailed(
                msg(
                    "{path}: the disk is full; nothing new was written, nothing is lost:"
                    " free some space",
                    path=self.path,
                )
            )
        return LogFailed(
            msg(
                "{path}: could not be written ({raw}); nothing was changed",
                path=self.path,
                raw=error,
            )
        )


def _code(error: Exception) -> int:
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_IOERR)) & 0xFF


def _harmless(error: Exception) -> bool:
    return _code(error) in _HARMLESS
