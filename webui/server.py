"""The panel behind waitress."""

from __future__ import annotations

import errno
import logging
import socket
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any
from wsgiref.types import WSGIEnvironment

from flask import Flask
from waitress import wasyncore  # type: ignore[import-untyped]
from waitress.adjustments import Adjustments  # type: ignore[import-untyped]
from waitress.channel import HTTPChannel  # type: ignore[import-untyped]
from waitress.parser import HTTPRequestParser, ParsingError  # type: ignore[import-untyped]
from waitress.server import TcpWSGIServer  # type: ignore[import-untyped]
from waitress.task import ThreadedTaskDispatcher, WSGITask  # type: ignore[import-untyped]

from table.errors import InputError
from table.messages import phrase
from webui.interfaces import CARRY
from webui.security.client_addresses import client_of, is_this_machine
from webui.security.incoming import LARGER_BODIES, MOST_BODIES, MOST_LISTENERS

if TYPE_CHECKING:
    from webui.api.events import Streams, Subscriber
    from webui.api.fanout import Fanout

logger = logging.getLogger(__name__)

MOST_STREAMS = 256
"""Streams at once; each is a socket, and a process may have 1024 of them by default."""
MOST_CONNECTIONS, MOST_OF_ONE = 512, 64
"""Connections at once beside the streams, of all and of one address (IPv6: one /64); to admit more,
the one that waits longest is closed.
"""
HEAD_S, BODY_S, IDLE_S = 10.0, 20.0, 60.0
"""Seconds that a connection may take: until its first request and for the head of any (HEAD_S), for
all of a request (BODY_S), until the next one (IDLE_S).
"""
STALL_S, SLOWEST_BYTES_S = 20.0, 1024
"""Time within which an answer must be taken, and bytes taken for each second more."""
MOST_HEAD_BYTES, MOST_BODY_BYTES = 32 * 1024, 64 * 1024
"""Most bytes of a request; the panel takes no body that is nearly so large."""
MOST_LARGER, SLOWEST_UPLOAD_BYTES_S = 4, 50_000
"""Most requests with larger bodies at once, and how fast these must come after BODY_S."""
LOOK_S = 0.5
"""Longest time until a server without requests checks whether it is to stop."""
LAST_S = 2.0
"""Longest time for what is left of answers, before a server that stops closes its connections."""


def listen(host: str = "127.0.0.1", port: int = 8000) -> socket.socket:
    """Bind an address for the panel, before anything else is begun.

    Raises InputError where it cannot be had.
    """
    try:
        if not 0 <= port <= 65535:
            raise OverflowError("ports go from 0 to 65535")
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(address[:2], family=family)
    except (OSError, ValueError, OverflowError) as error:
        raise InputError(_reason(error, host, port)) from error


@contextmanager
def serving(app: Flask, listening: socket.socket, behind_proxy: bool = False) -> Iterator[None]:
    """Serve in a thread of its own on an address from `listen`, and close it in the end.

    `behind_proxy` as in `serve`.
    """
    stopping = threading.Event()
    options = {"stopping": stopping, "behind_proxy": behind_proxy}
    thread = threading.Thread(target=serve, args=(app, listening), kwargs=options, name="panel")
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


class Task(WSGITask):  # type: ignore[misc]  # waitress has no types
    """A request that may hand over its connection once its answer is to begin.

    Streams are handed to `Fanout`, and hold no thread.
    """

    carried = False

    def get_environment(self) -> WSGIEnvironment:
        """As `WSGITask.get_environment`, with `carry` for streams."""
        environ: WSGIEnvironment = super().get_environment()
        return environ | {CARRY: self.carry}

    def carry(self, listener: Subscriber) -> Iterator[bytes]:
        """Hand the connection over to `Fanout`; returns the rest of the answer, which is empty.

        The connection is duplicated, as waitress closes its own.
        """
        head = self.build_response_header()
        self.wrote_header = self.carried = self.close_on_finish = True
        self.channel.server.fanout.carry(
            self.channel.socket.dup(), head, self.chunked_response, listener
        )
        yield from ()

    def finish(self) -> None:
        """As `WSGITask.finish`, unless the connection was handed over."""
        if not self.carried:
            super().finish()


class LargerBodies:
    """Paths whose requests may have larger bodies, with the most bytes, and those under way."""

    def __init__(self, adj: Adjustments, most_bytes: Mapping[str, int]) -> None:
        self._adj, self._most_bytes = adj, most_bytes
        self._under_way: weakref.WeakSet[Parser] = weakref.WeakSet()

    def admit(self, parser: Parser) -> Adjustments | None:
        """The limits for a request if it may be larger than others.

        Raises ParsingError if there are too many of these.
        """
        most = self._most_bytes.get(parser.path)
        if most is None or parser.command != "POST":
            return None
        if len(self._under_way) >= MOST_LARGER:
            raise ParsingError("Too many uploads at once")
        self._under_way.add(parser)
        adj = copy(self._adj)
        adj.max_request_body_size = most
        return adj


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Reads requests; what it cannot read is answered with 400."""

    larger: LargerBodies | None = None
    is_larger = False
    """True if the body may be larger than usual, and may take its time."""

    def parse_header(self, header_plus: bytes) -> None:
        """As `HTTPRequestParser.parse_header`; raises ParsingError for ValueError."""
        try:
            super().parse_header(header_plus)
        except ValueError as error:  # a length of 5,000 digits, brackets that hold no address
            raise ParsingError("Invalid request") from error
        larger = self.larger and self.larger.admit(self)
        if larger is not None:
            self.adj, self.is_larger = larger, True


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection with a time limit for each step: ask, send a request, take the answer."""

    task_class = Task

    def __init__(
        self, server: Server, sock: socket.socket, addr: Any, adj: Adjustments, map: Any = None
    ) -> None:
        self._larger = server.larger
        self.client = client_of(addr[0])
        self.asked = False
        """True if a request of this connection was answered before."""
        self.since_s = self.writing_since_s = time.monotonic()
        self.sent_bytes = 0
        super().__init__(server, sock, addr, adj, map=map)

    def parser_class(self, adj: Adjustments) -> Parser:
        """A parser of one request."""
        parser = Parser(adj)
        parser.larger = self._larger
        return parser

    def received(self, data: bytes) -> bool:
        """As `HTTPChannel.received`; notes when a request begins."""
        if self.request is None:
            self.since_s = time.monotonic()
        done: bool = super().received(data)
        return done

    def service(self) -> None:
        """As `HTTPChannel.service`; notes when the answer is finished."""
        super().service()
        self.asked, self.since_s = True, time.monotonic()

    def writable(self) -> bool:
        """As `HTTPChannel.writable`, but False while a thread sends.

        The loop could not send then, and would ask again at once until that thread is done, which
        has to wait for the loop. The thread wakes it for what is left.
        """
        if not super().writable() or not self.outbuf_lock.acquire(blocking=False):
            return False
        self.outbuf_lock.release()
        return True

    def send(self, data: bytes, do_close: bool = True) -> int:
        """As `HTTPChannel.send`; counts the bytes that were taken."""
        sent: int = super().send(data, do_close)
        self.sent_bytes += sent
        return sent

    @property
    def waits(self) -> bool:
        """True if nothing is done for it now; such a connection may be closed to make room."""
        return not (self.requests or self.total_outbufs_len or self.will_close)

    def overdue(self, now_s: float) -> bool:
        """True if it has had more time than its step may take."""
        if self.total_outbufs_len:
            return now_s - self.writing_since_s > STALL_S + self.sent_bytes / SLOWEST_BYTES_S
        self.writing_since_s, self.sent_bytes = now_s, 0
        if self.requests:
            return False
        if self.request is None:
            return now_s - self.since_s > (IDLE_S if self.asked else HEAD_S)
        if not self.request.headers_finished:
            return now_s - self.since_s > HEAD_S
        more_s = self.request.body_bytes_received / SLOWEST_UPLOAD_BYTES_S
        return now_s - self.since_s > BODY_S + (more_s if self.request.is_larger else 0)


class Server(TcpWSGIServer):  # type: ignore[misc]
    """Takes connections, and closes those that hold places without asking for anything."""

    channel_class = Channel
    fanout: Fanout
    larger: LargerBodies

    def accept(self) -> tuple[socket.socket, Any] | None:
        """As `TcpWSGIServer.accept`; closes a connection for which there is no room."""
        accepted: tuple[socket.socket, Any] | None = super().accept()
        if accepted is not None and not self._make_room(accepted[1][0]):
            accepted[0].close()
            return None
        return accepted

    def _make_room(self, address: str) -> bool:
        """Make room for one more connection, by closing the one that has waited longest.

        False where all are at work. Each address has its share; programs of this machine have not,
        as a proxy brings everybody's requests.
        """
        channels = list(self.active_channels.values())
        own = [channel for channel in channels if channel.client == client_of(address)]
        if len(own) >= MOST_OF_ONE and not is_this_machine(address):
            return _close_longest_waiting(own)
        return len(channels) < MOST_CONNECTIONS or _close_longest_waiting(channels)

    def tidy(self) -> None:
        """Close the connections whose time is over."""
        now_s = time.monotonic()
        for channel in list(self.active_channels.values()):
            if channel.overdue(now_s):
                # at once: `will_close` waits until there is room to write, which a stalled client
                # never gives
                channel.handle_close()

    def maintenance(self, now: float) -> None:
        """Do nothing: waitress checks by the wall clock and idle connections only; see `tidy`."""


def _close_longest_waiting(channels: list[Channel]) -> bool:
    """Close one, those that never asked for anything first; False where none waits."""
    waiting = [channel for channel in channels if channel.waits]
    if waiting:
        min(waiting, key=lambda channel: (channel.asked, channel.since_s)).handle_close()
    return bool(waiting)


def serve(
    app: Flask,
    listening: socket.socket,
    threads: int = 16,
    stopping: threading.Event | None = None,
    behind_proxy: bool = False,
) -> None:
    """Serve the panel on an address from `listen` until the process ends or `stopping` is set.

    Then close it. With `behind_proxy` a proxy on this machine is believed who asks
    (X-Forwarded-For) and whether by TLS (X-Forwarded-Proto); nobody else is, and without it nobody
    at all.
    """
    logger.info("serving at %s, %d threads", listening.getsockname(), threads)
    streams: Streams | None = app.extensions.get("streams")
    # It warns of a queue when a page is asked for before all threads have begun; that there are
    # enough is seen to here.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    open_sockets: dict[int, object] = {}
    server = _server(app, open_sockets, listening, threads, behind_proxy)
    if streams:
        from webui.api.fanout import Fanout  # only what has streams brings OpenCV along

        streams.limit = app.config.get(MOST_LISTENERS, MOST_STREAMS)
        server.fanout = Fanout(streams)
        server.fanout.start()
    tidy_at_s = 0.0
    try:
        # server.run() would wait for the streams' threads before anybody could tell them to end.
        while stopping is None or not stopping.is_set():
            wasyncore.loop(map=open_sockets, timeout=LOOK_S, use_poll=True, count=1)
            if time.monotonic() >= tidy_at_s:
                server.tidy()
                tidy_at_s = time.monotonic() + LOOK_S
    except (KeyboardInterrupt, SystemExit):
        pass
    finally:
        if streams:
            streams.close()
            server.fanout.join()
        server.task_dispatcher.shutdown()
        _finish(server, open_sockets)
        wasyncore.close_all(open_sockets)


def _finish(server: Server, open_sockets: dict[int, object]) -> None:
    """Send what is left of answers, then close the connections.

    Who connects meanwhile is served by the next server at this address.
    """
    server.accepting = False
    until_s = time.monotonic() + LAST_S
    while time.monotonic() < until_s and any(
        channel.total_outbufs_len for channel in list(server.active_channels.values())
    ):
        wasyncore.loop(map=open_sockets, timeout=LOOK_S, use_poll=True, count=1)
    for channel in list(server.active_channels.values()):
        channel.handle_close()


def _server(
    app: Flask,
    open_sockets: dict[int, object],
    listening: socket.socket,
    threads: int,
    behind_proxy: bool,
) -> Server:
    proxy = {
        "trusted_proxy": "::1" if listening.family == socket.AF_INET6 else "127.0.0.1",
        "trusted_proxy_count": 1,
        "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-proto"},
    }
    options = Adjustments(
        sockets=[listening],
        threads=threads,
        ident="rinkside",
        max_request_header_size=MOST_HEAD_BYTES,
        max_request_body_size=app.config.get(MOST_BODIES, MOST_BODY_BYTES),
        connection_limit=2 * MOST_CONNECTIONS,  # not reached: see Server
        log_socket_errors=False,
        **(proxy if behind_proxy else {}),
    )
    dispatcher = ThreadedTaskDispatcher()
    # It warns of requests that a stop cuts off: their pages ask again.
    dispatcher.logger = logger.getChild("dispatcher")
    dispatcher.logger.setLevel(logging.ERROR)
    dispatcher.set_thread_count(threads)
    larger = LargerBodies(options, app.config.get(LARGER_BODIES, {}))
    place = (listening.family, listening.type, listening.proto, listening.getsockname())
    server = Server(
        app,
        map=open_sockets,
        _sock=listening,
        dispatcher=dispatcher,
        adj=options,
        bind_socket=False,
        sockinfo=place,
    )
    server.larger = larger
    return server


def _reason(error: Exception, host: str, port: int) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return phrase(
            "port {port} on {raw} is used by another program: choose another one with"
            " --port, such as --port {n}",
            port=port,
            raw=host,
            n=port + 1,
        )
    if number == errno.EACCES:
        return phrase(
            "port {port} needs rights that this program does not have: choose one"
            " above 1023 with --port, such as --port 8000",
            port=port,
        )
    return phrase(
        "{raw}, port {port}: expected an address of this machine and a free"
        " port (--host, --port): {raw2}",
        raw=host,
        port=port,
        raw2=error,
    )
