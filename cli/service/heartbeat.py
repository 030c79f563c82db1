"""Whether a process that the home page started is still at work.

The home page is to its games what systemd is to a service: it gives each one a socket by the same
protocol (`cli.service.manager`), and a game whose loop no longer reports hangs.  Source:
sd_notify(3).
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

MOST_BYTES = 4096
"""Longest message that is read."""
SOCKET_NAME = "notify"


class Heartbeat:
    """Receives what one process tells its service manager; belongs to one thread."""

    def __init__(self, limit_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        """A process that has reported once must do so again within `limit_s`, by `clock`."""
        self._limit_s, self._clock = limit_s, clock
        self._folder = TemporaryDirectory(prefix="rinkside-notify-")
        self._path = Path(self._folder.name) / SOCKET_NAME
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(str(self._path))
        self._heard_s: float | None = None
        self.status = ""
        """What the process said last that it does, one line."""

    @property
    def environment(self) -> dict[str, str]:
        """Variables for the process."""
        return {
            "NOTIFY_SOCKET": str(self._path),
            "WATCHDOG_USEC": str(round(self._limit_s * 1e6)),
            "WATCHDOG_PID": "",
        }

    def hangs(self) -> bool:
        """True if the process reported, and then no more for too long.

        One that has said that its loop is over is not waited for.
        """
        self._hear()
        return self._heard_s is not None and self._clock() - self._heard_s > self._limit_s

    def close(self) -> None:
        """Take the socket away."""
        self._socket.close()
        self._folder.cleanup()

    def _hear(self) -> None:
        with suppress(BlockingIOError):
            while True:
                lines = self._socket.recv(MOST_BYTES).decode(errors="replace").splitlines()
                said = dict(line.partition("=")[::2] for line in lines)
                self.status = said.get("STATUS", self.status)
                if "WATCHDOG" in said:
                    self._heard_s = self._clock()
                if said.get("WATCHDOG_USEC") == "0" or "STOPPING" in said:
                    self._heard_s = None
