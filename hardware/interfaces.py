"""What the referee needs of things on the table.

Every interface says in `error` why it does not work just now; empty: it does.
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
"""One value a die, 1 to 6; None: dark."""
PressKind = Literal["down", "short", "double", "long"]


class DeviceLost(MessageError):  # noqa: N818 - what happened
    """A device does not take or give anything any more; its text says why.

    Whoever owns it opens it again.
    """


@dataclass(frozen=True, slots=True)
class Press:
    """A button, by the name that settings give it, and how it was pressed.

    `down` comes at once, what it became after it.

    `at_ms` is when it was pressed down, on the clock of the program that reads it. `by` is who
    pressed it, as it is kept in the log.
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
    """Lamps that show cues by themselves until the next one."""

    @property
    def error(self) -> str:
        """Why it does not work just now; empty: it does."""

    def show(self, cue: Cue) -> None:
        """Show a cue from now on; only the latest counts.

        Returns at once, whatever the device does.
        """

    def close(self) -> None:
        """Go dark and let the device go."""


class Dice(Protocol):
    """One die or two, with seven lamps each."""

    @property
    def error(self) -> str:
        """Why it does not work just now; empty: it does."""

    @property
    def count(self) -> int:
        """How many dice there are."""

    def show(self, faces: Faces) -> None:
        """Show these values.  Raises ValueError where they are not one a die, 1 to 6 or None."""

    def close(self) -> None:
        """Let the device go."""


class Buttons(Protocol):
    """Buttons that are named by what they do."""

    @property
    def error(self) -> str:
        """Why it does not work just now; empty: it does."""

    def listen(self, tell: Callable[[Press], None]) -> None:
        """Tell of every press from now on, from a thread of the device."""

    def close(self) -> None:
        """Let the device go."""


class Buzzer(Protocol):
    """Something that can be heard."""

    @property
    def error(self) -> str:
        """Why it does not work just now; empty: it does."""

    def play(self, cue: Cue) -> None:
        """Let a cue's rhythm be heard once.  Returns at once; only the latest counts."""

    def close(self) -> None:
        """Let the device go."""


class Output(Protocol):
    """Something that shows the score: digits, electronic paper, a file."""

    @property
    def error(self) -> str:
        """Why it does not work just now; empty: it does."""

    def show(self, board: Scoreboard) -> None:
        """Show this from now on; only the latest counts.  Returns at once."""

    def close(self) -> None:
        """Go dark and let the device go."""


class Calliper(Protocol):
    """A calliper that sends what it measures."""

    @property
    def error(self) -> str:
        """Why it does not work just now; empty: it does."""

    def listen(self, tell: Callable[[Reading], None]) -> None:
        """Tell of every reading from now on, from a thread of the device."""

    def close(self) -> None:
        """Let the device go."""


class Voice(Protocol):
    """Something that speaks."""

    @property
    def language(self) -> Language:
        """What it speaks."""

    @property
    def error(self) -> str:
        """Why it does not work just now; empty: it does."""

    def say(self, words: str) -> None:
        """Say a sentence or two, instead of what is being said.  Returns at once."""

    def close(self) -> None:
        """Let the device go."""


class Broker(Protocol):
    """A broker of messages, for a home's automation: state out, presses of buttons in."""

    @property
    def settings(self) -> MqttSettings:
        """Which topics are used, and for what."""

    @property
    def language(self) -> Language:
        """What people are told there."""

    @property
    def error(self) -> str:
        """Why it does not work just now; empty: it does."""

    @property
    def connected(self) -> bool:
        """True while the broker is connected."""

    @property
    def connections(self) -> int:
        """How often a connection was made; a new one knows nothing of what was sent before."""

    def listen(self, topics: Collection[str], tell: Callable[[str, bytes], object]) -> None:
        """Tell of the topic and payload of each message, from a thread of the broker's.

        What was kept there before is not told of: it is old.
        """

    def send(self, topic: str, payload: str, retain: bool = True) -> None:
        """Send a message, to be kept there if `retain`; without a connection it is dropped.

        May take a few seconds.
        """

    def close(self) -> None:
        """Let the broker go."""


def check_faces(faces: Faces, count: int) -> None:
    """Raises ValueError where `faces` are not `count` values of 1 to 6 or None."""
    if len(faces) != count or any(face is not None and face not in range(1, 7) for face in faces):
        raise ValueError(f"expected {count} values of 1 to 6 or None, got {faces!r}")
