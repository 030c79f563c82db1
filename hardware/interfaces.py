"""Interfaces of the devices on the table.

Every interface has `error`: the reason why it does not work now, empty if it works.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal, Protocol

from hardware.cues import Cue
from hardware.mqtt_settings import MqttSettings
from hardware.scoreboard import Scoreboard
from table.errors import MessageError
from table.languages import Language

Faces = tuple[int | None, ...]
"""Value of each die, 1 to 6; None: dark."""
PressKind = Literal["down", "short", "double", "long"]


class DeviceLost(MessageError):  # noqa: N818 - what happened
    """A device no longer takes or gives data; the text says why.

    The device's owner opens it again.
    """


@dataclass(frozen=True, slots=True)
class Press:
    """A press of a button, named as in the settings.

    `down` is reported at once, and `short`, `double` or `long` after it. `at_ms` is the time at
    which it was pressed down, on the reading program's clock. `by` says in the log who pressed it.
    """

    button: str
    kind: PressKind
    at_ms: float
    by: str = "a button"


@dataclass(frozen=True, slots=True)
class Reading:
    """A length that a calliper sent."""

    mm: float


class Lamps(Protocol):
    """Lamps that play a cue on their own until the next one."""

    @property
    def error(self) -> str:
        """Reason why they do not work now; empty if they do."""

    def show(self, cue: Cue) -> None:
        """Show a cue from now on, in place of the one before; returns at once.

        It never waits for the device.
        """

    def close(self) -> None:
        """Turn off and close the device."""


class Dice(Protocol):
    """One or two dice of seven lamps each."""

    @property
    def error(self) -> str:
        """Reason why they do not work now; empty if they do."""

    @property
    def count(self) -> int:
        """Number of dice."""

    def show(self, faces: Faces) -> None:
        """Show these values. Raises ValueError unless there is one per die, 1 to 6 or None."""

    def close(self) -> None:
        """Close the device."""


class Buttons(Protocol):
    """Buttons, named by their function."""

    @property
    def error(self) -> str:
        """Reason why they do not work now; empty if they do."""

    def listen(self, tell: Callable[[Press], None]) -> None:
        """Call `tell` for every press from now on, from a thread of the device."""

    def close(self) -> None:
        """Close the device."""


class Buzzer(Protocol):
    """A device that makes sounds."""

    @property
    def error(self) -> str:
        """Reason why it does not work now; empty if it does."""

    def play(self, cue: Cue) -> None:
        """Sound a cue's rhythm once, in place of the one before; returns at once."""

    def close(self) -> None:
        """Close the device."""


class Output(Protocol):
    """A device that shows the score: digits, electronic paper, a file."""

    @property
    def error(self) -> str:
        """Reason why it does not work now; empty if it does."""

    def show(self, board: Scoreboard) -> None:
        """Show this from now on, in place of what was shown; returns at once."""

    def close(self) -> None:
        """Clear and close the device."""


class Calliper(Protocol):
    """A calliper that sends its readings."""

    @property
    def error(self) -> str:
        """Reason why it does not work now; empty if it does."""

    def listen(self, tell: Callable[[Reading], None]) -> None:
        """Call `tell` for every reading from now on, from a thread of the device."""

    def close(self) -> None:
        """Close the device."""


class Voice(Protocol):
    """A device that speaks."""

    @property
    def language(self) -> Language:
        """Language that it speaks."""

    @property
    def error(self) -> str:
        """Reason why it does not work now; empty if it does."""

    def say(self, words: str) -> None:
        """Speak a sentence or two, in place of the current one; returns at once."""

    def close(self) -> None:
        """Close the device."""


class Broker(Protocol):
    """A message broker for home automation: state out, presses of buttons in."""

    @property
    def settings(self) -> MqttSettings:
        """Topics used, and the broker's settings."""

    @property
    def language(self) -> Language:
        """Language of texts for people."""

    @property
    def error(self) -> str:
        """Reason why it does not work now; empty if it does."""

    @property
    def connected(self) -> bool:
        """True while the broker is connected."""

    @property
    def connections(self) -> int:
        """Number of connections made so far. After each, the state has to be sent again."""

    def listen(self, topics: Collection[str], tell: Callable[[str, bytes], object]) -> None:
        """Call `tell` with the topic and payload of each message, from the broker's thread.

        Retained messages are left out: they are old.
        """

    def send(self, topic: str, payload: str, retain: bool = True) -> None:
        """Send a message, retained if `retain`; without a connection it is dropped."""

    def close(self) -> None:
        """Close the connection."""


def check_faces(faces: Faces, count: int) -> None:
    """Raise ValueError unless `faces` are `count` values of 1 to 6 or None."""
    if len(faces) != count or any(face is not None and face not in range(1, 7) for face in faces):
        raise ValueError(f"expected {count} values of 1 to 6 or None, got {faces!r}")
