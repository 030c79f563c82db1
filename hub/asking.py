"""How often tables may ask for their next match: all together no more than one hub can answer."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from hub.next_match import ASK_S, LONGEST_S

TOGETHER_A_S = 50
"""How often all tables together may ask in a second."""
KNOWN_S = 2 * LONGEST_S
"""How long a table counts after it has asked; longer than any table waits."""


class Askers:
    """The tables that have asked lately.  Safe to use from many threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds that never go back."""
        self._clock, self._lock = clock, Lock()
        self._asked_s: OrderedDict[int, float] = OrderedDict()
        """When each table asked; the one that has not for longest is first."""

    def again_s(self, table_id: int) -> float:
        """A table asks now: in how many seconds it should ask again."""
        with self._lock:
            now_s = self._clock()
            self._asked_s[table_id] = now_s
            self._asked_s.move_to_end(table_id)
            while next(iter(self._asked_s.values())) <= now_s - KNOWN_S:
                self._asked_s.popitem(last=False)
            return min(max(ASK_S, len(self._asked_s) / TOGETHER_A_S), LONGEST_S)

    def __len__(self) -> int:
        return len(self._asked_s)
