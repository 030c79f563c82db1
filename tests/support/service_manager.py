"""A service manager's end of sd_notify: a Unix datagram socket, and its messages."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class Notifications:
    """Messages that a process sent, in order; each is a datagram of lines."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def next(self, timeout_s: float) -> dict[str, str]:
        """The next message as names and values; raises TimeoutError."""
        self._end.settimeout(timeout_s)
        lines = self._end.recv(65536).decode().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def until(self, name: str, timeout_s: float) -> dict[str, str]:
        """The next message with this name in it; raises TimeoutError."""
        while name not in (message := self.next(timeout_s)):
            pass
        return message

    def until_silent(self, quiet_s: float) -> None:
        """Return once no message came for `quiet_s` seconds."""
        with suppress(TimeoutError):
            while True:
                self.next(quiet_s)

    def waiting(self) -> list[dict[str, str]]:
        """All pending messages, without waiting."""
        messages = []
        while True:
            try:
                messages.append(self.next(0.0))
            except BlockingIOError:
                return messages


@contextmanager
def service_manager(path: Path) -> Iterator[Notifications]:
    """A service manager that listens at `path`; one that begins with @ has no file."""
    text = str(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.bind(f"\0{text[1:]}" if text.startswith("@") else text)
        yield Notifications(end)
