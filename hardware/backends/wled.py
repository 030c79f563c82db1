"""Strips that run WLED, over a serial port: whole frames (Adalight) or preset numbers (JSON).

Sources: the firmware's reader, wled/WLED `wled00/wled_serial.cpp`, and the protocols,
https://kno.wled.ge/interfaces/serial.

Adalight has no answer. A frame is "Ada", lamps - 1 as high and low byte, high ^ low ^ 0x55, then
red, green, blue of every lamp. TPM2, the other protocol, is not used: the firmware computes its
number of lamps one short for most sizes from 86 on.

The firmware has no time-out inside a frame, and between frames it interprets single bytes as
commands: 0xB0 to 0xB7 change the port's speed permanently. A byte lost on the wire would turn
colours into commands. Therefore no byte of a frame is a command, and a newly opened port is sent
enough zeros to complete any unfinished frame.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from hardware.backends.led_power import limit
from hardware.backends.led_strip import Frame, Strip
from hardware.backends.serial_port import Port
from hardware.cues import DARK, Cue
from hardware.dice_display import PIPS
from hardware.interfaces import Faces
from table.json_data import JsonObject

FRAMES_PER_S = 30
BITS_A_BYTE = 10
"""Bits of a byte on the wire: a start bit, eight data bits, a stop bit."""
SLACK = 1.1
"""Factor on the wire time of a frame, for the interval between frames."""
COMMANDS = frozenset(b"AIXLOlov^{") | {0xC9} | set(range(0xB0, 0xB8))
"""Bytes that the firmware or its forks interpret as commands between two frames."""
ASK_S = 2.0
"""Interval between questions for the strip's state."""

_SAFE = np.array(
    [max(byte for byte in range(value + 1) if byte not in COMMANDS) for value in range(256)],
    np.uint8,
)
_PIP_RGB = np.array((255, 200, 120), np.uint8)


def adalight(frame: Frame) -> bytes:
    """Encode a frame (n, 3) uint8, n up to 60,000, as Adalight without command bytes.

    Colour values that are commands are darkened, by at most 8 of 255. If the head has such bytes, a
    few lamps more are counted, which the firmware ignores.
    """
    count = _safe_count(len(frame))
    body = np.zeros((count, 3), np.uint8)
    body[: len(frame)] = _SAFE[frame]
    return _head(count) + body.tobytes()


def _head(count: int) -> bytes:
    high, low = divmod(count - 1, 256)
    return bytes((*b"Ada", high, low, high ^ low ^ 0x55))


def _safe_count(lamps: int) -> int:
    return next(
        count for count in range(lamps, lamps + 2048) if not COMMANDS & set(_head(count)[3:])
    )


def strip_frame(
    strip: Strip, faces: Faces, cue: Cue, since_ms: float, brightness: float, supply_ma: float
) -> Frame:
    """Frame of a strip and the dice after it, `since_ms` after the cue began.

    Limited to `brightness`, 0 to 1, and to the supply's current.
    """
    pips = [np.array(PIPS[face or 0], np.uint8)[:, None] * _PIP_RGB for face in faces]
    return limit(np.vstack([strip.frame(cue, since_ms), *pips]), brightness, supply_ma)


class WledStrip:
    """A strip around the board, sent frame by frame.

    Each die is seven lamps after those of the board.
    """

    def __init__(
        self,
        port: Port,
        baud: int,
        strip: Strip,
        faces: Callable[[], Faces],
        brightness: float,
        supply_ma: float,
    ) -> None:
        """`faces` returns what the dice show now.

        `brightness`, 0 to 1, and `supply_ma` are upper limits. Raises DeviceLost.
        """
        self._port, self._strip, self._faces = port, strip, faces
        self._brightness, self._supply_ma = brightness, supply_ma
        size = len(adalight(self._frame(DARK, 0.0)))
        self.interval_s = max(1 / FRAMES_PER_S, SLACK * size * BITS_A_BYTE / baud)
        port.write(bytes(size))

    def step(self, cue: Cue, since_ms: float) -> None:
        """Send the frame of this moment; raises DeviceLost."""
        self._port.read()  # discard answers, or the buffer would fill up
        self._port.write(adalight(self._frame(cue, since_ms)))

    def _frame(self, cue: Cue, since_ms: float) -> Frame:
        return strip_frame(
            self._strip, self._faces(), cue, since_ms, self._brightness, self._supply_ma
        )

    def close(self) -> None:
        self._port.close()


def preset_state(
    presets: Mapping[str, int], cue: Cue, since_ms: float, brightness: float
) -> dict[str, object]:
    """WLED state for this time of a cue: its preset, or off without one."""
    preset = presets.get(cue.at(since_ms)[0].signal)
    if preset is None:
        return {"on": False}
    return {"on": True, "bri": round(255 * brightness), "ps": preset}


class WledPresets:
    """A strip that plays its own presets, numbered by signal.

    A preset is sent when it changes. It is sent again after an error message, which means that the
    strip was busy, and after a restart. The strip's state is requested (`{"v":true}`) every ASK_S;
    a smaller `uptime` shows a restart.
    """

    interval_s = 0.1

    def __init__(self, port: Port, presets: Mapping[str, int], brightness: float = 1.0) -> None:
        self._port, self._presets, self._brightness = port, presets, brightness
        self._steps = 0
        self._uptime_s = math.inf
        self._sent: dict[str, object] | None = None
        port.write(bytes(len(_head(1))))

    def step(self, cue: Cue, since_ms: float) -> None:
        """Request the state when due, and send a changed preset; raises DeviceLost."""
        if self._steps % round(ASK_S / self.interval_s) == 0:
            self._say({"v": True})
        self._steps += 1
        for line in self._port.lines():
            self._hear(line)
        wanted = preset_state(self._presets, cue, since_ms, self._brightness)
        if wanted != self._sent:
            self._say(wanted)
            self._sent = wanted

    def _hear(self, line: str) -> None:
        if line.startswith('{"error"'):
            self._sent = None
        elif info := _info(line):
            uptime_s = info.get("uptime", 0)
            if uptime_s < self._uptime_s:
                self._sent = None
            self._uptime_s = uptime_s

    def _say(self, document: dict[str, object]) -> None:
        self._port.write(json.dumps(document, separators=(",", ":")).encode() + b"\n")

    def close(self) -> None:
        self._port.close()


def _info(line: str) -> JsonObject:
    """Return `info` of an answer to `{"v":true}`.

    Empty for any other line, and for an invalid one.
    """
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    info = document.get("info") if isinstance(document, dict) else None
    return info if isinstance(info, dict) and isinstance(info.get("uptime", 0), int) else {}


class StripInfo(NamedTuple):
    """A strip that answered: its WLED version and number of lamps."""

    version: str
    lamps: int


def identify(port: Port, pause: Callable[[float], object]) -> StripInfo | None:
    """Ask what is on an open port; None without an answer. Takes at most two seconds."""
    port.write(bytes(len(_head(1))) + b'{"v":true}\n')
    for _ in range(20):
        pause(0.1)
        for info in filter(None, map(_info, port.lines())):
            match info:
                case {"ver": version, "leds": {"count": int(lamps)}}:
                    return StripInfo(str(version), lamps)
    return None
