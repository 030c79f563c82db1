"""Convert edges from any thread to presses."""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable
from time import monotonic

from hardware.interfaces import Press
from hardware.press_detector import Presses


class PressReader:
    """Converts edges of many buttons, from any thread, to presses.

    A thread of its own reports presses when they are due.
    """

    def __init__(
        self, tell: Callable[[Press], None], clock: Callable[[], float] = monotonic
    ) -> None:
        self._tell, self._clock = tell, clock
        self._edges: queue.SimpleQueue[tuple[str, bool, float] | None] = queue.SimpleQueue()
        self._buttons: dict[str, Presses] = {}
        self._thread = threading.Thread(target=self._run, name="buttons", daemon=True)
        self._thread.start()

    def edge(self, button: str, down: bool) -> None:
        """Take a change of a button's level at this moment; returns at once."""
        self._edges.put((button, down, 1000 * self._clock()))

    def close(self) -> None:
        """End the thread; presses that are not due yet are dropped."""
        self._edges.put(None)
        self._thread.join()

    def _run(self) -> None:
        while True:
            due_ms = min((button.due_ms for button in self._buttons.values()), default=math.inf)
            wait_s = None if due_ms == math.inf else max(0.0, due_ms / 1000 - self._clock())
            try:
                edge = self._edges.get(timeout=wait_s)
            except queue.Empty:
                now_ms = 1000 * self._clock()
                presses = [
                    press for button in self._buttons.values() for press in button.tick(now_ms)
                ]
            else:
                if edge is None:
                    return
                name, down, at_ms = edge
                presses = self._buttons.setdefault(name, Presses(name)).edge(down, at_ms)
            for press in presses:
                self._tell(press)
