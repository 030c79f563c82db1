"""Lamps driven from their own thread, so that no caller waits for a device.

The thread shows the latest cue, and reopens the device after a loss.
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
"""Interval of attempts to reopen a lost device."""
LEAVE_S = 1.5
"""Time limit of closing. After it the device's thread is left to end with the program."""


def loss_reason(error: Exception) -> Message:
    """Reason why a device was lost, in one line.

    The error's own message if it has one, else its type and text.
    """
    return error.message if isinstance(error, MessageError) else as_message(error_summary(error))


class Device(Protocol):
    """A device that shows one moment of a cue."""

    interval_s: float
    """Shortest interval in s between two steps."""

    def step(self, cue: Cue, since_ms: float) -> None:
        """Show a cue as it is `since_ms` after it began; raises DeviceLost."""

    def close(self) -> None:
        """Close the device."""


class LampThread:
    """The interface `Lamps` on any device."""

    def __init__(
        self, open_device: Callable[[], Device], clock: Callable[[], float] = monotonic
    ) -> None:
        """Open the device at once, so that errors in the settings are reported.

        Raises InputError. `clock` in seconds.
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
        """Reason why the lamps do not show the cue now; empty if they do."""
        with self._lock:
            return self._error

    def show(self, cue: Cue) -> None:
        """Show a cue from now on; an equal cue continues without a restart."""
        with self._lock:
            if cue != self._cue:
                self._cue, self._begun_s = cue, self._clock()

    def close(self) -> None:
        """Turn off and close the device; returns after LEAVE_S at the latest."""
        self.show(DARK)
        self._closing.set()
        self._thread.join(LEAVE_S)

    def _run(self) -> None:
        # Always wait the full interval, even after a new cue: a device that is sent too much falls
        # behind.
        while not self._closing.wait(self._step()):
            pass
        self._step()
        self._leave()

    def _step(self) -> float:
        """Show the current moment of the cue; returns the time in s until the next step."""
        try:
            if self._device is None:
                self._device = self._open()
            with self._lock:  # after opening, which may take long
                cue, since_ms = self._cue, 1000 * (self._clock() - self._begun_s)
            self._device.step(cue, since_ms)
            # The next step is due one interval after this one was, so that a late step delays no
            # others.
            self._due_s = max(self._due_s + self._device.interval_s, self._clock())
            why, wait_s = "", self._due_s - self._clock()
        except Exception as error:  # drivers raise anything; the device is reopened
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
