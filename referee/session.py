"""A session: the fold of its records, told to everybody who listens, changed by nothing but appending.

A record is published only after it is on disk.  Safe to use from many threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from referee.command import Command
from referee.events import Event, Record, SessionStarted
from referee.ledger import Ledger
from referee.log import Log


class Session:
    """One session on an open log."""

    id: int
    """Record number of its SessionStarted."""

    @classmethod
    def begin(cls, log: Log, started: SessionStarted, at_ms: int = 0) -> Session:
        """Begin a session; raises InputError for an unknown game or players that the game refuses."""
        raise NotImplementedError

    @classmethod
    def reopen(cls, log: Log, session: int) -> Session:
        """Go on with a session of the log: the state is that of the last record on disk."""
        raise NotImplementedError

    @property
    def ledger(self) -> Ledger:
        """The state after the last record; frozen, so it may be kept and compared."""
        raise NotImplementedError

    def tick(self, at_ms: int) -> None:
        """Tell the session the camera's time; commands are stamped with it."""

    def append(self, event: Event, frame_jpeg: bytes | None = None, after: int | None = None) -> Record | None:
        """Add an event at the time of the last `tick`; returns once it is on disk and everybody can see it.

        With `after`, only if no record came since that one: otherwise nothing is written and None comes back, and
        whoever judged must judge again.  Raises LogFailed, and then nothing is shown; IllegalMove of the engine where
        an event does not follow from the state (a mistake of the program), and then nothing is written.
        """
        raise NotImplementedError

    def command(self, command: Command) -> Record:
        """Do what people say; raises InputError where it cannot be done now, in one line for them."""
        raise NotImplementedError

    def records(self, after: int = 0) -> tuple[Record, ...]:
        """Records of this session with seq > `after`."""
        raise NotImplementedError

    def wait(self, after: int, timeout_s: float | None = None) -> tuple[Record, ...]:
        """As `records`, but waits until there is at least one; empty when the time is over or the session was closed."""
        raise NotImplementedError

    def subscribe(self, after: int = 0) -> Iterator[Record]:
        """Every record with seq > `after`, each once and in order, as they come; ends when the session is closed."""
        raise NotImplementedError

    @property
    def closed(self) -> bool:
        """Has `close` been called?"""
        raise NotImplementedError

    def close(self) -> None:
        """Wake and end all who listen.  The log stays open: it belongs to who opened it."""
        raise NotImplementedError

    def frame(self, seq: int) -> bytes | None:
        """The JPEG kept with a record of this session, or None."""
        raise NotImplementedError

    def view(self) -> dict[str, Any]:
        """All that a page shows, as plain data ready for JSON (see `referee.view.view`)."""
        raise NotImplementedError
