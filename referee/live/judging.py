"""Judge a table at rest, record the verdict, and ask people where it does not fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from engines.contained import CODE as FAILED
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
from referee.live.deferred_questions import SET_UP_MS, SOON_MS, STAYS_MS, DeferredQuestion
from referee.live.nearest_explanation import (
    MisreadingQuestion,
    ask_if_start,
    ask_misreading,
    ask_still_misread,
    ask_swapped,
)
from referee.live.patient_session import RefereedSession
from referee.live.retrospective import REFEREE, Retrospective
from referee.live.stability import (
    StabilityMonitor,
    is_same_reading,
    may_be_same_table,
    same_positions,
)
from referee.live.standstill import STALL_CODES
from referee.sessions.corrected_tables import PieceCorrections, table_before
from referee.sessions.events import (
    Answered,
    InputRecorded,
    QuestionAsked,
    Resumed,
    Undone,
    VerdictReached,
)
from referee.sessions.judged_tables import JudgedTables
from referee.sessions.misreadings import (
    EXPLAINS,
    MisreadingExplanation,
    contradicts_record,
    follow_corrections,
    is_half_done,
    rank,
)
from referee.sessions.state import SessionState
from referee.sessions.status import LiveState, status_after
from referee.sessions.verdict_events import (
    confirms_record,
    document,
    event_from_verdict,
    full_message,
    notice_event,
    with_misreadings,
    with_sizes_in_play,
)
from table.json_data import JsonObject
from table.messages import msg, sentences
from table.observation import Observation
from table.plugins import Failed
from table.table_config import Setup
from vision.cameras.frame import Frame
from vision.cameras.reconnect import frame_jpeg

STILL_HAND = sentences(
    msg("Something that looks like a hand is over the board and is not moving."),
    msg("Until it is gone, only moves that explain the whole table count."),
)
"""Such a thing may be a print or a shadow: the game goes on if it cannot hide anything."""


@dataclass(slots=True)
class WatchedTable:
    """The current table; replaced after a new measurement."""

    setup: Setup
    reference: Frame | None
    """Picture of the empty table; None after a new measurement, as cards lay elsewhere then."""


@dataclass(frozen=True, slots=True)
class SettledTable:
    """A table at rest, and the session before its frame was processed."""

    frame: Frame
    seen: Observation
    ledger: SessionState
    still_hand: bool = False
    """True if something like a hand lies still over the table, and may hide pieces."""


@dataclass(slots=True)
class LastVerdict:
    """The last message, and the newest record at that time.

    `message_seq` is the record of the message, `judged_seq` that of the newest judged table. Both
    skip records that do not concern the table. `open` is a verdict that holds until people correct
    the table or the record.
    """

    message: str = ""
    message_seq: int = 0
    judged_seq: int = 0
    open: Refused | OutOfSync | None = None


@dataclass(slots=True)
class Mismatch:
    """Steps taken for a table that matches neither the record nor a legal move.

    Each step is done once per table. `pending` has to be explained, `unexplained` has to be put to
    the host. `explained` is the table for which an explanation was sought, `noticed` the one that
    was recorded.
    """

    pending: Verdict | None = None
    unexplained: Verdict | None = None
    explained: Observation | None = None
    noticed: Observation | None = None


@dataclass(slots=True)
class TableJudge:
    """Judges tables at rest for one session, and remembers its verdicts.

    A table is judged once. After an undo or a correction it is judged again only if the table
    changes, or after a pause.
    """

    session: RefereedSession
    live: LiveState
    table: WatchedTable
    stability: StabilityMonitor
    last: LastVerdict = field(default_factory=LastVerdict)
    mismatch: Mismatch = field(default_factory=Mismatch)
    retrospective: Retrospective = field(default_factory=Retrospective)
    judged_tables: JudgedTables[Observation] = field(default_factory=JudgedTables)
    corrections: PieceCorrections = field(default_factory=PieceCorrections)
    deferred: DeferredQuestion = field(init=False)

    def __post_init__(self) -> None:
        self.deferred = DeferredQuestion(self.stability)

    def correct(self, seen: Observation) -> Observation:
        """Apply people's corrections to an observation."""
        return self.corrections.on(seen, self.session.ledger, self.table.setup)

    def is_unchanged(self, table: SettledTable) -> bool:
        """True if this table was judged last, and no input has come since."""
        return self.stability.is_unchanged(table.seen) and not self._has_news(table.ledger)

    def cannot_see_again(self, table: SettledTable) -> bool:
        """True if this reading could not be judged, and nothing has been recorded since."""
        return (
            self.stability.is_unjudged_reading(table.seen)
            and self.last.message_seq == table.ledger.seq
        )

    def skip_record(self, before: int, record: int) -> None:
        """Skip a record that does not concern the table.

        A message given as of record `before` counts as given as of `record`, and is not repeated.
        """
        if self.last.message_seq == before:
            self.last.message_seq = record
        if self.last.judged_seq == before:
            self.last.judged_seq = record

    def disturb(self) -> None:
        """Note that somebody is at the table.

        After an answer without moves, the next table at rest is judged again, as it may be put
        right.
        """
        self.deferred.arm()
        self.mismatch.explained = self.mismatch.unexplained = None
        event = self.session.records(self.session.ledger.seq - 1)[-1].event
        if isinstance(event, Answered) and not event.moves:
            self.stability.judged = None

    def keep_if_unread(self, table: SettledTable) -> None:
        """Keep a newer reading of the judged table, if it has unreadable places."""
        judged = self.stability.judged
        if not table.seen.unread_mm:
            return
        if judged is not None and is_same_reading(judged, table.seen):
            return
        if not self.retrospective.has_reading(table.seen, self.session):
            self.retrospective.keep(table.seen, frame_jpeg(table.frame), self.session)

    def check_question(self, table: SettledTable) -> None:
        """Withdraw the open question if a changed table answers it, and judge the table again.

        Either the players made the table readable, or they played on and the answer can be
        inferred.
        """
        question, judged = table.ledger.question, self.stability.judged
        assert question is not None
        asked = question.event
        assert isinstance(asked, QuestionAsked)
        if judged is not None and may_be_same_table(judged, table.seen, both_doubtful=True):
            return
        if asked.withdrawn_if_table_changes and judged is None:
            self.stability.judged = table.seen
        elif asked.withdrawn_if_table_changes:
            message = msg(
                "The table has changed: the question is withdrawn, and the referee"
                " looks at the table again."
            )
            self.session.append(
                Undone(undoes=question.seq, decided_by=REFEREE, message=message),
                after=table.ledger.seq,
            )
            self.stability.judged = None
        elif not self.retrospective.has_reading(table.seen, self.session):
            if self._record_inferred(table.seen):
                self.judge(replace(table, ledger=self.session.ledger))
            else:
                self.retrospective.keep(table.seen, frame_jpeg(table.frame), self.session)

    def judge(self, table: SettledTable) -> None:
        """Judge the table and record the verdict."""
        self.live.tell("ruling", msg("Nothing is moving. The referee is deciding."))
        if not table.still_hand and self._record_inferred(table.seen):
            table = replace(table, ledger=self.session.ledger)
        ledger, seen, setup = table.ledger, table.seen, self.table.setup
        before = self._before(ledger)

        def judge(one: Observation) -> Verdict:
            return ledger.engine.judge(ledger.state, one, before, setup.board)

        first = judge(seen)
        if first.code == FAILED:
            self._record(first, table)  # an error of the game, which no misread piece explains
            return
        followed = follow_corrections(
            judge,
            MisreadingExplanation(self.corrections.there, seen, first),
            self.corrections.lost,
            before,
            setup,
        )
        verdict = followed.best.verdict
        if table.still_hand and not isinstance(verdict, Accepted):
            self._tell_still_hand(table)
            return
        if not self.stability.is_known(seen):
            self.deferred.arm()
        resumed = any(
            isinstance(record.event, Resumed)
            for record in self.session.records(self.last.judged_seq)
        )
        near = ask_still_misread(ledger, followed, seen, setup)
        if isinstance(verdict, Ambiguous):
            near = ask_swapped(ledger, verdict, seen, before, setup)
        found = followed.rival or followed.best
        self._record(near.question if near else verdict, table, found, near)
        if resumed and rank(verdict) < EXPLAINS:
            self.mismatch.explained = None
            table = replace(table, ledger=self.session.ledger)
            self._explain(verdict, table)
            self._ask_host(table)

    def ask_in_time(self, table: SettledTable) -> None:
        """Record and ask what is due after the time that the table has been left alone.

        A table that matches nothing is recorded, and the deferred question is asked.
        """
        if table.still_hand:
            return
        at_ms, mismatch, rested_ms = table.frame.at_ms, self.mismatch, self.stability.left_alone_ms
        if mismatch.pending is not None and rested_ms(at_ms) >= (
            STAYS_MS if is_half_done(mismatch.pending) else SOON_MS
        ):
            self._explain(mismatch.pending, table)
        if mismatch.unexplained is not None and rested_ms(at_ms) >= SET_UP_MS:
            self._ask_host(table)
        if self.session.ledger.question is not None:
            return
        if (question := self.deferred.due(at_ms)) is not None:
            self._ask(question, replace(table, ledger=self.session.ledger))

    def _before(self, ledger: SessionState) -> Observation | None:
        return table_before(self.judged_tables, ledger, self.table.setup)

    def _record_inferred(self, settled: Observation) -> bool:
        """Record what must have happened before; true if anything did."""
        before = self._before(self.session.ledger)
        return self.retrospective.record_inferred(
            self.session, before, self.judged_tables, settled, self.table.setup.board
        )

    def _tell_still_hand(self, table: SettledTable) -> None:
        """Report that no verdict is given, as the hand may hide pieces."""
        self.last.message, self.last.message_seq = STILL_HAND, table.ledger.seq
        self.stability.not_judged = table.seen
        self.live.tell("cannot see", STILL_HAND)

    def _tell_fault(self, fault: Failed, table: SettledTable) -> None:
        """Report that a plugin game cannot play what it accepted; nothing was recorded."""
        self.last.message, self.last.message_seq = fault.message, table.ledger.seq
        self.stability.not_judged = table.seen
        self.live.tell("cannot see", fault.message)

    def _record(
        self,
        verdict: Verdict,
        table: SettledTable,
        found: MisreadingExplanation | None = None,
        near: MisreadingQuestion | None = None,
    ) -> None:
        """Record a verdict if it is new, and show it.

        `found` is the explanation that it rests on, with the corrected table; `near` is a question
        about pieces that may be misread.
        """
        jpeg, ledger = frame_jpeg(table.frame), table.ledger
        rests_on = verdict.table or (found.table if found else table.seen)
        event = self._event(verdict, document(rests_on, ledger), found, near)
        if confirms_record(verdict, ledger):
            self.judged_tables.keep(next(ledger.observed_records), rests_on)
        elif event is not None and not self._is_repeated(verdict, table):
            try:
                record = self.session.append(event, jpeg, after=ledger.seq)
            except Failed as fault:
                self._tell_fault(fault, table)
                return
            if record is None:
                return  # another record came first: the table is judged again
            self.judged_tables.keep(record.seq, rests_on)
            self.live.fail("")
        if isinstance(verdict, Unsettled | Ambiguous) or (
            isinstance(verdict, Refused) and not verdict.stands
        ):
            self.retrospective.keep(found.table if found else table.seen, jpeg, self.session)
        self._remember(verdict, table)
        self.live.tell(status_after(verdict), self.last.message)

    def _event(
        self,
        verdict: Verdict,
        observation: JsonObject,
        found: MisreadingExplanation | None,
        near: MisreadingQuestion | None,
    ) -> VerdictReached | QuestionAsked | InputRecorded | None:
        """Return the event of a verdict, with the misread pieces of its table."""
        event = event_from_verdict(verdict, observation)
        if isinstance(event, QuestionAsked):
            event = with_sizes_in_play(event, self.session.ledger)
        misread = found.misread if found else self.corrections.there
        if isinstance(event, VerdictReached | QuestionAsked) and (
            misread or near or self.corrections.has_corrections
        ):
            return with_misreadings(event, misread, near.misread if near else None)
        return event

    def _remember(self, verdict: Verdict, table: SettledTable) -> None:
        """Store the message, and the table that later ones are compared with."""
        now, last = self.session.ledger, self.last
        last.message, last.message_seq = full_message(verdict), now.seq
        self.deferred.follow(verdict)
        does_not_fit = verdict.code != FAILED and contradicts_record(
            verdict, table.seen, self.judged_tables.before(now), now.colours
        )
        self.mismatch.pending = verdict if does_not_fit else None
        if isinstance(verdict, CannotSee):
            self.stability.not_judged = table.seen
            return
        self.stability.not_judged, self.stability.judged = None, table.seen
        last.judged_seq = last.message_seq
        last.open = verdict if isinstance(verdict, Refused | OutOfSync) else None

    def _ask(
        self, question: Ambiguous, table: SettledTable, near: MisreadingQuestion | None = None
    ) -> None:
        """Ask a question; an open verdict stays open."""
        stays = self.last.open
        self._record(question, table, near=near)
        self.last.open = stays

    def _explain(self, verdict: Verdict, table: SettledTable) -> None:
        """Record a table that the game does not expect, once per table.

        A half-done act without a question is recorded too. Asks about a misreading that would
        explain the table.
        """
        self.mismatch.pending = None
        explained = self.mismatch.explained
        if explained is not None and same_positions(explained, table.seen):
            return
        self.mismatch.explained = table.seen
        if (
            isinstance(verdict, Waiting)
            and (verdict.differences or verdict.asks is None)
            and not self._is_noticed(table)
        ):
            if not self._record_notice(verdict, table):
                return
            table = replace(table, ledger=self.session.ledger)
        before = self._before(table.ledger)
        near = ask_misreading(table.ledger, verdict, table.seen, before, self.table.setup)
        if near is not None:
            self._ask(near.question, table, near)
        else:
            self.mismatch.unexplained = verdict

    def _is_noticed(self, table: SettledTable) -> bool:
        noticed_last = self.mismatch.noticed
        return noticed_last is not None and same_positions(noticed_last, table.seen)

    def _record_notice(self, verdict: Waiting, table: SettledTable) -> bool:
        """Record a table that the game does not expect; false if another record came first."""
        event = notice_event(verdict, document(table.seen, table.ledger))
        record = self.session.append(event, frame_jpeg(table.frame), after=table.ledger.seq)
        if record is None:
            return False
        self.mismatch.noticed = table.seen
        self.judged_tables.keep(record.seq, table.seen)
        self.last.message_seq = self.last.judged_seq = record.seq
        return True

    def _ask_host(self, table: SettledTable) -> None:
        """Ask the host, once, whether an unexplained table is the start position anyway."""
        verdict, self.mismatch.unexplained = self.mismatch.unexplained, None
        ledger, setup = self.session.ledger, self.table.setup
        if verdict is None or ledger.question is not None:
            return
        if (asked := ask_if_start(ledger, verdict, table.seen, setup)) is not None:
            self._ask(asked.question, replace(table, ledger=ledger), asked)

    def _is_repeated(self, verdict: Verdict, table: SettledTable) -> bool:
        """True if this verdict was given already.

        A refusal, or a mismatch with the record, is reported once until the table or the record is
        corrected.
        """
        if isinstance(verdict, CannotSee):
            not_judged = self.stability.not_judged
            return not_judged is not None and same_positions(not_judged, table.seen)
        if table.ledger.seq != self.last.message_seq:
            return False
        is_open = self.last.open
        if isinstance(verdict, OutOfSync):
            return isinstance(is_open, OutOfSync)
        if not isinstance(verdict, Refused) or not isinstance(is_open, Refused):
            return False
        return (verdict.code, verdict.tried, verdict.message) == (
            is_open.code,
            is_open.tried,
            is_open.message,
        )

    def _has_news(self, ledger: SessionState) -> bool:
        """True if an input has come since the table was judged.

        Also true if the table did not match the record, and the record has changed.
        """
        if ledger.seq == self.last.judged_seq:
            return False
        events = [record.event for record in self.session.records(self.last.judged_seq)]
        return isinstance(self.last.open, OutOfSync) or any(
            isinstance(event, Resumed)
            or (isinstance(event, InputRecorded) and event.code not in STALL_CODES)
            or (isinstance(event, VerdictReached) and event.observation is None)
            or (isinstance(event, Answered) and event.confirms_record)
            for event in events
        )
