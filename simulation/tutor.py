"""A tutor at a virtual table: gives a game's lessons in order, and detects when a task is done.

Its pupil plays all seats. Acts are taken from the referee's record; the tutor makes no rulings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal, Protocol

from engines import Rules
from engines.board_marks import Mark
from engines.game import facts
from engines.lessons import Lesson
from referee.sessions.commands import Command, Declare, NextGame
from referee.sessions.events import Answered, Corrected, InputRecorded, Record, VerdictReached
from referee.sessions.state import SessionState
from simulation.virtual_table import VirtualTable
from table.errors import InputError
from table.games import found_games
from table.messages import Message, msg
from table.table_config import Setup

TUTOR = "the tutor"
"""`decided_by` of the tutor's declarations."""
LessonState = Literal["laying", "open", "other", "done"]


class TaughtSession(Protocol):
    """The tutor's view of a session."""

    @property
    def ledger(self) -> SessionState:
        """The state after the last record."""

    def records(self, after: int = 0) -> tuple[Record, ...]:
        """Records with seq > `after`."""

    def command(self, command: Command) -> Any:
        """Send a command to the referee."""


@dataclass(frozen=True, slots=True)
class LessonNow:
    """State of a lesson for a page.

    `number` counts from 1, up to `count`. `state` is `laying` while the table is being set up, and
    `done` once the task is. It is `other` while the newest ruling is on something else. `marks`
    draw the example on the board. `follows` is true if another lesson can begin after this one.
    """

    number: int
    count: int
    title: Message
    task: Message
    learned: Message
    state: LessonState
    marks: tuple[Mark, ...]
    follows: bool


def lessons_of(game: str, setup: Setup) -> tuple[Lesson, ...]:
    """The lessons of a game for the players of a table."""
    return facts(found_games().games[game]).lessons(setup.game.colours)


class Tutor:
    """Gives the lessons of the session's game; thread-safe."""

    def __init__(
        self, lessons: Sequence[Lesson], session: TaughtSession, virtual: VirtualTable
    ) -> None:
        """Begin with the first lesson; raises InputError if there is none."""
        if not lessons:
            raise InputError(msg("lessons: expected a game that has some, this one has none"))
        self._lessons, self._session, self._virtual = lessons, session, virtual
        self._lock = Lock()
        self._number, self._since = 1, 0
        for player in session.ledger.players:
            virtual.sit(player)
        self.begin(1)

    def begin(self, number: int) -> None:
        """Begin a lesson, also for a second time; raises InputError for an unknown number.

        A lesson that continues another begins at that one's beginning.
        """
        if not 1 <= number <= len(self._lessons):
            raise InputError(
                msg(
                    "lessons: expected a number from 1 to {n}, got {raw}",
                    n=len(self._lessons),
                    raw=repr(number),
                )
            )
        with self._lock:
            if number != self._number + 1 or self._look().state != "done":
                while self._lessons[number - 1].position is None:
                    number -= 1
            if (position := self._lessons[number - 1].position) is not None:
                self._lay(position)
            self._number, self._since = number, self._session.ledger.seq

    def look(self) -> LessonNow:
        """The present state of the lesson."""
        with self._lock:
            return self._look()

    def _look(self) -> LessonNow:
        lesson = self._lessons[self._number - 1]
        set_up = self._virtual.set_up_after
        state: LessonState = "laying"
        if set_up is not None:
            state = _state(lesson, self._session.records(max(self._since, set_up)))
        after = self._lessons[self._number : self._number + 1]
        return LessonNow(
            self._number,
            len(self._lessons),
            lesson.title,
            lesson.task,
            lesson.learned,
            state,
            () if state in ("done", "laying") else _marks(lesson, self._session.ledger),
            any(state == "done" or one.position is not None for one in after),
        )

    def _lay(self, position: tuple[str, ...]) -> None:
        """Begin a new game from a position, and lay the table accordingly.

        No player acts in between: the players would set the table up from the beginning.
        """
        with self._virtual.paused():
            if self._session.ledger.standing or position:
                self._session.command(NextGame(decided_by=TUTOR))
            if position:
                self._session.command(Declare(moves=position, decided_by=TUTOR))


def _state(lesson: Lesson, since: Sequence[Record]) -> LessonState:
    """Progress of a lesson by the records since its beginning."""
    counted = 0
    state: LessonState = "open"
    for record in since:
        event = record.event
        refused = isinstance(event, VerdictReached) and event.verdict != "accepted"
        if isinstance(event, VerdictReached | InputRecorded | Answered | Corrected):
            counts = lesson.counts(refused, event.moves)
            counted += counts
            if event.moves:
                state = "open" if counts else "other"
    return "done" if counted >= lesson.times else state


def _marks(lesson: Lesson, ledger: SessionState) -> tuple[Mark, ...]:
    """The example on the present board; empty if it is impossible there."""
    engine: Rules = ledger.engine
    try:
        return engine.trace(ledger.state, engine.parse_move(lesson.example))
    except ValueError:
        return ()
