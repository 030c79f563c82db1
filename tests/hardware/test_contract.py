"""What every backend of a port must do, the real ones too: `RINKSIDE_HARDWARE=rinkside.toml pytest
-m hardware` on a table with devices.
"""

from __future__ import annotations

import itertools
import os
import queue
from pathlib import Path

import pytest

from conformance.buttons import *  # noqa: F403
from conformance.dice import *  # noqa: F403
from conformance.lamps import *  # noqa: F403
from conformance.outputs import *  # noqa: F403
from conformance.sounds import *  # noqa: F403
from hardware.backends.bluetooth import SYLVAC, BluetoothButtons, BluetoothCalliper
from hardware.backends.caliper import SerialCalliper
from hardware.backends.gpio import GpioButtons, GpioBuzzer, GpioDice, GpioLamps
from hardware.backends.led_strip import Strip
from hardware.backends.microcontroller import BoardButtons, BoardBuzzer, BoardDice, BoardLamps
from hardware.backends.serial_port import open_port
from hardware.backends.wled import WledPresets, WledStrip
from hardware.buzzer import Beeps, TerminalBell, beeps
from hardware.cues import Cue
from hardware.factory import StripDice, open_devices
from hardware.lamp_thread import LampThread
from hardware.settings import load_settings
from hardware.testing.fakes import (
    FakeButtons,
    FakeBuzzer,
    FakeCalliper,
    FakeDice,
    FakeLamps,
    FakeOutput,
)
from tests.support.bluez import pressed
from tests.support.threads import running

PLAYERS = ("red", "blue")
SETTINGS = os.environ.get("RINKSIDE_HARDWARE", "")


@pytest.fixture
def real(outline):
    if not SETTINGS:
        pytest.skip("RINKSIDE_HARDWARE names no settings of real devices")
    devices = open_devices(load_settings(Path(SETTINGS)), outline, lambda _text: None)
    yield devices
    devices.close()


def part(real, name):
    return getattr(real, name) or pytest.skip(f"{name} are not in the settings")


class SilentLink:
    """A link to a board that takes everything, and has a button."""

    error = ""

    def send(self, key, value, lasting=True):
        pass

    def listen(self, edge):
        self.edge = edge


class Mute:
    """What is behind a calliper's port: it takes nothing, and says what the test says."""

    def feed(self, _byte):
        return b""

    def restart(self):
        pass


def on_a_port(wled, make):
    return LampThread(lambda: make(open_port(str(wled.path), 1_000_000, "hardware.lamps.device")))


LAMPS = {
    "fake": lambda _: FakeLamps(),
    "gpio": lambda request: LampThread(lambda: GpioLamps(request("pins"), [(5,), (6, 7, 8)], (9,))),
    "board": lambda _: LampThread(lambda: BoardLamps(SilentLink(), 2)),
    "wled": lambda request: on_a_port(
        request("wled"),
        lambda port: WledStrip(port, 1_000_000, Strip(100, request("outline")), tuple, 1.0, 1e9),
    ),
    "wled-presets": lambda request: on_a_port(
        request("wled"), lambda port: WledPresets(port, {"turn": 1})
    ),
    "real": lambda request: part(request("real"), "lamps"),
}
DICE = {
    "fake": lambda _: FakeDice(2),
    "gpio": lambda request: GpioDice(request("pins"), [range(5, 12), range(12, 19)]),
    "board": lambda _: BoardDice(SilentLink(), 2),
    "wled": lambda _: StripDice(2),
    "real": lambda request: part(request("real"), "dice"),
}
OUTPUTS = {"fake": lambda _: FakeOutput()}
BUZZERS = {
    "fake": lambda _: FakeBuzzer(),
    "gpio": lambda request: GpioBuzzer(request("pins"), 18),
    "board": lambda _: BoardBuzzer(SilentLink()),
    "terminal": lambda _: TerminalBell(lambda _text: None),
    "real": lambda request: part(request("real"), "buzzer"),
}


def fake_buttons(_request):
    """Buttons, and what presses `die` or lets it go; the fake has a clock of its own and does both
    at once.
    """
    buttons = FakeButtons()
    return buttons, lambda down: buttons.press("die") if down else None


def gpio_buttons(request):
    pins = request("pins")
    buttons = GpioButtons(pins, {"die": 5})
    return buttons, lambda down: pins.pin(5).drive_low() if down else pins.pin(5).drive_high()


def board_buttons(_request):
    link = SilentLink()
    return BoardButtons(link), lambda down: link.edge("die", down)


def bluetooth_buttons(request):
    bluez, numbers = request("bluez"), itertools.count()
    buttons = BluetoothButtons(request("radio"), {"die": ("3C:2E:F5:00:12:34", 1)})
    return (
        buttons,
        lambda down: (
            bluez.broadcast("3C:2E:F5:00:12:34", pressed(next(numbers), 1)) if down else None
        ),
    )


def fake_calliper(_request):
    calliper = FakeCalliper()
    return calliper, calliper.send


def serial_calliper(request):
    double = request("plugged")(Mute())
    calliper = SerialCalliper(lambda: open_port(str(double.path), 9600, "hardware.calliper.device"))
    return calliper, lambda line: double.say(f"{line}\r".encode())


def bluetooth_calliper(request):
    bluez, address = request("bluez"), "C4:BE:84:00:00:09"
    bluez.appear(address, "SY304", [SYLVAC])
    calliper = BluetoothCalliper(request("radio"), address)
    return calliper, lambda line: bluez.say(address, f"{line}\r".encode())


BUTTONS = {
    "fake": fake_buttons,
    "gpio": gpio_buttons,
    "board": board_buttons,
    "bluetooth": bluetooth_buttons,
    "real": lambda request: (part(request("real"), "buttons"), None),
}
CALLIPERS = {
    "fake": fake_calliper,
    "serial": serial_calliper,
    "bluetooth": bluetooth_calliper,
    "real": lambda request: (part(request("real"), "calliper"), None),
}
"""With what presses or sends; nobody does that to real ones here."""


def made(of):
    return [
        pytest.param(make, id=name, marks=[pytest.mark.hardware] * (name == "real"))
        for name, make in of.items()
    ]


def backends(of):
    return pytest.mark.parametrize("make", made(of))


@pytest.fixture(params=made(LAMPS))
def lamps(request):
    return request.param(request.getfixturevalue)


@pytest.fixture(params=made(DICE))
def dice(request):
    return request.param(request.getfixturevalue)


@pytest.fixture(params=made(BUTTONS))
def buttons(request):
    return request.param(request.getfixturevalue)


@pytest.fixture(params=made(OUTPUTS))
def output(request):
    return request.param(request.getfixturevalue)


@pytest.fixture(params=made(BUZZERS))
def buzzer(request):
    return request.param(request.getfixturevalue)


@pytest.mark.parametrize("make", [gpio_buttons, board_buttons, serial_calliper])
@pytest.mark.parametrize("listens", [True, False])
def test_what_was_closed_has_no_thread_whether_anybody_listened_or_not(make, listens, request):
    device, _ = make(request.getfixturevalue)
    if listens:
        device.listen(lambda _event: None)
    device.close()
    assert not running("buttons")
    assert not running("calliper")


@backends(CALLIPERS)
def test_callipers_tell_of_lengths_and_of_nothing_else(make, request):
    calliper, send = make(request.getfixturevalue)
    received = queue.Queue()
    calliper.listen(received.put)
    assert calliper.error == ""
    if send:
        for line in ("01A+0012.340", "-1", "hello", "1001", "0.5 in"):
            send(line)
        assert [received.get(timeout=20).mm for _ in range(2)] == [12.34, 12.7]
    calliper.close()
    assert received.empty()


def test_fakes_keep_to_the_limits_of_the_real_thing():
    lamps = FakeLamps()
    for signal in ("turn", "turn", "over"):
        lamps.show(Cue(signal))
    assert lamps.cues[1:] == [Cue("turn"), Cue("over")]
    lamps.close()
    with pytest.raises(ValueError, match="closed"):
        lamps.show(Cue("turn"))
    calliper, received = FakeCalliper(), []
    calliper.listen(received.append)
    for line in ("-1", "1001", "01A+0012.340"):
        calliper.send(line)
    assert [reading.mm for reading in received] == [12.34]


def test_beeps_are_the_rhythm_of_the_lamps():
    assert [hold_ms for on, hold_ms in beeps(Cue("refused")) if on] == [170, 170, 170]
    assert beeps(Cue("turn")) == ()


def test_a_buzzer_is_silent_when_it_is_closed_in_the_middle():
    heard = queue.Queue()
    buzzer = Beeps(heard.put)
    buzzer.play(Cue("asking"))
    while not heard.get(timeout=20):
        pass
    buzzer.close()
    sounds = []
    while not heard.empty():
        sounds.append(heard.get())
    assert sounds[-1] is False
