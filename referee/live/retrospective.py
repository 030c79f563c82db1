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
"""Undecided tables kept: whoever plays on for longer has to put the record right."""
MOST_EXPLANATIONS = 24
"""Where there are more explanations than this, people have to say what happened."""
ASKED, ALLOWED = 2, 4
"""Scores of an explanation (`Explanation.score`): the table now follows from it as one of several
things, which people are asked about; by something allowed, the best.
"""
REFEREE = "the referee"
"""`decided_by` of questions that the referee takes back itself."""
IN_HINDSIGHT = msg("This became clear only from what the camera sees now.")
SEEN_SINCE = msg("The camera can see it now, so the question is withdrawn.")


class InferredEvent(NamedTuple):
    """An event to be put on record, with its picture and the table that it rests on.

    Picture and table are None for an event that was not seen.
    """

    event: Event
    frame_jpeg: bytes | None = None
    table: Observation | None = None


@dataclass(frozen=True, slots=True)
class UndecidedTable:
    """A table at rest on which there was no verdict that counts."""

    seen: Observation
    frame_jpeg: bytes


@dataclass(frozen=True, slots=True)
class Explanation:
    """A possible course of events.

    `events` are to be put on record, `ledger` is the session after them, `before` the table that
    was judged last.
    """

    ledger: SessionState
    before: Observation | None
    events: tuple[InferredEvent, ...] = ()
    sure: bool = True
    """True if all that happened was seen. Otherwise only an allowed move may follow from it."""
    answered: int = 0
    """Questions in it that nobody answered, and that the referee answers itself."""

    @property
    def moves(self) -> tuple[tuple[str, ...], ...]:
        """Moves that were seen, a tuple a table."""
        return tuple(
            inferred.event.moves
            for inferred in self.events
            if inferred.table is not None and isinstance(inferred.event, VerdictReached)
        )

    def with_event(self, inferred: InferredEvent) -> Explanation:
        """The explanation in which this event happened next."""
        return replace(
            self,
            ledger=state_after(self.ledger, inferred.event),
            before=self.before if inferred.table is None else inferred.table,
            events=(*self.events, inferred),
        )

    def after_input(self, heard: Mapping[str, Any]) -> Explanation:
        """The explanation with an input heard next, if it counts then."""
        event = event_from_verdict(hear(self.ledger, heard))
        if event is None or not _counts(event):
            return self
        return self.with_event(InferredEvent(event))

    def after_table(
        self, table: UndecidedTable, now: Observation, board: Board
    ) -> list[Explanation]:
        """The explanations with this table next: a move, if that explains what it must have shown.

        Otherwise: that nothing counts; any answer to what could not be seen; any piece that came
        while the table was not as it had been; and the table without what came from nowhere and is
        gone.  What was refused may have been put back since.  What is too close to call, and what
        was thrown first, is for people to say.
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
        """How well the table seen now follows from this, and all moves up to it.

        ALLOWED (4): by something allowed.  3: it shows nothing new.  2: as one of several things.
        1: as something refused.  0: not at all, or the game would be over by an answer that
        nobody gave: no table speaks against that.
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
        """Other tables that it may have been, where the verdict on it is no move."""
        tables: list[Observation] = []
        if isinstance(verdict, Unsettled) and (
            self.before is None or not same_positions(self.before, seen)
        ):
            tables = with_each_missing_piece(seen, self.before, now)
        if (without := drop_transient_pieces(seen, self.before, now)) is not None:
            tables.append(without)
        return tables


class Retrospective:
    """The tables since the last verdict that counts, and inputs between them that did not count.

    It neither asks nor judges by itself.
    """

    def __init__(self) -> None:
        self._seq = 0
        self._since: list[UndecidedTable | Mapping[str, Any]] = []
        """Tables and inputs in order."""

    def has_reading(self, seen: Observation, session: RefereedSession) -> bool:
        """True if this is the reading that was kept last.

        Compares arrays by identity only, so that it is cheap enough for every frame.
        """
        self._forget_before_ruling(session)
        last = self._newest()
        return last is not None and is_same_reading(last, seen)

    def keep(self, seen: Observation, frame_jpeg: bytes, session: RefereedSession) -> None:
        """Keep a table on which there was no verdict that counts.

        A newer reading takes the place of an older one of the same table, even where a doubtful
        piece is read otherwise.
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

        It may have been in time after all, given what happened on a table before it.
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
        """Put on record what must have happened before the table seen `now`; true if anything did.

        `before` as in `infer`. Where all lies and can be read as it was then, everything since was
        put back and is forgotten: what happens later does not follow from it. Raises LogFailed.
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
                break  # people said something meanwhile
            seq = record.seq
            if inferred.table is not None:
                judged_tables.keep(seq, inferred.table)
        return bool(events)

    def infer(
        self, ledger: SessionState, before: Observation | None, now: Observation, board: Board
    ) -> tuple[InferredEvent, ...]:
        """The events on the kept tables, in order, if the table seen `now` follows from them.

        Empty where that is not certain. If several explanations score equally, they must agree, or
        each be a prefix of the longest; otherwise nothing is returned. `before` is the table of the
        last verdict: where `now` is the same again, all was put back and nothing is returned.
        Nothing is returned either where `now` alone gives the same moves: it is left to be judged
        as it is.  So is what it alone refuses, unless something allowed follows from an
        explanation, or all of that was seen.
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
        """Forget all before a verdict that counts, or people's word on what happened."""
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
    """All explanations of tables and inputs; none where there are more than MOST_EXPLANATIONS."""
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
    """The longest of the best explanations, with its score and all its moves up to `now`.

    None where the others contradict it, nothing explains `now`, or it has no move. What needs two
    answers more than another that leads to a question is left out: people are asked instead.
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
    """Every answer, with moves, to a question that is withdrawn once the table changes."""
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
    """The first of those that come to the same state and table."""
    found: list[Explanation] = []
    for one in explanations:
        if not any(
            one.ledger.state == other.ledger.state and one.before is other.before for other in found
        ):
            found.append(one)
    return found


def _accepted(event: Event) -> bool:
    """True if something was accepted: a legal act, or what was moved by a throw to be repeated."""
    return isinstance(event, VerdictReached) and (event.verdict == "accepted" or bool(event.stands))


def _counts(heard: Event) -> bool:
    return isinstance(heard, InputRecorded) or _accepted(heard)


def _is_decisive(event: Event) -> bool:
    """True if something was accepted, or people say what happened."""
    if isinstance(event, Undone):
        return event.decided_by != REFEREE
    return _accepted(event) or isinstance(
        event, Answered | Corrected | Declared | GameStarted | Reopened | Resigned | Resumed
    )


def _inferred_event(
    verdict: Accepted, seen: Observation, table: UndecidedTable, ledger: SessionState
) -> InferredEvent:
    """The event of a verdict on an earlier table, marked as inferred."""
    seen = verdict.table or seen
    event = event_from_verdict(verdict, document(seen, ledger))
    assert isinstance(event, VerdictReached)
    event = msgspec.structs.replace(
        event,
        message=sentences(event.message, IN_HINDSIGHT),
        evidence=event.evidence | {"in_hindsight": True},
    )
    return InferredEvent(event, table.frame_jpeg, seen)
