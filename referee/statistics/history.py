"""Past and current sessions for review, read-only: every record with the state after it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from engines import GAMES
from referee.presentation import view_model as pages
from referee.presentation.session_view import SessionView
from referee.sessions.event_store import LogReader, SessionSummary
from referee.sessions.events import (
    ComputerChose,
    InputRecorded,
    Record,
    Reopened,
    SessionEnded,
    SessionStarted,
    shows_table,
)
from referee.sessions.state import Games, SessionState, apply, begin
from referee.statistics.results import PlayedGame, games_in
from table.errors import InputError, message_of
from table.messages import msg
from table.table_config import Setup, parse_table

REMEMBERED = 24
"""Number of folded sessions kept, so that another request only reads newer records."""


@dataclass(frozen=True, slots=True)
class Step:
    """A moment of a session at which something was decided.

    `verdict` and `message` are as in a view's verdicts.
    """

    seq: int
    at_ms: int
    verdict: str
    player: str | None
    message: str
    frame: bool


def _step(record: Record) -> Step | None:
    event = record.event
    if isinstance(event, ComputerChose):
        return Step(record.seq, record.at_ms, "noted", event.player, event.message, record.frame)
    line = pages.decision_of(event)
    if line is None:
        return None
    return Step(record.seq, record.at_ms, line.verdict, line.player, line.message, record.frame)


class SessionHistory:
    """A session's known `records`, and the state after each."""

    def __init__(self, records: tuple[Record, ...], ledgers: tuple[SessionState, ...]) -> None:
        """Use `HistoryCache.of`."""
        self.records, self.ledgers = records, ledgers

    def with_more(self, records: tuple[Record, ...]) -> SessionHistory:
        """The same session with later records.

        Raises ValueError of the engine where moves do not follow.
        """
        ledgers = list(self.ledgers)
        for record in records:
            ledgers.append(apply(ledgers[-1], record))
        return SessionHistory(self.records + records, tuple(ledgers))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """All decisions and computers' wishes in order, for a time-line."""
        return tuple(step for record in self.records if (step := _step(record)) is not None)

    @cached_property
    def games(self) -> tuple[PlayedGame, ...]:
        """Its games as they stand."""
        return games_in(self.ledgers[-1], self.records)

    def view(self, seq: int) -> SessionView:
        """Return the view after the last record up to `seq`."""
        count = max(1, sum(record.seq <= seq for record in self.records))
        records = self.records[:count]
        return pages.view(
            self.ledgers[count - 1], records, next(filter(shows_table, reversed(records)), None)
        )

    def setup(self, seq: int) -> Setup | None:
        """Return the table at that time; None if the log does not have it."""
        known = [
            record.event
            for record in self.records
            if record.seq <= seq and isinstance(record.event, SessionStarted | Reopened)
        ]
        table = known[-1].table if known else {}
        return parse_table(table, "the session's table") if table else None

    @property
    def open_secret(self) -> bool:
        """True for a running session with secret inputs: it must not be exported whole."""
        secret = any(
            isinstance(record.event, InputRecorded) and record.event.secret
            for record in self.records
        )
        return secret and not isinstance(self.records[-1].event, SessionEnded)


class HistoryCache:
    """The sessions of one log; thread-safe.

    The log is opened for each request and closed again.
    """

    def __init__(self, path: Path, games: Games = GAMES) -> None:
        self.path = path
        self._games = games
        self._known: OrderedDict[int, SessionHistory] = OrderedDict()
        self._lock = threading.Lock()

    def summaries(self) -> tuple[SessionSummary, ...]:
        """Return all sessions, newest first; none before the first one.

        Raises InputError for an unreadable log.
        """
        if not self.path.exists():
            return ()
        with LogReader(self.path) as log:
            return log.sessions()[::-1]

    def of(self, session: int) -> SessionHistory:
        """Return a session with all that is on disk now.

        Raises InputError for an unknown session, or moves that are illegal in these engines.
        """
        with self._lock, LogReader(self.path) as log:
            known = self._known.pop(session, None)
            try:
                if known is None:
                    first, *rest = log.records(session)
                    known = SessionHistory((first,), (begin(first, self._games),)).with_more(
                        tuple(rest)
                    )
                elif more := log.records(session, known.records[-1].seq):
                    known = known.with_more(more)
            except InputError:
                raise
            except ValueError as error:
                raise InputError(
                    msg(
                        "session {n}: expected moves that are legal by this version's rules:"
                        " {text}",
                        n=session,
                        text=message_of(error),
                    )
                ) from error
            self._known[session] = known
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
            return known

    def frame(self, seq: int) -> bytes | None:
        """The JPEG kept with a record, or None."""
        with LogReader(self.path) as log:
            return log.frame(seq)
