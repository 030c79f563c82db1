"""Drivers that raise what nobody foresaw: the device is told of as lost, and opened again; no
thread ends because of it.
"""

from __future__ import annotations

import queue

import pytest

from hardware import lamp_thread
from hardware.backends import caliper, microcontroller
from hardware.backends.caliper import SerialCalliper
from hardware.backends.microcontroller import Link
from hardware.buzzer import Beeps
from hardware.cues import Cue
from hardware.lamp_thread import LampThread

WAIT_S = 20.0
TURN, REFUSED = Cue("turn", ("red",), of=("red",)), Cue("refused", ("red",))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    for module in (lamp_thread, microcontroller, caliper):
        monkeypatch.setattr(module, "RETRY_S", 0.01)


class Bad:
    """A port, and lamps, that fail once with what is no error of devices, then work; and once more
    when they are closed.
    """

    name, interval_s = "port", 0.001

    def __init__(self, errors, happened, lines=()):
        self.errors, self.happened, self.waiting = errors, happened, list(lines)

    def _work(self, what):
        if self.errors:
            raise self.errors.pop(0)
        self.happened.put(what)

    def lines(self):
        self._work("read")
        return [self.waiting.pop(0)] if self.waiting else []

    def write(self, data):
        self._work(data)

    def step(self, cue, _since_ms):
        self._work(cue)

    def close(self):
        if self.happened.empty():
            raise ArithmeticError("it cannot be closed")


def until(happened, wanted):
    while (got := happened.get(timeout=WAIT_S)) != wanted:
        pass
    return got


@pytest.fixture
def errors():
    return [ZeroDivisionError("odd\nvalue")]


def error_of(device):
    errors = set()
    while not errors - {""}:
        errors.add(device.error)
    return errors - {""}


def test_lamps_are_opened_again(errors):
    happened = queue.Queue()
    errors *= 200
    shown = LampThread(lambda: Bad(errors, happened))
    assert error_of(shown) == {"ZeroDivisionError: odd value"}
    errors.clear()
    shown.show(TURN)
    assert until(happened, TURN)
    shown.close()


def test_a_board_is_opened_again(errors):
    happened = queue.Queue()
    errors *= 200
    link = Link(lambda: Bad(errors, happened))
    assert error_of(link) == {"ZeroDivisionError: odd value"}
    errors.clear()
    assert until(happened, "read")
    link.close()


def test_a_calliper_is_opened_again(errors):
    happened, received = queue.Queue(), queue.Queue()
    errors *= 200
    device = SerialCalliper(lambda: Bad(errors, happened, ["12.5"]))
    device.listen(received.put)
    assert error_of(device) == {"ZeroDivisionError: odd value"}
    errors.clear()
    assert received.get(timeout=WAIT_S).mm == 12.5
    device.close()


def test_a_buzzer_beeps_again_and_tells_why_it_did_not(errors):
    happened = queue.Queue()

    def sound(on):
        if on and errors:
            raise errors.pop(0)
        happened.put(on)

    buzzer = Beeps(sound)
    buzzer.play(REFUSED)
    assert error_of(buzzer) == {"ZeroDivisionError: odd value"}
    buzzer.play(REFUSED)
    assert until(happened, True)
    while buzzer.error:
        pass
    buzzer.close()
