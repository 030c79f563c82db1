"""Poll intervals for next matches, set so that all tables together do not overload the hub."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from hub.next_match import ASK_S, LONGEST_S

TOGETHER_A_S = 50
"""Polls per second, over all tables."""
KNOWN_S = 2 * LONGEST_S
"""Time that a table counts as polling after its last poll; exceeds every poll interval."""


class Askers:
    """The tables that have polled recently.  Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` is monotonic, in seconds."""
        self._clock, self._lock = clock, Lock()
        self._asked_s: OrderedDict[int, float] = OrderedDict()
        """Time of each table's last poll, oldest first."""

    def again_s(self, table_id: int) -> float:
        """Note a table's poll; returns the seconds until its next one."""
        with self._lock:
            now_s = self._clock()
            self._asked_s[table_id] = now_s
            self._asked_s.move_to_end(table_id)
            while next(iter(self._asked_s.values())) <= now_s - KNOWN_S:
                self._asked_s.popitem(last=False)
            return min(max(ASK_S, len(self._asked_s) / TOGETHER_A_S), LONGEST_S)

    def __len__(self) -> int:
        return len(self._asked_s)
