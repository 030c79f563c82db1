"""Lamps, dice, buttons and a buzzer on the pins of a Raspberry Pi, by gpiozero.

Only the pin library named in the settings is used. gpiozero's own choice falls back silently, and
only lgpio works on a Pi 5 (https://gpiozero.readthedocs.io/en/stable/api_pins.html).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from math import isclose
from pathlib import Path
from typing import Any

from gpiozero import Button, DigitalOutputDevice, PWMOutputDevice
from gpiozero.pins import Factory

from hardware.buzzer import Beeps
from hardware.cues import Cue
from hardware.dice_display import PIPS
from hardware.interfaces import Faces, Press, check_faces
from hardware.lamp_levels import lanterns
from hardware.press_reader import PressReader
from hardware.settings import Library
from table.errors import InputError
from table.messages import Message, msg, phrase

FRAMES_PER_S = 40
"""Rate of the lamps' updates. Fades look smooth from about 30 on."""
PWM_HZ = 200
"""PWM frequency: no visible flicker. lgpio generates it in software."""
DEV = Path("/dev")
PACKAGES: dict[Library, str] = {
    "lgpio": "python3-lgpio",
    "rpigpio": "python3-rpi-lgpio",
    "mock": "python3-gpiozero",
}
"""Debian package of each library. PyPI has no lgpio for Python 3.13, which Raspberry Pi OS Trixie
has.
"""
LG_WD = "LG_WD"
"""Environment variable with the working directory in which lgpio creates a pipe; default: the
current one (joan2937/lg issues 12 and 22).
"""


def open_pins(library: Library) -> Factory:
    """Open the pins by the named library; raises InputError that says what is missing.

    lgpio needs a writable folder. Under systemd the current folder is `/`. If it is not writable
    and LG_WD is not set, the service's `RuntimeDirectory` is used, or else a temporary folder
    (gpiozero issue 1106).
    """
    try:
        match library:
            case "lgpio":
                if LG_WD not in os.environ and not os.access(".", os.W_OK):
                    # Several runtime directories are separated by colons.
                    os.environ[LG_WD] = os.environ.get("RUNTIME_DIRECTORY", "").partition(":")[
                        0
                    ] or tempfile.mkdtemp(prefix="rinkside-")
                from gpiozero.pins.lgpio import LGPIOFactory

                return LGPIOFactory()
            case "rpigpio":
                from gpiozero.pins.rpigpio import RPiGPIOFactory

                return RPiGPIOFactory()
            case "mock":
                from gpiozero.pins.mock import MockFactory, MockPWMPin

                return MockFactory(pin_class=MockPWMPin)
    except ImportError as error:
        raise InputError(
            msg(
                "hardware.pins: {library} is not installed ({raw}); run: sudo apt install"
                " {package} && make PI=1",
                library=library,
                raw=error,
                package=PACKAGES[library],
            )
        ) from error
    except (
        Exception
    ) as error:  # gpiozero's errors, OSError, and `lgpio.error`, which is a plain Exception
        raise InputError(
            msg(
                "hardware.pins: expected pins that {library} can use, but it reports:"
                " {raw}; {text}",
                library=library,
                raw=error,
                text=_remedy(library),
            )
        ) from error


def _remedy(library: Library) -> Message:
    """Advice for pins that cannot be opened."""
    if library == "lgpio" and LG_WD in os.environ and not os.access(os.environ[LG_WD], os.W_OK):
        return phrase(
            "set {raw} to a writable folder, now it is {raw2}",
            raw=LG_WD,
            raw2=repr(os.environ[LG_WD]),
        )
    if any(not os.access(chip, os.R_OK | os.W_OK) for chip in sorted(DEV.glob("gpiochip*"))):
        return phrase("no permission; run: sudo usermod -aG gpio $USER, then log in again")
    return phrase("is this a Raspberry Pi?")


def _claim(setting: str, device: Callable[..., Any], pin: int, pins: Factory, **how: Any) -> Any:
    """Open a device on a pin; raises InputError that names the setting."""
    try:
        return device(pin, pin_factory=pins, **how)
    except (
        Exception
    ) as error:  # gpiozero's errors and, if another program holds the pin, `lgpio.error`
        raise InputError(
            msg(
                "{setting}: expected a free pin, but the library reports: {raw}",
                setting=setting,
                raw=error,
            )
        ) from error


class GpioLamps:
    """One lamp per player and one for the verdict.

    Each has one pin, or three (red, green, blue).
    """

    interval_s = 1 / FRAMES_PER_S

    def __init__(
        self,
        pins: Factory,
        players: Sequence[Sequence[int]],
        verdict: Sequence[int],
        active_high: bool = True,
    ) -> None:
        """Take BCM numbers; `active_high` is False for lamps lit by a low pin (common anode)."""
        self._players = len(players)
        named = {
            f"hardware.lamps.players[{seat}]": numbers for seat, numbers in enumerate(players)
        } | {"hardware.lamps.verdict": verdict}
        how = {"active_high": active_high, "frequency": PWM_HZ}
        self._lamps = [
            [_claim(setting, PWMOutputDevice, number, pins, **how) for number in numbers]
            for setting, numbers in named.items()
        ]

    def step(self, cue: Cue, since_ms: float) -> None:
        """Set the lamps for this moment; unchanged pins are not written."""
        for lamp, lantern in zip(self._lamps, lanterns(cue, since_ms, self._players), strict=True):
            values = [lantern.level] if len(lamp) == 1 else [part / 255 for part in lantern.lit]
            for pin, value in zip(lamp, values, strict=True):
                if not isclose(pin.value, value, abs_tol=1e-6):
                    pin.value = value

    def close(self) -> None:
        for lamp in self._lamps:
            for pin in lamp:
                pin.close()


class GpioDice:
    """Dice of seven lamps each, in the order of `hardware.dice_display.PIPS`."""

    error = ""

    def __init__(
        self, pins: Factory, dice: Sequence[Sequence[int]], active_high: bool = True
    ) -> None:
        self._dice = [
            [
                _claim(
                    f"hardware.dice.pips[{die}]",
                    DigitalOutputDevice,
                    number,
                    pins,
                    active_high=active_high,
                )
                for number in numbers
            ]
            for die, numbers in enumerate(dice)
        ]

    @property
    def count(self) -> int:
        return len(self._dice)

    def show(self, faces: Faces) -> None:
        check_faces(faces, self.count)
        for lamps, face in zip(self._dice, faces, strict=True):
            for lamp, lit in zip(lamps, PIPS[face or 0], strict=True):
                lamp.value = lit

    def close(self) -> None:
        for lamps in self._dice:
            for lamp in lamps:
                lamp.close()


class GpioButtons:
    """Buttons between a pin and ground, with the Pi's internal pull-up resistor."""

    error = ""

    def __init__(self, pins: Factory, buttons: Mapping[str, int]) -> None:
        self._buttons = {
            name: _claim(f"hardware.buttons.{name}", Button, number, pins, pull_up=True)
            for name, number in buttons.items()
        }
        self._reader: PressReader | None = None

    def listen(self, tell: Callable[[Press], None]) -> None:
        reader = self._reader = PressReader(tell)
        for name, button in self._buttons.items():
            button.when_activated = lambda name=name: reader.edge(name, True)
            button.when_deactivated = lambda name=name: reader.edge(name, False)

    def close(self) -> None:
        for button in self._buttons.values():
            button.close()
        if self._reader is not None:
            self._reader.close()


class GpioBuzzer(Beeps):
    """An active buzzer, which sounds while its pin is on."""

    def __init__(self, pins: Factory, pin: int, active_high: bool = True) -> None:
        self._pin = _claim(
            "hardware.buzzer.pin", DigitalOutputDevice, pin, pins, active_high=active_high
        )
        super().__init__(self._sound)

    def _sound(self, on: bool) -> None:
        self._pin.value = on

    def close(self) -> None:
        super().close()
        self._pin.close()
