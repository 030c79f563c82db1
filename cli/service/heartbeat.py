"""Watchdog for processes started by the home page.

The home page acts as the service manager of its games: it gives each a socket with the same
protocol (`cli.service.manager`). A game whose loop stops reporting counts as hung.  Source:
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
"""Maximum size of a message."""
SOCKET_NAME = "notify"


class Heartbeat:
    """Receiver of one process's notifications; not thread-safe."""

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
        """Last status line of the process."""

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables for the process."""
        return {
            "NOTIFY_SOCKET": str(self._path),
            "WATCHDOG_USEC": str(round(self._limit_s * 1e6)),
            "WATCHDOG_PID": "",
        }

    def hangs(self) -> bool:
        """True if the process has reported before, but not within the limit.

        A process whose loop has ended normally is exempt.
        """
        self._hear()
        return self._heard_s is not None and self._clock() - self._heard_s > self._limit_s

    def close(self) -> None:
        """Close and remove the socket."""
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
