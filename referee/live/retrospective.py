"""Looking back: what happened on tables that could not be ruled on, now that a later one is seen
(`referee.live.reconstruction`).
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
from referee.live.patient_session import Refereed
from referee.live.reconstruction import made_out, with_one_more, without_strangers
from referee.live.stability import agree, read_once
from referee.sessions.events import (
    Answered,
    Corrected,
    Declared,
    Event,
    GameStarted,
    Noted,
    Record,
    Reopened,
    Resigned,
    Resumed,
    Ruled,
    Undone,
)
from referee.sessions.first_player import hear
from referee.sessions.judged_tables import RuledOn
from referee.sessions.state import Ledger, followed_by
from referee.sessions.verdict_events import document, fact_of
from table.boards import Board
from table.messages import msg, sentences
from table.observation import Observation

TABLES_KEPT = 5
"""So many tables are looked back at: who goes on for longer has to put the record right."""
STORIES = 24
"""Where more than this may have happened, people have to say what did."""
ALLOWED = 4
"""A table follows best from what was before as something that may be done then
(`_Story.explains`).
"""
REFEREE = "the referee"
"""Who takes back what it asked."""
IN_HINDSIGHT = msg("It was made out only from what is seen now.")
SEEN_SINCE = msg("What was asked is seen by now: the question is taken back.")


class Fact(NamedTuple):
    """What is to be put on record: an event, with its picture and the table that it rests on where
    it was seen.
    """

    event: Event
    frame_jpeg: bytes | None = None
    table: Observation | None = None


@dataclass(frozen=True, slots=True)
class _Undecided:
    """A table at rest of which nothing came that counts."""

    seen: Observation
    frame_jpeg: bytes


@dataclass(frozen=True, slots=True)
class _Story:
    """The session as it would be: `facts` are to be put on record, `before` is the table that was
    ruled on last.
    """

    ledger: Ledger
    before: Observation | None
    facts: tuple[Fact, ...] = ()
    sure: bool = True
    """Was all that happened seen?  Otherwise only what is allowed may follow from it."""

    @property
    def moves(self) -> tuple[tuple[str, ...], ...]:
        """Those that were seen, table by table."""
        return tuple(
            fact.event.moves
            for fact in self.facts
            if fact.table is not None and isinstance(fact.event, Ruled)
        )

    def with_fact(self, fact: Fact) -> _Story:
        """And this."""
        ledger, before = (
            followed_by(self.ledger, fact.event),
            self.before if fact.table is None else fact.table,
        )
        return replace(self, ledger=ledger, before=before, facts=(*self.facts, fact))

    def heard(self, said: Mapping[str, Any]) -> _Story:
        """And this was said, if it is of use now."""
        event = fact_of(hear(self.ledger, said))
        return self.with_fact(Fact(event)) if event is not None and _counts(event) else self

    def seen(self, table: _Undecided, now: Observation, board: Board) -> list[_Story]:
        """And this table: what it must have shown, if a move explains that; or else that nothing
        counts, any answer to what could not be seen, any piece that came while the table was not as
        it had been, and what was seen without that which came from nowhere and is gone.

        What was refused may have been put back since, whatever else it may have been.  What is too
        close to call, and what was thrown first, is for people to say.
        """
        engine, better = self.ledger.engine, made_out(table.seen, self.before, now)
        seen = better or table.seen
        verdict = engine.judge(self.ledger.state, seen, self.before, board)
        if better is not None and self._counts(verdict):
            fact = _in_hindsight(verdict, seen, table, self.ledger)
            if isinstance(engine.judge(self.ledger.state, table.seen, self.before, board), Refused):
                return [self, replace(self, sure=False).with_fact(fact)]
            return [self.with_fact(fact)]
        another = isinstance(verdict, Unsettled) and (
            self.before is None or not agree(self.before, seen)
        )
        more = with_one_more(seen, self.before, now) if another else []
        if (without := without_strangers(seen, self.before, now)) is not None:
            more.append(without)
        found = [(engine.judge(self.ledger.state, one, self.before, board), one) for one in more]
        asked = verdict.asks if isinstance(verdict, Unsettled) else verdict
        if isinstance(asked, Ambiguous) and asked.until_moved and len(asked.choices) <= STORIES:
            answers = (
                answer_by_label(asked, choice.label, REFEREE)
                for choice in asked.choices
                if choice.moves
            )
            found += [(replace(answer, table=asked.table), seen) for answer in answers]
        facts = [
            _in_hindsight(verdict, shown, table, self.ledger)
            for verdict, shown in found
            if self._counts(verdict)
        ]
        return [self, *(replace(self, sure=False).with_fact(fact) for fact in facts)]

    def _counts(self, verdict: Verdict) -> TypeGuard[Accepted]:
        return isinstance(verdict, Accepted) and bool(verdict.moves or not self.ledger.begun)

    def explains(self, now: Observation, board: Board) -> tuple[int, tuple[str, ...]]:
        """How well the table seen now follows from that: ALLOWED, 3 as nothing new, 2 as one of
        several things, 1 as what is refused, or 0, not at all; and all moves up to there.
        """
        verdict = self.ledger.engine.judge(self.ledger.state, now, self.before, board)
        moves = tuple(
            move
            for fact in self.facts
            if isinstance(fact.event, Ruled | Noted)
            for move in fact.event.moves
        )
        match verdict:
            case OutOfSync() | CannotSee():
                return 0, moves
            case Refused():
                return int(self.sure), moves
            case Ambiguous():
                return 2, moves
            case Accepted():
                return ALLOWED, (*moves, *verdict.moves)
            case _:
                return 3, moves


class Hindsight:
    """The tables since the last ruling that counts, and what was said between them and did not
    count.  It asks and rules nothing by itself.
    """

    def __init__(self) -> None:
        self._seq = 0
        self._since: list[_Undecided | Mapping[str, Any]] = []

    @property
    def _seen_last(self) -> Observation | None:
        return next(
            (thing.seen for thing in reversed(self._since) if isinstance(thing, _Undecided)), None
        )

    def knows(self, seen: Observation, session: Refereed) -> bool:
        """Is it the reading that was kept last?  Ask it of every frame: nothing is compared."""
        self._forget_what_counted(session)
        return self._seen_last is not None and read_once(self._seen_last, seen)

    def keep(self, seen: Observation, frame_jpeg: bytes, session: Refereed) -> None:
        """Nothing that counts came of this table, seen in this picture; a newer reading of a table
        takes the place of the older one.
        """
        self._forget_what_counted(session)
        table, tables = (
            _Undecided(seen, frame_jpeg),
            [k for k, thing in enumerate(self._since) if isinstance(thing, _Undecided)],
        )
        if self._seen_last is not None and agree(self._seen_last, seen):
            self._since[tables[-1]] = table
        else:
            if len(tables) == TABLES_KEPT:
                del self._since[: tables[1]]
            self._since.append(table)

    def hear(self, said: Mapping[str, Any], record: Record | None, session: Refereed) -> None:
        """What was said was of no use then: by what happened on a table before it, it may have been
        in time.
        """
        self._forget_what_counted(session)
        if self._since and (record is None or not _counts(record.event)):
            self._since.append(said)

    def catch_up(
        self,
        session: Refereed,
        before: Observation | None,
        ruled_on: RuledOn[Observation],
        now: Observation,
        board: Board,
    ) -> bool:
        """Put on record what must have happened before the table seen `now`; did anything?
        `before` as in `look_back`.  Raises LogFailed.
        """
        self._forget_what_counted(session)
        ledger = session.ledger
        facts, seq = self.look_back(ledger, before, now, board), ledger.seq
        for fact in facts:
            record = session.append(fact.event, fact.frame_jpeg, after=seq)
            if record is None:
                break  # people said something meanwhile
            seq = record.seq
            if fact.table is not None:
                ruled_on.keep(seq, fact.table)
        return bool(facts)

    def look_back(
        self, ledger: Ledger, before: Observation | None, now: Observation, board: Board
    ) -> tuple[Fact, ...]:
        """What must have happened on those tables, in order, if the table seen `now` follows from
        it; nothing where that is not certain.

        Of what explains it as well, all must come to the same, or be the beginning of what tells
        most.  `before` is the table that the last ruling rests on: where it lies again as it did,
        all was put back.  What is seen now alone, and comes to the same, is to be ruled on as it
        is.
        """
        if before is not None and agree(before, now):
            return ()
        things = [
            thing
            for thing in self._since
            if not (isinstance(thing, _Undecided) and agree(thing.seen, now))
        ]
        if not any(isinstance(thing, _Undecided) for thing in things):
            return ()
        stories = _stories(things, ledger, before, now, board)
        if not any(story.moves for story in stories):
            return ()
        explained = [story.explains(now, board) for story in stories]
        best = max(how_well for how_well, _ in explained)
        told = [
            (moves, story)
            for story, (how_well, moves) in zip(stories, explained, strict=True)
            if how_well == best
        ]
        most, story = max(told, key=lambda one: (len(one[0]), len(one[1].moves)))
        if (
            not best
            or not story.moves
            or any(moves != most[: len(moves) if best == ALLOWED else None] for moves, _ in told)
        ):
            return ()
        alone = ledger.engine.judge(ledger.state, now, before, board)
        if isinstance(alone, Accepted) and story.moves == (alone.moves,) == (most,):
            return ()
        return story.facts

    def _forget_what_counted(self, session: Refereed) -> None:
        """Once something was ruled to have happened, or people say what did, nothing before it is
        looked back at.
        """
        if session.ledger.seq != self._seq and any(
            _decides(record.event) for record in session.records(self._seq)
        ):
            self._since = []
        self._seq = session.ledger.seq


def _stories(
    things: Iterable[_Undecided | Mapping[str, Any]],
    ledger: Ledger,
    before: Observation | None,
    now: Observation,
    board: Board,
) -> list[_Story]:
    """What may have happened: what must have been seen if it was legal, and any answer to what was
    asked; none where that is too much.
    """
    stories = [_Story(ledger, before)]
    if ledger.question is not None:
        stories = [
            stories[0].with_fact(
                Fact(Undone(undoes=ledger.question.seq, decided_by=REFEREE, said=SEEN_SINCE))
            )
        ]
    for thing in things:
        longer = (
            story.seen(thing, now, board) if isinstance(thing, _Undecided) else [story.heard(thing)]
            for story in stories
        )
        stories = _different(story for ways in longer for story in ways)
        if len(stories) > STORIES:
            return []
    return stories


def _different(stories: Iterable[_Story]) -> list[_Story]:
    """The first of those that come to the same."""
    found: list[_Story] = []
    for story in stories:
        if not any(
            story.ledger.state == other.ledger.state and story.before is other.before
            for other in found
        ):
            found.append(story)
    return found


def _accepted(event: Event) -> bool:
    """Was it ruled that something happened that counts: an act that is legal, or what a throw moved
    that is made again?
    """
    return isinstance(event, Ruled) and (event.verdict == "accepted" or bool(event.stands))


def _counts(heard: Event) -> bool:
    return isinstance(heard, Noted) or _accepted(heard)


def _decides(event: Event) -> bool:
    """Was it ruled that something happened, or do people say what did?"""
    if isinstance(event, Undone):
        return event.decided_by != REFEREE
    return _accepted(event) or isinstance(
        event, Answered | Corrected | Declared | GameStarted | Reopened | Resigned | Resumed
    )


def _in_hindsight(verdict: Accepted, seen: Observation, table: _Undecided, ledger: Ledger) -> Fact:
    seen = verdict.table or seen
    event = fact_of(verdict, document(seen, ledger))
    assert isinstance(event, Ruled)
    event = msgspec.structs.replace(
        event,
        said=sentences(event.said, IN_HINDSIGHT),
        evidence=event.evidence | {"in_hindsight": True},
    )
    return Fact(event, table.frame_jpeg, seen)
