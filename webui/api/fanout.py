"""One thread that serves all event streams.

A stream costs a socket and no thread, and no listener waits for another.
"""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector

from webui.api.events import POLL_S, Streams, Subscriber

STALLED_S = 20.0
"""A listener that has not taken all that was sent after this time is dropped; a page that wakes up
asks again with the number that it heard last.
"""

SEND_BYTES = 64 * 1024
"""Send buffer of a listener that does not read (Linux: twice this); no more is written before it
does.
"""

AGAIN_S = 0.02
"""Time until a listener that has not been sent everything is sent more."""


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

        `head` begins the answer and is not sent yet; with `chunked`, what follows is in the chunks
        of HTTP/1.1.
        """
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(
            socket, "TCP_USER_TIMEOUT"
        ):  # Linux: small events that nobody acknowledges do not fill the buffer
            connection.setsockopt(
                socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(1000 * STALLED_S)
            )
        self.connection, self.listener = connection, listener
        self._chunked = chunked
        self._left = head + self._framed(hello)
        self._behind_s = 0.0

    def tell(self, newest: int, moment: bytes, passed_s: float) -> bool:
        """Send what is new, or what was left; never waits.

        False when the connection is gone, or the listener takes too long to read.
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
        """True if there is more to send already."""
        return bool(self._left) or self.listener.after < newest

    def gone(self) -> bool:
        """True if it hung up; anything else that it sends is ignored."""
        try:
            return not self.connection.recv(4096)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def end(self) -> None:
        """Say that nothing more comes, if that can be sent at once, and close the connection."""
        if self._chunked and not self._left:
            with suppress(OSError):
                self.connection.send(b"0\r\n\r\n")
        self.connection.close()

    def _framed(self, text: bytes) -> bytes:
        return b"%X\r\n%b\r\n" % (len(text), text) if text and self._chunked else text


class Fanout:
    """Serves all carried listeners in turn, from a thread of its own."""

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

        Its place among the streams is given back when it ends.
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
