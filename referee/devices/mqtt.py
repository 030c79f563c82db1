"""Publish a table's state to a broker for home automation, and receive presses of buttons.

It reads the same view as the panel, and acts only by presses, as a button on the table does
(`referee.devices.controller`). It runs in its own thread, which may wait for the network.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Protocol

import msgspec

from hardware.interfaces import Broker, Press
from hardware.mqtt_settings import Command
from referee.devices.home_assistant import birth_topic, discovery, discovery_topic
from referee.devices.table_state import Answer, ruling_events, table_state
from referee.presentation.session_view import SessionView
from referee.sessions.events import Record
from referee.sessions.status import RefereeStatus
from table.languages import translation
from table.messages import any_of, msg

logger = logging.getLogger(__name__)

POLL_S = 0.1
"""Longest wait for a record in s, between two checks of the connection and the referee's status."""
MOST_COMMANDS, WITHIN_S = 8, 4.0
"""Most commands within a time in s; further ones are refused."""
LONGEST_COMMAND = 32
"""Longest command in bytes; longer ones are refused unread."""
MOST_ANSWERS = 16
"""Most answers waiting to be sent; the oldest are dropped."""
BY = "a button over MQTT"
"""Name of the sender in the log."""


class ShownSession(Protocol):
    """A session: `referee.sessions.session.Session`."""

    @property
    def closed(self) -> bool:
        """True once the session is closed."""

    def view(self) -> SessionView:
        """As `Session.view`."""

    def wait(self, after: int, timeout_s: float | None = None) -> tuple[Record, ...]:
        """As `Session.wait`."""


class ShownReferee(Protocol):
    """A referee at work: `referee.live.referee.Referee`."""

    @property
    def latest(self) -> RefereeStatus:
        """The referee's current status."""


class TableAtBroker:
    """Keeps a table's state at a broker up to date, and passes presses on."""

    def __init__(
        self,
        broker: Broker,
        session: ShownSession,
        referee: ShownReferee,
        press: Callable[[Press], object],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """The caller opens and closes the broker; `press` takes a press and returns at once.

        `clock` in seconds.
        """
        self._broker, self._session, self._referee = broker, session, referee
        self._settings, self._press, self._clock = broker.settings, press, clock
        self._sent: dict[str, str] = {}
        """Last text sent on each retained topic."""
        self._connection = 0
        self._announced = session.view().seq
        """Newest record whose ruling was published as an event."""
        self._shown: tuple[object, ...] = ()
        self._answers: deque[Answer] = deque(maxlen=MOST_ANSWERS)
        self._asked_s: deque[float] = deque()
        self._refused_too_many = False
        self._again, self._stopping = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="tell mqtt", daemon=True)

    def start(self) -> None:
        """Subscribe to commands, and start to publish."""
        topics = [self._settings.topic("command"), *self._settings.buttons]
        if self._settings.discovery:
            topics.append(birth_topic(self._settings))
        self._broker.listen(topics, self._on_message)
        self._thread.start()

    def stop(self) -> None:
        """Stop; retained messages stay at the broker."""
        self._broker.listen((), lambda _topic, _payload: None)
        self._stopping.set()
        self._thread.join()

    def answer(self, press: Press, why_not: str) -> None:
        """Answer a press that came over MQTT: done, or the reason why not."""
        if press.by == BY:
            self._answer(press.button, why_not)

    def _answer(self, command: str, why_not: str) -> None:
        if why_not:
            logger.info("mqtt: %s refused: %s", command, why_not)
        text = translation(why_not, self._broker.language)
        self._answers.append(Answer(command=command, done=not why_not, text=text))

    def _run(self) -> None:
        after, failure = self._announced, ""
        while not (self._stopping.is_set() or self._session.closed):
            try:
                records = self._session.wait(after, POLL_S)
                after = records[-1].seq if records else after
                self._publish_news()
            except Exception as error:  # skip this state; the next one may be publishable
                if (message := repr(error)) != failure:
                    logger.warning("mqtt: this state was skipped", exc_info=error)
                failure = message
                self._stopping.wait(POLL_S)

    def _publish_news(self) -> None:
        """Publish what the broker does not have yet."""
        connection = self._broker.connections  # first: a later one is noticed next time
        view, status = self._session.view(), self._referee.latest
        if not self._broker.connected:
            self._announced = view.seq
            self._answers.clear()
            return
        if connection != self._connection or self._again.is_set():
            self._again.clear()
            self._sent.clear()
            self._connection, self._shown = connection, ()
        if self._shown != (now := (view.seq, status.stamp)):
            self._tell_state(view, status)
            self._shown = now
        while self._answers:
            text = msgspec.json.encode(self._answers.popleft()).decode()
            self._broker.send(self._settings.topic("answer"), text, retain=False)

    def _tell_state(self, view: SessionView, status: RefereeStatus) -> None:
        settings, language = self._settings, self._broker.language
        state = table_state(view, status, language, settings.names)
        retained = {settings.topic("state"): msgspec.json.encode(state).decode()}
        if settings.discovery:
            document = discovery(settings, state, language)
            retained[discovery_topic(settings)] = json.dumps(document, ensure_ascii=False)
        for topic, text in retained.items():
            if self._sent.get(topic) != text:
                self._sent[topic] = text
                self._broker.send(topic, text)
        for event in ruling_events(view, self._announced, language):
            self._broker.send(
                settings.topic("verdict"), msgspec.json.encode(event).decode(), retain=False
            )
        self._announced = view.seq

    def _on_message(self, topic: str, payload: bytes) -> None:
        """Process a message; called from the broker's thread."""
        settings = self._settings
        if topic == settings.topic("command"):
            self._commanded(payload)
        elif topic in settings.buttons:
            wanted = settings.buttons[topic].get(_action(payload))
            if wanted is not None and self._is_within_rate(wanted):
                self._send_press(wanted)
        elif payload.strip() == b"online":
            self._again.set()

    def _commanded(self, payload: bytes) -> None:
        text = payload[: LONGEST_COMMAND + 1].decode(errors="replace").strip()
        if not self._is_within_rate(text[:LONGEST_COMMAND]):
            return
        for command in self._settings.commands:
            if text == command and len(payload) <= LONGEST_COMMAND:
                self._send_press(command)
                return
        self._answer(
            "",
            msg(
                "expected {text} as a command, got {raw}; nothing was done",
                text=any_of(self._settings.commands),
                raw=repr(text[:LONGEST_COMMAND]),
            ),
        )

    def _is_within_rate(self, command: str) -> bool:
        """False if there are too many commands; only the first refused one is answered."""
        now_s, asked = self._clock(), self._asked_s
        while asked and now_s - asked[0] >= WITHIN_S:
            asked.popleft()
            self._refused_too_many = False
        if len(asked) < MOST_COMMANDS:
            asked.append(now_s)
            return True
        if not self._refused_too_many:
            self._refused_too_many = True
            self._answer(
                command,
                msg(
                    "expected at most {n} commands in {n2} seconds; nothing was done",
                    n=MOST_COMMANDS,
                    n2=round(WITHIN_S),
                ),
            )
        return False

    def _send_press(self, command: Command) -> None:
        self._press(Press(command, "short", 1000 * self._clock(), BY))


def _action(payload: bytes) -> str:
    """Action of a zigbee2mqtt button: `{"action": "single"}`, or a plain word.

    The plain word is the format of its topic `.../action`, and of programs without JSON. Empty for
    anything else.
    """
    try:
        document = msgspec.json.decode(payload)
    except (msgspec.DecodeError, RecursionError):
        return payload[:LONGEST_COMMAND].decode(errors="replace").strip()
    if isinstance(document, dict):
        document = document.get("action")
    return document if isinstance(document, str) else ""
