"""Callipers: what they send, whole and in pieces."""

from __future__ import annotations

import queue

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.backends import caliper
from hardware.backends.caliper import SerialCalliper, parse_reading
from hardware.backends.serial_port import open_port
from table.errors import InputError
from tests.support.threads import running


@pytest.mark.parametrize(
    ("line", "mm"),
    [
        ("01A+0000.123", 0.123),
        ("01A+0000.125", 0.125),
        ("01A+00012.34", 12.34),
        ("01A+00.12345", 3.1356),
        ("01A+000.1234", 3.1344),
        ("12.34", 12.34),
        (" 12,34 mm ", 12.34),
        ("+0.00", 0.0),
        ("0.5 in", 12.7),
        ('0.5"', 12.7),
        ("150", 150.0),
        ("-0.01", None),
        ("01A-0000.010", None),
        ("911", 911.0),
        ("1000", 1000.0),
        ("1000.01", None),
        ("912x", None),
        ("", None),
        ("nan", None),
        ("1e3", None),
        ("12.34 12.35", None),
        ("01A+", None),
        ("hello", None),
    ],
)
def test_lengths(line, mm):
    reading = parse_reading(line)
    assert (reading.mm if reading else None) == mm


@given(st.floats(0, 999.999))
def test_what_mitutoyo_sends_is_read(mm):
    assert parse_reading(f"01A+{mm:08.3f}").mm == pytest.approx(mm, abs=0.0006)


@given(st.text(st.characters(codec="latin-1"), max_size=30))
def test_noise_is_no_length_or_one_in_reach(text):
    reading = parse_reading(text)
    assert reading is None or 0 <= reading.mm <= caliper.LONGEST_MM


class Nothing:
    def feed(self, _byte):
        return b""

    def restart(self):
        pass


@pytest.fixture
def measuring(plugged, monkeypatch):
    monkeypatch.setattr(caliper, "POLL_S", 0.001)
    monkeypatch.setattr(caliper, "RETRY_S", 0.001)
    double, received = plugged(Nothing()), queue.Queue()
    device = SerialCalliper(lambda: open_port(str(double.path), 9600, "hardware.calliper.device"))
    device.listen(received.put)
    yield double, received, device
    device.close()


def test_readings_are_told_though_they_come_in_pieces(measuring):
    double, received, _ = measuring
    double.say(b"\xff\x00garbage\r01A+0")
    double.say(b"012.340\r12.")
    assert received.get(timeout=20).mm == 12.34
    double.say(b"35\r\n")
    assert received.get(timeout=20).mm == 12.35


def test_a_reading_that_is_sent_twice_at_once_is_one(measuring):
    double, received, _ = measuring
    double.say(b"12.34\r12.34\r7\r")
    assert [received.get(timeout=20).mm for _ in range(2)] == [12.34, 7]


@pytest.mark.parametrize(
    ("after_s", "readings"), [(0.2, [7]), (0.3, [7]), (0.31, [12.34, 7]), (0.5, [12.34, 7])]
)
def test_the_same_length_is_a_new_reading_after_a_moment(measuring, monkeypatch, after_s, readings):
    """Whoever presses the button again measures again: two gaps may be alike."""
    double, received, _ = measuring
    now_s = [0.0]
    monkeypatch.setattr(caliper, "monotonic", lambda: now_s[0])
    double.say(b"12.34\r")
    assert received.get(timeout=20).mm == 12.34
    double.say(b"5\r")
    assert received.get(timeout=20).mm == 5
    double.say(b"12.34\r")
    assert received.get(timeout=20).mm == 12.34
    now_s[0] = after_s
    double.say(b"12.34\r7\r")
    assert [received.get(timeout=20).mm for _ in readings] == readings


@pytest.mark.parametrize("listens", [True, False])
def test_a_calliper_that_was_closed_leaves_its_port_to_others(plugged, listens):
    double = plugged(Nothing())
    device = SerialCalliper(lambda: open_port(str(double.path), 9600, "hardware.calliper.device"))
    if listens:
        device.listen(lambda _reading: None)
    device.close()
    assert not running("calliper")
    open_port(str(double.path), 9600, "hardware.calliper.device").close()
    assert device.error == ""


def test_a_calliper_at_another_speed_is_told_of_until_it_is_understood(measuring):
    double, received, device = measuring
    double.say(b"\x86\xf8\x00\xe6\r")
    while not device.error:
        assert running("calliper")
    assert device.error.startswith(
        f"{double.path}: it sends something that is not a length, such as "
    )
    assert device.error.endswith("; does its speed match the settings?")
    double.say(b"12.5\r")
    assert received.get(timeout=20).mm == 12.5
    assert device.error == ""


def test_a_calliper_may_be_unplugged(measuring):
    double, received, device = measuring
    double.unplug()
    while not device.error:
        assert running("calliper")
    double.plug()
    while device.error:
        assert running("calliper")
    double.say(b"1.5\r")
    assert received.get(timeout=20).mm == 1.5


def test_an_unknown_port_is_told_at_once(tmp_path):
    with pytest.raises(
        InputError,
        match=r"^hardware\.calliper\.device: expected a serial port of this machine, got ",
    ):
        SerialCalliper(lambda: open_port(str(tmp_path / "tty"), 9600, "hardware.calliper.device"))
