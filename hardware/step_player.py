"""Steps that are played one after the other, in a thread of their own.

Only the latest ones given count.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from table.errors import error_summary

logger = logging.getLogger(__name__)

Step = TypeVar("Step")


class StepPlayer(Generic[Step]):
    """Plays the steps that it was given last; older ones give way at once.

    Steps that fail are left, and the next ones are played.
    """

    def __init__(
        self, name: str, show: Callable[[Step], object], rest: Callable[[], object] = lambda: None
    ) -> None:
        """`show` a step; `rest` when they are over or give way.

        Both are called in the thread `name`, and nobody waits for them.
        """
        self._show, self._rest = show, rest
        self._changed = threading.Condition()
        self._next: Sequence[tuple[Step, int]] = ()
        self._busy = self._closing = False
        self.failed = ""
        """Why the steps of last time could not be played; empty: they could."""
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def playing(self) -> bool:
        """Is a step still to be seen or heard?"""
        with self._changed:
            return self._busy or bool(self._next)

    def begin(self, steps: Sequence[tuple[Step, int]]) -> None:
        """Play steps, each for so many ms; returns at once."""
        with self._changed:
            self._next = steps
            self._changed.notify_all()

    def close(self) -> None:
        """Stop where it is."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while True:
            self._call_device(self._rest)
            with self._changed:
                self._changed.wait_for(self._has_other_work)
                if self._closing:
                    return
                steps, self._next, self._busy = self._next, (), True
            self.failed = ""
            for step, hold_ms in steps:
                if not self._call_device(self._show, step):
                    break
                with self._changed:
                    if self._changed.wait_for(self._has_other_work, hold_ms / 1000):
                        break
            with self._changed:
                self._busy = False

    def _call_device(self, act: Callable[..., object], *what: Step) -> bool:
        """Did it work?  Whatever a device raises, this thread goes on."""
        try:
            act(*what)
        except Exception as error:
            logger.info("a device failed", exc_info=True)
            self.failed = error_summary(error)
            return False
        return True

    def _has_other_work(self) -> bool:
        """Is there anything else to do than to go on?"""
        return self._closing or bool(self._next)
