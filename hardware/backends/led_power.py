"""Estimate the current of a lamp strip, and limit it to the supply's."""

from __future__ import annotations

import numpy as np

from hardware.backends.led_strip import Frame

CHANNEL_MA = 20.0
"""Current of one fully lit colour channel, in mA. A white WS2812 lamp draws 60 mA; WLED assumes 55
mA, so this is the safe side.
"""
IDLE_MA = 1.0
"""Current of a dark lamp, in mA."""


def estimate_ma(frame: Frame) -> float:
    """Estimate the current of a frame, in mA."""
    return len(frame) * IDLE_MA + int(frame.sum(dtype=np.int64)) * CHANNEL_MA / 255


def full_ma(lamps: int, brightness: float = 1.0) -> float:
    """Current in mA of white lamps at a brightness of 0 to 1."""
    return lamps * (IDLE_MA + 3 * CHANNEL_MA * brightness)


def limit(frame: Frame, brightness: float, supply_ma: float) -> Frame:
    """Scale a frame to a brightness of 0 to 1, or less if the supply would be exceeded.

    The result's estimated current is at most `supply_ma`, unless the dark strip alone exceeds it.
    """
    asked_ma = (estimate_ma(frame) - len(frame) * IDLE_MA) * brightness
    spare_ma = max(0.0, supply_ma - len(frame) * IDLE_MA)
    scale = brightness * (min(1.0, spare_ma / asked_ma) if asked_ma else 1.0)
    # Rounding down keeps the current below the limit.
    return (frame * scale).astype(np.uint8)
