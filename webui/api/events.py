"""Server-sent events: every record once and in order, the live status, and a heartbeat.

The heartbeat is sent when there is nothing else to send.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from threading import Lock
from typing import Protocol

from referee.sessions.events import Record, record_document
from webui.api.answers import LiveNow, Pointed, json_bytes
from webui.interfaces import LivePort, SessionPort
from webui.security.client_addresses import client_of, is_this_machine

POLL_S = 0.2
"""Longest wait for a record before the live status is checked again."""

BEAT_S = 15.0
"""Heartbeat interval; pages reconnect after 2.5 times this silence."""

RETRY_MS = 1000
"""Reconnect delay of pages, and time between attempts."""

MOST_RECORDS = 32
"""Batch size for a listener that catches up, so that others are not delayed."""


MOST_OF_ONE = 32
"""Maximum number of streams per address; each open page has one."""

WRITTEN_KEPT = 4 * MOST_RECORDS
"""Number of newest events cached in serialised form."""


def moment(live: LivePort) -> LiveNow:
    """The referee's current status, for the state and the event `live`."""
    now = live.latest
    return LiveNow(
        status=now.status,
        message=now.message,
        frame_seq=now.frame_seq,
        at_ms=now.at_ms,
        moved=now.moved,
        held=now.held,
        error=now.error,
        pointed=Pointed(question=now.pointed.question, label=now.pointed.label),
    )


class Bulletin(Protocol):
    """Event source: numbered events, and one for the current status.

    Thread-safe.
    """

    @property
    def hello(self) -> bytes:
        """First event of every stream."""

    @property
    def newest(self) -> int:
        """The number of the newest event."""

    @property
    def closed(self) -> bool:
        """True if nothing more will come."""

    def wait(self, after: int, timeout_s: float) -> int:
        """As `EventFeed.wait`."""

    def since(self, after: int) -> list[tuple[int, bytes]]:
        """As `EventFeed.since`."""

    def moment(self) -> bytes:
        """The current status as an event; empty for none."""


class EventFeed:
    """Event source of a session; each event is serialised once.  Thread-safe."""

    def __init__(self, session: SessionPort, live: LivePort, instance: str) -> None:
        """`instance` names this run of the panel; every stream begins with it (`hello`)."""
        self._session, self._live = session, live
        self.hello = first_event(instance)
        self._written: dict[int, bytes] = {}
        self._moment: tuple[LiveNow | None, bytes] = (None, b"")
        self._lock = Lock()

    def wait(self, after: int, timeout_s: float) -> int:
        """Wait for a record after number `after`; returns the newest number.

        Returns `after` on timeout.
        """
        records = self._session.wait(after, timeout_s)
        return records[-1].seq if records else after

    @property
    def newest(self) -> int:
        """The number of the newest record."""
        return self._session.seq

    def since(self, after: int) -> list[tuple[int, bytes]]:
        """The first MOST_RECORDS records after number `after`, each with its number, as events."""
        records = self._session.records(after, MOST_RECORDS)
        with self._lock:
            return [(record.seq, self._write(record)) for record in records]

    def _write(self, record: Record) -> bytes:
        if record.seq not in self._written:
            self._written[record.seq] = written_event("record", record_document(record), record.seq)
            while len(self._written) > WRITTEN_KEPT:
                del self._written[next(iter(self._written))]
        return self._written[record.seq]

    def moment(self) -> bytes:
        """The referee's current status as an event."""
        state = moment(self._live)
        with self._lock:
            if state != self._moment[0]:
                self._moment = state, written_event("live", state)
            return self._moment[1]

    @property
    def closed(self) -> bool:
        """True once the session is closed."""
        return self._session.closed


class Subscriber:
    """A listener and its position in the stream."""

    def __init__(self, bulletin: Bulletin, after: int, address: str = "") -> None:
        """`after` is the number of the last record that the client has."""
        self._bulletin, self.after, self.address = bulletin, after, address
        self._last_moment = b""
        self._silent_s = 0.0
        self.carried = False
        """True if `Fanout` has taken over its connection."""

    def news(self, newest: int, moment: bytes, passed_s: float) -> list[bytes]:
        """Events that are new to this listener, `passed_s` seconds after the last call.

        `newest` is the number of the newest record. A `record` event has the record's number as its
        id, which a browser returns as Last-Event-ID. `live` and `beat` have no id, so they do not
        change the position.
        """
        records = self._bulletin.since(self.after) if newest > self.after else []
        self.after = records[-1][0] if records else self.after
        events = [text for _, text in records if text]
        if moment != self._last_moment:
            self._last_moment = moment
            events.append(moment)
        self._silent_s = 0.0 if events else self._silent_s + passed_s
        if self._silent_s >= BEAT_S:
            self._silent_s = 0.0
            events.append(written_event("beat", {}))
        return events


class Streams:
    """Open streams, counted per address, and their event source."""

    def __init__(self, bulletin: Bulletin, limit: int = 8) -> None:
        self.bulletin = bulletin
        self.limit = limit
        self.closed = False
        self._open: Counter[str] = Counter()
        self._lock = Lock()

    def enter(self, address: str) -> bool:
        """Reserve a stream slot for an address; False if all, or all of its share, are in use.

        Programs on this machine have no share limit.
        """
        client = client_of(address)
        with self._lock:
            if self._open.total() >= self.limit:
                return False
            if self._open[client] >= MOST_OF_ONE and not is_this_machine(address):
                return False
            self._open[client] += 1
            return True

    def leave(self, address: str) -> None:
        """Release a stream slot."""
        client = client_of(address)
        with self._lock:
            self._open[client] -= 1
            self._open += Counter()  # drops addresses without streams

    def close(self) -> None:
        """End every stream at its next poll, because the server stops."""
        self.closed = True

    @property
    def ending(self) -> bool:
        """True if nothing more will come."""
        return self.closed or self.bulletin.closed


def follow(listener: Subscriber, streams: Streams) -> Iterator[bytes]:
    """Yield the events of one listener until the session or the server is closed.

    Blocks the calling thread.
    """
    yield streams.bulletin.hello
    while not streams.ending:
        newest = streams.bulletin.wait(listener.after, POLL_S)
        yield from listener.news(newest, streams.bulletin.moment(), POLL_S)


def first_event(instance: str) -> bytes:
    """The first event of a stream; `instance` names this run of the program."""
    return written_event("hello", {"instance": instance}).replace(
        b"\n\n", b"\nretry: %d\n\n" % RETRY_MS
    )


def written_event(name: str, data: object, number: int | None = None) -> bytes:
    """A serialised event; `number` is its id."""
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {name}\ndata: ".encode() + json_bytes(data) + b"\n\n"
