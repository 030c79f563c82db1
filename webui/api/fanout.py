"""One thread that serves all event streams.

A stream costs a socket but no thread, and listeners do not block one another.
"""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector

from webui.api.events import POLL_S, Streams, Subscriber

STALLED_S = 20.0
"""Time after which a listener with unsent data is dropped. A page that wakes up reconnects with the
number of its last event.
"""

SEND_BYTES = 64 * 1024
"""Size of a listener's socket send buffer (Linux doubles it), which bounds unread data."""

AGAIN_S = 0.02
"""Retry interval for a listener with unsent data."""


class CarriedConnection:
    """A listener's own connection."""

    def __init__(
        self,
        connection: socket.socket,
        head: bytes,
        hello: bytes,
        chunked: bool,
        listener: Subscriber,
    ) -> None:
        """Prepare the connection for sending.

        `head` is the unsent head of the response; with `chunked` the body uses HTTP/1.1 chunks.
        """
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(
            socket, "TCP_USER_TIMEOUT"
        ):  # Linux: small unacknowledged events do not fill the buffer
            connection.setsockopt(
                socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(1000 * STALLED_S)
            )
        self.connection, self.listener = connection, listener
        self._chunked = chunked
        self._left = head + self._framed(hello)
        self._behind_s = 0.0

    def tell(self, newest: int, moment: bytes, passed_s: float) -> bool:
        """Send new or left-over data without blocking.

        False if the connection is closed, or the listener reads too slowly.
        """
        self._behind_s += passed_s
        if not self._left:
            self._left = self._framed(b"".join(self.listener.news(newest, moment, passed_s)))
            self._behind_s = 0.0
        try:
            sent = self.connection.send(self._left) if self._left else 0
        except BlockingIOError:
            sent = 0
        except OSError:
            return False
        self._left = self._left[sent:]
        return not self._left or self._behind_s < STALLED_S

    def behind(self, newest: int) -> bool:
        """True if more data is ready to send."""
        return bool(self._left) or self.listener.after < newest

    def gone(self) -> bool:
        """True if the client has disconnected; any data from it is ignored."""
        try:
            return not self.connection.recv(4096)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def end(self) -> None:
        """Send the end of the stream if that does not block, and close the connection."""
        if self._chunked and not self._left:
            with suppress(OSError):
                self.connection.send(b"0\r\n\r\n")
        self.connection.close()

    def _framed(self, text: bytes) -> bytes:
        return b"%X\r\n%b\r\n" % (len(text), text) if text and self._chunked else text


class Fanout:
    """Serves all carried listeners in turn, in one thread."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._selector = DefaultSelector()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="streams", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def carry(
        self, connection: socket.socket, head: bytes, chunked: bool, listener: Subscriber
    ) -> None:
        """Take over a connection whose answer begins with `head`.

        Its stream slot is released when it ends.
        """
        one = CarriedConnection(connection, head, self._streams.bulletin.hello, chunked, listener)
        one.tell(listener.after, self._streams.bulletin.moment(), 0.0)
        listener.carried = True
        with self._lock:
            self._selector.register(connection, EVENT_READ, one)

    def join(self) -> None:
        """Wait for the thread to end (after `Streams.close`)."""
        self._thread.join()

    def _run(self) -> None:
        newest, last = self._streams.bulletin.newest, time.monotonic()
        while not self._streams.ending:
            busy = any(one.behind(newest) for one in self._all())
            newest = self._streams.bulletin.wait(newest, AGAIN_S if busy else POLL_S)
            passed_s, last = time.monotonic() - last, time.monotonic()
            with self._lock:
                spoke: list[CarriedConnection] = [key.data for key, _ in self._selector.select(0)]
            gone = [one for one in spoke if one.gone()]
            moment = self._streams.bulletin.moment()
            gone += [
                one
                for one in self._all()
                if one not in gone and not one.tell(newest, moment, passed_s)
            ]
            for one in gone:
                self._drop(one)
        for one in self._all():
            self._drop(one)
        self._selector.close()

    def _all(self) -> list[CarriedConnection]:
        with self._lock:
            return [key.data for key in self._selector.get_map().values()]

    def _drop(self, one: CarriedConnection) -> None:
        with self._lock:
            self._selector.unregister(one.connection)
        one.end()
        self._streams.leave(one.listener.address)
