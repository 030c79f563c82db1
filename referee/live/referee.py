"""The loop of the referee: read every frame, find the state it puts the loop in, act on it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from referee.live.correction import CorrectedVerdict, PieceCorrection, last_table, reread
from referee.live.dice_monitor import DiceMonitor
from referee.live.judging import STILL_HAND, SettledTable, TableJudge, WatchedTable
from referee.live.patient_session import RefereedSession
from referee.live.recorded_inputs import Input
from referee.live.stability import HOLD_MS, Stability, StabilityMonitor
from referee.live.standstill import StallTimer
from referee.live.states import FrameFacts, LoopState, StateMachine, classify
from referee.live.table_monitor import NO_RULINGS, TableMonitor, TableRequest
from referee.sessions.event_store import LogFailed
from referee.sessions.events import InputRecorded, QuestionAsked, Undone, VerdictReached
from referee.sessions.state import SessionState
from referee.sessions.status import LiveState, RefereeStatus, Status, status_after
from table.errors import InputError
from table.messages import as_message, msg, sentences
from table.observation import Observation, Unusable
from table.table_config import Setup
from vision.cameras.base import CameraLost, CameraPort
from vision.cameras.frame import Frame
from vision.cameras.reconnect import CannotGoOn, frame_jpeg, frames
from vision.change_gate import NOT_AT_REST
from vision.memory import give_back

LAST_MS = 2**53
"""Later than any time of a recording."""


class Stall(NamedTuple):
    """Message about why nothing can be judged; recorded if that lasts."""

    status: Status
    code: str
    message: str


RESTLESS = msg(
    "The pieces keep moving, or look different in each picture: move the unclear"
    " ones apart a little."
)
STALLS: Mapping[LoopState, Stall] = {
    LoopState.HAND: Stall(
        "hand over the board", "table.hand", msg("A hand is over the board. The referee waits.")
    ),
    LoopState.MOVING: Stall(
        "settling", "table.moving", msg("Something is moving. The referee waits.")
    ),
    LoopState.RESTLESS: Stall("cannot see", "table.restless", RESTLESS),
    LoopState.STILL_HAND: Stall("cannot see", "table.hand", STILL_HAND),
}


UNDONE = msg(
    "That was undone. The referee rules again once the pieces have moved, or when you press"
    " “Rule now”."
)


class Observe(Protocol):
    """`vision.change_gate.Watch`, or something that stands in for it."""

    def __call__(
        self, frame: Frame, setup: Setup, reference: Frame | None = None
    ) -> Observation | Unusable:
        """As `vision.change_gate.Watch`: the frame's reading, or why there is none."""


@dataclass(frozen=True, slots=True)
class ReadFrame:
    """A frame and its reading; `settled` if the table is at rest, `ledger` is the session then."""

    frame: Frame
    seen: Observation | Unusable
    ledger: SessionState
    settled: SettledTable | None = None


class Referee:
    """Watches one camera for one session.

    `run` belongs to a thread of its own; everything else may be called from any. Every frame puts
    the loop in one state (`referee.live.states`), and each state has one handler.
    """

    def __init__(
        self,
        camera: CameraPort,
        setup: Setup,
        observe: Observe,
        session: RefereedSession,
        reference: Frame | None = None,
        hold_ms: int = HOLD_MS,
        pause: Callable[[float], object] | None = None,
        inputs: Sequence[Input] = (),
        table: TableMonitor | None = None,
        dice: DiceMonitor | None = None,
        live: LiveState | None = None,
        stopping: threading.Event | None = None,
    ) -> None:
        """Prepare to watch; `run` starts.

        `reference` is a frame of the empty table. `pause(seconds)` waits between attempts to reopen
        a lost camera. `inputs` are recorded inputs in order of time; each is heard before the first
        frame that is not older.

        `table` checks that cards, board and camera are where `table.json` says; None: no check.
        `dice` reads a real die in its corner. `live` receives the status. The referee stops once
        `stopping` is set.
        """
        self._camera, self._observe, self._session = camera, observe, session
        self._live = live or LiveState()
        self._stopping = stopping or threading.Event()
        self._pause = pause or self._stopping.wait
        self._inputs = deque(inputs)
        self._table = WatchedTable(setup, reference)
        self._table_monitor, self._dice = table, dice
        self._states = StateMachine()
        self._stability = StabilityMonitor(hold_ms)
        self._stall, self._stall_seq = StallTimer(), 0
        self._judge = TableJudge(session, self._live, self._table, self._stability)

    @property
    def setup(self) -> Setup:
        """The table that is watched."""
        return self._table.setup

    @property
    def reference(self) -> Frame | None:
        """The frame of this table empty, if there is one."""
        return self._table.reference

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Recorded inputs that are not heard yet."""
        return tuple(self._inputs)

    @property
    def state(self) -> LoopState:
        """The state that the newest frame put the loop in."""
        return self._states.state

    @property
    def latest(self) -> RefereeStatus:
        """The current status."""
        return self._live.latest

    def last_table(self) -> tuple[int, Observation]:
        """The record that people may correct, and the table that it rests on.

        Raises InputError as `referee.live.correction.last_table`.
        """
        return last_table(self._session.ledger, self._judge.judged_tables)

    def reread(self, pieces: Sequence[PieceCorrection]) -> CorrectedVerdict:
        """Judge that table again with corrected pieces; raises InputError."""
        return reread(self._session.ledger, self._judge.judged_tables, self._table.setup, pieces)

    def wait(self, stamp: int, timeout_s: float) -> RefereeStatus:
        """As `LiveState.wait`."""
        return self._live.wait(stamp, timeout_s)

    def jpeg(self) -> bytes | None:
        """The newest frame as a JPEG (`LivePicture`); None before the first."""
        return self._live.picture.jpeg()

    def stop(self) -> None:
        """Make `run` return after the frame at hand; returns at once, from any thread."""
        self._stopping.set()

    def request_table(self, request: TableRequest) -> None:
        """Request a new measurement of the table, or to play on as it is.

        Returns at once, from any thread; it is done at the next table at rest.
        """
        if self._table_monitor is not None:
            self._table_monitor.request_table(request)
            self._tell_table(self._table_monitor)

    def point_at(self, question: int, label: str) -> None:
        """As `LiveState.point_at`."""
        self._live.point_at(question, label)

    def run(self) -> None:
        """Run until the camera or the session ends, or `stop`; closes the camera.

        Raises LogFailed if a verdict cannot be written; the verdict is not shown. Raises CannotGoOn
        for a broken picture file, or a recorded input that the game does not understand. After any
        other error the camera stays open for the next referee.
        """
        message = msg("The referee was stopped.")
        try:
            for frame in frames(self._camera, self._stopping, self._lose_camera):
                if self._session.ledger.ended:
                    message = msg("The session has ended.")
                    break
                self._look(frame)
            else:
                if not self._stopping.is_set():
                    self._hear(LAST_MS)
                    message = msg("There are no more pictures.")
        except (CannotGoOn, LogFailed) as error:
            self._end(msg("The referee had to stop: {text}", text=error.message))
            raise
        self._end(message)

    # --- between frames ---

    def _end(self, message: str) -> None:
        self._camera.close()
        self._states.enter(LoopState.ENDED)
        self._live.tell("ended", message)

    def _lose_camera(self, error: CameraLost, retry_s: float) -> None:
        self._states.enter(LoopState.CAMERA_LOST)
        self._stability.interrupt()
        self._live.tell(
            "camera lost",
            sentences(
                msg("Camera lost ({text}).", text=error.message),
                msg("The game is waiting; trying again in {mm} s.", mm=f"{retry_s:g}"),
            ),
        )
        self._pause(retry_s)

    def _hear(self, at_ms: int) -> None:
        """Hear all recorded inputs up to a time.

        Raises CannotGoOn for one that the game does not understand.
        """
        while self._inputs and self._inputs[0].at_ms <= at_ms:
            heard = self._inputs.popleft()
            self._session.tick(heard.at_ms)
            try:
                self._hear_one(heard.heard)
            except LogFailed:
                raise
            except InputError as error:
                raise CannotGoOn(
                    msg("{where}: {text}", where=heard.where, text=error.message)
                ) from error

    def _hear_one(self, heard: Mapping[str, object]) -> None:
        record = self._session.hear(heard)
        self._judge.retrospective.hear(heard, record, self._session)

    # --- one frame ---

    def _look(self, frame: Frame) -> None:
        """Process one frame: a verdict, or the reason why there is none."""
        self._stall.next_frame()
        self._hear(frame.at_ms)
        self._session.tick(frame.shown_ms)
        seen = self._observe(frame, self._table.setup, self._table.reference)
        if isinstance(seen, Observation):
            seen = self._judge.correct(seen)
        self._live.see(frame, seen if isinstance(seen, Observation) else None)
        stability = self._stability.update(seen)
        settled = stability.settled
        if settled is not None and self._check_table(frame, settled):
            settled = None  # it was read by the table as it was
        ledger = self._session.ledger
        moment = ReadFrame(
            frame,
            seen,
            ledger,
            None if settled is None else SettledTable(frame, settled, ledger, stability.still_hand),
        )
        state = classify(self._facts(moment, stability))
        self._states.enter(state)
        HANDLERS[state](self, moment)
        if isinstance(seen, Observation):
            self._look_at_dice(frame, seen, settled)

    def _facts(self, moment: ReadFrame, stability: Stability) -> FrameFacts:
        ledger, settled = moment.ledger, moment.settled
        repeated = settled is not None and self._judge.cannot_see_again(settled)
        return FrameFacts(
            readable=isinstance(moment.seen, Observation),
            paused=ledger.paused,
            resigned=ledger.outcome is not None and bool(ledger.resigned),
            hand=stability.hand,
            moving=stability.moving,
            table_moved=self._table_monitor is not None
            and self._table_monitor.has_unaccepted_change,
            question_open=ledger.question is not None,
            restless=stability.restless,
            settled=settled is not None,
            unchanged=settled is not None and self._judge.is_unchanged(settled),
            cannot_see=repeated,
            still_hand=repeated and self._judge.last.message == STILL_HAND,
        )

    def _on_no_view(self, moment: ReadFrame) -> None:
        """Show the reason. Check the table if the fiducials do not fit."""
        seen = moment.seen
        assert isinstance(seen, Unusable)
        self._judge.disturb()
        if seen.reason != NOT_AT_REST:
            self._check_table(moment.frame, seen)
        message = msg("The table cannot be read: {text}.", text=seen.reason)
        self._stall_at(moment.frame, Stall("cannot see", "table.unread", message))

    def _on_paused(self, _moment: ReadFrame) -> None:
        """Forget the judged table. The next table is judged as new."""
        self._stability.judged = None
        self._live.tell("paused", msg("The referee is paused until somebody resumes."))

    def _on_over(self, moment: ReadFrame) -> None:
        """Forget the judged table and show the result."""
        self._stability.judged = None
        self._live.tell("waiting", msg("The game is over: {text}.", text=moment.ledger.outcome))

    def _on_hand(self, moment: ReadFrame) -> None:
        """Wait until the hand is gone. After an answer that nothing counts, judge again."""
        self._judge.disturb()
        self._stall_at(moment.frame, STALLS[LoopState.HAND])

    def _on_moving(self, moment: ReadFrame) -> None:
        """Wait until nothing moves. After an answer that nothing counts, judge again."""
        self._judge.disturb()
        self._stall_at(moment.frame, STALLS[LoopState.MOVING])

    def _on_table_moved(self, _moment: ReadFrame) -> None:
        """Judge nothing, because lengths cannot be trusted."""
        self._live.tell("cannot see", NO_RULINGS)

    def _on_asking(self, moment: ReadFrame) -> None:
        """Wait for an answer. Withdraw the question if the table answers it."""
        assert moment.ledger.question is not None
        asked = moment.ledger.question.event
        assert isinstance(asked, QuestionAsked)
        self._live.tell("asking", asked.message)
        if moment.settled is not None:
            self._judge.check_question(moment.settled)

    def _on_restless(self, moment: ReadFrame) -> None:
        """Ask people to move the doubtful pieces apart."""
        self._stall_at(moment.frame, STALLS[LoopState.RESTLESS])

    def _on_settling(self, _moment: ReadFrame) -> None:
        """Wait until nothing has moved for the hold time."""
        self._live.tell("settling", msg("The pieces are coming to rest."))

    def _on_unchanged(self, moment: ReadFrame) -> None:
        """Show the last verdict, or wait. Ask later what it leaves open."""
        assert moment.settled is not None
        self._judge.keep_if_unread(moment.settled)
        last = self._judge.last
        message: str = msg("Waiting for the next throw or move.")
        if last.message_seq == moment.ledger.seq and self._stability.not_judged is None:
            message = last.message
        elif self._is_ruling_undone(moment.ledger):
            message = UNDONE
        if last.open is None and self._dice is not None and self._dice.unread:
            message = self._dice.unread
        self._live.tell(status_after(last.open), message)
        self._judge.ask_in_time(moment.settled)

    def _on_still_hand(self, moment: ReadFrame) -> None:
        """Wait. Only a move that explains the whole table has counted."""
        assert moment.settled is not None
        self._stall_at(moment.frame, STALLS[LoopState.STILL_HAND])
        self._judge.ask_in_time(moment.settled)

    def _on_cannot_see(self, moment: ReadFrame) -> None:
        """Show the verdict again. Ask its question later."""
        assert moment.settled is not None
        self._live.tell("cannot see", self._judge.last.message)
        self._judge.ask_in_time(moment.settled)

    def _on_judging(self, moment: ReadFrame) -> None:
        """Judge the table, record the verdict, and ask its question."""
        settled = moment.settled
        assert settled is not None
        self._judge.judge(settled)
        if self._stability.not_judged is settled.seen:
            now = SettledTable(moment.frame, settled.seen, self._session.ledger, settled.still_hand)
            self._judge.ask_in_time(now)
        give_back()

    # --- what several states do ---

    def _is_ruling_undone(self, ledger: SessionState) -> bool:
        """True if people have just undone the ruling on the table as it lies."""
        newest = self._session.records(ledger.seq - 1)[-1].event
        if not isinstance(newest, Undone):
            return False
        undone = self._session.records(newest.undoes - 1, 1)[0].event
        return isinstance(undone, VerdictReached) and undone.observation is not None

    def _stall_at(self, frame: Frame, stall: Stall) -> None:
        """Show why nothing is judged, and record it if that lasts.

        It is recorded once, until there is another record.
        """
        self._live.tell(stall.status, stall.message)
        ledger = self._session.ledger
        due = self._stall.due(frame.at_ms, stall.status == "cannot see")
        if (
            not due
            or ledger.paused
            or ledger.question is not None
            or ledger.outcome is not None
            or ledger.seq == self._stall_seq
        ):
            return
        event = InputRecorded(code=stall.code, message=as_message(stall.message))
        record = self._session.append(event, frame_jpeg(frame), after=ledger.seq)
        if record is not None:
            self._stall_seq = record.seq
            self._judge.skip_record(ledger.seq, record.seq)

    def _look_at_dice(self, frame: Frame, seen: Observation, settled: Observation | None) -> None:
        """Hear what a real die shows, once play has begun or during the roll for the first player.

        If the die cannot be read, that is shown with the next frame.
        """
        if self._dice is None:
            return
        ledger = self._session.ledger
        if settled is None:
            self._dice.glance(frame, seen.camera, ledger)
        elif not ledger.paused and ledger.question is None and (ledger.has_begun or ledger.rolling):
            heard = self._dice.look(frame, settled.camera, ledger)
            if not isinstance(heard, str):
                self._hear_one(heard)

    def _check_table(self, frame: Frame, seen: Observation | Unusable) -> bool:
        """Check the places of cards, board and camera, and do what people requested.

        True if the table was measured again.
        """
        monitor = self._table_monitor
        if monitor is None:
            return False
        events = [monitor.look(frame.image, seen)]
        if isinstance(seen, Observation) and not self._session.ledger.has_begun:
            events.append(monitor.look_for_hidden_colours(frame.image, seen.camera))
        for event in filter(None, events):
            self._session.append(event, frame_jpeg(frame))
        self._tell_table(monitor)
        if monitor.setup is self._table.setup:
            return False
        # A frame of the empty table has its cards where they were.
        self._table.setup, self._table.reference = monitor.setup, None
        self._stability.interrupt()
        return True

    def _tell_table(self, monitor: TableMonitor) -> None:
        self._live.move(monitor.message, monitor.has_unaccepted_change)


HANDLERS: Mapping[LoopState, Callable[[Referee, ReadFrame], None]] = {
    LoopState.NO_VIEW: Referee._on_no_view,
    LoopState.PAUSED: Referee._on_paused,
    LoopState.OVER: Referee._on_over,
    LoopState.HAND: Referee._on_hand,
    LoopState.MOVING: Referee._on_moving,
    LoopState.TABLE_MOVED: Referee._on_table_moved,
    LoopState.ASKING: Referee._on_asking,
    LoopState.RESTLESS: Referee._on_restless,
    LoopState.SETTLING: Referee._on_settling,
    LoopState.UNCHANGED: Referee._on_unchanged,
    LoopState.STILL_HAND: Referee._on_still_hand,
    LoopState.CANNOT_SEE: Referee._on_cannot_see,
    LoopState.JUDGING: Referee._on_judging,
}
"""Handlers by state."""
