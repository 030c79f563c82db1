"""Rate limit for wrong codes, per client, so that guessing delays nobody else."""

from __future__ import annotations

import logging
import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from threading import Lock

from table.messages import msg
from webui.security.requests import Refusal

logger = logging.getLogger(__name__)

WINDOW_S, MOST_WRONG = 60.0, 5
"""Window in seconds, and wrong codes within it after which a client's codes are not checked."""
MOST_CLIENTS = 4096
"""Maximum number of clients; the one whose last wrong code is oldest is dropped first."""


class Guesses:
    """The wrong codes of the last WINDOW_S seconds.  Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` is monotonic, in seconds."""
        self._clock, self._lock = clock, Lock()
        self._wrong: OrderedDict[str, deque[float]] = OrderedDict()

    def check(self, client: str) -> None:
        """Raise Refusal, with the waiting time, for a client with too many wrong codes."""
        with self._lock:
            now = self._clock()
            times = self._wrong.get(client, ())
            recent = [at for at in times if at > now - WINDOW_S]
            if len(recent) < MOST_WRONG:
                return
            wait_s = math.ceil(recent[-MOST_WRONG] + WINDOW_S - now)
        raise Refusal(
            429,
            "too_many_codes",
            msg("Too many wrong codes; try again in {n} s.", n=wait_s),
            retry_s=wait_s,
        )

    def wrong(self, client: str) -> None:
        """Count a wrong code of a client."""
        logger.info("wrong code from %s", client)
        with self._lock:
            self._wrong.setdefault(client, deque(maxlen=MOST_WRONG)).append(self._clock())
            self._wrong.move_to_end(client)
            if len(self._wrong) > MOST_CLIENTS:
                self._wrong.popitem(last=False)

    def __len__(self) -> int:
        return len(self._wrong)
