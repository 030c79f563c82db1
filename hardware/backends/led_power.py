"""What a strip of lamps draws, and how it is kept below what the supply gives."""

from __future__ import annotations

import numpy as np

from hardware.backends.led_strip import Frame

CHANNEL_MA = 20.0
"""A WS2812 lamp at full white draws 60 mA, a third for each colour (WLED assumes 55 mA a lamp; this
is the safe side).
"""
IDLE_MA = 1.0
"""What a dark lamp draws."""


def estimate_ma(frame: Frame) -> float:
    """Current of a whole frame in mA."""
    return len(frame) * IDLE_MA + int(frame.sum(dtype=np.int64)) * CHANNEL_MA / 255


def full_ma(lamps: int, brightness: float = 1.0) -> float:
    """Current in mA of so many lamps, all white, at a brightness of 0 to 1."""
    return lamps * (IDLE_MA + 3 * CHANNEL_MA * brightness)


def limit(frame: Frame, brightness: float, supply_ma: float) -> Frame:
    """The frame at a brightness of 0 to 1.

    It is darker still where it would draw more than the supply gives.

    The estimate of what comes back is never above `supply_ma`, unless the dark strip alone is.
    """
    asked_ma = (estimate_ma(frame) - len(frame) * IDLE_MA) * brightness
    spare_ma = max(0.0, supply_ma - len(frame) * IDLE_MA)
    scale = brightness * (min(1.0, spare_ma / asked_ma) if asked_ma else 1.0)
    # Rounding down keeps the promise: no lamp is brighter than the scale allows.
    return (frame * scale).astype(np.uint8)
