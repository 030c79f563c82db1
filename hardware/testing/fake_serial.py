"""Fake serial devices: a pseudo-terminal with a firmware that reads as the real one does.

Nothing runs by itself: input is read when `SerialDouble.pump` is called. A device that never reads
is one that is not pumped.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import json
import os
import select
import termios
import tty
from pathlib import Path
from typing import Protocol

from table.json_data import JsonObject

Rgb = tuple[int, int, int]


class Firmware(Protocol):
    """Firmware behind a serial port."""

    def feed(self, byte: int) -> bytes:
        """Process one byte from the wire; returns the answer."""

    def restart(self) -> None:
        """Restart, as after a loss of power."""


class WledFirmware:
    """WLED's reader of its serial port, byte by byte.

    It has the firmware's states and single-byte commands. Source: wled/WLED
    `wled00/wled_serial.cpp` (`handleSerial`) and `udp.cpp` (`setRealtimePixel`).
    """

    BAUDS = (115200, 230400, 460800, 500000, 576000, 921600, 1000000, 1500000)

    def __init__(self, leds: int, baud: int = 115200) -> None:
        self._leds, self._start_baud = leds, baud
        self.busy = False
        """True while the JSON buffer is in use elsewhere."""
        self.restart()

    def restart(self) -> None:
        self.pixels: list[Rgb] = [(0, 0, 0)] * self._leds
        self.baud = self._start_baud
        self.shown = 0
        """Number of frames shown."""
        self.states: list[JsonObject] = []
        """JSON commands executed."""
        self.streaming = False
        self.uptime_s = 1
        self._state = "A"
        self._count = self._pixel = self._check = 0
        self._rgb: list[int] = []
        self._text = b""
        self._skip = False

    def feed(self, byte: int) -> bytes:
        if self._skip:  # the byte after JSON is discarded
            self._skip = False
            return b""
        reading = getattr(self, f"_in_{self._state}")
        answer: bytes = reading(byte)
        return answer

    def _in_A(self, byte: int) -> bytes:  # noqa: N802
        letter = chr(byte)
        if letter == "A":
            self._state = "d"
        elif byte == 0xC9:
            self._state = "tpm2"
        elif letter == "v":
            return b"WLED 2410270\r\n"
        elif 0xB0 <= byte <= 0xB7:
            self.baud = self.BAUDS[byte - 0xB0]
        elif letter in "oO":
            self.streaming = letter == "O"
        elif letter in "lL":
            return b"[0]\r\n"
        elif letter == "{":
            if self.busy:
                return b'{"error":3}\r\n'
            self._text, self._state = b"", "json"
            return self._in_json(byte)
        return b""

    def _in_json(self, byte: int) -> bytes:
        self._text += bytes([byte])
        try:
            document = json.loads(self._text)
        except ValueError:
            return b""
        self._state, self._skip = "A", True
        if document.get("v"):
            info = {"ver": "0.15.0", "leds": {"count": self._leds}, "uptime": self.uptime_s}
            return (
                json.dumps(
                    {"state": {"on": True, "bri": 128}, "info": info}, separators=(",", ":")
                ).encode()
                + b"\r\n"
            )
        self.states.append(document)
        return b""

    def _in_d(self, byte: int) -> bytes:
        self._state = "a" if byte == ord("d") else "A"
        return b""

    def _in_a(self, byte: int) -> bytes:
        self._state = "high" if byte == ord("a") else "A"
        return b""

    def _in_high(self, byte: int) -> bytes:
        self._pixel, self._count, self._check, self._state = 0, byte * 256, byte, "low"
        return b""

    def _in_low(self, byte: int) -> bytes:
        self._count += byte + 1
        self._check ^= byte ^ 0x55
        self._state = "check"
        return b""

    def _in_check(self, byte: int) -> bytes:
        self._rgb, self._state = [], "pixels" if byte == self._check else "A"
        return b""

    def _in_tpm2(self, byte: int) -> bytes:
        self._state = "A"
        return b"\xac" if byte == 0xAA else b""

    def _in_pixels(self, byte: int) -> bytes:
        self._rgb.append(byte)
        if len(self._rgb) == 3:
            if self._pixel < self._leds:
                self.pixels[self._pixel] = (self._rgb[0], self._rgb[1], self._rgb[2])
            self._pixel, self._count, self._rgb = self._pixel + 1, self._count - 1, []
            if self._count == 0:
                self.shown += 1
                self._state = "A"
        return b""


class SerialDouble:
    """A serial port under its own name, which can be unplugged and plugged in again."""

    def __init__(self, path: Path, firmware: Firmware) -> None:
        self.path, self.firmware = path, firmware
        self.sent = bytearray()
        """All bytes received."""
        self._master: int | None = None
        self.plug()

    def plug(self) -> None:
        """Plug in; the firmware restarts."""
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.path.unlink(missing_ok=True)
        self.path.symlink_to(os.ttyname(self._slave))
        self.firmware.restart()

    def unplug(self) -> None:
        """Unplug; unread data are lost."""
        if self._master is not None:
            self.path.unlink(missing_ok=True)
            os.close(self._master)
            os.close(self._slave)
            self._master = None

    def pump(self, timeout_s: float = 0.0, most: int = 1 << 20) -> int:
        """Read the received data, at most `most` bytes; returns their number.

        Waits up to `timeout_s` for the first byte.
        """
        count = 0
        while (
            self._master is not None
            and count < most
            and select.select([self._master], [], [], 0.0 if count else timeout_s)[0]
        ):
            data = os.read(self._master, most - count)
            count += len(data)
            self.sent += data
            self.say(b"".join(map(self.firmware.feed, data)))
        return count

    def say(self, data: bytes) -> None:
        """Send data unasked; they are lost if nobody reads them, as on a wire."""
        if data and self._master is not None:
            with contextlib.suppress(BlockingIOError):
                os.write(self._master, data)

    @property
    def waiting(self) -> int:
        """Number of bytes sent to it and not read yet."""
        count = array.array("i", [0])
        if self._master is not None:
            fcntl.ioctl(self._master, termios.FIONREAD, count)
        return count[0]
