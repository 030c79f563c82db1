"""One handling of Ctrl-C and SIGTERM, so that lamps go dark and logs are closed in either case."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StopSignal(threading.Event):
    """Set by the first Ctrl-C or SIGTERM, which raises KeyboardInterrupt unless it is `watched`."""

    is_watched = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Let a signal raise nothing here, as a loop looks at the event.

        An exception may come anywhere, also where this thread has just taken a lock (an import has
        one) that another thread then waits for in vain.
        """
        self.is_watched = True
        try:
            yield
        finally:
            self.is_watched = False


@contextmanager
def stop_signal() -> Iterator[StopSignal]:
    """Take SIGTERM, which systemd and `kill` send, as Ctrl-C, and only the first of either.

    A further signal must not interrupt the stop. The event is set as well, because Python drops an
    exception that comes while it runs a destructor.
    """
    stopping = StopSignal()

    def stop(_number: int, _frame: FrameType | None) -> None:
        if not stopping.is_set():
            stopping.set()
            if not stopping.is_watched:
                raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, usual in before.items():
            signal.signal(number, usual)
