"""Audit log of the hub: one row for each change made by a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from hub.store import AUDIT, Store

SHOWN = 200
"""Number of newest rows on the page."""


@dataclass(frozen=True, slots=True)
class Actor:
    """The person who acts: name, club and client address."""

    name: str
    club_id: int
    client: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the audit log."""

    at_ms: int
    who: str
    client: str
    what: str
    about: str


def note(db: Connection, at_ms: int, actor: Actor, what: str, about: str) -> None:
    """Write a row, within the transaction of the change."""
    db.execute(
        insert(AUDIT).values(
            club_id=actor.club_id,
            at_ms=at_ms,
            who=actor.name,
            client=actor.client,
            what=what,
            about=about,
        )
    )


def entries(store: Store, club_id: int) -> Sequence[Entry]:
    """The newest rows of a club, newest first."""
    with store.reading() as db:
        rows = db.execute(
            select(AUDIT).where(AUDIT.c.club_id == club_id).order_by(AUDIT.c.id.desc()).limit(SHOWN)
        ).all()
    return [Entry(row.at_ms, row.who, row.client, row.what, row.about) for row in rows]
