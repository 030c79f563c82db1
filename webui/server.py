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
"""Maximum number of streams; each is a socket, and a process may open 1024 by default."""
MOST_CONNECTIONS, MOST_OF_ONE = 512, 64
"""Maximum number of connections beside the streams, in total and per address (IPv6: per /64). To
admit more, the one that has waited longest is closed.
"""
HEAD_S, BODY_S, IDLE_S = 10.0, 20.0, 60.0
"""Time limits of a connection in seconds: until its first request, and for any request's head
(HEAD_S); for a whole request (BODY_S); between requests (IDLE_S).
"""
STALL_S, SLOWEST_BYTES_S = 20.0, 1024
"""Time limit for receiving a response, and the bytes received that extend it by one second."""
MOST_HEAD_BYTES, MOST_BODY_BYTES = 32 * 1024, 64 * 1024
"""Maximum size of a request's head and body; the panel's own bodies are far smaller."""
MOST_LARGER, SLOWEST_UPLOAD_BYTES_S = 4, 50_000
"""Maximum number of concurrent large uploads, and their minimum rate after BODY_S."""
LOOK_S = 0.5
"""Longest time until an idle server checks whether it is to stop."""
LAST_S = 2.0
"""Time limit for sending remaining responses before a stopping server closes connections."""


def listen(host: str = "127.0.0.1", port: int = 8000) -> socket.socket:
    """Bind the panel's address, before anything else is started.

    Raises InputError if it is not available.
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
    """Serve in a separate thread on an address from `listen`, and close it at the end.

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
    """A request that may hand over its connection before its response is sent.

    Streams are handed to `Fanout`, and occupy no thread.
    """

    carried = False

    def get_environment(self) -> WSGIEnvironment:
        """As `WSGITask.get_environment`, with `carry` for streams."""
        environ: WSGIEnvironment = super().get_environment()
        return environ | {CARRY: self.carry}

    def carry(self, listener: Subscriber) -> Iterator[bytes]:
        """Hand the connection over to `Fanout`; returns the rest of the response, which is empty.

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
    """Paths that accept larger bodies, with maximum sizes, and current uploads to them."""

    def __init__(self, adj: Adjustments, most_bytes: Mapping[str, int]) -> None:
        self._adj, self._most_bytes = adj, most_bytes
        self._under_way: weakref.WeakSet[Parser] = weakref.WeakSet()

    def admit(self, parser: Parser) -> Adjustments | None:
        """The size limits for a request, if its path accepts larger bodies.

        Raises ParsingError if too many such uploads are running.
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
    """Parses requests; malformed ones are answered with 400."""

    larger: LargerBodies | None = None
    is_larger = False
    """True if the body may exceed the usual size and time limits."""

    def parse_header(self, header_plus: bytes) -> None:
        """As `HTTPRequestParser.parse_header`; raises ParsingError for ValueError."""
        try:
            super().parse_header(header_plus)
        except ValueError as error:  # a length of 5,000 digits, brackets without an address
            raise ParsingError("Invalid request") from error
        larger = self.larger and self.larger.admit(self)
        if larger is not None:
            self.adj, self.is_larger = larger, True


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection with a time limit per step: first byte, whole request, response."""

    task_class = Task

    def __init__(
        self, server: Server, sock: socket.socket, addr: Any, adj: Adjustments, map: Any = None
    ) -> None:
        self._larger = server.larger
        self.client = client_of(addr[0])
        self.asked = False
        """True if an earlier request of this connection was answered."""
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

        The loop cannot send then and would spin until that thread is done, which has to wait for
        the loop. The thread wakes the loop for remaining data.
        """
        if not super().writable() or not self.outbuf_lock.acquire(blocking=False):
            return False
        self.outbuf_lock.release()
        return True

    def send(self, data: bytes, do_close: bool = True) -> int:
        """As `HTTPChannel.send`; counts the bytes sent."""
        sent: int = super().send(data, do_close)
        self.sent_bytes += sent
        return sent

    @property
    def waits(self) -> bool:
        """True if the connection is idle; it may then be closed to make room."""
        return not (self.requests or self.total_outbufs_len or self.will_close)

    def overdue(self, now_s: float) -> bool:
        """True if the current step has exceeded its time limit."""
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
    """Accepts connections, and closes idle ones to make room."""

    channel_class = Channel
    fanout: Fanout
    larger: LargerBodies

    def accept(self) -> tuple[socket.socket, Any] | None:
        """As `TcpWSGIServer.accept`; closes the new connection if there is no room."""
        accepted: tuple[socket.socket, Any] | None = super().accept()
        if accepted is not None and not self._make_room(accepted[1][0]):
            accepted[0].close()
            return None
        return accepted

    def _make_room(self, address: str) -> bool:
        """Make room for one more connection by closing the one idle longest.

        False if all are busy. Each address has a share, except this machine's, since a proxy
        forwards everybody's requests.
        """
        channels = list(self.active_channels.values())
        own = [channel for channel in channels if channel.client == client_of(address)]
        if len(own) >= MOST_OF_ONE and not is_this_machine(address):
            return _close_longest_waiting(own)
        return len(channels) < MOST_CONNECTIONS or _close_longest_waiting(channels)

    def tidy(self) -> None:
        """Close overdue connections."""
        now_s = time.monotonic()
        for channel in list(self.active_channels.values()):
            if channel.overdue(now_s):
                # `will_close` would wait for room to write, which a stalled client never gives
                channel.handle_close()

    def maintenance(self, now: float) -> None:
        """Do nothing: waitress checks by the wall clock and idle connections only; see `tidy`."""


def _close_longest_waiting(channels: list[Channel]) -> bool:
    """Close one idle connection, preferring those without any request; False if none is idle."""
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

    Then close it. With `behind_proxy` X-Forwarded-For and X-Forwarded-Proto are trusted from this
    machine only; without it they are ignored.
    """
    logger.info("serving at %s, %d threads", listening.getsockname(), threads)
    streams: Streams | None = app.extensions.get("streams")
    # waitress warns of a queue for requests before all threads have started.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    open_sockets: dict[int, object] = {}
    server = _server(app, open_sockets, listening, threads, behind_proxy)
    if streams:
        from webui.api.fanout import Fanout  # only applications with streams import OpenCV

        streams.limit = app.config.get(MOST_LISTENERS, MOST_STREAMS)
        server.fanout = Fanout(streams)
        server.fanout.start()
    tidy_at_s = 0.0
    try:
        # server.run() would wait for the streams' threads before they are told to end.
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
    """Send remaining response data, then close the connections.

    New connections are served by the next server at this address.
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
    # waitress warns of requests interrupted by a stop; their pages retry.
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
