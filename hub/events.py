"""Events of a club: organisers create them, add players and tables, and pair rounds.

Match results are resolved on each read (`hub.matches`); `hub.match_desk` enters and confirms them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from sqlalchemy import Connection, delete, func, insert, select, update

from engines import GAMES
from hub.aliases import aliases_of, main_name, names_of
from hub.audit import Actor, note
from hub.event_standings import TIE_BREAKS, Participant, event_standings
from hub.hall import EventNow, Leader, Plan
from hub.matches import (
    OPEN,
    WON,
    Format,
    Match,
    Seat,
    Settled,
    Source,
    next_at_tables,
    read_evidence,
    read_result,
    result_text,
    settle,
)
from hub.names import name_key
from hub.pairing import Entrant, Pair, bracket, next_round, round_robin, swiss
from hub.standings import HubGame, Results
from hub.store import EVENT_PLAYERS, EVENT_TABLES, EVENTS, MATCHES, SEATS, TABLES, Store
from hub.tables import read_name
from hub.wire import NextMatch
from referee.presentation.shown_games import title
from table.messages import msg
from webui.security.codes import new_code, plain
from webui.security.requests import Refusal

State = Literal["open", "running", "over"]
"""`open` until the first round is paired; `over` once an organiser has ended the event."""
FORMATS = get_args(Format)
MOST_PLAYERS, MOST_ROUNDS, MOST_EVENTS, MOST_TERMS = 200, 50, 1000, 40
MOST_SEATS = 8
"""Maximum number of players per match."""
MOST_LEADERS = 8
"""Number of players of an event that the wall shows."""
CODE_LETTERS = 8
"""Code length, as for a table's code: sufficient because wrong codes are limited."""


@dataclass(frozen=True, slots=True)
class EventTable:
    """A table of the club; `used` if the event uses it."""

    id: int
    name: str
    used: bool


@dataclass(frozen=True, slots=True)
class Event:
    """Current state of an event; `terms` is a few words such as "to 13", `rounds` the plan."""

    id: int
    club_id: int
    name: str
    game: str
    format: Format
    terms: str
    rounds: int
    state: State
    made_ms: int
    players: tuple[Participant, ...] = ()
    tables: tuple[EventTable, ...] = ()
    matches: tuple[Settled, ...] = ()

    @property
    def paired(self) -> int:
        """Number of paired rounds."""
        return max((one.match.round for one in self.matches), default=0)

    @property
    def unconfirmed(self) -> int:
        """Number of matches without a confirmed result, byes excluded."""
        return sum(one.status not in ("confirmed", "bye") for one in self.matches)

    @property
    def may_pair(self) -> bool:
        """True if another round can be paired."""
        if self.state == "over" or self.format == "free":
            return False
        if self.format == "round_robin":
            return not self.matches
        if self.format == "swiss":
            return self.paired < self.rounds
        return not self.matches or self._of(self.paired) > 1

    def _of(self, round_: int) -> int:
        return sum(one.match.round == round_ for one in self.matches)


class Events:
    """The events of all clubs.  Thread-safe."""

    def __init__(self, store: Store, results: Results, now_ms: Callable[[], int]) -> None:
        """`now_ms` is the hub's wall clock."""
        self._store, self._results, self._now_ms = store, results, now_ms

    # ---- what pages ask

    def listed(self, club_id: int) -> list[Event]:
        """The events of a club, newest first, without players and matches."""
        wanted = select(EVENTS).where(EVENTS.c.club_id == club_id).order_by(EVENTS.c.id.desc())
        with self._store.reading() as db:
            return [_event(row) for row in db.execute(wanted)]

    def event(self, club_id: int, event_id: int) -> Event:
        """Current state of an event; raises Refusal if the club does not have it."""
        with self._store.reading() as db:
            read = _Read(db, club_id, event_id)
        return read.settled(self._results.games(club_id))

    def of_player(self, club_id: int, name: str) -> list[Event]:
        """Events with a player of this name or its aliases, newest first."""
        wanted = (
            select(EVENTS.c.id, EVENT_PLAYERS.c.name)
            .join(EVENT_PLAYERS, EVENT_PLAYERS.c.event_id == EVENTS.c.id)
            .where(EVENTS.c.club_id == club_id)
        )
        with self._store.reading() as db:
            aliases = aliases_of(db, club_id)
            key = name_key(main_name(name, aliases))
            found = {
                row.id
                for row in db.execute(wanted)
                if name_key(main_name(row.name, aliases)) == key
            }
        return [self.event(club_id, number) for number in sorted(found, reverse=True)]

    def running(self, club_id: int) -> list[Event]:
        """The running events of a club, oldest first."""
        wanted = select(EVENTS.c.id).where(EVENTS.c.club_id == club_id, EVENTS.c.state == "running")
        with self._store.reading() as db:
            numbers = [row.id for row in db.execute(wanted.order_by(EVENTS.c.id))]
            running = [_Read(db, club_id, number) for number in numbers]
        games = self._results.games(club_id) if running else []
        return [read.settled(games) for read in running]

    def next_matches(self, club_id: int) -> dict[int, tuple[Event, Match]]:
        """The next match of each table, by the table's id; older events take precedence."""
        return _next_matches(self.running(club_id))

    def clubs_that_play(self) -> list[int]:
        """Ids of all clubs with a running event."""
        wanted = select(EVENTS.c.club_id).where(EVENTS.c.state == "running").distinct()
        with self._store.reading() as db:
            return [row.club_id for row in db.execute(wanted)]

    def keep_results(self, club_id: int, name: str) -> None:
        """Store table results with a player's matches, before the linking name is erased."""
        wanted = (
            select(EVENTS.c.id, EVENT_PLAYERS.c.name)
            .join(EVENT_PLAYERS, EVENT_PLAYERS.c.event_id == EVENTS.c.id)
            .where(EVENTS.c.club_id == club_id)
        )
        with self._store.reading() as db:
            keys = set(map(name_key, names_of(db, club_id, name)))
            rows = db.execute(wanted).all()
        for number in {row.id for row in rows if name_key(row.name) in keys}:
            said = [one for one in self.event(club_id, number).matches if one.source == "table"]
            with self._store.writing() as db:
                for one in said:
                    values = {"entered_by": "table", "entered": result_text(one.result)}
                    mine = update(MATCHES).where(MATCHES.c.id == one.match.id)
                    db.execute(mine.values(**values))

    def plan(self) -> Plan:
        """Next matches of all tables, and leaders of all running events."""
        next_: dict[int, NextMatch] = {}
        leaders: dict[int, tuple[EventNow, ...]] = {}
        for club_id in self.clubs_that_play():
            running = self.running(club_id)
            leaders[club_id] = tuple(map(_event_now, running))
            for table, (event, match) in _next_matches(running).items():
                next_[table] = NextMatch(
                    match=match.id,
                    table=match.table,
                    event=event.name,
                    game=event.game,
                    terms=event.terms,
                    players=tuple(seat.name for seat in match.seats),
                )
        return Plan(next_, leaders)

    # ---- what organisers do

    def make(
        self, actor: Actor, name: str, game: str, format_: str, terms: str = "", rounds: int = 0
    ) -> int:
        """Create an event of a game; a Swiss event has 5 rounds by default.  Raises Refusal."""
        name, terms = read_name(name, "name"), " ".join(terms.split())
        if game not in GAMES or format_ not in FORMATS or len(terms) > MOST_TERMS:
            raise _bad(msg("Expected a game and a format; nothing was done."))
        if not 0 <= rounds <= MOST_ROUNDS:
            raise _bad(msg("Expected {n} to {n2} rounds; nothing was done.", n=1, n2=MOST_ROUNDS))
        with self._store.writing() as db:
            count = (
                select(func.count()).select_from(EVENTS).where(EVENTS.c.club_id == actor.club_id)
            )
            if db.execute(count).scalar_one() >= MOST_EVENTS:
                raise _bad(msg("Expected at most {n} events of one club.", n=MOST_EVENTS))
            made = db.execute(
                insert(EVENTS)
                .values(
                    club_id=actor.club_id,
                    name=name,
                    game=game,
                    format=format_,
                    terms=terms,
                    rounds=rounds or 5,
                    state="open",
                    made_ms=self._now_ms(),
                )
                .returning(EVENTS.c.id)
            ).scalar_one()
            note(db, self._now_ms(), actor, "event made", name)
        return int(made)

    def add_players(self, actor: Actor, event_id: int, names: Iterable[str]) -> None:
        """Append players; raises Refusal for an existing name, or if it is too late."""
        new = [read_name(name, "name") for name in names if name.strip()]
        with self._store.writing() as db:
            read = self._open(db, actor, event_id)
            if read.matches and read.row.format in ("round_robin", "knock_out"):
                raise _too_late_refusal()
            known = {name_key(one.name) for one in read.players}
            if len(known) + len(new) > MOST_PLAYERS:
                raise _bad(msg("Expected at most {n} players; nothing was done.", n=MOST_PLAYERS))
            for number, name in enumerate(new, len(read.players) + 1):
                if name_key(name) in known:
                    raise Refusal(
                        409, "name_taken", msg("There is a player {raw} already.", raw=name)
                    )
                known.add(name_key(name))
                db.execute(
                    insert(EVENT_PLAYERS).values(
                        event_id=event_id,
                        number=number,
                        name=name,
                        code=plain(new_code(CODE_LETTERS)),
                        withdrawn=0,
                    )
                )
            note(db, self._now_ms(), actor, "players added", read.row.name)

    def withdraw(self, actor: Actor, event_id: int, player_id: int) -> None:
        """Toggle a player's withdrawal from further rounds.

        Before the first round the player is deleted instead.
        """
        with self._store.writing() as db:
            read = self._open(db, actor, event_id)
            player = next((one for one in read.players if one.id == player_id), None)
            if player is None:
                raise Refusal(404, "no_such_player", msg("There is no such player."))
            mine = EVENT_PLAYERS.c.id == player_id
            if read.matches:
                gone = int(not player.withdrawn)
                db.execute(update(EVENT_PLAYERS).where(mine).values(withdrawn=gone))
            else:
                db.execute(delete(EVENT_PLAYERS).where(mine))
                for number, one in enumerate((o for o in read.players if o.id != player_id), 1):
                    at = EVENT_PLAYERS.c.id == one.id
                    db.execute(update(EVENT_PLAYERS).where(at).values(number=number))
            note(db, self._now_ms(), actor, "player withdrawn", read.row.name)

    def use_tables(self, actor: Actor, event_id: int, tables: Iterable[int]) -> None:
        """Set the tables that the event uses."""
        with self._store.writing() as db:
            read = self._open(db, actor, event_id)
            known = {one.id for one in read.tables}
            db.execute(delete(EVENT_TABLES).where(EVENT_TABLES.c.event_id == event_id))
            for table in sorted(known & set(tables)):
                db.execute(insert(EVENT_TABLES).values(event_id=event_id, table_id=table))
            note(db, self._now_ms(), actor, "tables chosen", read.row.name)

    def pair(self, actor: Actor, event_id: int, after: int) -> None:
        """Pair the round after number `after`; a round robin is paired completely.

        Raises Refusal while a match has no confirmed result, if no round is left, or if the round
        was paired already.
        """
        event = self.event(actor.club_id, event_id)
        if event.paired != after:
            raise Refusal(409, "paired_already", msg("This round was paired already."))
        rounds = pairings(event)
        tables = [one.id for one in event.tables if one.used]
        with self._store.writing() as db:
            read = self._open(db, actor, event_id)
            if max((one.round for one in read.matches), default=0) != after:
                raise Refusal(409, "paired_already", msg("This round was paired already."))
            for number, pairs in enumerate(rounds, after + 1):
                for place, pair in enumerate(pairs):
                    table = tables[place % len(tables)] if tables and pair[1] is not None else None
                    seats = [one for one in pair if one is not None]
                    self._match(db, event_id, number, place + 1, table, seats)
            running = update(EVENTS).where(EVENTS.c.id == event_id).values(state="running")
            db.execute(running)
            note(db, self._now_ms(), actor, "round paired", f"{event.name}, {after + 1}")

    def add_match(
        self, actor: Actor, event_id: int, players: Sequence[int], table: int | None
    ) -> None:
        """Add a match between any players of a free event; raises Refusal."""
        with self._store.writing() as db:
            read = self._open(db, actor, event_id)
            known = {one.id for one in read.players}
            if read.row.format != "free":
                raise _bad(msg("In this event rounds are paired; nothing was done."))
            if not 2 <= len(set(players) & known) == len(players) <= MOST_SEATS:
                raise _bad(
                    msg(
                        "Expected {n} to {n2} different players; nothing was done.",
                        n=2,
                        n2=MOST_SEATS,
                    )
                )
            self._check_table(read, table)
            number = max((one.number for one in read.matches), default=0) + 1
            self._match(db, event_id, 1, number, table, players)
            db.execute(update(EVENTS).where(EVENTS.c.id == event_id).values(state="running"))
            note(db, self._now_ms(), actor, "match added", read.row.name)

    def take_back(self, actor: Actor, event_id: int) -> None:
        """Delete the last round, or a free event's last match; raises Refusal once it was begun."""
        event = self.event(actor.club_id, event_id)
        last = [one for one in event.matches if one.match.round == event.paired]
        if event.format == "free":
            last = last[-1:]
        if event.format == "round_robin":
            last = list(event.matches)
        if not last or any(one.status not in (*OPEN[:1], "bye") for one in last):
            raise Refusal(409, "has_results", msg("This round has been played; nothing was done."))
        with self._store.writing() as db:
            self._open(db, actor, event_id)
            numbers = [one.match.id for one in last]
            db.execute(delete(SEATS).where(SEATS.c.match_id.in_(numbers)))
            db.execute(delete(MATCHES).where(MATCHES.c.id.in_(numbers)))
            if len(last) == len(event.matches):
                back = update(EVENTS).where(EVENTS.c.id == event_id).values(state="open")
                db.execute(back)
            note(db, self._now_ms(), actor, "round taken back", event.name)

    def move(self, actor: Actor, event_id: int, match_id: int, table: int | None) -> None:
        """Move a match to another table of the club, or to any table for None."""
        with self._store.writing() as db:
            read = self._open(db, actor, event_id)
            self._check_table(read, table)
            mine = (MATCHES.c.id == match_id, MATCHES.c.event_id == event_id)
            db.execute(update(MATCHES).where(*mine).values(table_id=table))
            note(db, self._now_ms(), actor, "match moved", read.row.name)

    def end(self, actor: Actor, event_id: int) -> None:
        """End an event, or reopen an ended one."""
        with self._store.writing() as db:
            read = _Read(db, actor.club_id, event_id, lock=True)
            state = "over" if read.row.state != "over" else "running" if read.matches else "open"
            db.execute(update(EVENTS).where(EVENTS.c.id == event_id).values(state=state))
            note(db, self._now_ms(), actor, "event ended", read.row.name)

    def _open(self, db: Connection, actor: Actor, event_id: int) -> _Read:
        """Lock the event; raises Refusal if it does not exist or is over."""
        read = _Read(db, actor.club_id, event_id, lock=True)
        if read.row.state == "over":
            raise _too_late_refusal()
        return read

    def _check_table(self, read: _Read, table: int | None) -> None:
        if table is not None and table not in {one.id for one in read.tables}:
            raise Refusal(404, "no_such_table", msg("There is no such table."))

    def _match(
        self,
        db: Connection,
        event_id: int,
        round_: int,
        number: int,
        table: int | None,
        players: Sequence[int],
    ) -> None:
        made = db.execute(
            insert(MATCHES)
            .values(
                event_id=event_id,
                round=round_,
                number=number,
                table_id=table,
                made_ms=self._now_ms(),
                entered_by="",
                entered="",
                confirmed="",
                disputed_by=None,
                frozen="",
            )
            .returning(MATCHES.c.id)
        ).scalar_one()
        for place, player in enumerate(players):
            db.execute(
                insert(SEATS).values(match_id=made, place=place, player_id=player, agreed="")
            )


def _next_matches(running: Iterable[Event]) -> dict[int, tuple[Event, Match]]:
    """The next match of each table, by the table's id, and its event."""
    found: dict[int, tuple[Event, Match]] = {}
    for event in running:
        for table, match in next_at_tables(event.matches).items():
            found.setdefault(table, (event, match))
    return found


def _event_now(event: Event) -> EventNow:
    lines = event_standings(event.format, event.players, event.matches)
    worth = TIE_BREAKS[event.format][0]
    return EventNow(
        id=event.id,
        name=event.name,
        game=f"{title(event.game)} {event.terms}".rstrip(),
        leaders=tuple(
            Leader(place=line.place, player=line.player, points=f"{getattr(line, worth):g}")
            for line in lines[:MOST_LEADERS]
        ),
    )


def pairings(event: Event) -> list[list[Pair]]:
    """The next rounds, as pairs of player ids; raises Refusal if none can be paired."""
    if not event.may_pair:
        raise Refusal(409, "no_round_left", msg("No round is left to pair."))
    if event.unconfirmed:
        raise Refusal(
            409,
            "open_results",
            msg("Open results: {n}. Confirm them first; nothing was done.", n=event.unconfirmed),
        )
    active = [one.id for one in event.players if not one.withdrawn]
    if len(active) < 2:
        raise _bad(msg("Expected at least {n} players; nothing was done.", n=2))
    match event.format:
        case "round_robin":
            return round_robin(active)
        case "swiss":
            return [swiss(_entrants(event, active))]
        case _:
            return [next_round(_winners(event)) if event.matches else bracket(active)]


def _winners(event: Event) -> list[int]:
    """Winners of a knock-out's last round, in bracket order; raises Refusal for a draw."""
    winners = []
    for one in event.matches:
        if one.match.round != event.paired:
            continue
        shares = one.counts.shares if one.counts else ()
        won = [seat for seat, share in zip(one.match.seats, shares, strict=False) if share == WON]
        if len(won) != 1:
            raise Refusal(
                409,
                "no_winner",
                msg("Match {n} has no winner: decide it; nothing was done.", n=one.match.number),
            )
        winners.append(won[0].player_id)
    return winners


def _entrants(event: Event, active: Sequence[int]) -> list[Entrant]:
    score = dict.fromkeys((one.id for one in event.players), 0.0)
    byes, began = Counter[int](), Counter[int]()
    met: dict[int, Counter[int]] = {one.id: Counter() for one in event.players}
    for one in event.matches:
        seats = one.match.seats
        for place, seat in enumerate(seats):
            score[seat.player_id] += one.counts.shares[place] if one.counts else 0
            byes[seat.player_id] += len(seats) == 1
            began[seat.player_id] += (1 - 2 * place) * (len(seats) == 2)
            met[seat.player_id].update(other.player_id for other in seats if other is not seat)
    return [Entrant(one, score[one], met[one], byes[one], began[one]) for one in active]


class _Read:
    """Rows of an event, read in the caller's transaction."""

    def __init__(self, db: Connection, club_id: int, event_id: int, lock: bool = False) -> None:
        """Read the rows; raises Refusal if the club does not have the event."""
        wanted = select(EVENTS).where(EVENTS.c.id == event_id, EVENTS.c.club_id == club_id)
        row = db.execute(wanted.with_for_update() if lock else wanted).one_or_none()
        if row is None:
            raise Refusal(404, "no_such_event", msg("There is no such event."))
        self.row = row
        self.players = _players(db, event_id, aliases_of(db, club_id))
        self.tables = _tables(db, club_id, event_id)
        names = {one.id: one.name for one in self.tables}
        self.matches = _matches(db, event_id, self.players, names)

    def settled(self, games: Sequence[HubGame]) -> Event:
        """Current state of the event, given the club's games."""
        return _event(
            self.row,
            players=self.players,
            tables=self.tables,
            matches=tuple(settle(self.row.game, self.matches, games)),
        )


def _event(row: Any, **more: Any) -> Event:
    return Event(
        row.id,
        row.club_id,
        row.name,
        row.game,
        cast(Format, row.format),
        row.terms,
        row.rounds,
        cast(State, row.state),
        row.made_ms,
        **more,
    )


def _players(db: Connection, event_id: int, aliases: Mapping[str, str]) -> tuple[Participant, ...]:
    wanted = select(EVENT_PLAYERS).where(EVENT_PLAYERS.c.event_id == event_id)
    return tuple(
        Participant(row.id, row.number, main_name(row.name, aliases), bool(row.withdrawn), row.code)
        for row in db.execute(wanted.order_by(EVENT_PLAYERS.c.number))
    )


def _tables(db: Connection, club_id: int, event_id: int) -> tuple[EventTable, ...]:
    used = select(EVENT_TABLES.c.table_id).where(EVENT_TABLES.c.event_id == event_id)
    mine = {row.table_id for row in db.execute(used)}
    rows = db.execute(select(TABLES).where(TABLES.c.club_id == club_id).order_by(TABLES.c.name))
    return tuple(EventTable(row.id, row.name, row.id in mine) for row in rows)


def _matches(
    db: Connection, event_id: int, players: Sequence[Participant], tables: Mapping[int, str]
) -> tuple[Match, ...]:
    names = {one.id: one.name for one in players}
    sitting: dict[int, list[Seat]] = {}
    chairs = (
        select(SEATS)
        .join(MATCHES, MATCHES.c.id == SEATS.c.match_id)
        .where(MATCHES.c.event_id == event_id)
        .order_by(SEATS.c.match_id, SEATS.c.place)
    )
    for row in db.execute(chairs):
        seat = Seat(row.player_id, names[row.player_id], row.agreed)
        sitting.setdefault(row.match_id, []).append(seat)
    rows = db.execute(select(MATCHES).where(MATCHES.c.event_id == event_id)).all()
    return tuple(
        Match(
            row.id,
            row.round,
            row.number,
            row.table_id,
            tables.get(row.table_id, ""),
            row.made_ms,
            tuple(sitting.get(row.id, ())),
            cast(Source, row.entered_by),
            read_result(row.entered),
            row.confirmed,
            row.disputed_by,
            read_evidence(row.frozen),
        )
        for row in sorted(rows, key=lambda row: (row.round, row.number))
    )


def _bad(why: str) -> Refusal:
    return Refusal(400, "bad_event", why)


def _too_late_refusal() -> Refusal:
    return Refusal(409, "too_late", msg("It is too late for that in this event; nothing was done."))
