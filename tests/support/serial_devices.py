"""Serial devices that are pumped by hand, and waiting for threads without looking at the clock."""

from __future__ import annotations

import pytest

from hardware.backends.serial_port import open_port
from hardware.testing.fake_serial import SerialDouble, WledFirmware

PATIENCE_S = 20.0
"""Only a thread that hangs takes so long; then the test fails."""


@pytest.fixture
def plugged(tmp_path):
    """plugged(firmware): a double on a pseudo-terminal, unplugged when the test is over."""
    doubles = []

    def plug(firmware):
        doubles.append(SerialDouble(tmp_path / f"tty{len(doubles)}", firmware))
        return doubles[-1]

    yield plug
    for double in doubles:
        double.unplug()


@pytest.fixture
def wled(plugged):
    """A strip of 100 lamps that runs WLED."""
    return plugged(WledFirmware(100))


@pytest.fixture
def opened():
    """opened(double): a port on it, closed when the test is over."""
    ports = []

    def make(double):
        ports.append(open_port(str(double.path), 115200, "hardware.lamps.device"))
        return ports[-1]

    yield make
    for port in ports:
        port.close()


@pytest.fixture
def pump_until():
    """pump_until(double, condition): read what threads send until something is so."""

    def pump(double, condition):
        waited_s = 0.0
        while not condition():
            if not double.pump(0.02):
                waited_s += 0.02
            assert waited_s < PATIENCE_S, "nothing came"

    return pump
