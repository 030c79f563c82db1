"""Play steps one after the other, in a thread of their own.

A new sequence replaces the current one.
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
    """Plays the latest sequence of steps; a new one interrupts it at once.

    A step that fails ends its sequence; later sequences are played.
    """

    def __init__(
        self, name: str, show: Callable[[Step], object], rest: Callable[[], object] = lambda: None
    ) -> None:
        """`show` plays a step; `rest` is called when a sequence ends or is interrupted.

        Both run in the thread `name`.
        """
        self._show, self._rest = show, rest
        self._changed = threading.Condition()
        self._next: Sequence[tuple[Step, int]] = ()
        self._busy = self._closing = False
        self.failed = ""
        """Reason why the last sequence failed; empty if it did not."""
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def playing(self) -> bool:
        """True while steps are being played or are pending."""
        with self._changed:
            return self._busy or bool(self._next)

    def begin(self, steps: Sequence[tuple[Step, int]]) -> None:
        """Play these steps, each for its time in ms; returns at once."""
        with self._changed:
            self._next = steps
            self._changed.notify_all()

    def close(self) -> None:
        """Stop at the current step and end the thread."""
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
        """Call a device; False if it raised. No exception ends this thread."""
        try:
            act(*what)
        except Exception as error:
            logger.info("a device failed", exc_info=True)
            self.failed = error_summary(error)
            return False
        return True

    def _has_other_work(self) -> bool:
        """True if the player is closing or has new steps."""
        return self._closing or bool(self._next)
