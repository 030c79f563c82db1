"""Lamps, dice, buttons, buzzers and outputs of other packages, found by entry points.

An entry point is a `DevicePlugin` whose name is the `kind` in the settings. The device is wrapped
in a guard: its exceptions become its `error`, and the game goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from hardware.cues import Cue
from hardware.interfaces import Faces, Press, check_faces
from hardware.scoreboard import Scoreboard
from table.errors import InputError, MessageError
from table.json_data import JsonObject
from table.languages import Language
from table.messages import as_message, msg
from table.plugins import Failed, Found, Guard, find_versioned
from table.solids import Array

INTERFACE = 1
"""Version of the device interface; plugins for another version are not used."""
GROUPS = {
    "lamps": "rinkside.lamps",
    "dice": "rinkside.dice",
    "buttons": "rinkside.buttons",
    "buzzer": "rinkside.sounds",
    "output": "rinkside.outputs",
}
"""Entry-point group of each part that other packages may provide."""
METHODS = {
    "lamps": ("show", "close"),
    "dice": ("show", "close", "count"),
    "buttons": ("listen", "close"),
    "buzzer": ("play", "close"),
    "output": ("show", "close"),
}
"""Members of each part's interface in `hardware.interfaces`, beside `error`."""
ANSWER_S = 2.0
"""Time limit of a call in s, as the caller waits for it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Place of the devices: outline (n, 2) of the board in mm, and the language of texts."""

    outline_mm: Array
    language: Language


@dataclass(frozen=True, slots=True)
class DevicePlugin:
    """A device of another package.

    `open(options, place)` returns the part's interface of `hardware.interfaces`. `options` are the
    settings beside `kind`; it raises InputError for wrong ones. `interface` is the version of the
    interface that it implements.
    """

    open: Callable[[JsonObject, Place], Any]
    interface: int


@cache
def device_plugins(part: str) -> Found[DevicePlugin]:
    """Plugins for a part, found once per process; broken ones are logged."""
    return find_versioned(GROUPS[part], DevicePlugin, INTERFACE, "devices").logged(part)


def open_plugin(part: str, kind: str, options: JsonObject, place: Place) -> GuardedDevice:
    """Open a plugin's device; raises InputError that names the setting."""
    found = device_plugins(part)
    try:
        device = found.opened(
            kind,
            lambda plugin: plugin.open(options, place),
            METHODS[part],
            f"expected {part}, they have no",
        )
    except InputError as error:
        setting = f"hardware.{part}"
        raise InputError(msg("{raw}: {text}", raw=setting, text=error.message)) from error
    return GuardedDevice(device, Guard(found.plugins[kind], lambda: ANSWER_S))


class GuardedDevice:
    """A device of another package as any part: lamps, dice, buttons, a buzzer or an output."""

    def __init__(self, device: Any, guard: Guard) -> None:
        self._device, self._guard = device, guard
        self._failed = ""
        self._tell: Callable[[Press], None] = lambda _press: None

    @property
    def error(self) -> str:
        """Reason why it does not work now: the last failure, or its own error."""
        if self._failed:
            return self._failed
        try:
            return self._guard.answer("error", lambda: _text(getattr(self._device, "error", "")))
        except Failed as failed:
            return failed.message

    @property
    def count(self) -> int:
        """Number of dice, 1 or 2; 1 where it is unknown."""
        found = self._do("count", lambda: self._device.count)
        return found if found in (1, 2) else 1

    def show(self, shown: Cue | Faces | Scoreboard) -> None:
        """As in `hardware.interfaces`; raises ValueError for values that dice do not have."""
        if not isinstance(shown, Cue | Scoreboard):
            check_faces(shown, self.count)
        self._do("show", partial(self._device.show, shown))

    def play(self, cue: Cue) -> None:
        """As `Buzzer.play`."""
        self._do("play", partial(self._device.play, cue))

    def listen(self, tell: Callable[[Press], None]) -> None:
        """As `Buttons.listen`; anything but a Press becomes an error."""
        self._tell = tell
        self._do("listen", partial(self._device.listen, self._forward_press))

    def close(self) -> None:
        """Close the device; may be called twice."""
        self._tell = lambda _press: None
        self._do("close", self._device.close)

    def _forward_press(self, press: object) -> None:
        if isinstance(press, Press) and isinstance(press.button, str):
            self._tell(press)
            return

        def no_press() -> None:
            raise ValueError(f"expected a Press, got {press!r:.60}")

        self._do("a press", no_press)

    def _do(self, what: str, call: Callable[[], Any]) -> Any:
        """Call the device; None if it fails, and then `error` is set until a call succeeds."""
        try:
            done = self._guard.answer(what, call, (MessageError,))
        except MessageError as error:  # Failed or DeviceLost
            self._failed = error.message
            return None
        self._failed = ""
        return done


def _text(error: object) -> str:
    return as_message(error) if isinstance(error, str) else f"expected text, got {error!r:.60}"
