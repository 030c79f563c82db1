"""The panel behind waitress."""

from __future__ import annotations

import errno
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask
from waitress import create_server, wasyncore  # type: ignore[import-untyped]

from table.errors import InputError

SPARE_THREADS = 4
"""Threads kept free of streams, so that pages, pictures and commands are always answered."""
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


def serve(app: Flask, listening: socket.socket, threads: int = 16, stopping: threading.Event | None = None) -> None:
    """Serve the panel on an address from `listen` until the process is told to end, or `stopping` is set; then close it."""
    if threads <= SPARE_THREADS:
        raise ValueError(f"threads: expected more than {SPARE_THREADS}, got {threads}")
    streams = app.extensions.get("streams")
    if streams:
        streams.limit = threads - SPARE_THREADS
    # It warns of a queue when a page is asked for before all threads have begun; that there are enough is seen to here.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    open_sockets: dict[int, object] = {}
    server = create_server(app, map=open_sockets, sockets=[listening], threads=threads, ident="rinkside", max_request_body_size=2**20)
    try:
        # server.run() would wait for the streams' threads before anybody could tell them to end.
        while stopping is None or not stopping.is_set():
            wasyncore.loop(map=open_sockets, timeout=LOOK_S, count=1)
    except (KeyboardInterrupt, SystemExit):
        pass
    finally:
        if streams:
            streams.close()
        server.task_dispatcher.shutdown()
        wasyncore.close_all(open_sockets)


def _why(error: Exception, host: str, port: int) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return f"port {port} on {host} is taken by another program: choose another one with --port, such as --port {port + 1}"
    if number == errno.EACCES:
        return f"port {port} needs rights that this program does not have: choose one above 1023 with --port, such as --port 8000"
    return f"{host}, port {port}: expected an address of this machine and a free port (--host, --port): {error}"
