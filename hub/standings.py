"""Standings of a club: the results of its finished games, per player.

Standings are folded from records and can be rebuilt at any time. A game counts if it is over and at
least one player has a name. Players are identified by name.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from sqlalchemy import select

from hub.aliases import aliases_of, main_name
from hub.names import name_key
from hub.places import Line, placed
from hub.sessions import GameResult, SessionFold
from hub.store import LOGS, RECORDS, TABLES, Store
from referee.sessions.events import read_public_document
from table.errors import InputError

TIE_BREAKS = ("won", "drawn", "difference", "points")
"""Fields that rank players, in order of precedence; higher is better."""

AT_ONCE = 500
"""Records read per query."""


@dataclass(frozen=True, slots=True)
class HubGame:
    """A game at a table of the club.

    `at_ms` is when the hub received the session's first record, `began_ms` the game's. `log_id` and
    `session` locate its records; `last` is the number of the session's newest record at the hub.
    """

    table: str
    at_ms: int
    result: GameResult
    table_id: int = 0
    log_id: str = ""
    session: int = 0
    last: int = 0
    began_ms: int = 0


class Standing(Line, frozen=True, kw_only=True):
    """One player's row of the standings."""

    player: str
    games: int
    won: int
    drawn: int
    lost: int
    points: float
    against: float
    difference: float


@dataclass(slots=True)
class _Session:
    """A partly folded session; `print_` is the fingerprint of its first record.

    `began_ms` maps the first record of each game to the time when the hub received it. `fold` is
    None if the hub cannot read the session's first record.
    """

    print_: str
    at_ms: int
    last: int
    fold: SessionFold | None = None
    began_ms: dict[int, int] = field(default_factory=dict)
    games: tuple[GameResult, ...] = ()


@dataclass(slots=True)
class _FoldedLog:
    """A partly folded log."""

    seq: int = 0
    sessions: dict[int, _Session] = field(default_factory=dict)


class Results:
    """The games of all clubs; each record is folded once.  Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, _FoldedLog] = {}
        self._lock = threading.Lock()

    def games(self, club_id: int) -> list[HubGame]:
        """The games of a club, oldest first; a session found in two logs counts once."""
        logs = (
            select(LOGS.c.log_id, LOGS.c.seq, TABLES.c.id, TABLES.c.name)
            .join(TABLES, TABLES.c.id == LOGS.c.table_id)
            .where(TABLES.c.club_id == club_id)
        )
        with self._lock:
            with self._store.reading() as db:
                rows, aliases = db.execute(logs).all(), aliases_of(db, club_id)
            copies: defaultdict[str, list[tuple[_Session, list[HubGame]]]] = defaultdict(list)
            for row in rows:
                for number, session in self._folded(row.log_id, row.seq).sessions.items():
                    found = _games(session, row.id, row.name, row.log_id, number)
                    copies[session.print_].append((session, found))  # renamed ones begin alike
        games = [_renamed(game, aliases) for same in copies.values() for game in _longest(same)]
        return sorted(games, key=lambda one: (one.at_ms, one.result.number))

    def forget(self) -> None:
        """Discard all folds, because records were changed."""
        with self._lock:
            self._known.clear()

    def _folded(self, log_id: str, last: int) -> _FoldedLog:
        """Fold a log up to record `last`; start again if the hub was restored from a backup."""
        log = self._known.get(log_id)
        if log is None or log.seq > last:
            log = self._known[log_id] = _FoldedLog()
        while log.seq < last:
            wanted = (
                select(RECORDS)
                .where(RECORDS.c.log_id == log_id, RECORDS.c.seq > log.seq)
                .order_by(RECORDS.c.seq)
                .limit(AT_ONCE)
            )
            with self._store.reading() as db:
                rows = db.execute(wanted).all()
            for row in rows:
                _add(log, row)
            if not rows:
                break
        return log


def _add(log: _FoldedLog, row: Any) -> None:
    """Fold the next record of a log."""
    log.seq = row.seq
    session = log.sessions.get(row.session)
    if session is None:
        session = _Session(row.fingerprint, row.received_ms, row.seq)
        log.sessions[row.session] = session
    session.last, session.games = row.seq, ()
    try:
        record = read_public_document(msgspec.json.decode(row.document), "record")
        if row.seq == row.session:
            session.fold = SessionFold(record)
        elif session.fold is not None:
            session.fold.add(record)
    except (InputError, ValueError):  # of a newer table than this hub
        return
    session.began_ms[row.seq] = row.received_ms


def _games(session: _Session, table_id: int, table: str, log_id: str, number: int) -> list[HubGame]:
    if session.fold is None:
        return []
    if not session.games:
        session.games = session.fold.games
        begun = {one.seq for one in session.games}
        session.began_ms = {seq: at for seq, at in session.began_ms.items() if seq in begun}
    return [
        HubGame(
            table,
            session.at_ms,
            game,
            table_id,
            log_id,
            number,
            session.last,
            session.began_ms.get(game.seq, session.at_ms),
        )
        for game in session.games
    ]


def _longest(copies: Sequence[tuple[_Session, list[HubGame]]]) -> list[HubGame]:
    """Games of the longest copy of a session, each dated by the earliest copy."""
    _, games = max(copies, key=lambda one: (one[0].last, one[0].at_ms))
    if len(copies) == 1:
        return games
    at_ms = min(one.at_ms for one, _ in copies)
    began_ms: dict[int, int] = {}
    for _, others in copies:
        for one in others:
            began_ms[one.result.seq] = min(one.began_ms, began_ms.get(one.result.seq, one.began_ms))
    return [replace(one, at_ms=at_ms, began_ms=began_ms[one.result.seq]) for one in games]


def _renamed(game: HubGame, aliases: Mapping[str, str]) -> HubGame:
    """The game with aliases replaced by the players' main names."""
    names = game.result.names
    if not any(name_key(name) in aliases for name in names.values()):
        return game
    renamed = {colour: main_name(name, aliases) for colour, name in names.items()}
    return replace(game, result=replace(game.result, names=renamed))


def standings(games: Iterable[HubGame]) -> list[Standing]:
    """Rows of all named players of finished games, best first."""
    called: dict[str, str] = {}
    totals: dict[str, list[float]] = {}
    for one in games:
        result = one.result
        if not result.over:
            continue
        for colour in result.players:
            if not (name := " ".join(result.names.get(colour, "").split())):
                continue
            key = name_key(name)
            called[key] = name
            own = float(result.scores.get(colour, 0))
            against = sum(map(float, result.scores.values())) - own
            won = colour in result.winners
            drawn = (won and len(result.winners) > 1) or not result.winners
            sums = totals.setdefault(key, [0] * 6)
            for number, more in enumerate(
                (1, won and not drawn, drawn, not won and not drawn, own, against)
            ):
                sums[number] += more
    lines = [_standing(called[key], [float(one) for one in line]) for key, line in totals.items()]
    return placed(sorted(lines, key=lambda line: line.player.casefold()), TIE_BREAKS)


def _standing(player: str, line: Sequence[float]) -> Standing:
    games, won, drawn, lost, points, against = line
    return Standing(
        place=0,
        player=player,
        games=int(games),
        won=int(won),
        drawn=int(drawn),
        lost=int(lost),
        points=points,
        against=against,
        difference=points - against,
    )
