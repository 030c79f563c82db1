"""How often devices are asked, and when they are given up: fast enough for people, and seldom
enough for the wire.
"""

from __future__ import annotations

import json
import threading
from itertools import pairwise

import pytest

from hardware import lamp_thread
from hardware.backends import caliper, microcontroller
from hardware.backends.caliper import SerialCalliper
from hardware.backends.microcontroller import HELLO, BoardDice, Link, identify
from hardware.interfaces import DeviceLost
from hardware.lamp_thread import LampThread
from tests.support.threads import ShortWaits

PATIENCE_S = 20.0
END_S = 30.0
"""So much time is played."""


class Wire:
    """A port, and lamps, that note when they are used, until END_S; they say what the test says."""

    name, interval_s = "port", 0.05

    def __init__(self, waits, answer=()):
        self.waits, self.answer = waits, list(answer)
        self.asked_s, self.sent, self.opened_s, self.closed = [], [], [], 0
        self.lost = False
        self.ready, self.over = threading.Event(), threading.Event()
        self.ready.set()

    def open(self):
        self.opened_s.append(self.waits.now_s)
        return self

    def lines(self):
        assert self.ready.wait(PATIENCE_S)
        if self.waits.now_s >= END_S:
            self.over.set()
        else:
            self.asked_s.append(self.waits.now_s)
        if self.lost:
            raise DeviceLost("port: connection lost")
        lines, self.answer = self.answer, []
        return lines

    def step(self, _cue, _since_ms):
        self.lines()

    def write(self, data):
        if self.waits.now_s < END_S:
            self.sent.append((self.waits.now_s, data.strip()))

    def close(self):
        self.closed += 1

    def sent_s(self, word):
        return [at_s for at_s, data in self.sent if word in data]


@pytest.fixture
def waits(monkeypatch):
    waits = ShortWaits()
    for module in (caliper, microcontroller, lamp_thread):
        monkeypatch.setattr(module, "threading", waits)
    return waits


DEVICES = {
    "calliper": lambda wire: SerialCalliper(wire.open),
    "board": lambda wire: Link(wire.open),
    "lamps": lambda wire: LampThread(wire.open, lambda: wire.waits.now_s),
}


def played(name, wire):
    """The device of this name, after END_S, and closed."""
    device = DEVICES[name](wire)
    if name == "calliper":
        device.listen(lambda _reading: None)
    assert wire.over.wait(PATIENCE_S)
    error = device.error
    device.close()
    return error


@pytest.mark.parametrize(
    ("name", "at_least", "at_most"), [("calliper", 10, 50), ("board", 50, 200)]
)
def test_a_press_of_a_button_is_heard_at_once(waits, name, at_least, at_most):
    """So many times a second."""
    wire = Wire(waits)
    played(name, wire)
    assert at_least < len(wire.asked_s) / END_S < at_most


@pytest.mark.parametrize("name", DEVICES)
def test_a_lost_device_is_closed_and_tried_again_about_once_a_second(waits, name):
    wire = Wire(waits)
    wire.lost = True
    error = played(name, wire)
    assert error == "port: connection lost"
    apart_s = [later_s - earlier_s for earlier_s, later_s in pairwise(wire.opened_s)]
    assert all(0.5 <= apart <= 2 for apart in apart_s)
    assert wire.closed >= len(apart_s)


@pytest.mark.parametrize("name", DEVICES)
def test_a_device_that_does_not_let_go_is_left_behind_after_a_moment(waits, name):
    played(name, Wire(waits))
    [left_s] = waits.left_s
    assert 1 <= left_s <= 3


def test_a_board_that_does_not_answer_is_asked_every_second_and_told_of(waits):
    wire = Wire(waits)
    error = played("board", wire)
    assert "the board does not answer" in error
    apart_s = [later - earlier for earlier, later in pairwise(wire.sent_s(b"hello"))]
    assert wire.sent_s(b"hello")[0] == 0
    assert all(0.5 <= apart <= 2 for apart in apart_s)


class Watched(Wire):
    """Looks at the error of its device, once there is one, whenever it is asked."""

    def __init__(self, waits):
        super().__init__(waits)
        self.ready.clear()
        self.errors_at_s = []

    def watch(self, device):
        self.device = device
        self.ready.set()

    def lines(self):
        assert self.ready.wait(PATIENCE_S)
        if self.device.error and not self.errors_at_s:
            self.errors_at_s.append(self.waits.now_s)
        return super().lines()


def test_a_board_has_a_few_seconds_to_start(waits):
    """Opening its port restarts it: boot loaders take one to two seconds."""
    wire = Watched(waits)
    device = Link(wire.open)
    wire.watch(device)
    assert wire.over.wait(PATIENCE_S)
    device.close()
    assert 2 < wire.errors_at_s[0] < 5


def test_a_board_that_answered_is_asked_no_more_and_told_all_again_every_few_seconds(waits):
    wire = Wire(waits, [json.dumps({"hello": HELLO})])
    wire.ready.clear()
    link = Link(wire.open)
    BoardDice(link, 1).show((3,))
    wire.ready.set()
    assert wire.over.wait(PATIENCE_S)
    assert link.error == ""
    link.close()
    assert len(wire.sent_s(b"hello")) <= 1
    apart_s = [later - earlier for earlier, later in pairwise(wire.sent_s(b"dice"))]
    assert len(apart_s) >= 5
    assert all(apart <= 4 for apart in apart_s)
    assert all(apart >= 1 for apart in apart_s[1:])


OTHER_LINES = ("{}", '{"button": "next", "down": true}', '{"hello": "other/1", "lamps": 3}', "[")


@pytest.mark.parametrize(("answers_s", "found"), [(0.0, True), (2.5, True), (3.5, False)])
def test_a_board_on_an_open_port_is_looked_for_three_seconds_long(waits, answers_s, found):
    wire = Wire(waits)

    def pause(seconds):
        before_s, waits.now_s = waits.now_s, waits.now_s + seconds
        if before_s <= answers_s < waits.now_s:
            wire.answer = [*OTHER_LINES, json.dumps({"hello": HELLO, "lamps": 2})]

    board = identify(wire, pause)
    assert (board is not None and board.lamps == 2) == found
    assert wire.sent_s(b"hello") == pytest.approx(
        [at_s for at_s in (0.0, 1.0, 2.0) if at_s <= answers_s], abs=0.01
    )
