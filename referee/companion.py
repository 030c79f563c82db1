"""Lamps, dice, buttons and calliper beside a session: they hear the same records as everybody, and change nothing but by commands.

Nothing here runs in the referee's thread: it neither calls nor waits for any of it.
"""

from __future__ import annotations

import queue
import threading
from typing import Protocol

from hardware.dice import Tumbler
from hardware.ports import Press, Reading
from hardware.rig import Rig
from hardware.scenes import Scene
from referee.choosing import Choosing
from referee.command import Command
from referee.events import Noted, Record
from referee.lamps import scene_of
from referee.ledger import Ledger
from referee.loop import Live, Status
from referee.measuring import Measuring
from referee.pressing import DECIDED_BY, commands_of
from table.boards import Board
from table.errors import InputError

POLL_S = 0.1
"""How long lamps wait for a record before they look at what the referee does."""
NOT_NOW = Scene("refused")
"""What the buzzer plays for a press that means nothing now."""


class Watched(Protocol):
    """A session: `referee.session.Session`."""

    @property
    def closed(self) -> bool: ...

    @property
    def ledger(self) -> Ledger: ...

    def wait(self, after: int, timeout_s: float | None = None) -> tuple[Record, ...]: ...

    def command(self, command: Command) -> Record: ...


class Looking(Protocol):
    """A referee at work: `referee.loop.Referee`."""

    @property
    def latest(self) -> Live: ...

    def point_at(self, question: int, label: str) -> None: ...


class Companion:
    """Runs a rig beside a session, in two threads of its own: what is told, and what people do."""

    def __init__(self, rig: Rig, session: Watched, referee: Looking, board: Board) -> None:
        """The rig belongs to who opened it."""
        self._rig, self._session, self._referee, self._board = rig, session, referee, board
        self._stopping = threading.Event()
        self._inbox: queue.SimpleQueue[Press | Reading | None] = queue.SimpleQueue()
        self._measuring: Measuring | None = None
        self._choosing: Choosing | None = None
        self._used_ms = -1.0
        """When the press of the die's button began that has rolled already: what becomes of it means nothing more."""
        self._tumbler = Tumbler(rig.dice) if rig.dice else None
        tells, hears = rig.lamps or rig.buzzer or rig.dice, rig.buttons or rig.calliper
        works = [work for work, wanted in ((self._tell, tells), (self._listen, hears)) if wanted]
        self._threads = [threading.Thread(target=work, name=work.__name__, daemon=True) for work in works]

    def start(self) -> None:
        """Begin to show and to listen."""
        if self._rig.buttons:
            self._rig.buttons.listen(self._inbox.put)
        if self._rig.calliper:
            self._rig.calliper.listen(self._inbox.put)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End all threads; lamps and dice are left as they are."""
        self._stopping.set()
        self._inbox.put(None)
        for thread in self._threads:
            thread.join()
        if self._tumbler:
            self._tumbler.close()

    def _tell(self) -> None:
        """Show scenes, and rolls, until the session is closed."""
        after = self._session.ledger.seq
        news: Record | None = None
        told: tuple[object, ...] = ()
        chosen: Choosing | None = None
        while not (self._stopping.is_set() or self._session.closed):
            records = self._session.wait(after, POLL_S)
            ledger, status = self._session.ledger, self._referee.latest.status
            if records:
                self._roll(records)
                told_of = [record for record in records if not isinstance(record.event, Noted)]
                news, after = (told_of or records)[-1], records[-1].seq
            elif status not in ("waiting", "asking", "ruling"):
                news = None
            measuring, choosing = self._measuring, self._choosing
            now = (ledger.seq, status, news, measuring, choosing)
            if now != told:
                self._show(self._scene(ledger, status, news), heard=bool(records) or choosing != chosen)
                told, chosen = now, choosing

    def _scene(self, ledger: Ledger, status: Status, news: Record | None) -> Scene:
        """What to show now; a question that people are about to answer shows how far they are."""
        scene, measuring, choosing = scene_of(ledger, status, news, self._board), self._measuring, self._choosing
        if ledger.question is None or scene.signal not in ("too close", "asking"):
            return scene
        if measuring and measuring.next and measuring.asks(ledger.question):
            return Scene("measure", scene.players, of=(measuring.next.partition(" ")[0],), leader=scene.leader)
        if choosing and choosing.count and choosing.asks(ledger.question):
            player = choosing.player(scene.players)
            return Scene("choice", scene.players, of=(player,) if player else (), leader=scene.leader, count=choosing.count)
        return scene

    def _roll(self, records: tuple[Record, ...]) -> None:
        """Let the dice show the newest roll, which is in the log already."""
        rolls = [dice for record in records if (dice := getattr(record.event, "evidence", {}).get("dice"))]
        if rolls and self._tumbler:
            self._tumbler.show(tuple(rolls[-1]))

    def _show(self, scene: Scene, heard: bool) -> None:
        if self._rig.lamps:
            self._rig.lamps.show(scene)
        if self._rig.buzzer and heard:
            self._rig.buzzer.play(scene)

    def _listen(self) -> None:
        """Do what people ask for, one thing after the other."""
        while (said := self._inbox.get()) is not None:
            try:
                done = self._read(said) if isinstance(said, Reading) else self._pressed(said)
            except InputError:
                done = False
            if not done and self._rig.buzzer:
                self._rig.buzzer.play(NOT_NOW)

    def _pressed(self, press: Press) -> bool:
        """Was there anything to be done, or nothing to be said?"""
        ledger = self._session.ledger
        if ledger.question is not None and not ledger.paused and (press.button, press.kind) in (("next", "short"), ("rule", "short")):
            return self._chosen(take=press.button == "rule")
        if press.button == "die" and (press.at_ms == self._used_ms or (self._tumbler and self._tumbler.tumbling)):
            return press.at_ms == self._used_ms or press.kind == "down"
        commands = commands_of(press, ledger, self._rig.dice.count if self._rig.dice else 1)
        for command in commands:
            self._session.command(command)
            self._used_ms = press.at_ms
        return bool(commands) or press.kind == "down"

    def _chosen(self, take: bool) -> bool:
        """Point at the next answer of the open question, or take the one that is pointed at; False where there is none."""
        question = self._session.ledger.question
        choosing = self._choosing if self._choosing and self._choosing.asks(question) else Choosing.begin(question)
        if choosing is None or (take and not choosing.count):
            return False
        if take:
            self._session.command(choosing.answer(DECIDED_BY))
        else:
            self._choosing = choosing.step()
            self._referee.point_at(choosing.question, self._choosing.label)
        return True

    def _read(self, reading: Reading) -> bool:
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
