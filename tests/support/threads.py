"""Threads of the product, by their names."""

from __future__ import annotations

import threading


def running(name: str) -> bool:
    """True if a thread of this name is running."""
    return any(thread.name == name for thread in threading.enumerate())


class ShortWaits:
    """Replacement for the module `threading`: waits take no time, and their durations are summed.

    Joins of threads with a time-out still wait; `left_s` are these time-outs.
    """

    Lock, Condition = threading.Lock, threading.Condition

    def __init__(self) -> None:
        self.now_s = 0.0
        self.left_s: list[float] = []
        outer = self

        class Event(threading.Event):
            def wait(self, timeout: float | None = None) -> bool:
                assert timeout is not None
                outer.now_s += timeout
                return self.is_set()

        class Thread(threading.Thread):
            def join(self, timeout: float | None = None) -> None:
                if timeout is not None:
                    outer.left_s.append(timeout)
                super().join(timeout)

        self.Event, self.Thread = Event, Thread
