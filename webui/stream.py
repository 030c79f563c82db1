"""Server-sent events: every record once and in order, the moment's status between them, a beat when nothing happens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from threading import Lock
from typing import Any

from referee.events import record_document
from webui.ports import LivePort, SessionPort

POLL_S = 0.2
"""How long a stream waits for a record before it looks at the camera's side again."""

BEAT_S = 15.0
"""A stream that is silent for longer is broken; pages reconnect after twice this and a half."""


class Streams:
    """Counts the streams that are open; each holds one thread of the server for as long as it lasts."""

    def __init__(self, limit: int = 8) -> None:
        self.limit = limit
        self.closed = False
        self._open = 0
        self._lock = Lock()

    def enter(self) -> bool:
        """Take a place; False where all are taken."""
        with self._lock:
            if self._open >= self.limit:
                return False
            self._open += 1
            return True

    def close(self) -> None:
        """Let every stream end at its next look, because the server is being stopped."""
        self.closed = True

    def leave(self) -> None:
        """Give a place back."""
        with self._lock:
            self._open -= 1


def follow(session: SessionPort, live: LivePort, streams: Streams, after: int, instance: str) -> Iterator[str]:
    """Events as text, until the session or the server is closed.

    `hello` names this run of the panel; `record` has the record's number as its id, which a browser sends back as
    Last-Event-ID; `live` (status, said, frame_seq, moved) and `beat` have none, so that they never count as caught up.
    """
    yield _event("hello", {"instance": instance})
    told: dict[str, Any] = {}
    silent_s = 0.0
    while not (session.closed or streams.closed):
        records = session.wait(after, POLL_S)
        for record in records:
            after = record.seq
            yield _event("record", record_document(record), after)
        now = live.latest
        state = {"status": now.status, "said": now.said, "frame_seq": now.frame_seq, "moved": now.moved}
        silent_s = 0.0 if records else silent_s + POLL_S
        if state != told:
            told, silent_s = state, 0.0
            yield _event("live", state)
        elif silent_s >= BEAT_S:
            silent_s = 0.0
            yield _event("beat", {})


def _event(name: str, data: dict[str, Any], number: int | None = None) -> str:
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
