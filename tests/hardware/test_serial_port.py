"""Ports that are given what comes on the wire piece by piece."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import serial

from hardware.backends import serial_port
from hardware.backends.serial_port import KEPT_BYTES, Port, found_ports, open_port
from table.errors import InputError


class Wire:
    """What pyserial gives for a port: what has come, at most so many bytes; and what is not sent
    yet, of which a byte goes out each time that it is looked.
    """

    def __init__(self, come=b"", unsent=0):
        self.come, self.unsent = come, unsent
        self.closed = False
        self.thrown_away = 0

    def read(self, most):
        read, self.come = self.come[:most], self.come[most:]
        return read

    @property
    def out_waiting(self):
        self.unsent = max(0, self.unsent - 1)
        return self.unsent

    def reset_output_buffer(self):
        self.thrown_away, self.unsent = self.unsent, 0

    def close(self):
        self.closed = True


def lines(*pieces):
    """What a port gives of these pieces, each looked at once."""
    wire = Wire()
    port, read = Port(wire, "port"), []
    for piece in pieces:
        wire.come += piece
        read += port.lines()
    return read


@pytest.mark.parametrize("length", [1, 6_000, 12_000, KEPT_BYTES])
def test_a_long_line_is_whole_though_it_comes_in_pieces(length):
    """WLED tells of a strip in lines of some thousand bytes."""
    line = b"x" * length
    assert lines(line, b"\nnext\r\n") == [line.decode(), "next"]
    assert lines(line[: length // 2], line[length // 2 :], b"\n") == [line.decode()]


@pytest.mark.parametrize("length", [KEPT_BYTES + 1, 40_000])
def test_a_line_that_does_not_end_is_not_kept(length):
    pieces = [b"x" * 5_000] * (length // 5_000) + [b"x" * (length % 5_000)]
    assert sum(map(len, lines(*pieces, b"\n"))) < 5_000 * 5
    assert lines(*pieces, b"\n", b"next\n")[-1] == "next"


@pytest.mark.parametrize(("unsent", "thrown_away"), [(0, 0), (5, 0), (10_000, True)])
def test_a_port_that_is_closed_waits_a_moment_for_what_is_not_sent(
    monkeypatch, unsent, thrown_away
):
    """And throws the rest away: nobody waits longer than half a second."""
    slept_s = []
    monkeypatch.setattr(serial_port, "sleep", slept_s.append)
    wire = Wire(unsent=unsent)
    Port(wire, "port").close()
    assert wire.closed
    assert bool(wire.thrown_away) == bool(thrown_away)
    if thrown_away:
        assert 0.1 < sum(slept_s) < 0.5
        assert max(slept_s) <= 0.01


class Unopened:
    """A port that cannot be opened for a reason; it remembers how it was to be opened."""

    def __init__(self, error=None):
        self.error = error

    def open(self):
        if self.error:
            raise self.error


def test_a_device_that_takes_nothing_is_lost_within_a_second(monkeypatch):
    """And slow ones are not: a frame of 1500 lamps needs 0.4 s at 115200 baud."""
    port = Unopened()
    monkeypatch.setattr(serial_port.serial, "serial_for_url", lambda *_args, **_how: port)
    open_port("/dev/ttyUSB0", 115200, "hardware.lamps.device")
    assert (port.baudrate, port.timeout, port.dtr, port.rts) == (115200, 0, False, False)
    assert 0.4 < port.write_timeout <= 1


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            ValueError("Failed to set custom baud rate (7): no"),
            "expected a speed that /dev/ttyUSB0 supports, such as 115200, got 7 baud",
        ),
        (
            ValueError("invalid URL"),
            "expected a serial port (available: none; is it plugged in?), got '/dev/ttyUSB0',"
            " which cannot be used as one (invalid URL)",
        ),
        (
            serial.SerialException("strange baud"),
            "expected a serial port (available: none; is it plugged in?), got '/dev/ttyUSB0',"
            " which cannot be used as one (strange baud)",
        ),
        (
            OSError(16, "busy"),
            "expected a free port, got '/dev/ttyUSB0', which another program is using",
        ),
    ],
)
def test_why_a_port_cannot_be_opened(monkeypatch, error, says):
    monkeypatch.setattr(serial_port.serial, "serial_for_url", lambda *_a, **_how: Unopened(error))
    monkeypatch.setattr(serial_port.list_ports, "comports", list)
    with pytest.raises(InputError) as caught:
        open_port("/dev/ttyUSB0", 7, "hardware.lamps.device")
    assert str(caught.value) == f"hardware.lamps.device: {says}"


def test_ports_are_listed_with_what_they_say_that_they_are(monkeypatch, tmp_path):
    """pyserial says "n/a", or nothing, where it knows nothing."""
    (tmp_path / "usb-Uno").symlink_to("/dev/null")
    monkeypatch.setattr(serial_port, "BY_ID", tmp_path)
    ports = [("/dev/ttyS9", None), ("/dev/ttyS1", "n/a"), ("/dev/null", "Arduino Uno")]
    monkeypatch.setattr(
        serial_port.list_ports,
        "comports",
        lambda: [SimpleNamespace(device=device, description=said) for device, said in ports],
    )
    assert [tuple(port) for port in found_ports()] == [
        ("/dev/null", f"{tmp_path}/usb-Uno", "Arduino Uno"),
        ("/dev/ttyS1", "", ""),
        ("/dev/ttyS9", "", ""),
    ]
