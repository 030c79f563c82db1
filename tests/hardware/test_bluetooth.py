"""Bluetooth buttons and callipers, through bleak and a real bus, with a BlueZ that is not there."""

from __future__ import annotations

import queue
import threading
import time
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.backends import bluetooth
from hardware.backends.bluetooth import (
    NORDIC_UART,
    SYLVAC,
    BluetoothButtons,
    BluetoothCalliper,
    Broadcast,
    BroadcastPresses,
    Heard,
    hear,
    parse_bthome,
)
from table.errors import InputError
from tests.support.bluez import BlueZ, pressed
from tests.support.threads import running

BUTTON, OTHER, CALLIPER = "3C:2E:F5:00:12:34", "3C:2E:F5:00:56:78", "C4:BE:84:00:00:09"
NAMES = {"rule": (BUTTON, 1), "next": (BUTTON, 2), "die": (OTHER, 1)}


@pytest.mark.parametrize(
    ("data", "broadcast"),
    [
        ("44 00 07 01 5f 3a 01", Broadcast(7, (1,))),
        ("44 00 07 01 5f 3a 00 3a 02 3a 00 3a 04", Broadcast(7, (0, 2, 0, 4))),
        ("40 3a 01", Broadcast(None, (1,))),
        ("40 00 c6 01 4d 02 44 09 03 3e 1b", Broadcast(0xC6, ())),
        ("44 00 07 05 10 20 30 2d 01 3a 01 45 10 20", Broadcast(7, (1,))),
        ("45 a4 72 66 c9 5f 73 00 11 22 33 78 23 72 14", Broadcast(None, (), encrypted=True)),
        ("44", Broadcast(None, ())),
        ("44 00 07 3a", None),
        ("44 02 07", None),
        ("44 31 00 3a 01", None),
        ("24 3a 01", None),
        ("", None),
    ],
)
def test_broadcasts_are_read_as_bthome_writes_them(data, broadcast):
    assert parse_bthome(bytes.fromhex(data)) == broadcast


@given(st.binary(max_size=40))
def test_no_broadcast_breaks_the_reader(data):
    broadcast = parse_bthome(data)
    assert broadcast is None or all(0 <= event < 256 for event in broadcast.events)


class Clock:
    def __init__(self):
        self.now_s = 1000.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def presses(clock):
    """Presses of NAMES, some time after the beginning."""
    presses = BroadcastPresses(NAMES, clock)
    clock.now_s += bluetooth.STARTED_S
    return presses


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((1,), [("rule", "down"), ("rule", "short")]),
        ((2,), [("rule", "down"), ("rule", "double")]),
        ((4,), [("rule", "down"), ("rule", "long")]),
        ((0, 1), [("next", "down"), ("next", "short")]),
        ((1, 1), [("rule", "down"), ("rule", "short"), ("next", "down"), ("next", "short")]),
        ((3,), []),
        ((0x80,), []),
        ((0, 0, 1), []),
    ],
)
def test_a_press_is_told_as_a_wired_button_tells_it(presses, clock, events, expected):
    new = presses.take(BUTTON, pressed(1, *events))
    assert [(press.button, press.kind) for press in new] == expected
    assert {press.at_ms for press in new} <= {1000 * clock.now_s}


def test_one_press_is_told_once_though_it_is_broadcast_many_times(presses, clock):
    counts = []
    for packet in (1, 1, 1, 2, 2, 1):
        counts.append(len(presses.take(BUTTON, pressed(packet, 1))))
        clock.now_s += 5
    assert counts == [2, 0, 0, 2, 0, 2]


@pytest.mark.parametrize(("after_s", "again"), [(0.5, False), (1.0, True), (3.0, True)])
def test_without_numbers_the_same_again_is_a_press_after_a_moment(presses, clock, after_s, again):
    assert presses.take(BUTTON, b"\x40\x3a\x01")
    clock.now_s += after_s
    assert bool(presses.take(BUTTON, b"\x40\x3a\x01")) == again


def test_an_old_broadcast_that_is_repeated_at_the_start_is_no_press(clock):
    presses = BroadcastPresses(NAMES, clock)
    clock.now_s += 60  # Bluetooth was off until now
    presses.begin()
    clock.now_s += 0.5
    assert not presses.take(BUTTON, pressed(9, 1))
    clock.now_s += 60
    assert not presses.take(BUTTON, pressed(9, 1))
    assert presses.take(BUTTON, pressed(10, 1))


def test_buttons_of_others_are_none_of_ours(presses):
    assert not presses.take("11:22:33:44:55:66", pressed(1, 1))
    assert not presses.take("11:22:33:44:55:66", b"\x45encrypted")


def until(device, error):
    """Wait until the device says this of itself."""
    while device.error != error:
        assert running("bluetooth")


@contextmanager
def listening(device):
    """The device and what it tells."""
    received = queue.Queue()
    device.listen(received.put)
    yield device, received
    device.close()


@pytest.fixture
def buttons(radio):
    with listening(BluetoothButtons(radio, NAMES)) as listened:
        yield listened


@pytest.fixture
def calliper(radio):
    with listening(BluetoothCalliper(radio, CALLIPER)) as listened:
        yield listened


def test_a_press_comes_through_the_air(bluez, buttons):
    device, received = buttons
    bluez.broadcast(BUTTON, pressed(1, 1), "SBBT-002C")
    bluez.broadcast(OTHER, pressed(1, 4))
    assert [received.get(timeout=20).kind for _ in range(4)] == ["down", "short", "down", "long"]
    assert device.error == ""


def broadcast_until_received(bluez, received, data):
    """Broadcast the same again and again, as buttons do; the kinds that were told."""
    while received.empty():
        bluez.broadcast(BUTTON, data)
        time.sleep(0.01)
    return [received.get(timeout=20).kind for _ in range(2)]


def test_a_button_that_encrypts_is_named(bluez, buttons):
    device, received = buttons
    while not device.error:
        bluez.broadcast(BUTTON, b"\x45encrypted")
    assert device.error == (
        f"{BUTTON}: it encrypts what it sends; switch encryption off in its maker's app"
    )
    assert received.empty()


def test_buttons_come_back_with_bluetooth(bluez, buttons, monkeypatch):
    monkeypatch.setattr(bluetooth, "SILENT_S", 0.2)
    _, received = buttons
    assert broadcast_until_received(bluez, received, pressed(1, 1)) == ["down", "short"]
    bluez.switch(False)
    bluez.switch(True)
    assert broadcast_until_received(bluez, received, pressed(2, 2)) == ["down", "double"]


def test_buttons_come_back_when_the_service_was_restarted(bus, buttons, monkeypatch):
    """It says nothing of that to those who scan."""
    monkeypatch.setattr(bluetooth, "SILENT_S", 0.2)
    device, received = buttons
    with BlueZ(bus.address) as bluez:
        assert broadcast_until_received(bluez, received, pressed(1, 1)) == ["down", "short"]
    while not device.error:
        assert running("bluetooth")
    with BlueZ(bus.address) as bluez:
        assert broadcast_until_received(bluez, received, pressed(2, 4)) == ["down", "long"]


@pytest.mark.parametrize("characteristic", [SYLVAC, NORDIC_UART])
def test_a_calliper_is_connected_and_read(bluez, calliper, characteristic):
    device, received = calliper
    bluez.appear(CALLIPER, "SY304", [characteristic])
    bluez.say(CALLIPER, b"+0012.34\r")
    assert received.get(timeout=20).mm == 12.34
    bluez.say(CALLIPER, b"12.5 mm")
    assert received.get(timeout=20).mm == 12.5
    assert device.error == ""


def test_a_calliper_may_sleep_and_come_back(bluez, calliper):
    device, received = calliper
    bluez.appear(CALLIPER, "SY304", [SYLVAC])
    bluez.say(CALLIPER, b"+0001.00\r")
    assert received.get(timeout=20).mm == 1
    bluez.leave(CALLIPER)
    bluez.appear(CALLIPER, "SY304", [SYLVAC])
    bluez.say(CALLIPER, b"+0002.00\r")
    assert received.get(timeout=20).mm == 2
    until(device, "")


def test_what_is_no_length_is_told_until_a_length_comes(bluez, calliper):
    device, received = calliper
    bluez.appear(CALLIPER, "SY304", [SYLVAC])
    bluez.say(CALLIPER, b"ERR0\r")
    until(device, f"{CALLIPER}: it sends something that is not a length, such as 'ERR0'")
    bluez.say(CALLIPER, b"+0002.00\r")
    assert received.get(timeout=20).mm == 2
    assert device.error == ""


def test_a_device_that_sends_no_text_is_named(bluez, calliper):
    device, _ = calliper
    bluez.appear(CALLIPER, "a lamp", ["0000ffe1-0000-1000-8000-00805f9b34fb"])
    until(
        device,
        f"{CALLIPER}: expected a calliper with the characteristic {SYLVAC} or {NORDIC_UART}, got a"
        " device without",
    )


@pytest.mark.usefixtures("bluez")
def test_a_calliper_that_is_not_there_is_named(radio, monkeypatch):
    monkeypatch.setattr(bluetooth, "FOUND_S", 0.05)
    device = BluetoothCalliper(radio, CALLIPER)
    device.listen(lambda _reading: None)
    until(device, f"{CALLIPER}: not in reach; is it switched on?")
    device.close()


def test_a_characteristic_of_ones_own_is_used(bluez, radio):
    own = "0000ffe1-0000-1000-8000-00805f9b34fb"
    device, received = BluetoothCalliper(radio, CALLIPER, own), queue.Queue()
    device.listen(received.put)
    bluez.appear(CALLIPER, "mine", [own])
    bluez.say(CALLIPER, b"3.25\r\n")
    assert received.get(timeout=20).mm == 3.25
    device.close()


NO_BLUETOOTH = "this computer has no Bluetooth, or its service bluetoothd does not run"


@pytest.mark.usefixtures("bus")
def test_a_computer_without_bluetooth_says_so(buttons):
    until(buttons[0], NO_BLUETOOTH)


def test_a_computer_without_a_bus_says_so(buttons, monkeypatch, tmp_path):
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", f"unix:path={tmp_path / 'nothing'}")
    monkeypatch.setattr(bluetooth, "RETRY_S", 0.01)
    until(buttons[0], NO_BLUETOOTH)


def test_bluetooth_that_is_off_says_what_to_do(bus, buttons):
    with BlueZ(bus.address, powered=False) as bluez:
        until(buttons[0], "Bluetooth is switched off; run: bluetoothctl power on")
        bluez.switch(True)
        until(buttons[0], "")


def test_what_is_around_is_listed_buttons_first(bluez):
    def around():
        bluez.appear(CALLIPER, "SY304")
        bluez.broadcast(BUTTON, pressed(1, 1, 0), "SBBT-002C")
        bluez.broadcast("11:22:33:44:55:66", b"\x40\x02\xc4\x09")

    others = threading.Thread(target=around)
    others.start()
    heard = hear(0.5)
    others.join()
    assert heard == [
        Heard(BUTTON, "SBBT-002C", 2),
        Heard(CALLIPER, "SY304", 0),
        Heard("11:22:33:44:55:66", "", 0),
    ]


@pytest.mark.usefixtures("bus")
def test_a_search_without_bluetooth_says_why():
    with pytest.raises(InputError, match=NO_BLUETOOTH):
        hear(0.1)
