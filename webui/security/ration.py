"""A limit on uses a second, whoever asks."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

MOST_PICTURES_S = 40
"""Most live pictures a second in all: sixteen pages that show every picture they can. More pages
see fewer.
"""


class Ration:
    """Safe to use from many threads."""

    def __init__(self, per_s: int, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds that never go back."""
        self._per_s, self._clock = per_s, clock
        self._since_s, self._left = clock(), per_s
        self._lock = Lock()

    def take(self) -> bool:
        """Take one; False where this second's are used up."""
        with self._lock:
            now_s = self._clock()
            if now_s >= self._since_s + 1:
                self._since_s, self._left = now_s, self._per_s
            self._left -= 1
            return self._left >= 0
