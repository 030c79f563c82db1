"""Serial devices that are pumped by hand, and boards of mock pins."""

from __future__ import annotations

import importlib.util
import sys
import time
import types

import numpy as np
import pytest
from gpiozero.pins.mock import MockFactory, MockPWMPin

from hardware.backends.bluetooth import Radio
from hardware.backends.led_strip import Strip
from tests.support.bluez import bluez, bus
from tests.support.paths import ROOT
from tests.support.serial_devices import opened, plugged, pump_until, wled
from tests.support.threads import running

__all__ = ["bluez", "bus", "opened", "plugged", "pump_until", "wled"]
BOARDS = ROOT / "hardware" / "firmware"


@pytest.fixture
def outline():
    """A board of 600 by 400 mm."""
    return np.array([[0.0, 0.0], [600.0, 0.0], [600.0, 400.0], [0.0, 400.0]])


@pytest.fixture
def strip(outline):
    return Strip(100, outline)


@pytest.fixture
def pins():
    """Mock pins of a Pi 3 with PWM; gpiozero's own default is left alone."""
    factory = MockFactory(pin_class=MockPWMPin)
    yield factory
    factory.close()


@pytest.fixture
def radio():
    radio = Radio()
    yield radio
    radio.close()
    assert not running("bluetooth")


TICKS = 1 << 30
"""MicroPython's clock begins again after so many ms."""


class Ticks:
    """MicroPython's clock, set by hand where `now_ms` is a number, else the machine's own."""

    def __init__(self):
        self.now_ms = None

    def ticks_ms(self):
        return (int(1000 * time.monotonic()) if self.now_ms is None else self.now_ms) % TICKS

    def ticks_add(self, ticks, ms):
        return (ticks + ms) % TICKS

    def ticks_diff(self, later, earlier):
        return (later - earlier + TICKS // 2) % TICKS - TICKS // 2


@pytest.fixture
def pico(monkeypatch):
    """The example sketch of hardware/firmware with pins that remember: pico.Board, pico.pins by
    number, and its clock, pico.time.
    """
    pins = {}

    class Pin:
        IN, OUT, PULL_UP = "in", "out", "up"

        def __init__(self, number, *_mode):
            self.level, self.duty = 1 if "in" in _mode else 0, 0
            assert 0 <= number <= 22, f"GPIO {number} is not on the board's edge"
            assert number not in pins, f"GPIO {number} is used twice"
            pins[number] = self

        def value(self, level=None):
            if level is None:
                return self.level
            self.level = level
            return None

    class PWM:
        def __init__(self, pin):
            self.pin = pin

        def freq(self, hertz):
            assert 8 <= hertz <= 62_500_000

        def duty_u16(self, duty):
            assert 0 <= duty <= 65535
            self.pin.duty = duty

    monkeypatch.setitem(sys.modules, "machine", types.SimpleNamespace(Pin=Pin, PWM=PWM))
    spec = importlib.util.spec_from_file_location("pico", BOARDS / "pico.py")
    sketch = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sketch)
    sketch.pins, sketch.time = pins, Ticks()
    return sketch
