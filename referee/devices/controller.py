"""Run lamps, dice, buttons and calliper beside a session.

They read the session's records, and change it by commands only. Nothing here runs in the referee's
thread, which neither calls this module nor waits for it.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from hardware.cues import Cue
from hardware.dice_display import Tumbler
from hardware.factory import Devices
from hardware.interfaces import Output, Press, Reading
from hardware.scoreboard import Scoreboard
from referee.devices.answer_picker import AnswerSelection
from referee.devices.buttons import commands_of
from referee.devices.mqtt import TableAtBroker
from referee.devices.table_state import scoreboard
from referee.presentation.announcements import announcement_in
from referee.presentation.lamp_cues import cue_of
from referee.presentation.session_view import SessionView
from referee.presentation.view_model import decision_of
from referee.sessions.caliper_answers import Measuring
from referee.sessions.commands import Command
from referee.sessions.event_store import LogFailed
from referee.sessions.events import InputRecorded, Record
from referee.sessions.state import SessionState
from referee.sessions.status import RefereeStatus, Status
from table.boards import Board
from table.errors import InputError, error_summary
from table.messages import Word, in_a_row, msg

logger = logging.getLogger(__name__)

POLL_S = 0.1
"""Longest wait for a record in s, between two checks of the referee's status."""
NOT_NOW = Cue("refused")
"""Sound of a press that has no effect now."""


class ObservedSession(Protocol):
    """A session: `referee.sessions.session.Session`."""

    @property
    def closed(self) -> bool:
        """True once the session is closed."""

    @property
    def ledger(self) -> SessionState:
        """The state after the last record."""

    def wait(self, after: int, timeout_s: float | None = None) -> tuple[Record, ...]:
        """As `Session.wait`."""

    def command(self, command: Command) -> Record:
        """As `Session.command`."""

    def view(self) -> SessionView:
        """As `Session.view`."""


class ObservedReferee(Protocol):
    """A referee at work: `referee.live.referee.Referee`."""

    @property
    def latest(self) -> RefereeStatus:
        """The referee's current status."""

    def point_at(self, question: int, label: str) -> None:
        """As `LiveState.point_at`."""


class Companion:
    """Runs devices beside a session in two threads, one for output and one for input."""

    def __init__(
        self,
        devices: Devices,
        session: ObservedSession,
        referee: ObservedReferee,
        board: Board,
        say: Callable[[str], object] = lambda _text: None,
    ) -> None:
        """The caller opens and closes the devices.

        `say` is told when parts fail, and when they work again.
        """
        self._devices, self._session, self._referee, self._board = devices, session, referee, board
        self._say, self._errors = say, dict[str, list[str]]()
        self._stopping = threading.Event()
        self._inbox: queue.SimpleQueue[Press | Reading | None] = queue.SimpleQueue()
        self._measuring: Measuring | None = None
        self._choosing: AnswerSelection | None = None
        self._document_state: object = None
        self._cached_document: Mapping[str, Any] = {}
        self._news: Record | None = None
        self._last_shown: tuple[object, ...] = ()
        self._scored: tuple[object, ...] = ()
        self._board_shown: Scoreboard | None = None
        """Score shown by an output; `_scored` is the state that it was made from."""
        self._chosen_before: AnswerSelection | None = None
        self._failure = ""
        self._used_ms = -1.0
        """Time of the press that was acted on; its later events are ignored."""
        self._tumbler = Tumbler(devices.dice) if devices.dice else None
        self._mqtt = (
            TableAtBroker(devices.mqtt, session, referee, self._inbox.put) if devices.mqtt else None
        )
        hears = devices.buttons or devices.calliper or devices.mqtt
        shows = devices.lamps or devices.dice or devices.output
        tells = shows or devices.buzzer or devices.voice or hears
        works = (
            ("tell devices", self._follow_session, tells),
            ("listen to devices", self._listen, hears),
        )
        self._threads = [
            threading.Thread(target=work, name=name, daemon=True)
            for name, work, wanted in works
            if wanted
        ]

    @property
    def rolling(self) -> bool:
        """True while the dice are animated."""
        return self._tumbler is not None and self._tumbler.playing

    def start(self) -> None:
        """Start both threads."""
        if self._devices.buttons:
            self._devices.buttons.listen(self._inbox.put)
        if self._devices.calliper:
            self._devices.calliper.listen(self._inbox.put)
        if self._mqtt:
            self._mqtt.start()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End all threads; lamps and dice are left as they are."""
        if self._mqtt:
            self._mqtt.stop()
        self._stopping.set()
        self._inbox.put(None)
        for thread in self._threads:
            thread.join()
        if self._tumbler:
            self._tumbler.close()

    def _follow_session(self) -> None:
        """Show cues and rolls, and report failing parts, until the session is closed."""
        after = self._session.ledger.seq
        while not (self._stopping.is_set() or self._session.closed):
            try:
                self._session.wait(after, POLL_S)
                # The state may be newer than the records returned: show the records up to it.
                ledger = self._session.ledger
                records = tuple(
                    record for record in self._session.wait(after, 0) if record.seq <= ledger.seq
                )
                # Set it first, so that a record that cannot be shown is not tried again.
                after = records[-1].seq if records else after
                self._complain()
                self._show_news(records, ledger)
            except Exception as error:
                self._fail(error)
                self._stopping.wait(POLL_S)

    def _show_news(self, records: tuple[Record, ...], ledger: SessionState) -> None:
        """Show changes due to these records, the referee's status, or a choice in progress.

        `ledger` is the state after the last record; `records` may be empty.
        """
        status = self._referee.latest.status
        if records:
            announced = [
                record for record in records if not isinstance(record.event, InputRecorded)
            ]
            self._news = (announced or records)[-1]
            self._roll(records)
            self._say_verdict(records)
        elif status not in ("waiting", "asking", "ruling"):
            self._news = None
        if self._devices.output:
            self._show_score(self._devices.output)
        document = self._document(ledger, records)
        choosing, chosen = self._choosing, self._chosen_before
        now = (ledger.seq, status, self._news, self._measuring, choosing)
        if now != self._last_shown:
            self._last_shown, self._chosen_before = now, choosing
            self._show(
                self._cue(ledger, status, self._news, document),
                heard=bool(records) or choosing != chosen,
            )

    def _show_score(self, output: Output) -> None:
        view, status = self._session.view(), self._referee.latest
        if self._scored == (now := (view.seq, status.status, status.message, status.error)):
            return
        board = scoreboard(view, status, self._devices.language)
        if board != self._board_shown:
            output.show(board)
        self._scored, self._board_shown = now, board

    def _fail(self, error: Exception) -> None:
        """Report an unexpected error, once for equal ones in a row.

        Later events are still handled.
        """
        message = error_summary(error)
        if message != self._failure:
            logger.info("a device failed", exc_info=error)
            self._say(
                msg(
                    "lamps, dice, buttons: {raw}; this step was skipped, the devices keep running",
                    raw=message,
                )
            )
        self._failure = message

    def _complain(self) -> None:
        """Report failing parts, once for each reason, and when all work again."""
        errors: dict[str, list[str]] = {}
        tumbling = {"dice": self._tumbler.failed} if self._tumbler and self._tumbler.failed else {}
        for part, why in (tumbling | self._devices.errors).items():
            errors.setdefault(why, []).append(part)
        for why, parts in errors.items():
            if self._errors.get(why) != parts:
                self._say(msg("{text}: {text2}", text=in_a_row(map(Word, parts)), text2=why))
        if self._errors and not errors:
            again = sorted({part for parts in self._errors.values() for part in parts})
            self._say(msg("{text}: working again", text=in_a_row(map(Word, again))))
        self._errors = errors

    def _document(self, ledger: SessionState, records: tuple[Record, ...]) -> Mapping[str, Any]:
        """Return the engine's document of the state, cached until the state changes.

        A record's own document is used if it has one. Computing it takes up to 2 ms in some games,
        and blocks the referee's thread, as only one Python thread computes at a time.
        """
        if ledger.state is not self._document_state:
            brought = (
                getattr(records[-1].event, "state", None)
                if records and records[-1].seq == ledger.seq
                else None
            )
            self._document_state, self._cached_document = (
                ledger.state,
                brought or ledger.engine.state_document(ledger.state),
            )
        return self._cached_document

    def _cue(
        self, ledger: SessionState, status: Status, news: Record | None, document: Mapping[str, Any]
    ) -> Cue:
        """Return the cue to show now.

        While an answer to the open question is chosen or measured, the cue shows the progress.
        """
        cue, measuring, choosing = (
            cue_of(ledger, status, news, self._board, document),
            self._measuring,
            self._choosing,
        )
        if ledger.question is None or ledger.paused:
            return cue
        if measuring and measuring.next and measuring.asks(ledger.question):
            return Cue(
                "measure", cue.players, of=(measuring.next.partition(" ")[0],), leader=cue.leader
            )
        if choosing and choosing.count and choosing.asks(ledger.question):
            player = choosing.player(cue.players)
            return Cue(
                "choice",
                cue.players,
                of=(player,) if player else (),
                leader=cue.leader,
                count=choosing.count,
            )
        return cue

    def _roll(self, records: tuple[Record, ...]) -> None:
        """Animate the newest roll, which is in the log already."""
        rolls = [
            dice
            for record in records
            if (dice := getattr(record.event, "evidence", {}).get("dice"))
        ]
        if rolls and self._tumbler:
            self._tumbler.show(tuple(rolls[-1]))

    def _say_verdict(self, records: tuple[Record, ...]) -> None:
        """Speak the newest verdict, once; for a correction, only that there was one."""
        if (voice := self._devices.voice) is None:
            return
        decisions = filter(None, (decision_of(record.event) for record in records))
        calls = [announcement_in(one, voice.language)[0] for one in decisions if one.call]
        if calls:
            voice.say(calls[-1])

    def _show(self, cue: Cue, heard: bool) -> None:
        if self._devices.lamps:
            self._devices.lamps.show(cue)
        if self._devices.buzzer and heard:
            self._devices.buzzer.play(cue)

    def _listen(self) -> None:
        """Process inputs one after the other."""
        while (message := self._inbox.get()) is not None:
            done, why_not = self._obey(message)
            if not done and self._devices.buzzer:
                self._devices.buzzer.play(NOT_NOW)
            if self._mqtt and isinstance(message, Press):
                self._mqtt.answer(message, why_not)

    def _obey(self, message: Press | Reading) -> tuple[bool, str]:
        """Process an input; returns whether it had an effect, and why not."""
        try:
            done = (
                self._obey_reading(message)
                if isinstance(message, Reading)
                else self._obey_press(message)
            )
        except LogFailed as error:
            self._say(error.message)
            return False, error.message
        except InputError as error:
            return False, error.message
        except Exception as error:
            self._fail(error)
            return False, msg("this failed: {raw}", raw=error_summary(error))
        return done, "" if done else msg("that is not possible now; nothing was done")

    def _obey_press(self, press: Press) -> bool:
        """Process a press; true if it had an effect or needs no answer."""
        ledger = self._session.ledger
        if press.kind != "down" and press.at_ms == self._used_ms:
            return True
        match press.button, press.kind:
            case "next", _ if ledger.question is not None and not ledger.paused:
                # On the press itself, and again for the second press of a double one.
                done = press.kind != "down" or self._chosen(press, take=False)
            case "rule", "short" if ledger.question is not None and not ledger.paused:
                done = self._chosen(press, take=True)
            case "die", _ if self._tumbler and self._tumbler.playing:
                return press.kind == "down"
            case _:
                commands = commands_of(
                    press, ledger, self._devices.dice.count if self._devices.dice else 1
                )
                for command in commands:
                    self._session.command(command)
                done = bool(commands)
        if done:
            self._used_ms = press.at_ms
        return done or press.kind == "down"

    def _chosen(self, press: Press, take: bool) -> bool:
        """Select the next answer of the open question, or confirm the selected one.

        False if there is none.
        """
        question = self._session.ledger.question
        choosing = (
            self._choosing
            if self._choosing and self._choosing.asks(question)
            else AnswerSelection.begin(question)
        )
        if choosing is None or (take and not choosing.may_take):
            return False
        if take:
            self._session.command(choosing.answer(press.by))
        else:
            self._choosing = choosing.step()
            self._referee.point_at(choosing.question, self._choosing.label)
        return True

    def _obey_reading(self, reading: Reading) -> bool:
        question = self._session.ledger.question
        if self._measuring is None or not self._measuring.asks(question):
            self._measuring = Measuring.begin(question)
        if self._measuring is None:
            return False
        self._measuring = self._measuring.take(reading.mm)
        if self._measuring.next is None:
            answer, self._measuring = self._measuring.answer(), None
            self._session.command(answer)
        return True
