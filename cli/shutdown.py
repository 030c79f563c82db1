"""Common handling of Ctrl-C and SIGTERM, so that lamps go dark and logs are closed."""

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
        """Suppress the exception within this block, whose loop checks the event.

        The exception could strike while this thread holds a lock, such as an import's, and block
        other threads for ever.
        """
        self.is_watched = True
        try:
            yield
        finally:
            self.is_watched = False


@contextmanager
def stop_signal() -> Iterator[StopSignal]:
    """Treat SIGTERM, sent by systemd and `kill`, as Ctrl-C; ignore all but the first signal.

    Later signals must not interrupt the stop. The event is also set, because Python drops an
    exception raised inside a destructor.
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
