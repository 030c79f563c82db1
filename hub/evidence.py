"""Rulings in the game of a match: evidence for the organiser's decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from sqlalchemy import select

from hub.matches import Settled
from hub.store import LOGS, RECORDS, TABLES, Store
from referee.presentation.view_model import decision_of
from referee.sessions.events import GameStarted, Record, read_public_document
from table.errors import InputError
from table.messages import Message

MOST_LINES = 500
"""Maximum number of a game's records that are read; the table has all of them."""


@dataclass(frozen=True, slots=True)
class Line:
    """A ruling: its record's number, time of receipt, the player concerned, and a sentence.

    `late` marks a ruling made after the result was disputed.
    """

    seq: int
    at_ms: int
    player: str
    said: Message
    decided_by: str
    late: bool


@dataclass(frozen=True, slots=True)
class GameEvidence:
    """Rulings of a game in order, with its table and session."""

    table: str
    session: int
    lines: Sequence[Line]


class Evidences:
    """Reads records of games.  Safe to use from many threads."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, club_id: int, one: Settled) -> GameEvidence | None:
        """Rulings in the game of a match; None if no game at a table belongs to it."""
        if one.game is None:
            return None
        game, frozen = one.game, one.match.frozen
        wanted = (
            select(RECORDS.c.seq, RECORDS.c.received_ms, RECORDS.c.document)
            .join(LOGS, LOGS.c.log_id == RECORDS.c.log_id)
            .join(TABLES, TABLES.c.id == LOGS.c.table_id)
            .where(
                TABLES.c.club_id == club_id,
                RECORDS.c.log_id == game.log_id,
                RECORDS.c.session == game.session,
                RECORDS.c.seq >= game.result.seq,
            )
            .order_by(RECORDS.c.seq)
            .limit(MOST_LINES)
        )
        lines: list[Line] = []
        with self._store.reading() as db:
            rows = db.execute(wanted).all()
        for row in rows:
            try:
                record = read_public_document(msgspec.json.decode(row.document), "record")
            except (InputError, ValueError):  # record of a newer version
                continue
            if isinstance(record.event, GameStarted) and record.seq != game.result.seq:
                break  # the next game of the session
            late = frozen is not None and frozen.log == game.log_id and row.seq > frozen.last
            lines += _lines(record, row.received_ms, late)
        return GameEvidence(game.table, game.session, lines)


def _lines(record: Record, at_ms: int, late: bool) -> list[Line]:
    decision = decision_of(record.event)
    if decision is None or not decision.message:
        return []
    return [
        Line(
            record.seq,
            at_ms,
            decision.player or "",
            decision.message,
            decision.decided_by or "",
            late,
        )
    ]
