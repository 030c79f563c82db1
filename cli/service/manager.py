"""Tell the service manager (systemd) that Rinkside is ready, at work, or stopping.

Source: sd_notify(3), whose protocol is datagrams to a Unix socket, and sd_watchdog_enabled(3).
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, MutableMapping

from cli.terminal import in_language
from table.text import printable
from vision.cameras.base import CameraPort, unread_part
from vision.cameras.frame import Frame

logger = logging.getLogger(__name__)

FEEDS = 4
"""Times that the watchdog is fed within its time limit; systemd recommends at least two."""
SEND_S = 2.0
"""Longest wait for a service manager that takes no message."""
LONGEST_STATUS = 200
"""Most characters of the line that `systemctl status` shows."""


class ServiceManager:
    """The service manager that started this process; without one, nothing is told.

    Thread-safe. A message that cannot be sent is logged and forgotten.
    """

    def __init__(
        self,
        environ: MutableMapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the manager's variables out of `environ`, so that no child process has them.

        `clock` gives seconds that never go back.
        """
        address = environ.pop("NOTIFY_SOCKET", "")
        usec, pid = environ.pop("WATCHDOG_USEC", ""), environ.pop("WATCHDOG_PID", "")
        mine = pid in ("", str(os.getpid()))
        self._every_s = int(usec) / 1e6 / FEEDS if usec.isdecimal() and mine else None
        self._address = address.replace("@", "\0", 1) if address.startswith("@") else address
        self._clock = clock
        self._fed_s = float("-inf")
        self._last_status = ""
        self.status: Callable[[], str] = str
        """The line that `systemctl status` shows, in English; asked whenever the watchdog is."""

    @property
    def present(self) -> bool:
        """True if a service manager started this process and wants to be told."""
        return self._address.startswith(("/", "\0"))

    def ready(self) -> None:
        """Say that pages are served; the watchdog counts from here on."""
        self._send("READY=1", *self._changed_status())

    def feed(self) -> None:
        """Say that the loop that calls this is at work. Cheap enough for every frame."""
        if not self.present:
            return
        now_s, changed = self._clock(), self._changed_status()
        due = self._every_s is not None and now_s - self._fed_s >= self._every_s
        if due:
            self._fed_s = now_s
        if due or changed:
            self._send(*(["WATCHDOG=1"] if due else []), *changed)

    def rest(self) -> None:
        """Say that the loop has come to its end as it should: the watchdog expects nothing more."""
        self._send("WATCHDOG_USEC=0", *self._changed_status())

    def stopping(self) -> None:
        """Say that the process is about to end."""
        self._send("STOPPING=1")

    def _changed_status(self) -> list[str]:
        if not self.present:
            return []
        status = printable(in_language(self.status()))[:LONGEST_STATUS]
        if status == self._last_status:
            return []
        self._last_status = status
        return [f"STATUS={status}"]

    def _send(self, *lines: str) -> None:
        if not self.present:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as end:
                end.settimeout(SEND_S)
                end.sendto("\n".join(lines).encode(), self._address)
        except OSError as error:
            logger.info("the service manager cannot be told %s (%s)", lines[0], error.strerror)


class FedCamera:
    """A camera that feeds the watchdog at every read.

    The referee's loop reads a camera once in each round, also one that is lost. So a loop that
    hangs, in the camera or anywhere else, feeds nothing.
    """

    def __init__(self, camera: CameraPort, feed: Callable[[], object]) -> None:
        self.name, self.simulated = camera.name, camera.simulated
        self.inner, self._feed = camera, feed

    @property
    def missing(self) -> str:
        """As `Recording.missing`."""
        return unread_part(self.inner)

    def read(self) -> Frame | None:
        """As `CameraPort.read`."""
        self._feed()
        return self.inner.read()

    def close(self) -> None:
        """As `CameraPort.close`."""
        self.inner.close()
