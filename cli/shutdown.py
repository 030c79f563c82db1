"""One handling of Ctrl-C and SIGTERM, so that lamps go dark and logs are closed in either case."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stopped_by_one_signal() -> Iterator[threading.Event]:
    """Take SIGTERM, which systemd and `kill` send, as Ctrl-C, and only the first of either.

    A further signal must not interrupt the stop. The event is set as well, because Python drops an
    exception that comes while it runs a destructor.
    """
    stopping = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        if not stopping.is_set():
            stopping.set()
            raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, usual in before.items():
            signal.signal(number, usual)
