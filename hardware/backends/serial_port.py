"""Serial ports whose failures are one line for people, and that never block for long."""

from __future__ import annotations

import errno
import termios
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import NamedTuple

import serial
from serial.tools import list_ports

from hardware.interfaces import DeviceLost
from table.errors import InputError
from table.messages import Message, msg, phrase

WRITE_S = 0.5
"""Time limit of a write; a device that exceeds it is lost."""
DRAIN_TURNS, DRAIN_TURN_S = 50, 0.004
"""Number and length in s of the waits for unsent data on closing. The last frame, which turns the
lamps off, fits.
"""
FAILURES = (serial.SerialException, OSError, termios.error, TypeError)
"""Exceptions of pyserial for a device that is gone. `termios.error` is no OSError, and a port
closed meanwhile gives a TypeError.
"""
BY_ID = Path("/dev/serial/by-id")
"""Folder of Linux's persistent port names."""
KEPT_BYTES = 16384
"""Most bytes kept of an unfinished line."""


class Port:
    """An open serial port; every failure of the device is a DeviceLost."""

    def __init__(self, port: serial.SerialBase, name: str) -> None:
        """Use `open_port`."""
        self._port, self.name = port, name
        self._line = b""

    def write(self, data: bytes) -> None:
        """Send all data within WRITE_S.

        Raises DeviceLost; part of the data may have been sent.
        """
        try:
            self._port.write(data)
        except serial.SerialTimeoutException as error:
            raise DeviceLost(msg("{name}: it no longer accepts data", name=self.name)) from error
        except FAILURES as error:
            raise DeviceLost(msg("{name}: connection lost", name=self.name)) from error

    def read(self) -> bytes:
        """Return the received bytes, at most KEPT_BYTES, without waiting; raises DeviceLost."""
        try:
            data: bytes = self._port.read(KEPT_BYTES)
        except FAILURES as error:
            raise DeviceLost(msg("{name}: connection lost", name=self.name)) from error
        return data

    def lines(self) -> list[str]:
        """Return the complete lines received (ended by LF or CR), without waiting.

        An unfinished line longer than KEPT_BYTES is dropped. Raises DeviceLost.
        """
        *whole, self._line = (self._line + self.read()).replace(b"\r", b"\n").split(b"\n")
        if len(self._line) > KEPT_BYTES:
            self._line = b""
        return [text for line in whole if (text := line.decode("ascii", "replace").strip())]

    def close(self) -> None:
        """Close the port.

        Unsent data are discarded after a short wait: Linux would wait for them for half a minute.
        """
        with suppress(*FAILURES):
            for _ in range(DRAIN_TURNS):
                if not self._port.out_waiting:
                    break
                sleep(DRAIN_TURN_S)
            if self._port.out_waiting:
                self._port.reset_output_buffer()
        with suppress(*FAILURES):
            self._port.close()


def open_port(device: str, baud: int, setting: str) -> Port:
    """Open a port by its device name, or by an address that pyserial knows.

    Neither DTR nor RTS is raised: on most boards they are wired to reset. A lock excludes other
    programs. Raises InputError that begins with the name of the setting.
    """
    try:
        port = serial.serial_for_url(device, do_not_open=True)
        port.baudrate, port.timeout, port.write_timeout = baud, 0, WRITE_S
        port.dtr = port.rts = False
        if isinstance(port, serial.Serial):
            port.exclusive = True
        port.open()
    except (serial.SerialException, OSError, termios.error, ValueError) as error:
        raise InputError(
            msg("{setting}: {text}", setting=setting, text=_reason(device, baud, error))
        ) from error
    return Port(port, device)


def _reason(device: str, baud: int, error: Exception) -> Message:
    match getattr(error, "errno", None):
        case errno.ENOENT | errno.ENODEV | errno.ENXIO:
            return phrase(
                "expected a serial port of this machine, got {raw}, which does not exist ({text})",
                raw=repr(device),
                text=_available_ports_text(),
            )
        case errno.EACCES | errno.EPERM:
            return phrase(
                "expected a port that you may use, got {raw}: no permission; run: sudo"
                " usermod -aG dialout $USER, then log in again",
                raw=repr(device),
            )
        case errno.EAGAIN | errno.EBUSY:
            return phrase(
                "expected a free port, got {raw}, which another program is using", raw=repr(device)
            )
        case _ if isinstance(error, ValueError) and "baud" in str(error).lower():
            return phrase(
                "expected a speed that {device} supports, such as 115200, got {n} baud",
                device=device,
                n=baud,
            )
        case _:
            return phrase(
                "expected a serial port ({text}), got {raw}, which cannot be used as one ({raw2})",
                text=_available_ports_text(),
                raw=repr(device),
                raw2=error,
            )


def _available_ports_text() -> Message:
    if not (ports := found_ports()):
        return phrase("available: none; is it plugged in?")
    return phrase("available: {raw}", raw=", ".join(port.device for port in ports))


class PortInfo(NamedTuple):
    """A serial port of this machine.

    `lasting` is a persistent name under BY_ID, empty if there is none.
    """

    device: str
    lasting: str
    description: str


def found_ports() -> list[PortInfo]:
    """List the serial ports of this machine that have a device, sorted by device name."""
    names = {str(name.resolve()): str(name) for name in sorted(BY_ID.glob("*"))}
    ports = sorted(list_ports.comports(), key=lambda port: port.device)
    return [
        PortInfo(
            port.device,
            names.get(port.device, ""),
            "" if port.description in (None, "n/a") else port.description,
        )
        for port in ports
    ]
