"""A session that waits while the log cannot be written, instead of raising."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from referee.presentation.session_view import SessionView
from referee.sessions.commands import Command
from referee.sessions.event_store import LogFailed
from referee.sessions.events import Event, Record
from referee.sessions.session import Session
from referee.sessions.state import SessionState
from referee.sessions.status import LiveState
from table.messages import msg, sentences

RETRY_S = 1.0
"""Time between two attempts to write the log."""
T = TypeVar("T")


class RefereedSession(Protocol):
    """What a referee needs of a session: `Session` raises LogFailed, `PatientSession` waits."""

    @property
    def ledger(self) -> SessionState:
        """The state after the last record."""

    def tick(self, at_ms: int) -> None:
        """As `Session.tick`."""

    def records(self, after: int = 0, most: int | None = None) -> tuple[Record, ...]:
        """As `Session.records`."""

    def append(
        self, event: Event, frame_jpeg: bytes | None = None, after: int | None = None
    ) -> Record | None:
        """As `Session.append`."""

    def hear(self, heard: Mapping[str, Any]) -> Record | None:
        """As `Session.hear`."""


class PatientSession:
    """Retries every write each RETRY_S until it succeeds, and reports the wait.

    Nothing is shown before it is on disk. People's commands use the session itself: they do not
    wait, and are refused while the log cannot be written.
    """

    def __init__(
        self,
        session: Session,
        live: LiveState,
        stopping: threading.Event,
        say: Callable[[str], object] = lambda _text: None,
        pause: Callable[[float], object] | None = None,
    ) -> None:
        """`say` is told when waiting begins and ends; `pause(seconds)` waits between attempts.

        Once `stopping` is set, the next failure is raised.
        """
        self._session, self._live, self._stopping, self._say = session, live, stopping, say
        self._pause = pause or stopping.wait

    @property
    def ledger(self) -> SessionState:
        """The state after the last record."""
        return self._session.ledger

    def tick(self, at_ms: int) -> None:
        """As `Session.tick`."""
        self._session.tick(at_ms)

    def view(self) -> SessionView:
        """As `Session.view`."""
        return self._session.view()

    def records(self, after: int = 0, most: int | None = None) -> tuple[Record, ...]:
        """As `Session.records`."""
        return self._session.records(after, most)

    def append(
        self, event: Event, frame_jpeg: bytes | None = None, after: int | None = None
    ) -> Record | None:
        """As `Session.append`; raises LogFailed only while stopping."""
        return self._write_when_possible(lambda: self._session.append(event, frame_jpeg, after))

    def hear(self, heard: Mapping[str, Any]) -> Record | None:
        """As `Session.hear`; raises LogFailed only while stopping."""
        return self._write_when_possible(lambda: self._session.hear(heard))

    def command(self, command: Command) -> Record:
        """As `Session.command`; raises LogFailed only while stopping."""
        return self._write_when_possible(lambda: self._session.command(command))

    def _write_when_possible(self, write: Callable[[], T]) -> T:
        waiting = False
        while True:
            try:
                written = write()
            except LogFailed as error:
                if self._stopping.is_set():
                    raise
                message = sentences(
                    msg("The log cannot be written ({text}).", text=error.message),
                    msg("The game is waiting and continues as soon as possible."),
                )
                self._live.tell("stopped", message)
                if not waiting:
                    self._say(
                        msg(
                            "{text}; the game waits until the log can be written",
                            text=error.message,
                        )
                    )
                waiting = True
                self._pause(RETRY_S)
            else:
                if waiting:
                    self._say(msg("the log can be written again; the game continues"))
                return written
