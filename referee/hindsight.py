"""Looking back: what a table that could not be ruled on must have shown, now that a later one is seen.

A piece that lies where it lay before lay there in between, too, and what could not be read where a piece is read now was that piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeGuard

import msgspec
import numpy as np

from engines.still import moved
from engines.verdict import Accepted, Ambiguous, CannotSee, Choice, OutOfSync, Refused, Unsettled, Verdict
from referee.events import Answered, Corrected, Declared, Event, GameStarted, Noted, Record, Reopened, Resigned, Resumed, Ruled, Undone
from referee.facts import document, fact_of
from referee.frames import kept_jpeg
from referee.ledger import Ledger, apply
from referee.ruled_on import RuledOn
from referee.session import Session
from referee.settle import agree, read_once
from table.boards import Board
from table.clearance import clearance
from table.observation import SURE, Observation, SeenCounter, SeenPiece
from table.solids import Array
from vision.frame import Frame

TABLES_KEPT = 8
"""So many tables are looked back at: who goes on for longer has to put the record right."""
STORIES = 24
"""Where more than this may have happened, people have to say what did."""
ALLOWED = 4
"""A table follows best from what was before as something that may be done then (`_Story.explains`)."""
UNREAD_MM = 15.0
"""What could not be read is told this near to the middle of the piece that it is."""
COUNTER_MM = 3.0
"""A counter that is seen this near to where one was lies where it lay."""
REFEREE = "the referee"
"""Who takes back what it asked."""
IN_HINDSIGHT = "It was made out only from what is seen now."
SEEN_SINCE = "What was asked is seen by now: the question is taken back."


class Fact(NamedTuple):
    """What is to be put on record: an event, with its picture and the table that it rests on where it was seen."""

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
    """The session as it would be: `facts` are to be put on record, `before` is the table that was ruled on last."""

    ledger: Ledger
    before: Observation | None
    facts: tuple[Fact, ...] = ()
    sure: bool = True
    """Was all that happened seen?  Otherwise only what is allowed may follow from it."""

    @property
    def moves(self) -> tuple[tuple[str, ...], ...]:
        """Those that were seen, table by table."""
        return tuple(fact.event.moves for fact in self.facts if fact.table is not None and isinstance(fact.event, Ruled))

    def with_fact(self, fact: Fact) -> _Story:
        """And this."""
        record = Record(seq=self.ledger.seq + 1, session=self.ledger.session, at_ms=0, event=fact.event)
        return _Story(apply(self.ledger, record), self.before if fact.table is None else fact.table, (*self.facts, fact), self.sure)

    def heard(self, said: Mapping[str, Any]) -> _Story:
        """And this was said, if it is of use now."""
        event = fact_of(self.ledger.engine.hear(self.ledger.state, said, self.ledger.in_doubt))
        return self.with_fact(Fact(event)) if event is not None and _counts(event) else self

    def seen(self, table: _Undecided, now: Observation, board: Board) -> list[_Story]:
        """And this table: what it must have shown, if a move explains that; or else that nothing counts, any answer to what could not be seen,
        and any piece that came while the table was not as it had been.

        What is too close to call, and what was thrown first, is for people to say.
        """
        engine, better = self.ledger.engine, made_out(table.seen, self.before, now)
        seen = better or table.seen
        verdict = engine.judge(self.ledger.state, seen, self.before, board)
        if better is not None and self._counts(verdict):
            return [self.with_fact(_in_hindsight(verdict, seen, table, self.ledger))]
        another = isinstance(verdict, Unsettled) and (self.before is None or not agree(self.before, seen))
        more = with_one_more(seen, self.before, now) if another else []
        found = [(engine.judge(self.ledger.state, one, self.before, board), one) for one in more]
        asked = verdict.asks if isinstance(verdict, Unsettled) else verdict
        if isinstance(asked, Ambiguous) and asked.until_moved and len(asked.choices) <= STORIES:
            found += [(_answered(asked, choice), seen) for choice in asked.choices if choice.moves]
        facts = [_in_hindsight(verdict, shown, table, self.ledger) for verdict, shown in found if self._counts(verdict)]
        return [self, *(replace(self, sure=False).with_fact(fact) for fact in facts)]

    def _counts(self, verdict: Verdict) -> TypeGuard[Accepted]:
        return isinstance(verdict, Accepted) and bool(verdict.moves or not self.ledger.standing)

    def explains(self, now: Observation, board: Board) -> int:
        """How well the table seen now follows from that: ALLOWED, 3 as nothing new, 2 as one of several things, 1 as what is refused, or
        0, not at all."""
        verdict = self.ledger.engine.judge(self.ledger.state, now, self.before, board)
        match verdict:
            case OutOfSync() | CannotSee():
                return 0
            case Refused():
                return int(self.sure)
            case Ambiguous():
                return 2
            case Accepted():
                return ALLOWED
            case _:
                return 3


class Hindsight:
    """The tables since the last ruling that counts, and what was said between them and did not count.  It asks and rules nothing by itself."""

    def __init__(self) -> None:
        self._seq = 0
        self._since: list[_Undecided | Mapping[str, Any]] = []

    def keep(self, seen: Observation, frame: Frame, session: Session) -> None:
        """Nothing that counts came of this table, seen in this frame."""
        self._forget_what_counted(session)
        tables = [k for k, thing in enumerate(self._since) if isinstance(thing, _Undecided)]
        last = self._since[tables[-1]] if tables else None
        if isinstance(last, _Undecided) and agree(last.seen, seen):
            if not read_once(last.seen, seen):
                self._since[tables[-1]] = _Undecided(seen, kept_jpeg(frame))
            return
        if len(tables) == TABLES_KEPT:
            del self._since[: tables[1]]
        self._since.append(_Undecided(seen, kept_jpeg(frame)))

    def hear(self, said: Mapping[str, Any], record: Record | None, session: Session) -> None:
        """What was said was of no use then: by what happened on a table before it, it may have been in time."""
        self._forget_what_counted(session)
        if self._since and (record is None or not _counts(record.event)):
            self._since.append(said)

    def catch_up(self, session: Session, ruled_on: RuledOn[Observation], now: Observation, board: Board) -> bool:
        """Put on record what must have happened before the table seen `now`; did anything?  Raises LogFailed."""
        self._forget_what_counted(session)
        ledger = session.ledger
        facts, seq = self.look_back(ledger, ruled_on.before(ledger), now, board), ledger.seq
        for fact in facts:
            record = session.append(fact.event, fact.frame_jpeg, after=seq)
            if record is None:
                break  # people said something meanwhile
            seq = record.seq
            if fact.table is not None:
                ruled_on.keep(seq, fact.table)
        return bool(facts)

    def look_back(self, ledger: Ledger, before: Observation | None, now: Observation, board: Board) -> tuple[Fact, ...]:
        """What must have happened on those tables, in order, if the table seen `now` follows from it; nothing where that is not certain.

        `before` is the table that the last ruling rests on.  What is seen now alone, and comes to the same, is to be ruled on as it is.
        """
        things = [thing for thing in self._since if not (isinstance(thing, _Undecided) and agree(thing.seen, now))]
        if not any(isinstance(thing, _Undecided) for thing in things):
            return ()
        stories = _stories(things, ledger, before, now, board)
        explained = [story.explains(now, board) for story in stories]
        best = max(explained, default=0)
        told = [story for story, how_well in zip(stories, explained, strict=True) if how_well == best]
        if not best or not told[0].moves or any(story.ledger.state != told[0].ledger.state for story in told):
            return ()
        alone = ledger.engine.judge(ledger.state, now, before, board)
        if isinstance(alone, Accepted) and told[0].moves == (alone.moves,) and best < ALLOWED:
            return ()
        return told[0].facts

    def _forget_what_counted(self, session: Session) -> None:
        """Once something was ruled to have happened, or people say what did, nothing before it is looked back at."""
        if any(_decides(record.event) for record in session.records(self._seq)):
            self._since = []
        self._seq = session.ledger.seq


def _stories(
    things: Iterable[_Undecided | Mapping[str, Any]], ledger: Ledger, before: Observation | None, now: Observation, board: Board
) -> list[_Story]:
    """What may have happened: what must have been seen if it was legal, and any answer to what was asked; none where that is too much."""
    stories = [_Story(ledger, before)]
    if ledger.question is not None:
        stories = [stories[0].with_fact(Fact(Undone(undoes=ledger.question.seq, decided_by=REFEREE, said=SEEN_SINCE)))]
    for thing in things:
        longer = (story.seen(thing, now, board) if isinstance(thing, _Undecided) else [story.heard(thing)] for story in stories)
        stories = _different(story for ways in longer for story in ways)
        if len(stories) > STORIES:
            return []
    return stories


def made_out(seen: Observation, before: Observation | None, now: Observation) -> Observation | None:
    """The table `seen` with what must have lain there by the tables `before` and after it; None where that changes nothing.

    None, too, where a piece like one that is missing lies elsewhere, which is there neither before nor after: it may have been moved there
    and back.
    """
    stayed = [piece for piece in before.pieces if _there(piece, now)] if before is not None else []
    came = [piece for piece in now.pieces if before is None or not _there(piece, before)]
    missing = [piece for piece in stayed if not _there(piece, seen, _sure(piece))]
    read = [one for one in seen.pieces if not any(_same(one, piece) or (_overlap(one, piece) and not _there(one, now)) for piece in missing)]
    strange = [piece for piece in read if not _there(piece, now) and not (before is not None and _there(piece, before))]
    if any(_may_be(other, piece) for piece in missing for other in strange):
        return None
    gone = [piece for piece in read if not _there(piece, now)]
    unread = [piece for piece in came if not _there(piece, seen, _sure(piece)) and _something_at(piece, seen) and not _in_the_way(piece, read, gone)]
    read = [one for one in read if not any(_overlap(one, piece) for piece in unread)]
    tiles, counters = _tiles(seen, before, now), _counters(seen, before, now)
    added = [*missing, *unread]
    if not added and tiles == seen.tiles and not counters:
        return None
    places = tuple(place for place in seen.unread_mm if not any(_near(place, piece) for piece in added))
    pieces = _standing([*read, *added], seen, before, now)
    return replace(seen, pieces=pieces, unread_mm=places, tiles=tiles, counters=(*seen.counters, *counters))


def _something_at(piece: SeenPiece, seen: Observation) -> bool:
    """Lay something there that could not be read, or not for sure?"""
    return any(_near(place, piece) for place in seen.unread_mm) or any(_overlap(one, piece) for one in seen.pieces if not _sure(one))


def _in_the_way(piece: SeenPiece, read: Iterable[SeenPiece], gone: Iterable[SeenPiece]) -> bool:
    """Does another piece lie there for sure, or may the piece lie elsewhere yet?"""
    return any(_sure(one) and _overlap(one, piece) for one in read) or any(_may_be(one, piece) and not _overlap(one, piece) for one in gone)


def with_one_more(seen: Observation, before: Observation | None, now: Observation) -> list[Observation]:
    """The table `seen` with one of the pieces that came since `before`, and is there `now`; where it is gone from by now it was gone then."""
    tables = []
    for piece in now.pieces:
        if _there(piece, seen) or (before is not None and _there(piece, before)):
            continue
        was = [one for one in seen.pieces if (one.colour, one.size) == (piece.colour, piece.size) and not _there(one, now)]
        left = [one for one in seen.pieces if one not in was[:1] and not _overlap(one, piece)]
        places = tuple(place for place in seen.unread_mm if not _near(place, piece))
        tables.append(replace(seen, pieces=_standing([*left, piece], seen, before, now), unread_mm=places))
    return tables


def _different(stories: Iterable[_Story]) -> list[_Story]:
    """The first of those that come to the same."""
    found: list[_Story] = []
    for story in stories:
        if not any(story.ledger.state == other.ledger.state and story.before is other.before for other in found):
            found.append(story)
    return found


def _there(piece: SeenPiece, seen: Observation, surely: bool = False) -> bool:
    return any(_same(piece, other) and (_sure(other) or not surely) for other in seen.pieces)


def _same(a: SeenPiece, b: SeenPiece) -> bool:
    """Sizes need not be the same: what is read badly is read as any."""
    return a.colour == b.colour and not moved(a, b)


def _sure(piece: SeenPiece) -> bool:
    return min(piece.colour_probability, piece.size_probability, piece.pose_probability) >= SURE


def _may_be(read: SeenPiece, piece: SeenPiece) -> bool:
    return read.colour == piece.colour or read.colour_probability < SURE


def _overlap(a: SeenPiece, b: SeenPiece) -> bool:
    return clearance(a.solid, b.solid).mm <= 0


def _near(place_mm: Array, piece: SeenPiece) -> bool:
    return bool(np.hypot(*(place_mm - piece.solid.vertices_mm[:, :2].mean(axis=0))) <= UNREAD_MM)


def _standing(pieces: list[SeenPiece], *tables: Observation | None) -> tuple[SeenPiece, ...]:
    """The pieces of several tables in one: each on what it stood on there, if that is among them."""
    under: dict[int, SeenPiece] = {}
    for table in tables:
        for piece in table.pieces if table is not None else ():
            if piece.on is not None:
                under[id(piece)] = table.pieces[piece.on] if table is not None else piece
    index = {id(piece): k for k, piece in enumerate(pieces)}
    return tuple(replace(piece, on=index.get(id(under[id(piece)]))) if id(piece) in under else piece for piece in pieces)


def _tiles(seen: Observation, before: Observation | None, now: Observation) -> dict[str, bool] | None:
    """What lay on the board before and after lay there in between."""
    if before is None or None in (seen.tiles, before.tiles, now.tiles):
        return seen.tiles
    was, will = before.tiles or {}, now.tiles or {}
    return {place: there or bool(was.get(place) and will.get(place)) for place, there in (seen.tiles or {}).items()}


def _counters(seen: Observation, before: Observation | None, now: Observation) -> list[SeenCounter]:
    """Counters that lay there before and after, and were not seen."""
    if before is None:
        return []
    return [one for one in before.counters if _lies(one, now.counters) and not _lies(one, seen.counters)]


def _lies(counter: SeenCounter, among: tuple[SeenCounter, ...]) -> bool:
    return any(one.colour == counter.colour and np.hypot(one.x_mm - counter.x_mm, one.y_mm - counter.y_mm) <= COUNTER_MM for one in among)


def _answered(asked: Ambiguous, choice: Choice) -> Accepted:
    common = {name: getattr(asked, name) for name in ("code", "rests_on", "player", "evidence", "table")}
    return Accepted(said=f"{choice.label}: {REFEREE} decided.", moves=choice.moves, **common)


def _counts(heard: Event) -> bool:
    return isinstance(heard, Noted) or (isinstance(heard, Ruled) and heard.verdict == "accepted")


def _decides(event: Event) -> bool:
    """Was it ruled that something happened, or do people say what did?"""
    if isinstance(event, Undone):
        return event.decided_by != REFEREE
    accepted = isinstance(event, Ruled) and event.verdict == "accepted"
    return accepted or isinstance(event, Answered | Corrected | Declared | GameStarted | Reopened | Resigned | Resumed)


def _in_hindsight(verdict: Accepted, seen: Observation, table: _Undecided, ledger: Ledger) -> Fact:
    seen = verdict.table or seen
    event = fact_of(verdict, document(seen, ledger))
    assert isinstance(event, Ruled)
    event = msgspec.structs.replace(event, said=f"{event.said} {IN_HINDSIGHT}", evidence=event.evidence | {"in_hindsight": True})
    return Fact(event, table.frame_jpeg, seen)
