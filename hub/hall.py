"""Live state of every table for the wall, folded as records arrive.

The state is rebuilt from the database at every start. Changes are numbered, so that a page receives
missed changes after a reconnect.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import msgspec
from sqlalchemy import and_, func, or_, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection

from hub.intake import NewRecords, News
from hub.sessions import SessionFold
from hub.store import LOGS, RECORDS, TABLES, Store
from hub.wire import NextMatch
from referee.presentation.headlines import layers
from referee.presentation.shown_games import title
from referee.presentation.view_model import decision_of, phase_of
from referee.sessions.events import (
    Paused,
    QuestionAsked,
    Record,
    Reopened,
    Resumed,
    SessionStarted,
    TableChecked,
    VerdictReached,
    read_public_document,
)
from table.errors import InputError
from table.json_data import JsonObject
from table.languages import translation
from table.messages import Message, Word
from webui.api.events import first_event, written_event

logger = logging.getLogger(__name__)

LOOK_S = 2.0
"""Interval for polling the database for records stored by other processes."""
PACE_S = 0.05
"""Interval between folds; records that arrive in between are folded together."""
AT_ONCE, TABLES_AT_ONCE = 500, 100
"""Maximum number of records per query, and of tables per query."""
RECENT_MS = 24 * 3600 * 1000
"""Age of the last record beyond which a table shows no game."""


class PlayerNow(msgspec.Struct, frozen=True, kw_only=True):
    """A player at a table: the colour in English, what pages call them, and the points."""

    colour: str
    name: str
    points: str


class TableNow(msgspec.Struct, frozen=True, kw_only=True):
    """A table as the wall shows it, in one language; `seq` identifies the drawing.

    `phase` is `idle`, `playing`, `asking`, `paused`, `over` or `ended`; `player` whose turn it is;
    `upcoming` is the next match of an event.
    """

    id: int
    name: str
    game: str = ""
    phase: str = "idle"
    player: str = ""
    players: tuple[PlayerNow, ...] = ()
    headline: str = ""
    said: str = ""
    outcome: str = ""
    upcoming: str = ""
    seq: int = 0


class Leader(msgspec.Struct, frozen=True, kw_only=True):
    """A leading player of an event; in a knock-out `points` is the round reached."""

    place: int
    player: str
    points: str


class EventNow(msgspec.Struct, frozen=True, kw_only=True):
    """A running event as the wall shows it, with its leaders."""

    id: int
    name: str
    game: str
    leaders: tuple[Leader, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Next matches by table id, and running events by club id."""

    next: Mapping[int, NextMatch] = field(default_factory=dict)
    events: Mapping[int, tuple[EventNow, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ruled:
    """Game and state at a ruling, for its headline."""

    game: str
    state: Mapping[str, Any]


@dataclass(slots=True)
class _Table:
    """Accumulator for one table; `change` is the number of its last change."""

    id: int
    club_id: int
    name: str
    log_id: str = ""
    session: int = 0
    seq: int = 0
    change: int = 0
    fold: SessionFold | None = None
    question: Message | None = None
    paused: bool = False
    layers: tuple[str, str] = ("", "")
    setup: JsonObject = field(default_factory=dict)
    seen: JsonObject | None = None
    written: dict[str, bytes] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """Apply the next record of the table's current log."""
        event = record.event
        if isinstance(event, SessionStarted):
            self.fold = SessionFold(record)
            self.layers, self.seen, self.paused, self.question = ("", ""), None, False, None
        elif self.fold is None or record.session != self.fold.session:
            return
        else:
            self.fold.add(record)
        if isinstance(event, SessionStarted | Reopened | TableChecked) and event.table:
            self.setup = event.table
        if isinstance(event, VerdictReached | QuestionAsked) and event.observation is not None:
            self.seen = event.observation
        if isinstance(event, Paused | Resumed):
            self.paused = isinstance(event, Paused)
        if isinstance(event, QuestionAsked):
            self.question = event.message
        elif getattr(event, "state", None):
            self.question = None
        if (decision := decision_of(event)) is not None:
            self.layers = layers(decision, Ruled(self.fold.started.game, self.fold.state))


def _add(table: _Table, document: str) -> None:
    try:
        table.add(read_public_document(msgspec.json.decode(document), "record"))
    except (InputError, ValueError) as error:  # record of a newer version
        logger.warning("log %s, record %d: %s", table.log_id, table.seq, error)


class Hall:
    """The tables of all clubs.  Thread-safe; one thread folds (`run`)."""

    def __init__(
        self, store: Store, news: News, now_ms: Callable[[], int], plan: Callable[[], Plan] = Plan
    ) -> None:
        """`plan` returns the next matches and the running events."""
        self._store, self._news, self._now_ms, self._plan = store, news, now_ms, plan
        self._planned: Mapping[int, NextMatch] = {}
        self._events: dict[int, tuple[int, tuple[EventNow, ...]]] = {}
        """Running events by club id, with the number of their last change."""
        self._tables: OrderedDict[int, _Table] = OrderedDict()
        """Tables by id, in order of their last change."""
        self._changed = threading.Condition()
        self.hello = first_event(secrets.token_hex(8))
        self.newest, self.closed = 0, False
        self._old = threading.Event()

    def run(self, stopping: threading.Event) -> None:
        """Fold incoming records until `stopping` is set."""
        look_s = 0.0
        while not stopping.is_set():
            try:
                self.hear(self._news.wait(max(0.0, look_s - monotonic())))
                if self._old.is_set() or monotonic() >= look_s:
                    self.refresh()
                    look_s = monotonic() + LOOK_S
            except (DBAPIError, NoConnection) as error:
                logger.error("database: %s", " ".join(str(error).split())[:300])
                look_s = 0.0
                stopping.wait(LOOK_S)
            stopping.wait(PACE_S)

    def refresh(self) -> None:
        """Fold all new records of the database, and update the plan."""
        wanted = (
            select(TABLES.c.id, TABLES.c.club_id, TABLES.c.name, LOGS.c.log_id, LOGS.c.seq)
            .outerjoin(LOGS, LOGS.c.table_id == TABLES.c.id)
            .order_by(TABLES.c.id, LOGS.c.heard_ms)
        )
        old = self._old.is_set()
        self._old.clear()
        with self._store.reading() as db:
            rows = db.execute(wanted).all()
        behind: list[_Table] = []
        for row in {row.id: row for row in rows}.values():  # each table's most recent log
            known = None if old else self._tables.get(row.id)
            if known is None:
                known = _Table(row.id, row.club_id, row.name)
                self._changes(known)
            if row.seq and (row.log_id, row.seq) != (known.log_id, known.seq):
                if row.log_id != known.log_id:
                    known = _Table(row.id, row.club_id, row.name, row.log_id)
                    known.seq = self._before_last(row.log_id)
                behind.append(known)
        self._catch_up(behind)
        self._take_plan(self._plan())

    def hear(self, news: Iterable[NewRecords]) -> None:
        """Fold committed records; fill gaps from the database."""
        heard: dict[int, _Table] = {}
        behind: dict[int, _Table] = {}
        try:
            for one in news:
                sender = one.table
                table = heard.get(sender.id) or self._tables.get(sender.id)
                if table is None or table.log_id != one.log_id:
                    table = _Table(sender.id, sender.club_id, sender.name, one.log_id)
                    table.seq = one.after
                if table.seq == one.after:
                    for record in one.records:
                        place = record.place
                        table = self._with_record(table, place.seq, place.session, record.document)
                    heard[table.id] = table
                elif table.seq < one.cursor.seq:
                    behind[table.id] = table
        finally:
            for table in heard.values():
                self._changes(table)
        self._catch_up([*behind.values()])

    def _take_plan(self, plan: Plan) -> None:
        with self._changed:
            before, self._planned = self._planned, plan.next
            changed = [
                one for one in self._tables.values() if before.get(one.id) != plan.next.get(one.id)
            ]
            for club_id in self._events.keys() | plan.events.keys():
                events = plan.events.get(club_id, ())
                if events != self._events.get(club_id, (0, ()))[1]:
                    self.newest += 1
                    self._events[club_id] = (self.newest, events)
                    self._changed.notify_all()
        for table in changed:
            self._changes(table)

    def next_match(self, table_id: int) -> NextMatch:
        """The next match of a table; an empty one if there is none."""
        with self._changed:
            return self._planned.get(table_id, NextMatch())

    def _catch_up(self, behind: Sequence[_Table]) -> None:
        """Fold the new records of these tables from the database."""
        while behind:
            behind = [*self._read_newer_records(behind[:TABLES_AT_ONCE]), *behind[TABLES_AT_ONCE:]]

    def _read_newer_records(self, behind: Sequence[_Table]) -> list[_Table]:
        """Fold one query's records of these tables; returns all tables if more may follow."""
        folded = {table.log_id: table for table in behind}
        found = self._records(
            or_(*(and_(RECORDS.c.log_id == one.log_id, RECORDS.c.seq > one.seq) for one in behind))
        )
        for log_id, seq, session, document in found:
            folded[log_id] = self._with_record(folded[log_id], seq, session, document)
        for log_id in dict.fromkeys(log_id for log_id, *_ in found):
            self._changes(folded[log_id])
        return [*folded.values()] if len(found) == AT_ONCE else []

    def _with_record(self, table: _Table, seq: int, session: int, document: str) -> _Table:
        """Apply the next record of a log; a session change gives a new `_Table`."""
        if session != table.session:  # a new session, or a resumed one
            table = _Table(table.id, table.club_id, table.name, table.log_id, session=session)
            if session < seq:
                self._play_again(table, seq)
        table.seq = seq
        _add(table, document)
        return table

    def _play_again(self, table: _Table, before: int) -> None:
        """Fold the records of the table's session with numbers below `before`."""
        of_session = (RECORDS.c.log_id == table.log_id, RECORDS.c.session == table.session)
        while found := self._records(
            *of_session, RECORDS.c.seq > table.seq, RECORDS.c.seq < before
        ):
            for _, seq, _, document in found:
                table.seq = seq
                _add(table, document)

    def _before_last(self, log_id: str) -> int:
        """Number of the last record but one, or of the last if it is older than RECENT_MS."""
        with self._store.reading() as db:
            last, received_ms = db.execute(
                select(func.max(RECORDS.c.seq), func.max(RECORDS.c.received_ms)).where(
                    RECORDS.c.log_id == log_id
                )
            ).one()
        if last is None:
            return 0
        return int(last - 1 if received_ms > self._now_ms() - RECENT_MS else last)

    def _records(self, *wanted: Any) -> Sequence[tuple[str, int, int, str]]:
        """Log, number, session and document of up to AT_ONCE records, ordered by log and number."""
        with self._store.reading() as db:
            rows = db.execute(
                select(RECORDS.c.log_id, RECORDS.c.seq, RECORDS.c.session, RECORDS.c.document)
                .where(*wanted)
                .order_by(RECORDS.c.log_id, RECORDS.c.seq)
                .limit(AT_ONCE)
            ).all()
        return [tuple(row) for row in rows]

    def _changes(self, table: _Table) -> None:
        with self._changed:
            self.newest += 1
            table.change, table.written = self.newest, {}
            self._tables[table.id] = table
            self._tables.move_to_end(table.id)
            self._changed.notify_all()

    def forget(self) -> None:
        """Rebuild everything at the next refresh, because records were changed."""
        self._old.set()

    # ---- what pages and streams ask

    def tables(self, club_id: int, language: str) -> list[TableNow]:
        """The tables of a club, by name."""
        with self._changed:
            own = [one for one in self._tables.values() if one.club_id == club_id]
            shown = (table_now(one, language, self._planned.get(one.id)) for one in own)
            return sorted(shown, key=lambda one: one.name.casefold())

    def events(self, club_id: int) -> tuple[EventNow, ...]:
        """The running events of a club."""
        with self._changed:
            return self._events.get(club_id, (0, ()))[1]

    def board(self, club_id: int, table_id: int) -> tuple[JsonObject, JsonObject | None, Ruled]:
        """Documents for drawing a table's board: the set-up, the last observation, and the game.

        The set-up is empty if it is unknown or the club does not have the table.
        """
        with self._changed:
            table = self._tables.get(table_id)
            if table is None or table.club_id != club_id or table.fold is None:
                return {}, None, Ruled("", {})
            return table.setup, table.seen, Ruled(table.fold.started.game, table.fold.state)

    def wait(self, after: int, timeout_s: float) -> int:
        """Wait for a change after number `after`; returns the newest number, also on timeout."""
        with self._changed:
            self._changed.wait_for(lambda: self.newest > after, timeout_s)
            return self.newest

    def since(self, after: int) -> list[tuple[int, bytes]]:
        """An empty event with the newest number; `HallFeed` gives the tables of a club."""
        return [(max(after, self.newest), b"")]

    def moment(self) -> bytes:
        """No bytes: nothing is sent between changes."""
        return b""

    def news(self, club_id: int, language: str, after: int) -> list[tuple[int, bytes]]:
        """Events for the tables of a club that changed after number `after`, oldest first.

        Each table appears once, in its current state. The last number is always the newest.
        """
        found: list[tuple[int, bytes]] = []
        with self._changed:
            for table in reversed(self._tables.values()):
                if table.change <= after:
                    break
                if table.club_id != club_id:
                    continue
                if language not in table.written:
                    table.written[language] = written_event(
                        "table",
                        table_now(table, language, self._planned.get(table.id)),
                        table.change,
                    )
                found.append((table.change, table.written[language]))
            change, events = self._events.get(club_id, (0, ()))
            if change > after:
                found.append((change, written_event("events", events, change)))
            return [*sorted(found), (self.newest, b"")]


class HallFeed:
    """Event source for listeners of one club and language."""

    def __init__(self, hall: Hall, club_id: int, language: str) -> None:
        self._hall, self._club_id, self._language = hall, club_id, language
        self.hello, self.moment, self.wait = hall.hello, hall.moment, hall.wait

    @property
    def newest(self) -> int:
        """The number of the newest change."""
        return self._hall.newest

    @property
    def closed(self) -> bool:
        """True if nothing more will come."""
        return self._hall.closed

    def since(self, after: int) -> list[tuple[int, bytes]]:
        """The tables that changed after number `after`, as events."""
        return self._hall.news(self._club_id, self._language, after)


def table_now(table: _Table, language: str, planned: NextMatch | None) -> TableNow:
    """A table as the wall shows it in a language."""
    upcoming = f"{' – '.join(planned.players)}, {_game(planned)}" if planned else ""
    plain = TableNow(id=table.id, name=table.name, upcoming=upcoming)
    if table.fold is None:
        return plain
    game, state = table.fold.games[-1], table.fold.state
    headline, said = table.layers
    phase = phase_of(
        ended=table.fold.ended,
        paused=table.paused,
        asking=table.question is not None,
        over=game.over,
    )
    return msgspec.structs.replace(
        plain,
        game=title(game.game),
        phase=phase,
        player=str(state.get("next") or "") if phase == "playing" else "",
        players=tuple(
            PlayerNow(
                colour=one,
                name=game.names.get(one) or _capital(translation(Message(Word(one)), language)),
                points=f"{game.scores[one]:g}" if one in game.scores else "",
            )
            for one in game.players
        ),
        headline=translation(table.question or headline, language),
        said="" if table.question else translation(said, language),
        outcome=translation(game.outcome, language),
        seq=table.seq,
    )


def _game(planned: NextMatch) -> str:
    return f"{title(planned.game)} {planned.terms}".rstrip()


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
