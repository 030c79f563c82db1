"""The way of every frame: read, observe, settle, judge, append."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from engines.verdict import (
    Accepted,
    Ambiguous,
    CannotSee,
    OutOfSync,
    Refused,
    Unsettled,
    Verdict,
    Waiting,
)
from referee.live.correction import Reread, Told, last_table, reread
from referee.live.deferred_questions import SET_UP_MS, SOON_MS, STAYS_MS, Patience
from referee.live.dice_monitor import DiceCornerWatch
from referee.live.nearest_explanation import (
    Nearest,
    all_the_same,
    nearest,
    once_more,
    read_as_before,
)
from referee.live.patient_session import Refereed
from referee.live.recorded_inputs import Input
from referee.live.retrospective import REFEREE, Hindsight
from referee.live.stability import HOLD_MS, Settle, agree, read_once, unchanged
from referee.live.standstill import STANDS_STILL, Standstill
from referee.live.table_monitor import HOLDS, TableWatch, Wish
from referee.sessions.corrected_tables import AsSaid, table_before
from referee.sessions.event_store import LogFailed
from referee.sessions.events import Answered, Asked, Noted, Resumed, Ruled, Undone
from referee.sessions.judged_tables import RuledOn
from referee.sessions.misreadings import EXPLAINS, Explained, amiss, follow, half_done, rank
from referee.sessions.state import Ledger
from referee.sessions.status import Live, LiveState, Status, status_after
from referee.sessions.verdict_events import (
    document,
    fact_of,
    noticed,
    on_this_table,
    recorded_already,
    told,
    with_misread,
)
from table.errors import InputError
from table.messages import as_message, msg
from table.observation import Observation, Unusable
from table.table_config import Setup
from vision.cameras.base import CameraLost, CameraPort
from vision.cameras.frame import Frame
from vision.cameras.reconnect import CannotGoOn, frames, kept_jpeg
from vision.change_gate import NOT_AT_REST

LAST_MS = 2**53
"""Later than any time of a recording."""
RESTLESS_MS = 4000
"""Pieces that have not come to rest after this time never will: people are told, so that no game
waits without a word.
"""
RESTLESS = (
    "The pieces do not come to rest, or are read differently in every picture: move those in doubt"
    " a little apart."
)
STILL_HAND = (
    "Something like a hand is over the board and does not move. Until it is gone, only a move that"
    " explains all of the table counts."
)
"""It may be a print or a shadow: the game goes on where nothing can be hidden under it."""


class Observe(Protocol):
    """`vision.change_gate.Watch`, or something that stands in for it."""

    def __call__(
        self, frame: Frame, setup: Setup, reference: Frame | None = None
    ) -> Observation | Unusable: ...


class Referee:
    """Watches one camera for one session.  `run` in a thread of its own; everything else from any
    thread.

    A table is judged once: what people took back or corrected is not ruled again until something on
    the table has changed, or they told the referee to pause and to look again.
    """

    def __init__(
        self,
        camera: CameraPort,
        setup: Setup,
        observe: Observe,
        session: Refereed,
        reference: Frame | None = None,
        hold_ms: int = HOLD_MS,
        pause: Callable[[float], object] | None = None,
        inputs: Sequence[Input] = (),
        table: TableWatch | None = None,
        dice: DiceCornerWatch | None = None,
        live: LiveState | None = None,
        stopping: threading.Event | None = None,
    ) -> None:
        """`reference` is a frame of the empty table; `pause(seconds)` waits between attempts to
        reach a lost camera.

        `inputs` were recorded with the pictures, in order of time; each is heard before the first
        frame that is not older. `table` sees whether cards, board and camera are where `table.json`
        says; without it nobody does. `dice` reads a real die in its corner of the table.  `live` is
        where it says what it sees and does; it stops once `stopping` is set.
        """
        self._camera, self._setup, self._observe, self._session = camera, setup, observe, session
        self._reference = reference
        self._settle = Settle(hold_ms)
        self._stopping = stopping or threading.Event()
        self._pause = pause or self._stopping.wait
        self._inputs = deque(inputs)
        self._table = table
        self._dice, self._die_said = dice, ""
        self._judged: Observation | None = None
        self._judged_at = 0
        self._blind: Observation | None = None
        self._no_hand = False
        self._open: Refused | OutOfSync | None = None
        self._patience = Patience()
        self._standstill, self._stood_at = Standstill(), 0
        self._hindsight = Hindsight()
        self._ruled_on: RuledOn[Observation] = RuledOn()
        self._as_said = AsSaid()
        self._amiss: Verdict | None = None
        self._noticed: Observation | None = None
        self._explained: Observation | None = None
        self._unexplained: Verdict | None = None
        self._said, self._said_at = "", 0
        self._live = live or LiveState()

    @property
    def setup(self) -> Setup:
        """The table that is watched."""
        return self._setup

    @property
    def reference(self) -> Frame | None:
        """The picture of this table empty, if there is one."""
        return self._reference

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Recorded inputs that were not heard yet."""
        return tuple(self._inputs)

    @property
    def latest(self) -> Live:
        """What it sees and does now."""
        return self._live.latest

    def last_table(self) -> tuple[int, Observation]:
        """The record that people may correct, and the table that it rests on; raises InputError
        (`referee.live.correction`).
        """
        return last_table(self._session.ledger, self._ruled_on)

    def reread(self, pieces: Sequence[Told]) -> Reread:
        """That table judged again, with pieces as people say; raises InputError."""
        return reread(self._session.ledger, self._ruled_on, self._setup, pieces)

    def wait(self, stamp: int, timeout_s: float) -> Live:
        """As `LiveState.wait`."""
        return self._live.wait(stamp, timeout_s)

    def jpeg(self) -> bytes | None:
        """The newest frame as a JPEG (`LivePicture`); None before the first."""
        return self._live.picture.jpeg()

    def stop(self) -> None:
        """Make `run` return after the frame at hand; returns at once, from any thread."""
        self._stopping.set()

    def wish(self, wish: Wish) -> None:
        """People want the table measured anew, or to play on as it is; returns at once, from any
        thread, and is done on the next table at rest.
        """
        if self._table is not None:
            self._table.wish(wish)
            self._tell_moved()

    def point_at(self, question: int, label: str) -> None:
        """As `LiveState.point_at`."""
        self._live.point_at(question, label)

    def run(self) -> None:
        """Referee until the camera or the session ends, or `stop`; closes the camera.

        Raises LogFailed where a ruling cannot be kept, and shows it to nobody; CannotGoOn for a
        picture file that is broken, or a recorded input that the game does not understand.  After
        any other error the camera stays open, for whoever goes on from there.
        """
        said = "The referee was stopped."
        try:
            for frame in frames(self._camera, self._stopping, self._lose_camera):
                if self._session.ledger.ended:
                    said = "The session has ended."
                    break
                self._look(frame)
            else:
                if not self._stopping.is_set():
                    self._hear(LAST_MS)
                    said = "There are no more pictures."
        except (CannotGoOn, LogFailed) as error:
            self._end(f"The referee had to stop: {error}")
            raise
        self._end(said)

    def _end(self, said: str) -> None:
        self._camera.close()
        self._tell("ended", said)

    def _lose_camera(self, error: CameraLost, retry_s: float) -> None:
        self._settle.disturb()
        self._tell(
            "camera lost",
            f"The camera is lost ({error}). The game waits; trying again in {retry_s:g} s.",
        )
        self._pause(retry_s)

    def _hear(self, at_ms: int) -> None:
        """All recorded inputs up to a time; raises CannotGoOn for one that the game does not
        understand.
        """
        while self._inputs and self._inputs[0].at_ms <= at_ms:
            heard = self._inputs.popleft()
            self._session.tick(heard.at_ms)
            try:
                self._hindsight.hear(heard.said, self._session.hear(heard.said), self._session)
            except LogFailed:
                raise
            except InputError as error:
                raise CannotGoOn(f"{heard.where}: {error}") from error

    def _look(self, frame: Frame) -> None:
        """One frame: everything up to the verdict, or why there is none."""
        self._standstill.frame()
        self._hear(frame.at_ms)
        self._session.tick(frame.shown_ms)
        seen = self._observe(frame, self._setup, self._reference)
        if isinstance(seen, Observation):
            seen = self._as_said.on(seen, self._session.ledger, self._setup)
        self._live.see(frame, None if isinstance(seen, Unusable) else seen)
        if isinstance(seen, Unusable):
            self._settle.disturb()
            self._stir()
            if seen.reason != NOT_AT_REST:
                self._check_table(frame, seen)
            self._stand_still(
                frame, "cannot see", "table.unread", f"The table cannot be read: {seen.reason}."
            )
            return
        self._no_hand = self._settle.lies_still(seen)
        settled = self._settle.push(replace(seen, hand=False) if self._no_hand else seen)
        if settled is not None and self._check_table(frame, settled):
            settled = None  # it was read by the table as it was
        ledger = self._session.ledger
        if ledger.paused:
            self._judged = None
            self._tell("paused", "The referee looks away until somebody says to go on.")
        elif ledger.outcome is not None and ledger.resigned:
            self._judged = None
            self._tell("waiting", f"The game is over: {ledger.outcome}.")
        elif seen.hand and not self._no_hand:
            self._stir()
            self._stand_still(
                frame,
                "hand over the board",
                "table.hand",
                "A hand is over the board; the referee waits until it is gone.",
            )
        elif seen.moving:
            self._stir()
            self._stand_still(
                frame,
                "settling",
                "table.moving",
                "Something moves on the table; the referee waits for it to rest.",
            )
        elif self._table is not None and self._table.holds:
            self._tell("cannot see", HOLDS)
        elif ledger.question is not None:
            self._ask(frame, settled, ledger)
        elif self._settle.restless_ms >= RESTLESS_MS:
            self._stand_still(frame, "cannot see", "table.restless", RESTLESS)
        elif settled is None:
            self._tell("settling", "The pieces are coming to rest.")
        elif (
            self._judged is not None and unchanged(self._judged, settled) and not self._news(ledger)
        ):
            if settled.unread_mm and not (
                read_once(self._judged, settled) or self._hindsight.knows(settled, self._session)
            ):
                self._hindsight.keep(settled, kept_jpeg(frame), self._session)
            said = (
                self._said
                if self._said_at == ledger.seq
                else "The referee waits for the next throw or move."
            )
            self._tell(status_after(self._open), said if self._open else self._die_said or said)
            self._ask_in_time(frame, settled, ledger)
        elif (
            self._blind is not None
            and read_once(self._blind, settled)
            and self._said_at == ledger.seq
        ):
            self._stand_still(
                frame, "cannot see", "table.hand" if self._said == STILL_HAND else "", self._said
            )
            self._ask_in_time(frame, settled, ledger)
        else:
            self._judge(frame, settled, ledger)
            if self._blind is settled:
                self._ask_in_time(frame, settled, self._session.ledger)
        if self._dice is not None and settled is not None:
            self._hear_die(self._dice, frame, settled)
        elif self._dice is not None:
            self._dice.glance(frame, seen.camera, self._session.ledger)

    def _stand_still(self, frame: Frame, status: Status, code: str, said: str) -> None:
        """Tell why nothing is ruled on, and put it on record where it lasts: once, until something
        else is on record.

        Without a code it is on record already.
        """
        self._tell(status, said)
        if not code:
            return
        ledger = self._session.ledger
        due = self._standstill.due(frame.at_ms, status == "cannot see")
        if (
            not due
            or ledger.paused
            or ledger.question is not None
            or ledger.outcome is not None
            or ledger.seq == self._stood_at
        ):
            return
        record = self._session.append(
            Noted(code=code, said=as_message(said)), kept_jpeg(frame), after=ledger.seq
        )
        if record is None:
            return
        self._stood_at = record.seq
        # It is no news of the table: what was told of that is not told again.
        self._said_at = record.seq if self._said_at == ledger.seq else self._said_at
        self._judged_at = record.seq if self._judged_at == ledger.seq else self._judged_at

    def _hear_die(self, dice: DiceCornerWatch, frame: Frame, settled: Observation) -> None:
        """Hear what a real die shows, once play has begun or while who begins is rolled for.

        Where it cannot be read, people are told with the next frame.
        """
        ledger = self._session.ledger
        if ledger.paused or ledger.question is not None or not (ledger.begun or ledger.rolling):
            return
        heard = dice.look(frame, settled.camera, ledger)
        self._die_said = heard if isinstance(heard, str) else ""
        if not isinstance(heard, str):
            self._hindsight.hear(heard, self._session.hear(heard), self._session)

    def _check_table(self, frame: Frame, seen: Observation | Unusable) -> bool:
        """Look whether cards, board and camera are where they were, and do what people wish; is the
        table another one now?
        """
        if self._table is None:
            return False
        event = self._table.look(frame.image, seen)
        if event is not None:
            self._session.append(event, kept_jpeg(frame))
        self._tell_moved()
        if self._table.setup is self._setup:
            return False
        # A picture of the empty table has its cards where they were.
        self._setup, self._reference = self._table.setup, None
        self._settle.disturb()
        return True

    def _ask(self, frame: Frame, settled: Observation | None, ledger: Ledger) -> None:
        """Wait for an answer; or, where the players put right what could not be read, or went on
        and it is seen by now, take the question back and judge again.
        """
        question = ledger.question
        assert question is not None
        asked = question.event
        assert isinstance(asked, Asked)
        self._tell("asking", asked.said)
        if settled is None or (self._judged is not None and agree(self._judged, settled)):
            return
        if asked.until_moved and self._judged is None:
            self._judged = settled
        elif asked.until_moved:
            said = msg(
                "The table is another one now: the question is taken back, and the table judged"
                " again."
            )
            self._session.append(
                Undone(undoes=question.seq, decided_by=REFEREE, said=said), after=ledger.seq
            )
            self._judged = None
        elif not self._hindsight.knows(settled, self._session):
            if self._caught_up(settled):
                self._judge(frame, settled, self._session.ledger)
            else:
                self._hindsight.keep(settled, kept_jpeg(frame), self._session)

    def _stir(self) -> None:
        """Somebody is at the table: where they answered that nothing counts, and put it right, the
        table is judged again.
        """
        self._patience.stir()
        self._explained = self._unexplained = None
        event = self._session.records(self._session.ledger.seq - 1)[-1].event
        if isinstance(event, Answered) and not event.moves:
            self._judged = None

    def _judge(self, frame: Frame, settled: Observation, ledger: Ledger) -> None:
        self._tell("ruling", "The table is at rest; the referee rules.")
        if not self._no_hand and self._caught_up(settled):
            ledger = self._session.ledger
        before = self._before(ledger)

        def judge(table: Observation) -> Verdict:
            return ledger.engine.judge(ledger.state, table, before, self._setup.board)

        followed = follow(
            judge,
            Explained(self._as_said.there, settled, judge(settled)),
            self._as_said.lost,
            before,
            self._setup,
        )
        found, verdict = followed.best, followed.best.verdict
        if self._no_hand and not isinstance(verdict, Accepted):
            self._said, self._said_at, self._blind = STILL_HAND, ledger.seq, settled
            self._tell("cannot see", STILL_HAND)
            return
        if not any(
            known is not None and unchanged(known, settled) for known in (self._judged, self._blind)
        ):
            self._patience.stir()
        pressed = any(
            isinstance(record.event, Resumed) for record in self._session.records(self._judged_at)
        )
        near = once_more(ledger, followed, settled, self._setup)
        found = followed.rival or found
        if isinstance(verdict, Ambiguous) and before is not None:
            near = read_as_before(ledger, verdict, settled, before, self._setup)
        self._rule(near.question if near else verdict, frame, settled, ledger, found, near)
        if pressed and rank(verdict) < EXPLAINS:
            self._explained = None
            self._explain(verdict, frame, settled, self._session.ledger)
            self._take_all_the_same(frame, settled)

    def _before(self, ledger: Ledger) -> Observation | None:
        return table_before(self._ruled_on, ledger, self._setup)

    def _caught_up(self, settled: Observation) -> bool:
        """Put on record what must have happened before; did anything?"""
        before = self._before(self._session.ledger)
        return self._hindsight.catch_up(
            self._session, before, self._ruled_on, settled, self._setup.board
        )

    def _rule(
        self,
        verdict: Verdict,
        frame: Frame,
        settled: Observation,
        ledger: Ledger,
        found: Explained | None = None,
        near: Nearest | None = None,
    ) -> None:
        """Put a verdict on record where it belongs there, and tell it; it was `found` on the table
        as people said it is, and `near` is what they are asked about pieces that may be misread.
        """
        table, jpeg = verdict.table or (found.table if found else settled), kept_jpeg(frame)
        event = fact_of(verdict, document(table, ledger))
        event = on_this_table(event, ledger) if isinstance(event, Asked) else event
        misread = found.misread if found else self._as_said.there
        if isinstance(event, Ruled | Asked) and (misread or near or self._as_said.told):
            event = with_misread(event, misread, near.misread if near else None)
        if recorded_already(verdict, ledger):
            self._ruled_on.keep(next(ledger.seen_in), table)
        elif event is not None and not self._repeats(verdict, settled, ledger):
            record = self._session.append(event, jpeg, after=ledger.seq)
            if record is None:
                return
            self._ruled_on.keep(record.seq, table)
            self._live.fail("")
        if isinstance(verdict, Unsettled | Ambiguous) or (
            isinstance(verdict, Refused) and not verdict.stands
        ):
            self._hindsight.keep(found.table if found else settled, jpeg, self._session)
        self._said, self._said_at = told(verdict), self._session.ledger.seq
        self._patience.judged(verdict)
        now = self._session.ledger
        self._amiss = (
            verdict if amiss(verdict, settled, self._ruled_on.before(now), now.colours) else None
        )
        self._blind = settled if isinstance(verdict, CannotSee) else None
        if not isinstance(verdict, CannotSee):
            self._judged, self._judged_at = settled, self._said_at
            self._open = verdict if isinstance(verdict, Refused | OutOfSync) else None
        self._tell(status_after(verdict), self._said)

    def _ask_in_time(self, frame: Frame, settled: Observation, ledger: Ledger) -> None:
        """Put a table that matches nothing on record, and ask what the verdict at hand asks, once
        it has stayed so for long enough.
        """
        if self._no_hand:
            return
        if (wrong := self._amiss) is not None and self._patience.rests_ms(frame.at_ms) >= (
            STAYS_MS if half_done(wrong) else SOON_MS
        ):
            self._explain(wrong, frame, settled, ledger)
        if self._unexplained is not None and self._patience.rests_ms(frame.at_ms) >= SET_UP_MS:
            self._take_all_the_same(frame, settled)
        if (
            self._session.ledger.question is None
            and (question := self._patience.due(frame.at_ms)) is not None
        ):
            self._put(question, frame, settled, self._session.ledger)

    def _put(
        self,
        question: Ambiguous,
        frame: Frame,
        settled: Observation,
        ledger: Ledger,
        near: Nearest | None = None,
    ) -> None:
        """Ask; what is out of step stays so."""
        out_of_step = self._open
        self._rule(question, frame, settled, ledger, near=near)
        self._open = out_of_step

    def _explain(
        self, verdict: Verdict, frame: Frame, settled: Observation, ledger: Ledger
    ) -> None:
        """Put a table on record that is not what the game waits for, each once, and ask what it is
        if pieces are misread.
        """
        self._amiss = None
        if self._explained is not None and agree(self._explained, settled):
            return
        self._explained = settled
        if (
            isinstance(verdict, Waiting)
            and verdict.differences
            and not (self._noticed is not None and agree(self._noticed, settled))
        ):
            record = self._session.append(
                noticed(verdict, document(settled, ledger)), kept_jpeg(frame), after=ledger.seq
            )
            if record is None:
                return
            self._noticed, ledger = settled, self._session.ledger
            self._ruled_on.keep(record.seq, settled)
            self._said_at = self._judged_at = record.seq
        if (
            near := nearest(ledger, verdict, settled, self._before(ledger), self._setup)
        ) is not None:
            self._put(near.question, frame, settled, ledger, near)
        else:
            self._unexplained = verdict

    def _take_all_the_same(self, frame: Frame, settled: Observation) -> None:
        """Ask the host whether a table that nothing near explains is the start all the same,
        once.
        """
        verdict, self._unexplained, ledger = self._unexplained, None, self._session.ledger
        if verdict is None or ledger.question is not None:
            return
        if (asked := all_the_same(ledger, verdict, settled, self._setup)) is not None:
            self._put(asked.question, frame, settled, ledger, asked)

    def _repeats(self, verdict: Verdict, settled: Observation, ledger: Ledger) -> bool:
        """Was it told already?  A refusal and what is out of step are told once, until the table is
        put right or the record is changed.
        """
        if isinstance(verdict, CannotSee):
            return self._blind is not None and agree(self._blind, settled)
        if ledger.seq != self._said_at:
            return False
        if isinstance(verdict, OutOfSync):
            return isinstance(self._open, OutOfSync)
        if not isinstance(verdict, Refused) or not isinstance(self._open, Refused):
            return False
        return (verdict.code, verdict.tried, verdict.said) == (
            self._open.code,
            self._open.tried,
            self._open.said,
        )

    def _news(self, ledger: Ledger) -> bool:
        """Since the table was judged, was something heard, or the record of a table out of step
        with it changed?
        """
        if ledger.seq == self._judged_at:
            return False
        events = [record.event for record in self._session.records(self._judged_at)]
        heard = (
            isinstance(e, Resumed)
            or (isinstance(e, Noted) and e.code not in STANDS_STILL)
            or (isinstance(e, Ruled) and e.observation is None)
            or (isinstance(e, Answered) and e.holds)
            for e in events
        )
        return isinstance(self._open, OutOfSync) or any(heard)

    def _tell_moved(self) -> None:
        assert self._table is not None
        self._live.move(self._table.said, self._table.holds)

    def _tell(self, status: Status, said: str) -> None:
        self._live.tell(status, said)
