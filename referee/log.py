"""The log: every event of every session in one SQLite file, on disk before anybody is shown it.

WAL journal, full sync, one writer.  Frames are JPEGs in a table of their own in the same file, so that a ruling and
its picture are one transaction: there is no ruling without its picture, no orphan to clean up and one file to carry
away.  SD cards wear by writing, so only the frames that a verdict rests on are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.events import Event, Record
from table.errors import InputError

SCHEMA = 1
"""Version of the tables, kept in SQLite's `user_version`."""


class LogFailed(InputError):
    """An event could not be brought to disk; the log is as it was before.  The ruling must not be shown."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One line of `rinkside log list`; times are of the camera's clock."""

    session: int
    game: str
    players: tuple[str, ...]
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
        raise NotImplementedError

    def sessions(self) -> tuple[SessionSummary, ...]:
        """All sessions, oldest first."""
        raise NotImplementedError

    def records(self, session: int | None = None, after: int = 0) -> tuple[Record, ...]:
        """Records with seq > `after`, in order of seq; of one session or of all.  An unknown session is an InputError."""
        raise NotImplementedError

    def frame(self, seq: int) -> bytes | None:
        """The JPEG kept with record `seq`, checked against its SHA-256; None if there is none.  Damaged: InputError."""
        raise NotImplementedError

    def export(self, session: int, path: Path) -> None:
        """Write a session as a zip, whole or not at all: `records.jsonl` and `frames/000012.jpg` (named by seq)."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of the file; closing twice is allowed."""
        raise NotImplementedError

    def __enter__(self) -> LogReader:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Log(LogReader):
    """The one writer of a log, which is made if there is none.  A second writer is refused with InputError."""

    def append(self, event: Event, at_ms: int, session: int | None = None, frame_jpeg: bytes | None = None) -> Record:
        """Add an event; returns only when the commit is on disk.  `session` None begins a session (SessionStarted).

        The record that comes back was read back from what was written.  Raises LogFailed (disk full, disk fault) and
        then the log is as it was before.
        """
        raise NotImplementedError


def last_session(records: Sequence[SessionSummary]) -> SessionSummary | None:
    """The newest session that has not ended: the one to go on with."""
    raise NotImplementedError
