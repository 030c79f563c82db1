"""Infer what happened on tables that could not be judged, once a later one is seen.

Smoothing over missed observations: every table at rest since the last verdict is kept, all
explanations of them are enumerated, and one is put on record if the later table singles it out.
What such a table must have shown is inferred by `referee.live.reconstruction`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeGuard

import msgspec

from engines.verdict import (
    Accepted,
    Ambiguous,
    CannotSee,
    OutOfSync,
    Refused,
    Unsettled,
    Verdict,
    answer_by_label,
)
from referee.live.patient_session import RefereedSession
from referee.live.reconstruction import (
    drop_transient_pieces,
    infer_missed_observation,
    with_each_missing_piece,
)
from referee.live.stability import is_same_reading, may_be_same_table, same_positions
from referee.sessions.events import (
    Answered,
    Corrected,
    Declared,
    Event,
    GameStarted,
    InputRecorded,
    Record,
    Reopened,
    Resigned,
    Resumed,
    Undone,
    VerdictReached,
)
from referee.sessions.first_player import hear
from referee.sessions.judged_tables import JudgedTables
from referee.sessions.state import SessionState, state_after
from referee.sessions.verdict_events import document, event_from_verdict
from table.boards import Board
from table.messages import msg, sentences
from table.observation import Observation

TABLES_KEPT = 5
"""Number of undecided tables kept. After more, people have to correct the record."""
MOST_EXPLANATIONS = 24
"""With more explanations than this, nothing is inferred."""
ASKED, ALLOWED = 2, 4
"""Scores of an explanation (`Explanation.score`): the current table is ambiguous after it, or
follows by a legal move, which is the best score.
"""
REFEREE = "the referee"
"""`decided_by` of questions that the referee withdraws itself."""
IN_HINDSIGHT = msg("This became clear only from what the camera sees now.")
SEEN_SINCE = msg("The camera can see it now, so the question is withdrawn.")


class InferredEvent(NamedTuple):
    """An event to be recorded, with its picture and the table that it rests on.

    Picture and table are None for an event that was not seen.
    """

    event: Event
    frame_jpeg: bytes | None = None
    table: Observation | None = None


@dataclass(frozen=True, slots=True)
class UndecidedTable:
    """A table at rest without a verdict that counts."""

    seen: Observation
    frame_jpeg: bytes


@dataclass(frozen=True, slots=True)
class Explanation:
    """A possible course of events.

    `events` are to be recorded, `ledger` is the session after them, `before` the last judged table.
    """

    ledger: SessionState
    before: Observation | None
    events: tuple[InferredEvent, ...] = ()
    sure: bool = True
    """True if everything in it was seen. Otherwise only a legal move may follow from it."""
    answered: int = 0
    """Number of questions in it that the referee answers itself."""

    @property
    def moves(self) -> tuple[tuple[str, ...], ...]:
        """Moves that were seen, one tuple per table."""
        return tuple(
            inferred.event.moves
            for inferred in self.events
            if inferred.table is not None and isinstance(inferred.event, VerdictReached)
        )

    def with_event(self, inferred: InferredEvent) -> Explanation:
        """Append an event."""
        return replace(
            self,
            ledger=state_after(self.ledger, inferred.event),
            before=self.before if inferred.table is None else inferred.table,
            events=(*self.events, inferred),
        )

    def after_input(self, heard: Mapping[str, Any]) -> Explanation:
        """Append an input, if it counts in this explanation."""
        event = event_from_verdict(hear(self.ledger, heard))
        if event is None or not _counts(event):
            return self
        return self.with_event(InferredEvent(event))

    def after_table(
        self, table: UndecidedTable, now: Observation, board: Board
    ) -> list[Explanation]:
        """Return the explanations with this table next.

        If the inferred table shows a move, only that move; for a table refused as read, also that
        nothing counts. Otherwise the table counts for nothing, or shows a move by one of these
        assumptions. A question about something unseen has any of its answers. A piece that is new
        `now` had already come. Pieces and unreadable places without origin that are gone `now` were
        not there.
        """
        better = infer_missed_observation(table.seen, self.before, now)
        seen = better or table.seen
        verdict = self._judge(seen, board)
        if better is not None and self._is_move(verdict):
            event = _inferred_event(verdict, seen, table, self.ledger)
            if isinstance(self._judge(table.seen, board), Refused):
                return [self, replace(self, sure=False).with_event(event)]
            return [self.with_event(event)]
        found = [
            (self._judge(one, board), one, 0) for one in self._other_tables(verdict, seen, now)
        ]
        found += [(answer, seen, 1) for answer in _answers(verdict)]
        longer = [
            replace(self, sure=False, answered=self.answered + answers).with_event(
                _inferred_event(verdict, shown, table, self.ledger)
            )
            for verdict, shown, answers in found
            if self._is_move(verdict)
        ]
        return [self, *longer]

    def score(self, now: Observation, board: Board) -> tuple[int, tuple[str, ...]]:
        """Return how well the table `now` follows from this, and all moves up to it.

        ALLOWED (4): by a legal move. 3: nothing new. ASKED (2): ambiguous. 1: by a refused act, if
        everything was seen. 0: not at all. Also 0 if an unconfirmed answer ended the game, which no
        table could contradict.
        """
        if not self.sure and self.ledger.outcome is not None:
            return 0, ()
        verdict = self._judge(now, board)
        moves = tuple(
            move
            for inferred in self.events
            if isinstance(inferred.event, VerdictReached | InputRecorded)
            for move in inferred.event.moves
        )
        match verdict:
            case OutOfSync() | CannotSee():
                return 0, moves
            case Refused():
                return int(self.sure), moves
            case Ambiguous():
                return ASKED, moves
            case Accepted():
                return ALLOWED, (*moves, *verdict.moves)
            case _:
                return 3, moves

    def _judge(self, seen: Observation, board: Board) -> Verdict:
        return self.ledger.engine.judge(self.ledger.state, seen, self.before, board)

    def _is_move(self, verdict: Verdict) -> TypeGuard[Accepted]:
        return isinstance(verdict, Accepted) and bool(verdict.moves or not self.ledger.has_begun)

    def _other_tables(
        self, verdict: Verdict, seen: Observation, now: Observation
    ) -> list[Observation]:
        """Other tables that it may have been, for a verdict that is no move."""
        tables: list[Observation] = []
        if isinstance(verdict, Unsettled) and (
            self.before is None or not same_positions(self.before, seen)
        ):
            tables = with_each_missing_piece(seen, self.before, now)
        if (without := drop_transient_pieces(seen, self.before, now)) is not None:
            tables.append(without)
        return tables


class Retrospective:
    """Undecided tables since the last verdict that counts, and the inputs between them.

    It neither asks questions nor judges the current table.
    """

    def __init__(self) -> None:
        self._seq = 0
        self._since: list[UndecidedTable | Mapping[str, Any]] = []
        """Tables and inputs, in order."""

    def has_reading(self, seen: Observation, session: RefereedSession) -> bool:
        """True if this is the reading that was kept last.

        Compares arrays by identity only, so that it is cheap enough for every frame.
        """
        self._forget_before_ruling(session)
        last = self._newest()
        return last is not None and is_same_reading(last, seen)

    def keep(self, seen: Observation, frame_jpeg: bytes, session: RefereedSession) -> None:
        """Keep a table without a verdict that counts.

        A newer reading replaces an older one of the same table, even if a doubtful piece is read
        differently.
        """
        self._forget_before_ruling(session)
        table, last = UndecidedTable(seen, frame_jpeg), self._newest()
        places = [k for k, one in enumerate(self._since) if isinstance(one, UndecidedTable)]
        if last is not None and may_be_same_table(last, seen):
            self._since[places[-1]] = table
            return
        if len(places) == TABLES_KEPT:
            del self._since[: places[1]]
        self._since.append(table)

    def hear(
        self, heard: Mapping[str, Any], record: Record | None, session: RefereedSession
    ) -> None:
        """Keep an input that did not count.

        It may count after a move that is inferred from an earlier table.
        """
        self._forget_before_ruling(session)
        if self._since and (record is None or not _counts(record.event)):
            self._since.append(heard)

    def record_inferred(
        self,
        session: RefereedSession,
        before: Observation | None,
        judged_tables: JudgedTables[Observation],
        now: Observation,
        board: Board,
    ) -> bool:
        """Record what must have happened before the table `now`; true if anything did.

        `before` as in `infer`. If `now` is fully readable and shows the same pieces as `before`,
        everything was put back, and the kept tables are dropped. Raises LogFailed.
        """
        self._forget_before_ruling(session)
        if before is not None and not now.unread_mm and same_positions(before, now):
            self._since = []
            return False
        ledger = session.ledger
        events, seq = self.infer(ledger, before, now, board), ledger.seq
        for inferred in events:
            record = session.append(inferred.event, inferred.frame_jpeg, after=seq)
            if record is None:
                break  # another record came first
            seq = record.seq
            if inferred.table is not None:
                judged_tables.keep(seq, inferred.table)
        return bool(events)

    def infer(
        self, ledger: SessionState, before: Observation | None, now: Observation, board: Board
    ) -> tuple[InferredEvent, ...]:
        """Return the events on the kept tables, in order, if the table `now` follows from them.

        Empty if that is not certain. If several explanations score equally, they must agree, or
        each be a prefix of the longest. `before` is the table of the last verdict: nothing is
        returned if `now` shows the same.

        Nothing is returned if `now` alone gives the same moves. The same holds if `now` alone is
        refused, unless a legal move follows from the explanation, or all of it was seen.
        """
        if before is not None and same_positions(before, now):
            return ()
        things = [
            thing
            for thing in self._since
            if not (isinstance(thing, UndecidedTable) and may_be_same_table(thing.seen, now))
        ]
        if not any(isinstance(thing, UndecidedTable) for thing in things):
            return ()
        explanations = _explanations(things, ledger, before, now, board)
        if not any(one.moves for one in explanations):
            return ()
        best = _best(explanations, now, board)
        if best is None:
            return ()
        score, moves, explanation = best
        alone = ledger.engine.judge(ledger.state, now, before, board)
        if isinstance(alone, Accepted) and explanation.moves == (alone.moves,) == (moves,):
            return ()
        if isinstance(alone, Refused) and not explanation.sure and score < ALLOWED:
            return ()
        return explanation.events

    def _newest(self) -> Observation | None:
        """The table that was kept last."""
        tables = (one.seen for one in reversed(self._since) if isinstance(one, UndecidedTable))
        return next(tables, None)

    def _forget_before_ruling(self, session: RefereedSession) -> None:
        """Drop everything before a verdict that counts, or a decision of people."""
        if session.ledger.seq != self._seq and any(
            _is_decisive(record.event) for record in session.records(self._seq)
        ):
            self._since = []
        self._seq = session.ledger.seq


def _explanations(
    things: Iterable[UndecidedTable | Mapping[str, Any]],
    ledger: SessionState,
    before: Observation | None,
    now: Observation,
    board: Board,
) -> list[Explanation]:
    """Return all explanations of tables and inputs; none if over MOST_EXPLANATIONS."""
    found = [Explanation(ledger, before)]
    if ledger.question is not None:
        undone = Undone(undoes=ledger.question.seq, decided_by=REFEREE, message=SEEN_SINCE)
        found = [found[0].with_event(InferredEvent(undone))]
    for thing in things:
        longer = (
            one.after_table(thing, now, board)
            if isinstance(thing, UndecidedTable)
            else [one.after_input(thing)]
            for one in found
        )
        found = _distinct(one for several in longer for one in several)
        if len(found) > MOST_EXPLANATIONS:
            return []
    return found


def _best(
    explanations: Iterable[Explanation], now: Observation, board: Board
) -> tuple[int, tuple[str, ...], Explanation] | None:
    """Return the longest of the best explanations, with its score and all moves up to `now`.

    None if others contradict it, if nothing explains `now`, or if it has no move. Explanations are
    dropped that need two answers more than another that scores at least ASKED.
    """
    scored = [(*one.score(now, board), one) for one in explanations]
    fewest = min((one.answered for score, _, one in scored if score >= ASKED), default=0)
    scored = [each for each in scored if each[2].answered <= fewest + 1]
    best = max(score for score, _, _ in scored)
    equals = [(moves, one) for score, moves, one in scored if score == best]
    longest, explanation = max(equals, key=lambda equal: (len(equal[0]), len(equal[1].moves)))
    if not best or not explanation.moves:
        return None
    if any(moves != longest[: len(moves) if best == ALLOWED else None] for moves, _ in equals):
        return None
    return best, longest, explanation


def _answers(verdict: Verdict) -> list[Accepted]:
    """Every answer that has moves, of a question that is withdrawn once the table changes."""
    asked = verdict.asks if isinstance(verdict, Unsettled) else verdict
    if (
        not isinstance(asked, Ambiguous)
        or not asked.withdrawn_if_table_changes
        or len(asked.choices) > MOST_EXPLANATIONS
    ):
        return []
    return [
        replace(answer_by_label(asked, choice.label, REFEREE), table=asked.table)
        for choice in asked.choices
        if choice.moves
    ]


def _distinct(explanations: Iterable[Explanation]) -> list[Explanation]:
    """Keep the first of the explanations that lead to the same state and table."""
    found: list[Explanation] = []
    for one in explanations:
        if not any(
            one.ledger.state == other.ledger.state and one.before is other.before for other in found
        ):
            found.append(one)
    return found


def _accepted(event: Event) -> bool:
    """True if something was accepted: a legal act, or what a throw to be repeated moved."""
    return isinstance(event, VerdictReached) and (event.verdict == "accepted" or bool(event.stands))


def _counts(heard: Event) -> bool:
    return isinstance(heard, InputRecorded) or _accepted(heard)


def _is_decisive(event: Event) -> bool:
    """True if something was accepted, or people decided what happened."""
    if isinstance(event, Undone):
        return event.decided_by != REFEREE
    return _accepted(event) or isinstance(
        event, Answered | Corrected | Declared | GameStarted | Reopened | Resigned | Resumed
    )


def _inferred_event(
    verdict: Accepted, seen: Observation, table: UndecidedTable, ledger: SessionState
) -> InferredEvent:
    """Return the event of a verdict on an earlier table, marked as inferred."""
    seen = verdict.table or seen
    event = event_from_verdict(verdict, document(seen, ledger))
    assert isinstance(event, VerdictReached)
    event = msgspec.structs.replace(
        event,
        message=sentences(event.message, IN_HINDSIGHT),
        evidence=event.evidence | {"in_hindsight": True},
    )
    return InferredEvent(event, table.frame_jpeg, seen)
