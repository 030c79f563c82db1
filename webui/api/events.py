"""Server-sent events: every record once and in order, the live status between them, and a beat.

The beat is sent when nothing else is.
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
"""How long streams wait for a record before they look at the live status again."""

BEAT_S = 15.0
"""A stream that is silent for longer is broken; pages reconnect after 2.5 times this."""

RETRY_MS = 1000
"""Time after which a page that lost its stream asks for it again, and between attempts."""

MOST_RECORDS = 32
"""Records sent at a time to a listener that catches up, so that nobody else waits for it."""


MOST_OF_ONE = 32
"""Streams at once of one address; each page that is open has one."""

WRITTEN_KEPT = 4 * MOST_RECORDS
"""Newest records that are kept as they were written, for later listeners."""


def moment(live: LivePort) -> LiveNow:
    """What the referee does now, for the state and the event `live`."""
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
    """What streams tell: numbered events, and one of the moment.

    Safe to use from many threads.
    """

    @property
    def hello(self) -> bytes:
        """What every stream begins with."""

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
        """What is so now, as an event; empty for nothing."""


class EventFeed:
    """The events to send, each written once however many listen. Safe to use from many threads."""

    def __init__(self, session: SessionPort, live: LivePort, instance: str) -> None:
        """`instance` names this run of the panel; every stream begins with it (`hello`)."""
        self._session, self._live = session, live
        self.hello = first_event(instance)
        self._written: dict[int, bytes] = {}
        self._moment: tuple[LiveNow | None, bytes] = (None, b"")
        self._lock = Lock()

    def wait(self, after: int, timeout_s: float) -> int:
        """The number of the newest record of those after `after`, as soon as there is one.

        `after` itself when the time is over.
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
        """What the referee does now, as an event."""
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
    """A listener of the stream, and how far it has heard."""

    def __init__(self, bulletin: Bulletin, after: int, address: str = "") -> None:
        """It knows all records up to number `after`."""
        self._bulletin, self.after, self.address = bulletin, after, address
        self._last_moment = b""
        self._silent_s = 0.0
        self.carried = False
        """True if its connection was taken over by the thread of all streams."""

    def news(self, newest: int, moment: bytes, passed_s: float) -> list[bytes]:
        """Events that are new to this listener, `passed_s` after it was asked last.

        `newest` is the number of the newest known record. `record` has the record's number as its
        id, which a browser sends back as Last-Event-ID; `live` (as `moment` has it) and `beat` have
        none, so that they never count as caught up.
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
    """Counts the streams that are open, and knows what to tell them."""

    def __init__(self, bulletin: Bulletin, limit: int = 8) -> None:
        self.bulletin = bulletin
        self.limit = limit
        self.closed = False
        self._open: Counter[str] = Counter()
        self._lock = Lock()

    def enter(self, address: str) -> bool:
        """Take a place for an address; False where all places, or its share of them, are taken.

        Programs of this machine have no limited share.
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
        """Give a place back."""
        client = client_of(address)
        with self._lock:
            self._open[client] -= 1
            self._open += Counter()  # forgets who has none left

    def close(self) -> None:
        """Let every stream end at its next look, because the server is being stopped."""
        self.closed = True

    @property
    def ending(self) -> bool:
        """True if nothing more will come."""
        return self.closed or self.bulletin.closed


def follow(listener: Subscriber, streams: Streams) -> Iterator[bytes]:
    """The events of one listener, until the session or the server is closed.

    Holds the calling thread for as long.
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
    """An event as it is sent; `number` is its id."""
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {name}\ndata: ".encode() + json_bytes(data) + b"\n\n"
