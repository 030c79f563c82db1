"""The panel behind waitress."""

from __future__ import annotations

import errno
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Flask
from waitress import create_server, wasyncore  # type: ignore[import-untyped]
from waitress.channel import HTTPChannel  # type: ignore[import-untyped]
from waitress.task import WSGITask  # type: ignore[import-untyped]

from table.errors import InputError
from webui.fanout import Fanout
from webui.stream import CARRY, Listener, Streams

MOST_STREAMS = 256
"""Streams at once; each is a socket, and a process has 1024 of them where nobody asked for more."""
MOST_CONNECTIONS = 512
"""Connections at once beside the streams; more wait until one of these ends."""
LOOK_S = 0.5
"""How long a server without requests goes on before it looks whether it is to stop."""


def listen(host: str = "127.0.0.1", port: int = 8000) -> socket.socket:
    """Take an address for the panel before anything else is begun; raises InputError where it cannot be had."""
    try:
        if not 0 <= port <= 65535:
            raise OverflowError("ports go from 0 to 65535")
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family)
    except (OSError, ValueError, OverflowError) as error:
        raise InputError(_why(error, host, port)) from error


@contextmanager
def serving(app: Flask, listening: socket.socket) -> Iterator[None]:
    """Serve in a thread of its own on an address from `listen`, and close it in the end."""
    stopping = threading.Event()
    thread = threading.Thread(target=serve, args=(app, listening), kwargs={"stopping": stopping}, name="panel")
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


class Task(WSGITask):  # type: ignore[misc]  # waitress has no types
    """A request that may give its connection away, once its answer is to begin: streams are told by `Fanout`, and hold no thread."""

    carried = False

    def get_environment(self) -> dict[str, Any]:
        environ: dict[str, Any] = super().get_environment()
        return environ | {CARRY: self.carry}

    def carry(self, listener: Listener) -> Iterator[bytes]:
        """The body of a stream's answer: here it has no more, and what waitress closes is not the last hold of the connection."""
        head = self.build_response_header()
        self.wrote_header = self.carried = True
        self.channel.server.fanout.carry(self.channel.socket.dup(), head, self.chunked_response, listener)
        yield from ()

    def finish(self) -> None:
        if not self.carried:
            super().finish()


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection whose requests are tasks as above."""

    task_class = Task


def serve(app: Flask, listening: socket.socket, threads: int = 16, stopping: threading.Event | None = None) -> None:
    """Serve the panel on an address from `listen` until the process is told to end, or `stopping` is set; then close it."""
    streams: Streams | None = app.extensions.get("streams")
    # It warns of a queue when a page is asked for before all threads have begun; that there are enough is seen to here.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    open_sockets: dict[int, object] = {}
    server = create_server(
        app,
        map=open_sockets,
        sockets=[listening],
        threads=threads,
        ident="rinkside",
        max_request_body_size=2**20,
        connection_limit=MOST_CONNECTIONS,
    )
    server.channel_class = Channel
    if streams:
        streams.limit = MOST_STREAMS
        server.fanout = Fanout(streams)
        server.fanout.start()
    try:
        # server.run() would wait for the streams' threads before anybody could tell them to end.
        while stopping is None or not stopping.is_set():
            wasyncore.loop(map=open_sockets, timeout=LOOK_S, use_poll=True, count=1)
    except (KeyboardInterrupt, SystemExit):
        pass
    finally:
        if streams:
            streams.close()
            server.fanout.join()
        server.task_dispatcher.shutdown()
        wasyncore.close_all(open_sockets)


def _why(error: Exception, host: str, port: int) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return f"port {port} on {host} is taken by another program: choose another one with --port, such as --port {port + 1}"
    if number == errno.EACCES:
        return f"port {port} needs rights that this program does not have: choose one above 1023 with --port, such as --port 8000"
    return f"{host}, port {port}: expected an address of this machine and a free port (--host, --port): {error}"
