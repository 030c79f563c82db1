"""Fake devices for trials and tests.

They have the limits of the real devices, and record what they did.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from hardware.backends.caliper import parse_reading
from hardware.cues import DARK, Cue
from hardware.interfaces import Faces, Press, Reading, check_faces
from hardware.mqtt_settings import MqttSettings
from hardware.press_detector import Presses
from hardware.scoreboard import Scoreboard
from table.languages import Language


class FakeLamps:
    """Records every cue in `cues`; an equal cue in succession is recorded once."""

    def __init__(self) -> None:
        self.error = ""
        self.cues: list[Cue] = [DARK]
        self.closed = False

    def show(self, cue: Cue) -> None:
        if self.closed:
            raise ValueError("the lamps were closed")
        if cue != self.cues[-1]:
            self.cues.append(cue)

    def close(self) -> None:
        if not self.closed:
            self.show(DARK)
        self.closed = True


class FakeDice:
    """Records in `shown` the faces of the dice."""

    def __init__(self, count: int = 2) -> None:
        self.error, self.count = "", count
        self.shown: list[Faces] = []

    def show(self, faces: Faces) -> None:
        check_faces(faces, self.count)
        self.shown.append(faces)

    def close(self) -> None:
        self.show((None,) * self.count)


class FakeButtons:
    """Buttons with bouncing contacts, pressed by `press` on their own clock."""

    BOUNCES_MS = (0.0, 0.8, 1.5, 3.0, 4.5)

    def __init__(self) -> None:
        self.error = ""
        self.now_ms = 0.0
        self._buttons: dict[str, Presses] = {}
        self._tell: Callable[[Press], None] = lambda _press: None

    def listen(self, tell: Callable[[Press], None]) -> None:
        self._tell = tell

    def press(self, button: str, held_ms: float = 100.0, after_ms: float = 1000.0) -> None:
        """Press a button for `held_ms`, then let `after_ms` pass."""
        self.hold(button, held_ms)
        self.release(button, after_ms)

    def hold(self, button: str, held_ms: float) -> None:
        """Press a button and hold it for `held_ms`, without releasing it."""
        self._turn(button, True, held_ms)

    def release(self, button: str, after_ms: float = 1000.0) -> None:
        """Release a button, then let `after_ms` pass."""
        self._turn(button, False, after_ms)

    def _turn(self, button: str, down: bool, wait_ms: float) -> None:
        self._contact(button, down)
        self.now_ms += wait_ms
        self._report(self._buttons[button].tick(self.now_ms))

    def _contact(self, button: str, down: bool) -> None:
        """Change the level, with bounces."""
        for bounce, bounce_ms in enumerate(self.BOUNCES_MS):
            self._report(
                self._buttons.setdefault(button, Presses(button)).edge(
                    down == (bounce % 2 == 0), self.now_ms + bounce_ms
                )
            )

    def _report(self, presses: list[Press]) -> None:
        for press in presses:
            self._tell(press)

    def close(self) -> None:
        self.listen(lambda _press: None)


class FakeBuzzer:
    """Records in `played` the cues that it was given."""

    def __init__(self) -> None:
        self.error = ""
        self.played: list[Cue] = []

    def play(self, cue: Cue) -> None:
        self.played.append(cue)

    def close(self) -> None:
        """Do nothing."""


class FakeOutput:
    """Records in `shown` what it was given."""

    def __init__(self) -> None:
        self.error = ""
        self.shown: list[Scoreboard] = []

    def show(self, board: Scoreboard) -> None:
        self.shown.append(board)

    def close(self) -> None:
        """Do nothing."""


class FakeCalliper:
    """A calliper whose lines are given by `send`."""

    def __init__(self) -> None:
        self.error = ""
        self._tell: Callable[[Reading], None] = lambda _reading: None

    def listen(self, tell: Callable[[Reading], None]) -> None:
        self._tell = tell

    def send(self, line: str) -> None:
        """Take a line as a calliper sends it; one that is no length is ignored."""
        if reading := parse_reading(line):
            self._tell(reading)

    def close(self) -> None:
        self.listen(lambda _reading: None)


class FakeVoice:
    """Records in `message` what was said."""

    def __init__(self, language: Language = "en") -> None:
        self.language = language
        self.error = ""
        self.message: list[str] = []
        self.closed = False

    def say(self, words: str) -> None:
        if self.closed:
            raise ValueError("the voice was closed")
        self.message.append(words)

    def close(self) -> None:
        self.closed = True


class FakeBroker:
    """Records retained messages by topic in `kept`, and others in `passed`.

    `connect` and `cut` make and lose a connection; `publish` is a message of another client.
    """

    def __init__(
        self,
        settings: MqttSettings | None = None,
        language: Language = "en",
        connected: bool = True,
    ) -> None:
        self.settings = settings or MqttSettings(url="mqtt://fake")
        self.language = self.settings.language or language
        self.error = ""
        self.connected, self.connections = connected, int(connected)
        self.kept: dict[str, str] = {}
        self.passed: list[tuple[str, str]] = []
        self._topics: tuple[str, ...] = ()
        self._tell: Callable[[str, bytes], object] = lambda _topic, _payload: None

    def connect(self) -> None:
        """Connect to a broker that keeps nothing over a restart."""
        self.kept.clear()
        self.connected, self.error = True, ""
        self.connections += 1

    def cut(self, error: str = "the connection to mqtt://fake is lost") -> None:
        """Lose the connection."""
        self.connected, self.error = False, error

    def publish(self, topic: str, payload: bytes) -> None:
        """Deliver a message of another client if its topic is subscribed."""
        if self.connected and topic in self._topics:
            self._tell(topic, payload)

    def listen(self, topics: Collection[str], tell: Callable[[str, bytes], object]) -> None:
        self._topics, self._tell = tuple(topics), tell

    def send(self, topic: str, payload: str, retain: bool = True) -> None:
        if not self.connected:
            return
        if retain:
            self.kept[topic] = payload
        else:
            self.passed.append((topic, payload))

    def close(self) -> None:
        self.connected = False
