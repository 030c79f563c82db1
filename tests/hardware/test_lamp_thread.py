"""Lamps that never make anybody wait, and come back in the right state."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from hardware import lamp_thread
from hardware.backends.led_strip import Strip
from hardware.backends.serial_port import open_port
from hardware.backends.wled import WledPresets, WledStrip
from hardware.cues import DARK, LAMP_RGB, Cue
from hardware.interfaces import DeviceLost
from hardware.lamp_thread import LampThread
from table.errors import InputError
from tests.support.threads import running

RED, BLUE = (Cue("turn", ("red", "blue"), of=(colour,)) for colour in ("red", "blue"))


class Slow:
    """A device that does a step only when it is let, and remembers what it was given."""

    interval_s = 0.0

    def __init__(self):
        self.steps, self.closed = [], 0
        self.may, self.did = threading.Semaphore(0), threading.Semaphore(0)

    def step(self, cue, _since_ms):
        assert self.may.acquire(timeout=20)
        self.steps.append(cue)
        self.did.release()

    def let(self, count=1):
        for _ in range(count):
            self.may.release()
            assert self.did.acquire(timeout=20)

    def close(self):
        self.closed += 1


@pytest.fixture
def slow(monkeypatch):
    monkeypatch.setattr(lamp_thread, "RETRY_S", 0.01)
    return Slow()


def test_only_the_latest_scene_counts(slow):
    shown = LampThread(lambda: slow)
    slow.let()
    for cue in (RED, BLUE, RED, BLUE):
        shown.show(cue)
    slow.let(3)
    assert slow.steps[2:] == [BLUE, BLUE], (
        "the step that was begun already is the last of an older cue"
    )
    slow.may.release(100)
    shown.close()
    assert (slow.steps[-1], slow.closed) == (DARK, 1)


def test_a_device_that_hangs_keeps_nobody_waiting(slow, monkeypatch):
    """No step is ever let: `show` and `close` come back all the same."""
    monkeypatch.setattr(lamp_thread, "LEAVE_S", 0.0)
    shown = LampThread(lambda: slow)
    for _ in range(1000):
        shown.show(RED)
        shown.show(BLUE)
    shown.close()
    assert slow.steps == []
    slow.may.release(100)


def test_a_lost_device_is_opened_again_and_goes_on_with_the_scene_of_now(slow, monkeypatch):
    monkeypatch.setattr(lamp_thread, "RETRY_S", 0.0)
    lost, tried, begun = threading.Event(), [], threading.Event()

    class Weak(Slow):
        def step(self, cue, since_ms):
            if lost.is_set():
                raise DeviceLost("tty0: connection lost")
            super().step(cue, since_ms)

    weak = Weak()

    def open_device():
        tried.append(1)
        if len(tried) == 1:
            return weak
        if len(tried) < 5:
            raise InputError("hardware.lamps.device: expected a serial port")
        assert begun.wait(20)
        return slow

    shown = LampThread(open_device)
    shown.show(RED)
    weak.let(2)
    lost.set()
    weak.may.release()
    while shown.error != "hardware.lamps.device: expected a serial port":
        assert len(tried) <= 5
    shown.show(BLUE)
    begun.set()
    slow.let(2)
    assert (shown.error, set(slow.steps), weak.closed, len(tried)) == ("", {BLUE}, 1, 5)
    slow.may.release(100)
    shown.close()


def test_what_is_wrong_at_the_start_is_told_at_once(tmp_path):
    with pytest.raises(
        InputError,
        match=r"hardware\.lamps\.device: expected a serial port of this machine, got '.*tty9'",
    ):
        LampThread(
            lambda: WledStrip(
                open_port(f"{tmp_path}/tty9", 115200, "hardware.lamps.device"),
                115200,
                None,
                tuple,
                1,
                1,
            )
        )


def test_a_strip_that_was_unplugged_comes_back_in_the_right_state(
    wled, outline, pump_until, monkeypatch
):
    monkeypatch.setattr(lamp_thread, "RETRY_S", 0.01)
    strip = Strip(100, outline)
    shown = LampThread(
        lambda: WledStrip(
            open_port(str(wled.path), 1_000_000, "hardware.lamps.device"),
            1_000_000,
            strip,
            tuple,
            1.0,
            1e9,
        )
    )
    shown.show(RED)
    pump_until(wled, lambda: any(rgb[0] > 100 for rgb in wled.firmware.pixels))
    wled.unplug()
    shown.show(BLUE)
    while "connection lost" not in shown.error and "does not exist" not in shown.error:
        assert running("lamps")
    wled.plug()
    pump_until(wled, lambda: any(rgb[2] > 100 for rgb in wled.firmware.pixels))
    assert np.array(wled.firmware.pixels)[:, 0].max() == 0, "nothing of the old cue"
    assert LAMP_RGB["blue"] == (0, 0, 255)
    shown.close()
    pump_until(wled, lambda: set(wled.firmware.pixels) == {(0, 0, 0)})


def test_a_strip_that_plays_presets_comes_back_in_the_right_state(wled, pump_until, monkeypatch):
    monkeypatch.setattr(lamp_thread, "RETRY_S", 0.01)
    shown = LampThread(
        lambda: WledPresets(
            open_port(str(wled.path), 115200, "hardware.lamps.device"), {"turn": 3, "refused": 7}
        )
    )
    shown.show(RED)
    pump_until(wled, lambda: wled.firmware.states and wled.firmware.states[-1].get("ps") == 3)
    wled.unplug()
    shown.show(Cue("refused"))
    while "connection lost" not in shown.error and "does not exist" not in shown.error:
        assert running("lamps")
    wled.plug()
    pump_until(wled, lambda: wled.firmware.states)
    assert [state.get("ps") for state in wled.firmware.states] == [7], "nothing of the old cue"
    shown.close()
    pump_until(wled, lambda: wled.firmware.states[-1] == {"on": False})


def test_a_slow_strip_shows_the_scene_of_now_in_the_end(wled, outline, monkeypatch):
    """It reads 100 bytes now and then; what it has not read yet is a few frames at most, and never
    more.
    """
    monkeypatch.setattr(lamp_thread, "RETRY_S", 0.01)
    strip, behind = Strip(100, outline), []
    shown = LampThread(
        lambda: WledStrip(
            open_port(str(wled.path), 1_000_000, "hardware.lamps.device"),
            1_000_000,
            strip,
            tuple,
            1.0,
            1e9,
        )
    )
    for cue in (RED, BLUE) * 10:
        shown.show(cue)
        wled.pump(0.02, most=100)
        behind.append(wled.waiting)
    while not any(rgb[2] > 100 for rgb in wled.firmware.pixels):
        wled.pump(0.02, most=100)
        behind.append(wled.waiting)
    assert max(behind) < 20_000, "what a terminal holds"
    assert wled.firmware.baud == 115200
    shown.close()


def test_a_strip_that_never_reads_is_lost_and_comes_back_when_it_does(
    wled, outline, pump_until, monkeypatch
):
    monkeypatch.setattr(lamp_thread, "RETRY_S", 0.01)
    monkeypatch.setattr("hardware.backends.serial_port.WRITE_S", 0.02)
    strip = Strip(100, outline)
    shown = LampThread(
        lambda: WledStrip(
            open_port(str(wled.path), 1_000_000, "hardware.lamps.device"),
            1_000_000,
            strip,
            tuple,
            1.0,
            1e9,
        )
    )
    shown.show(RED)
    while "no longer accepts data" not in shown.error:
        assert running("lamps")
    shown.show(BLUE)
    pump_until(wled, lambda: any(rgb[2] > 100 for rgb in wled.firmware.pixels))
    assert wled.firmware.baud == 115200
    shown.close()
