"""Notify the service manager (systemd) that Rinkside is ready, alive, or stopping.

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
"""Watchdog notifications per time limit; systemd recommends at least two."""
SEND_S = 2.0
"""Send timeout of a message to the service manager."""
LONGEST_STATUS = 200
"""Maximum length of the status line in `systemctl status`."""


class ServiceManager:
    """The service manager that started this process; without one, calls do nothing.

    Thread-safe. A message that cannot be sent is logged and dropped.
    """

    def __init__(
        self,
        environ: MutableMapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Remove the manager's variables from `environ`, so that no child process inherits them.

        `clock` is monotonic, in seconds.
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
        """Returns the line for `systemctl status`, in English; called when the watchdog is fed."""

    @property
    def present(self) -> bool:
        """True if a service manager that expects notifications started this process."""
        return self._address.startswith(("/", "\0"))

    def ready(self) -> None:
        """Notify that pages are served; this starts the watchdog."""
        self._send("READY=1", *self._changed_status())

    def feed(self) -> None:
        """Feed the watchdog, at most FEEDS times per time limit. Cheap enough for every frame."""
        if not self.present:
            return
        now_s, changed = self._clock(), self._changed_status()
        due = self._every_s is not None and now_s - self._fed_s >= self._every_s
        if due:
            self._fed_s = now_s
        if due or changed:
            self._send(*(["WATCHDOG=1"] if due else []), *changed)

    def rest(self) -> None:
        """Disarm the watchdog, because the loop has ended normally."""
        self._send("WATCHDOG_USEC=0", *self._changed_status())

    def stopping(self) -> None:
        """Notify that the process is stopping."""
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

    The referee's loop reads the camera once per round, even a lost one. So a loop that hangs
    anywhere stops feeding.
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
