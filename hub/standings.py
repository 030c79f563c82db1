"""Standings: what the finished games of a club come to, player by player.

All of it is a fold of records, made anew at will. A game counts if it is over and a player has a
name; players are who they are by name.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
from sqlalchemy import func, select

from hub.sessions import GameResult, SessionFold
from hub.store import LOGS, RECORDS, TABLES, Store
from referee.sessions.events import read_public_document
from table.errors import InputError

TIE_BREAKS = ("won", "drawn", "difference", "points")
"""What decides between two players, one after another: more of it is better."""


@dataclass(frozen=True, slots=True)
class HubGame:
    """A game at a table of the club; `at_ms` is when the hub heard of its session first."""

    table: str
    at_ms: int
    result: GameResult


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """A player's line: who shares a `place` is equal in all tie-breaks."""

    place: int
    player: str
    games: int
    won: int
    drawn: int
    lost: int
    points: float
    against: float
    difference: float


class Results:
    """The games of all clubs, each session folded once.  Safe to use from many threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[tuple[str, int], tuple[int, tuple[GameResult, ...]]] = {}
        self._lock = threading.Lock()

    def games(self, club_id: int) -> list[HubGame]:
        """The games of a club, oldest first; a session that two logs have counts once."""
        sessions = (
            select(
                RECORDS.c.log_id,
                RECORDS.c.session,
                func.max(RECORDS.c.seq).label("last"),
                func.min(RECORDS.c.received_ms).label("at_ms"),
                TABLES.c.name,
            )
            .join(LOGS, LOGS.c.log_id == RECORDS.c.log_id)
            .join(TABLES, TABLES.c.id == LOGS.c.table_id)
            .where(TABLES.c.club_id == club_id)
            .group_by(RECORDS.c.log_id, RECORDS.c.session, TABLES.c.name)
        )
        with self._lock:
            with self._store.reading() as db:
                rows = db.execute(sessions).all()
                starts = db.execute(
                    select(RECORDS.c.log_id, RECORDS.c.seq, RECORDS.c.fingerprint)
                    .join(LOGS, LOGS.c.log_id == RECORDS.c.log_id)
                    .join(TABLES, TABLES.c.id == LOGS.c.table_id)
                    .where(TABLES.c.club_id == club_id, RECORDS.c.seq == RECORDS.c.session)
                ).all()
            begun = {(row.log_id, row.seq): row.fingerprint for row in starts}
            longest = {}  # by the record that it began with: a renamed copy has the same one
            for row in sorted(rows, key=lambda row: (row.last, row.at_ms)):
                longest[begun.get((row.log_id, row.session), "")] = row
            found = [
                HubGame(row.name, row.at_ms, game)
                for row in longest.values()
                for game in self._folded(row.log_id, row.session, row.last)
            ]
        return sorted(found, key=lambda one: (one.at_ms, one.result.number))

    def forget(self) -> None:
        """Fold everything again: records were changed."""
        with self._lock:
            self._known.clear()

    def _folded(self, log_id: str, session: int, last: int) -> tuple[GameResult, ...]:
        known = self._known.get((log_id, session))
        if known is None or known[0] != last:
            known = last, self._fold(log_id, session)
            self._known[log_id, session] = known
        return known[1]

    def _fold(self, log_id: str, session: int) -> tuple[GameResult, ...]:
        wanted = (
            select(RECORDS.c.document)
            .where(RECORDS.c.log_id == log_id, RECORDS.c.session == session)
            .order_by(RECORDS.c.seq)
        )
        folded: SessionFold | None = None
        with self._store.reading() as db:
            for (document,) in db.execute(wanted):
                try:
                    record = read_public_document(msgspec.json.decode(document), "record")
                    if folded is None:
                        folded = SessionFold(record)
                    else:
                        folded.add(record)
                except (InputError, ValueError):  # of a newer table than this hub
                    if folded is None:
                        return ()
        return folded.games if folded else ()


def standings(games: Iterable[HubGame]) -> list[Standing]:
    """The players of finished games, the best first."""
    called: dict[str, str] = {}
    totals: dict[str, list[float]] = {}
    for one in games:
        result = one.result
        if not result.over:
            continue
        for colour in result.players:
            if not (name := " ".join(result.names.get(colour, "").split())):
                continue
            key = name.casefold()
            called[key] = name
            own = float(result.scores.get(colour, 0))
            against = sum(map(float, result.scores.values())) - own
            won = colour in result.winners
            drawn = (won and len(result.winners) > 1) or not result.winners
            lines = totals.setdefault(key, [0] * 6)
            for number, more in enumerate(
                (1, won and not drawn, drawn, not won and not drawn, own, against)
            ):
                lines[number] += more
    return _placed(
        [_standing(called[key], [float(one) for one in line]) for key, line in totals.items()]
    )


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


def _placed(lines: Iterable[Standing]) -> list[Standing]:
    def worth(line: Standing) -> tuple[float, ...]:
        return tuple(getattr(line, name) for name in TIE_BREAKS)

    ordered = sorted(lines, key=lambda line: line.player.casefold())
    ordered.sort(key=worth, reverse=True)
    placed: list[Standing] = []
    for number, line in enumerate(ordered, 1):
        shared = placed and worth(placed[-1]) == worth(line)
        place = placed[-1].place if shared else number
        placed.append(msgspec.structs.replace(line, place=place))
    return placed
