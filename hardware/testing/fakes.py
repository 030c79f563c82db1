"""Hardware that is not there, for trials and for tests.

It keeps to the limits of the real thing, and remembers what it did.
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
    """Remembers every cue in `cues`; a cue that is shown again is one."""

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
    """Remembers in `shown` what the dice showed."""

    def __init__(self, count: int = 2) -> None:
        self.error, self.count = "", count
        self.shown: list[Faces] = []

    def show(self, faces: Faces) -> None:
        check_faces(faces, self.count)
        self.shown.append(faces)

    def close(self) -> None:
        self.show((None,) * self.count)


class FakeButtons:
    """Buttons with contacts that bounce, pressed by `press` on a clock of their own."""

    BOUNCES_MS = (0.0, 0.8, 1.5, 3.0, 4.5)

    def __init__(self) -> None:
        self.error = ""
        self.now_ms = 0.0
        self._buttons: dict[str, Presses] = {}
        self._tell: Callable[[Press], None] = lambda _press: None

    def listen(self, tell: Callable[[Press], None]) -> None:
        self._tell = tell

    def press(self, button: str, held_ms: float = 100.0, after_ms: float = 1000.0) -> None:
        """Press a button for so long; `after_ms` goes by before the next press."""
        self.hold(button, held_ms)
        self.release(button, after_ms)

    def hold(self, button: str, held_ms: float) -> None:
        """Press a button, and hold it for so long already."""
        self._turn(button, True, held_ms)

    def release(self, button: str, after_ms: float = 1000.0) -> None:
        """Let a button go; `after_ms` goes by."""
        self._turn(button, False, after_ms)

    def _turn(self, button: str, down: bool, wait_ms: float) -> None:
        self._contact(button, down)
        self.now_ms += wait_ms
        self._report(self._buttons[button].tick(self.now_ms))

    def _contact(self, button: str, down: bool) -> None:
        """The level goes to and fro before it stands."""
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
    """Remembers in `played` what was to be heard."""

    def __init__(self) -> None:
        self.error = ""
        self.played: list[Cue] = []

    def play(self, cue: Cue) -> None:
        self.played.append(cue)

    def close(self) -> None:
        """There is nothing to let go."""


class FakeOutput:
    """Remembers in `shown` what it showed."""

    def __init__(self) -> None:
        self.error = ""
        self.shown: list[Scoreboard] = []

    def show(self, board: Scoreboard) -> None:
        self.shown.append(board)

    def close(self) -> None:
        """There is nothing to let go."""


class FakeCalliper:
    """A calliper that is read by `send`."""

    def __init__(self) -> None:
        self.error = ""
        self._tell: Callable[[Reading], None] = lambda _reading: None

    def listen(self, tell: Callable[[Reading], None]) -> None:
        self._tell = tell

    def send(self, line: str) -> None:
        """A line as a calliper sends it; what is no length is not told of."""
        if reading := parse_reading(line):
            self._tell(reading)

    def close(self) -> None:
        self.listen(lambda _reading: None)


class FakeVoice:
    """Remembers in `message` what was said."""

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
    """Remembers in `kept` what is retained by topic, and in `passed` what only went by.

    `connect` and `cut` make a connection and lose it, `publish` is what somebody else sends.
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
        """A new connection to a broker that keeps nothing over a restart."""
        self.kept.clear()
        self.connected, self.error = True, ""
        self.connections += 1

    def cut(self, error: str = "the connection to mqtt://fake is lost") -> None:
        """Lose the connection."""
        self.connected, self.error = False, error

    def publish(self, topic: str, payload: bytes) -> None:
        """A message of somebody else, which is told of if its topic is listened to."""
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
