"""Settings: every mistake is one line that names the setting, and what is good opens what it
names.
"""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path

import pytest

from hardware.factory import open_devices
from hardware.settings import HardwareSettings, load_settings, parse_settings, used_pins
from table.errors import InputError

MISTAKES = tomllib.loads(Path(__file__).with_name("mistakes.toml").read_text())["mistake"]


@pytest.mark.parametrize(
    "mistake", MISTAKES, ids=[mistake["settings"][:60] for mistake in MISTAKES]
)
def test_a_mistake_is_told_in_one_line(mistake):
    raw = tomllib.loads("\n".join(["[hardware]", mistake["settings"], mistake.get("also", "")]))
    with pytest.raises(InputError) as caught:
        parse_settings(raw, "rinkside.toml")
    assert str(caught.value).startswith(mistake["says"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "rinkside.toml: hardware: expected a table [hardware], got none"),
        ("hardware = 3", "rinkside.toml: hardware: expected a table [hardware], got 3"),
        ("[hardware", "expected TOML: Expected ']'"),
    ],
)
def test_a_file_that_is_no_settings(tmp_path, text, says):
    (tmp_path / "rinkside.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        load_settings(tmp_path / "rinkside.toml")
    assert says in str(caught.value)


def test_nothing_is_connected_that_is_not_named():
    assert parse_settings({"hardware": {}}, "rinkside.toml") == HardwareSettings()


def test_every_pin_is_known_with_its_setting():
    text = """
        [hardware.lamps]
        kind = "gpio"
        players = [5, [6, 7, 8]]
        verdict = 9
        [hardware.dice]
        kind = "gpio"
        pips = [[10, 11, 12, 13, 14, 15, 16]]
        [hardware.buttons]
        kind = "gpio"
        die = 17
        [hardware.buzzer]
        kind = "gpio"
        pin = 18
    """
    pins = list(used_pins(parse_settings(tomllib.loads(text), "")))
    assert [pin for _, pin in pins] == list(range(5, 19))
    assert pins[1] == ("hardware.lamps.players[1]", 6)


def opened(outline, **table):
    return open_devices(
        parse_settings({"hardware": table}, "rinkside.toml"), outline, lambda _text: None
    )


def test_a_rig_of_fakes(outline):
    devices = opened(
        outline,
        **{
            part: {"kind": "fake"}
            for part in ("lamps", "dice", "buttons", "buzzer", "output", "calliper", "voice")
        },
    )
    assert devices.errors == {}
    devices.lamps.error = "connection lost"
    assert devices.errors == {"lamps": "connection lost"}
    devices.close()
    assert devices.lamps.closed


def test_a_rig_on_pins(outline):
    """Mock pins are chosen by name as all others are."""
    devices = opened(
        outline,
        pins="mock",
        lamps={"kind": "gpio", "players": [5], "verdict": 6},
        dice={"kind": "gpio", "pips": [[7, 8, 9, 10, 11, 12, 13]]},
        buttons={"kind": "gpio", "die": 14},
        buzzer={"kind": "gpio", "pin": 15},
    )
    devices.dice.show((6,))
    assert (devices.dice.count, devices.calliper, devices.errors) == (1, None, {})
    devices.close()


def test_a_rig_on_a_strip(outline, wled, pump_until):
    devices = opened(
        outline,
        lamps={"kind": "wled", "device": str(wled.path), "leds": 93},
        dice={"kind": "wled"},
        buzzer={"kind": "terminal"},
    )
    devices.dice.show((1,))
    pump_until(wled, lambda: any(wled.firmware.pixels[96]))
    devices.close()
    pump_until(wled, lambda: not any(wled.firmware.pixels[96]))


def test_what_is_wrong_leaves_nothing_open(outline, wled):
    lamps = {"kind": "wled", "device": str(wled.path), "leds": 93}
    with pytest.raises(
        InputError,
        match=(
            r"^hardware\.calliper\.device: expected a serial port of this machine, got"
            r" '/dev/not-there', which does not exist"
        ),
    ):
        opened(outline, lamps=lamps, calliper={"kind": "serial", "device": "/dev/not-there"})
    devices = opened(outline, lamps=lamps)
    with pytest.raises(
        InputError,
        match=(
            r"^hardware\.lamps\.device: expected a free port, got .*, which another program"
            r" is using"
        ),
    ):
        opened(outline, lamps=lamps)
    devices.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may use every port")
def test_no_permission_on_the_port(outline, tmp_path):
    (tmp_path / "tty").touch()
    (tmp_path / "tty").chmod(0)
    with pytest.raises(InputError, match="no permission; run: sudo usermod -aG dialout"):
        opened(outline, lamps={"kind": "wled", "device": str(tmp_path / "tty"), "leds": 93})


def test_no_permission_says_what_to_do(outline, monkeypatch):
    def refuse(*_args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("serial.serialposix.os.open", refuse)
    with pytest.raises(
        InputError,
        match=(
            r"^hardware\.board: expected a port that you may use, got '/dev/ttyACM0': no"
            r" permission; run: sudo usermod -aG dialout"
        ),
    ):
        opened(outline, board="/dev/ttyACM0", buttons={"kind": "board"})


def test_two_names_of_one_port_are_one_port(tmp_path):
    (tmp_path / "ttyUSB0").touch()
    (tmp_path / "by-id").symlink_to(tmp_path / "ttyUSB0")
    table = {
        "board": str(tmp_path / "ttyUSB0"),
        "calliper": {"kind": "serial", "device": str(tmp_path / "by-id")},
    }
    with pytest.raises(
        InputError,
        match=(
            r"hardware\.board: expected a port of its own, got '.*USB0', which"
            r" hardware\.calliper\.device already uses"
        ),
    ):
        parse_settings({"hardware": table}, "rinkside.toml")


def test_a_file_is_no_port(outline, tmp_path):
    (tmp_path / "file").touch()
    assert stat.S_ISREG((tmp_path / "file").stat().st_mode)
    with pytest.raises(
        InputError,
        match=r"^hardware\.lamps\.device: expected a serial port \(available: .*\), got .*ioctl",
    ):
        opened(outline, lamps={"kind": "wled", "device": str(tmp_path / "file"), "leds": 93})


@pytest.mark.parametrize("pin", [2, 3, 5, 27])
def test_every_pin_of_the_header_may_be_used(pin):
    table = {"hardware": {"buzzer": {"kind": "gpio", "pin": pin}}}
    assert parse_settings(table, "rinkside.toml").buzzer.pin == pin


@pytest.mark.parametrize(("length", "whole"), [(80, True), (190, True), (400, False)])
def test_the_long_name_of_a_port_is_quoted_and_one_without_end_is_not(length, whole):
    """Those under /dev/serial/by-id have up to 150 characters."""
    device = "/dev/" + "x" * (length - 5)
    table = {"board": device, "calliper": {"kind": "serial", "device": device}}
    with pytest.raises(InputError, match="which hardware") as caught:
        parse_settings({"hardware": table}, "rinkside.toml")
    assert (device in str(caught.value)) == whole
    assert len(str(caught.value)) < 400
