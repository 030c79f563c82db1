"""The panel behind waitress."""

from __future__ import annotations

import errno

from flask import Flask
from waitress import create_server

from table.errors import InputError

SPARE_THREADS = 4
"""Threads kept free of streams, so that pages, pictures and commands are always answered."""


def serve(app: Flask, host: str = "127.0.0.1", port: int = 8000, threads: int = 16) -> None:
    """Serve the panel until the process is told to end; raises InputError where the address cannot be had."""
    if threads <= SPARE_THREADS:
        raise InputError(f"threads: expected more than {SPARE_THREADS}, got {threads}")
    app.extensions["streams"].limit = threads - SPARE_THREADS
    try:
        server = create_server(app, host=host, port=port, threads=threads, ident="rinkside", max_request_body_size=2**20)
    except (OSError, ValueError, OverflowError) as error:
        raise InputError(_why(error, host, port)) from error
    try:
        server.run()
    finally:
        server.close()


def _why(error: Exception, host: str, port: int) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return f"port {port} on {host} is taken by another program: choose another one with --port, such as --port {port + 1}"
    if number == errno.EACCES:
        return f"port {port} needs rights that this program does not have: choose one above 1023 with --port, such as --port 8000"
    return f"{host}, port {port}: expected an address of this machine and a free port (--host, --port): {error}"
