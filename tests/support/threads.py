"""Threads of the product, by their names."""

from __future__ import annotations

import threading


def running(name: str) -> bool:
    """Does a thread of this name run?"""
    return any(thread.name == name for thread in threading.enumerate())


class ShortWaits:
    """The module `threading` for a module of the product: waits take no time, and are added up.

    Threads that are waited for with a time-out are waited for as ever; `left_s` are these times.
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
