"""Strips that run WLED, over its serial port: whole frames (Adalight) or preset numbers (JSON).

How the firmware reads its port: wled/WLED `wled00/wled_serial.cpp`; the protocols for users:
https://kno.wled.ge/interfaces/serial. Adalight: "Ada", lamps - 1 as high and low byte, high ^ low ^
0x55, then red, green, blue of every lamp; there is no answer. TPM2, the other protocol, is not
used: the firmware computes its number of lamps one short for most sizes from 86 on.

The firmware has no time-out inside a frame, and between frames it takes single bytes for commands:
0xB0 to 0xB7 change the speed of the port for good.  A byte that is lost on the wire would make
commands of colours.  So no byte of a frame is one of them, and a port that was opened begins with
as many zeros as end any frame that was left unfinished.
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
"""On the wire: a start bit, eight, a stop bit."""
SLACK = 1.1
"""A frame is given a tenth more time than the wire needs."""
COMMANDS = frozenset(b"AIXLOlov^{") | {0xC9} | set(range(0xB0, 0xB8))
"""Bytes that mean something to the firmware between two frames, those of its forks included."""
ASK_S = 2.0
"""A strip that has not answered is asked again this often."""

_SAFE = np.array(
    [max(byte for byte in range(value + 1) if byte not in COMMANDS) for value in range(256)],
    np.uint8,
)
_PIP_RGB = np.array((255, 200, 120), np.uint8)


def adalight(frame: Frame) -> bytes:
    """A frame (n, 3) uint8, n up to 60,000, as Adalight bytes.

    None of them can be taken for a command.

    Colours that would be are a little darker (by 8 of 255 at most), and a head that would be counts
    a few lamps more, which the firmware ignores.
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
    """What a strip and the dice behind it show of a cue so long after it began.

    No brighter than `brightness`, 0 to 1, and than the supply gives.
    """
    pips = [np.array(PIPS[face or 0], np.uint8)[:, None] * _PIP_RGB for face in faces]
    return limit(np.vstack([strip.frame(cue, since_ms), *pips]), brightness, supply_ma)


class WledStrip:
    """A strip round the board, frame by frame.

    Dice, if there are any, are the seven lamps each that follow it.
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
        """`faces` says what the dice show now.

        `brightness` of 0 to 1 and `supply_ma` are never exceeded.  Raises DeviceLost.
        """
        self._port, self._strip, self._faces = port, strip, faces
        self._brightness, self._supply_ma = brightness, supply_ma
        size = len(adalight(self._frame(DARK, 0.0)))
        self.interval_s = max(1 / FRAMES_PER_S, SLACK * size * BITS_A_BYTE / baud)
        port.write(bytes(size))

    def step(self, cue: Cue, since_ms: float) -> None:
        """Send the frame of this moment; raises DeviceLost."""
        self._port.read()  # whatever it says is thrown away, or its buffer would fill up
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
    """The strip's state for a cue so long after it began: its preset, or off without one."""
    preset = presets.get(cue.at(since_ms)[0].signal)
    if preset is None:
        return {"on": False}
    return {"on": True, "bri": round(255 * brightness), "ps": preset}


class WledPresets:
    """A strip that plays presets of its own.

    One number a signal, kept in the strip by whoever made them.

    A preset is sent when it changes, and again when the strip says that it was too busy, or has
    started anew: it is asked for its state (`{"v":true}`) every ASK_S, and its `uptime` tells.
    """

    interval_s = 0.1

    def __init__(self, port: Port, presets: Mapping[str, int], brightness: float = 1.0) -> None:
        self._port, self._presets, self._brightness = port, presets, brightness
        self._steps = 0
        self._uptime_s = math.inf
        self._sent: dict[str, object] | None = None
        port.write(bytes(len(_head(1))))

    def step(self, cue: Cue, since_ms: float) -> None:
        """Ask, and send the preset of this moment where it is another one; raises DeviceLost."""
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
    """What the strip tells of itself in an answer to `{"v":true}`.

    Empty for any other line, or a broken one.
    """
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    info = document.get("info") if isinstance(document, dict) else None
    return info if isinstance(info, dict) and isinstance(info.get("uptime", 0), int) else {}


class StripInfo(NamedTuple):
    """A strip that answered: what WLED it runs, and how many lamps it has."""

    version: str
    lamps: int


def identify(port: Port, pause: Callable[[float], object]) -> StripInfo | None:
    """What answers on an open port; None where nothing does.  Takes two seconds at most."""
    port.write(bytes(len(_head(1))) + b'{"v":true}\n')
    for _ in range(20):
        pause(0.1)
        for info in filter(None, map(_info, port.lines())):
            match info:
                case {"ver": version, "leds": {"count": int(lamps)}}:
                    return StripInfo(str(version), lamps)
    return None
