"""Pins of a Pi, on gpiozero's mock pins: which states they go through, in order and in number."""

from __future__ import annotations

import queue
import sys
from types import SimpleNamespace

import pytest

from hardware.backends import gpio
from hardware.backends.gpio import GpioButtons, GpioDice, GpioLamps, open_pins
from hardware.cues import LAMP_RGB, Cue
from hardware.dice_display import PIPS
from table.errors import InputError


def states(pins, number):
    return [state.state for state in pins.pin(number).states]


def test_lamps_fade_between_two_levels_and_stay_as_long_as_the_scene(pins):
    lamps = GpioLamps(pins, [(12,), (13,)], (4, 5, 6))
    cue = Cue("turn", ("red", "blue"), of=("red",))
    for at_ms in (0, 450, 900, 1350, 1800 - 1, 1800 + 900, 3600 - 1):
        lamps.step(cue, at_ms)
    assert states(pins, 12) == pytest.approx([0, 0.4, 0.55, 0.7, 0.85, 1, 0.7, 0.4], abs=1e-3)
    assert states(pins, 13) == states(pins, 4) == [0]
    lamps.close()
    assert pins.pin(12).function == "input"


def test_lamps_neither_flicker_nor_keep_the_processor_busy(pins):
    """People see flicker below 100 Hz, and jerks below 25 steps a second; lgpio times every pulse
    in software.
    """
    lamps = GpioLamps(pins, [(12,)], (4,))
    assert 100 < pins.pin(12).frequency < 500
    assert 25 < 1 / lamps.interval_s < 100
    lamps.close()


def test_a_refusal_is_three_flashes_of_the_verdict_and_the_player(pins):
    lamps = GpioLamps(pins, [(12, 13, 17)], (4, 5, 6))
    cue = Cue("refused", ("yellow",), of=("yellow",))
    for at_ms in range(0, 1500, 10):
        lamps.step(cue, at_ms)
    assert states(pins, 4) == [0, 1, 0, 1, 0, 1, 0]
    assert states(pins, 5) == states(pins, 6) == [0]
    red, green, blue = (part / 255 for part in LAMP_RGB["yellow"])
    assert states(pins, 12) == [0, red] + [0, red] * 2 + [0]
    assert states(pins, 13) == pytest.approx([0, green] + [0, green] * 2 + [0])
    assert (states(pins, 17), blue) == ([0], 0)


def test_a_pin_that_stays_as_it_is_is_left_alone(pins):
    lamps = GpioLamps(pins, [(12,)], (4,))
    for at_ms in range(1000):
        lamps.step(Cue("hand", ("red",), leader="red"), at_ms)
    assert states(pins, 12) == [0, 0.25]
    assert states(pins, 4) == [0, 0.15]


def test_lamps_that_light_on_a_low_pin_are_dark_at_first(pins):
    lamps = GpioLamps(pins, [(12,)], (4,), active_high=False)
    assert pins.pin(12).state == 1
    lamps.step(Cue("over", ("red",), of=("red",)), 0)
    assert (pins.pin(12).state, pins.pin(4).state) == (0, 0)


@pytest.mark.parametrize("value", range(1, 7))
def test_a_die_shows_its_pips(pins, value):
    dice = GpioDice(pins, [range(5, 12), range(12, 19)])
    dice.show((value, None))
    assert tuple(pins.pin(number).state for number in range(5, 12)) == PIPS[value]
    assert sum(PIPS[value]) == value
    assert not any(pins.pin(number).state for number in range(12, 19))
    with pytest.raises(ValueError, match="expected 2 values of 1 to 6 or None"):
        dice.show((value,))


def test_opposite_pips_are_lit_together():
    """Top left with bottom right, middle left with middle right, bottom left with top right, as on
    every die.
    """
    for pips in PIPS.values():
        assert (pips[0], pips[1], pips[2]) == (pips[6], pips[5], pips[4])


def test_buttons_that_bounce_are_pressed_once(pins):
    buttons = GpioButtons(pins, {"die": 17, "next": 27})
    received = queue.Queue()
    buttons.listen(received.put)
    for bounce in range(3):
        pins.pin(17).drive_low()
        if bounce < 2:
            pins.pin(17).drive_high()
    assert (press := received.get(timeout=20)).button == "die"
    assert press.kind == "down"
    pins.pin(17).drive_high()
    assert received.get(timeout=20).kind == "short"
    pins.pin(27).drive_low()
    assert [received.get(timeout=20).kind for _ in range(2)] == ["down", "long"]
    pins.pin(27).drive_high()
    buttons.close()
    assert received.empty()
    assert pins.pin(17).pull == "up"


def test_a_pin_that_is_taken_is_told_with_its_setting(pins):
    _held = GpioLamps(pins, [(12,)], (4,))
    with pytest.raises(
        InputError,
        match=(r"^hardware\.buttons\.die: expected a free pin, but the library reports: .*GPIO4"),
    ):
        GpioButtons(pins, {"die": 4})


def test_pins_are_never_replaced_by_others():
    """Without lgpio there is an error that says so, whatever else gpiozero could use."""
    for library, package in (("lgpio", "python3-lgpio"), ("rpigpio", "python3-rpi-lgpio")):
        says = rf"^hardware\.pins: {library} is not installed .*apt install {package} && make PI=1$"
        with pytest.raises(InputError, match=says) as caught:
            open_pins(library)
        assert "\n" not in str(caught.value)


@pytest.fixture
def lgpio(monkeypatch):
    """lgpio(says): a library of this name that cannot open the pins, or can where it says
    nothing.
    """

    def install(says):
        def factory():
            if says:
                raise Exception(says)
            return "pins"

        monkeypatch.setitem(
            sys.modules, "gpiozero.pins.lgpio", SimpleNamespace(LGPIOFactory=factory)
        )

    return install


@pytest.mark.parametrize(
    ("may", "what"),
    [
        (True, "is this a Raspberry Pi?"),
        (False, "no permission; run: sudo usermod -aG gpio $USER, then log in again"),
    ],
)
def test_no_permission_on_the_pins_says_what_to_do(lgpio, monkeypatch, tmp_path, may, what):
    (tmp_path / "gpiochip0").touch()
    monkeypatch.setattr(gpio, "DEV", tmp_path)
    monkeypatch.setattr(gpio.os, "access", lambda path, _mode: may or path == ".")
    monkeypatch.delenv("LG_WD", raising=False)
    lgpio("can not open gpiochip")
    with pytest.raises(InputError) as caught:
        open_pins("lgpio")
    assert (
        str(caught.value)
        == "hardware.pins: expected pins that lgpio can use, but it reports: can not open gpiochip;"
        f" {what}"
    )


def test_a_folder_of_lgpio_that_is_not_there_is_named(lgpio, monkeypatch):
    monkeypatch.setattr(gpio.os, "environ", {"LG_WD": "/not/there"})
    lgpio("can not create pipe")
    with pytest.raises(
        InputError,
        match=(
            r"but it reports: can not create pipe; set LG_WD to a writable folder, now it is"
            r" '/not/there'$"
        ),
    ):
        open_pins("lgpio")


@pytest.mark.parametrize("runtime", ["", "/run/rinkside", "/run/rinkside:/run/other"])
def test_lgpio_is_given_a_folder_that_it_may_write_to(lgpio, monkeypatch, tmp_path, runtime):
    """A service begins in `/`, where lgpio cannot make its pipe."""
    monkeypatch.setattr(gpio.tempfile, "mkdtemp", lambda prefix: f"{tmp_path}/{prefix}1")
    monkeypatch.setattr(gpio.os, "access", lambda _path, _mode: False)
    monkeypatch.setattr(gpio.os, "environ", {"RUNTIME_DIRECTORY": runtime})
    lgpio("")
    assert open_pins("lgpio") == "pins"
    assert gpio.os.environ["LG_WD"] == (runtime.split(":")[0] or f"{tmp_path}/rinkside-1")
    gpio.os.environ["LG_WD"] = "/named/by/hand"
    open_pins("lgpio")
    assert gpio.os.environ["LG_WD"] == "/named/by/hand"
