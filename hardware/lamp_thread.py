"""Lamps that never make anybody wait.

A thread of their own takes the latest cue, opens the device, and opens it again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Protocol

from hardware.cues import DARK, Cue
from table.errors import MessageError, error_summary
from table.messages import Message, as_message

logger = logging.getLogger(__name__)

RETRY_S = 1.0
"""A lost device is tried again this often."""
LEAVE_S = 1.5
"""A device that does not let go for so long is left behind; its thread ends with the program."""


def loss_reason(error: Exception) -> Message:
    """Why a device is tried again, in a line.

    Its own words where it has some, else what a driver raised.
    """
    return error.message if isinstance(error, MessageError) else as_message(error_summary(error))


class Device(Protocol):
    """Something that shows one moment of a cue."""

    interval_s: float
    """It takes a moment this often, no faster."""

    def step(self, cue: Cue, since_ms: float) -> None:
        """Show the cue as it is so long after it began; raises DeviceLost."""

    def close(self) -> None:
        """Let the device go."""


class LampThread:
    """The port `Lamps` on any device."""

    def __init__(
        self, open_device: Callable[[], Device], clock: Callable[[], float] = monotonic
    ) -> None:
        """Opens the device at once, so that what is wrong with it is known.

        Raises InputError.  `clock` in seconds.
        """
        self._open, self._clock = open_device, clock
        self._lock, self._closing = threading.Lock(), threading.Event()
        self._cue, self._begun_s = DARK, clock()
        self._error, self._due_s = "", clock()
        self._device: Device | None = open_device()
        self._thread = threading.Thread(target=self._run, name="lamps", daemon=True)
        self._thread.start()

    @property
    def error(self) -> str:
        """Why the lamps do not show the cue now; empty: they do."""
        with self._lock:
            return self._error

    def show(self, cue: Cue) -> None:
        """Show a cue from now on; the same one again goes on as it is."""
        with self._lock:
            if cue != self._cue:
                self._cue, self._begun_s = cue, self._clock()

    def close(self) -> None:
        """Go dark and let the device go; returns after LEAVE_S at the latest."""
        self.show(DARK)
        self._closing.set()
        self._thread.join(LEAVE_S)

    def _run(self) -> None:
        # Always the full interval, whatever is shown meanwhile: a device that is sent more than it
        # takes falls behind.
        while not self._closing.wait(self._step()):
            pass
        self._step()
        self._leave()

    def _step(self) -> float:
        """Show the cue as it is now; seconds until the next moment."""
        try:
            if self._device is None:
                self._device = self._open()
            with self._lock:  # only now: to open a device may have taken long
                cue, since_ms = self._cue, 1000 * (self._clock() - self._begun_s)
            self._device.step(cue, since_ms)
            # One interval after the last one was due, so that a late one does not slow all that
            # follow.
            self._due_s = max(self._due_s + self._device.interval_s, self._clock())
            why, wait_s = "", self._due_s - self._clock()
        except Exception as error:  # whatever a driver raises, the device is lost and tried again
            self._leave()
            why, wait_s = loss_reason(error), RETRY_S
        if why != self._error:
            logger.info("lamps: %s", why or "working")
        with self._lock:
            self._error = why
        return max(0.0, wait_s)

    def _leave(self) -> None:
        if self._device is not None:
            with suppress(Exception):
                self._device.close()
        self._device = None
