"""Lamps, dice, buttons and calliper beside a session: they hear the same records as everybody, and change nothing but by commands.

Nothing here runs in the referee's thread: it neither calls nor waits for any of it.
"""

from __future__ import annotations

import queue
import threading
from typing import Protocol

from hardware.dice import Roller
from hardware.ports import Press, Reading
from hardware.rig import Rig
from hardware.scenes import Scene
from referee.command import Command, Hear
from referee.events import Noted, Record
from referee.lamps import scene_of
from referee.ledger import Ledger
from referee.loop import Live
from referee.measuring import Measuring
from referee.pressing import DECIDED_BY, commands_of, roller
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


class Companion:
    """Runs a rig beside a session, in two threads of its own: what is told, and what people do."""

    def __init__(self, rig: Rig, session: Watched, referee: Looking, board: Board) -> None:
        """The rig belongs to who opened it."""
        self._rig, self._session, self._referee, self._board = rig, session, referee, board
        self._stopping = threading.Event()
        self._inbox: queue.SimpleQueue[Press | Reading | None] = queue.SimpleQueue()
        self._measuring: Measuring | None = None
        self._roller = Roller(rig.dice, self._rolled, self._stopping.wait) if rig.dice else None
        tells, hears = rig.lamps or rig.buzzer, rig.buttons or rig.calliper
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
        """End both threads; the lamps are left as they are."""
        self._stopping.set()
        self._inbox.put(None)
        for thread in self._threads:
            thread.join()

    def _tell(self) -> None:
        """Show scenes until the session is closed."""
        after = self._session.ledger.seq
        news: Record | None = None
        told: tuple[object, ...] = ()
        while not (self._stopping.is_set() or self._session.closed):
            records = self._session.wait(after, POLL_S)
            ledger, status = self._session.ledger, self._referee.latest.status
            if records:
                told_of = [record for record in records if not isinstance(record.event, Noted)]
                news, after = (told_of or records)[-1], records[-1].seq
            elif status not in ("waiting", "asking", "ruling"):
                news = None
            now = (ledger.seq, status, news, measuring := self._measuring)
            if now != told:
                scene = scene_of(ledger, status, news, self._board)
                if measuring and measuring.next and scene.signal == "too close" and measuring.asks(ledger.question):
                    scene = Scene("measure", scene.players, of=(measuring.next.partition(" ")[0],), leader=scene.leader)
                self._show(scene, heard=bool(records))
                told = now

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
        if press.button == "die":
            return press.kind != "down" or (self._roller is not None and self._roller.roll(1) is not None)
        commands = commands_of(press, self._session.ledger)
        for command in commands:
            self._session.command(command)
        return bool(commands) or press.kind == "down"

    def _rolled(self, values: tuple[int, ...]) -> None:
        """Put a roll into the log before anybody sees it; where the game waits for none, InputError says so and nothing is rolled."""
        player = roller(self._session.ledger)
        if player is None:
            raise InputError("a die: nobody is to roll now")
        self._session.command(Hear(said={"player": player, "die": values[0]}, decided_by=DECIDED_BY))

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
