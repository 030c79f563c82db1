"""A global rate limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

MOST_PICTURES_S = 40
"""Maximum live pictures per second over all clients: enough for sixteen pages at full rate. More
pages get fewer each.
"""


class Ration:
    """Limit of uses per second.  Thread-safe."""

    def __init__(self, per_s: int, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` is monotonic, in seconds."""
        self._per_s, self._clock = per_s, clock
        self._since_s, self._left = clock(), per_s
        self._lock = Lock()

    def take(self) -> bool:
        """Use one; False if this second's ration is used up."""
        with self._lock:
            now_s = self._clock()
            if now_s >= self._since_s + 1:
                self._since_s, self._left = now_s, self._per_s
            self._left -= 1
            return self._left >= 0
