"""Callipers that send readings as text: Mitutoyo's serial format, and plain numbers.

Mitutoyo's virtual serial ports send `01A+0000.123` and CR at 9600 baud: code, channel, `A`, sign,
and eight characters of value. Source: QM-Height user's manual 99MAF600B, section 6, "USB Data
Output Specifications".

The unit is not sent: three decimals or fewer are mm, four or five are inches, as in the manual's
examples. Callipers that act as a keyboard type into the panel, and need nothing here.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic

from hardware.backends.serial_port import Port
from hardware.interfaces import Reading
from hardware.lamp_thread import LEAVE_S, RETRY_S, loss_reason
from table.messages import msg

POLL_S = 0.05
LONGEST_MM = 1000.0
"""Readings above this are noise: no calliper for a table like this measures as much."""
_MITUTOYO = re.compile(r"\d\dA([+-]\d{1,8}(?:\.(\d{1,5}))?)")
_PLAIN = re.compile(r"([+-]?\d{1,6}(?:[.,]\d{1,6})?)\s*(mm|in|\")?")
INCH_MM = 25.4
AGAIN_S = 0.3
"""The same length within this time is the same press of the button, sent twice."""


def parse_reading(line: str) -> Reading | None:
    """Parse the length in a line; None where there is none.

    Also None for lengths that no gap has (below 0, or above LONGEST_MM).
    """
    text = line.strip()
    if found := _MITUTOYO.fullmatch(text):
        mm = float(found[1]) * (INCH_MM if len(found[2] or "") >= 4 else 1)
    elif found := _PLAIN.fullmatch(text):
        mm = float(found[1].replace(",", ".")) * (INCH_MM if found[2] in ("in", '"') else 1)
    else:
        return None
    return Reading(round(mm, 4)) if 0 <= mm <= LONGEST_MM else None


class ReadingFilter:
    """Convert lines to readings, without the repetitions of a button press."""

    def __init__(self) -> None:
        self._last: Reading | None = None
        self._last_s = 0.0

    def take(self, lines: Sequence[str]) -> tuple[list[Reading], str]:
        """Return the new readings, and the first line that is no length (empty if none)."""
        readings, unread = [], ""
        for line in lines:
            reading = parse_reading(line)
            if reading is None:
                unread = unread or line
                continue
            if reading != self._last or monotonic() - self._last_s > AGAIN_S:
                readings.append(reading)
            self._last, self._last_s = reading, monotonic()
        return readings, unread


class SerialCalliper:
    """The interface `Calliper` on a serial port that may be unplugged and plugged in."""

    def __init__(self, open_port: Callable[[], Port]) -> None:
        """Open the port at once; raises InputError."""
        self._open = open_port
        self._port: Port | None = open_port()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self.error = ""
        self._filter, self._unread = ReadingFilter(), False

    def listen(self, tell: Callable[[Reading], None]) -> None:
        self._thread = threading.Thread(
            target=self._run, args=(tell,), name="calliper", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        if self._thread is not None:
            self._thread.join(LEAVE_S)
        if self._port is not None:
            with suppress(Exception):
                self._port.close()

    def _run(self, tell: Callable[[Reading], None]) -> None:
        wait_s = 0.0
        while not self._closing.wait(wait_s):
            wait_s = POLL_S
            try:
                if self._port is None:
                    self._port = self._open()
                lines = self._port.lines()
            except Exception as error:  # drivers raise anything; the port is reopened
                self.error, self._unread, wait_s = loss_reason(error), False, RETRY_S
                if self._port is not None:
                    with suppress(Exception):
                        self._port.close()
                    self._port = None
                continue
            readings, unread = self._filter.take(lines)
            if lines or not self._unread:
                self._unread = bool(unread)
                self.error = (
                    msg(
                        "{name}: it sends something that is not a length, such as {raw};"
                        " does its speed match the settings?",
                        name=self._port.name,
                        raw=repr(unread[:20]),
                    )
                    if unread
                    else ""
                )
            for reading in readings:
                tell(reading)
