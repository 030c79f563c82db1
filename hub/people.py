"""Export or erase the hub's data about one person, by name.

Records contain names as players typed them. Erasing here leaves the tables' own logs unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, select, update

from hub.aliases import forget_names, names_of
from hub.audit import Actor, note
from hub.names import name_key
from hub.store import EVENT_PLAYERS, EVENTS, LOGS, RECORDS, TABLES, Store
from hub.tables import read_name
from table.json_data import JsonObject

NAMES, DECIDED_BY, REASON, MESSAGES = "names", "decided_by", "reason", "said"
"""Fields of a record that contain names: by colour, alone, within a text, and as parts of messages.
"""
SOMEBODY = "somebody"


class KnownRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record that contains a name, with its table and log."""

    table: str
    log: str
    document: JsonObject


class KnownEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An event with a player of that name, and the player's number."""

    event: str
    game: str
    number: int
    name: str


class People:
    """Export and erasure for all clubs.  Thread-safe."""

    def __init__(
        self,
        store: Store,
        now_ms: Callable[[], int],
        changed: Callable[[], None],
        keep: Callable[[int, str], None],
    ) -> None:
        """`changed` is called after an erasure, to discard folds of the old records.

        `keep` is called before it, with the club and the name, to store results that are folded by
        name.
        """
        self._store, self._now_ms = store, now_ms
        self._changed, self._keep = changed, keep

    def known(self, actor: Actor, name: str) -> list[KnownRecord | KnownEntry]:
        """All records of the club that contain a player's names, and that player's events.

        Raises Refusal for an empty name.
        """
        name = read_name(name, "name")
        with self._store.writing() as db:
            note(db, self._now_ms(), actor, "player exported", "")
            names = names_of(db, actor.club_id, name)
            records = [
                KnownRecord(table=table, log=log_id, document=document)
                for table, log_id, _, document in self._find_records(db, actor.club_id, names)
            ]
            rows = self._entries(db, actor.club_id, names)
            return [
                *records,
                *(
                    KnownEntry(event=row.event, game=row.game, number=row.number, name=row.name)
                    for row in rows
                ),
            ]

    def erase(self, actor: Actor, name: str) -> int:
        """Erase a player's names from the club's records and events; returns how many had one.

        Games and points stay. Raises Refusal for an empty name.
        """
        name, count = read_name(name, "name"), 0
        self._keep(actor.club_id, name)
        with self._store.writing() as db:
            names = names_of(db, actor.club_id, name)
            for row in self._entries(db, actor.club_id, names):
                db.execute(
                    update(EVENT_PLAYERS)
                    .where(EVENT_PLAYERS.c.id == row.id)
                    .values(name=SOMEBODY, code=f"erased {row.id}")
                )
                count += 1
            for _, log_id, seq, document in list(self._find_records(db, actor.club_id, names)):
                text = msgspec.json.encode(_without_names(document, names)).decode()
                db.execute(
                    update(RECORDS)
                    .where(RECORDS.c.log_id == log_id, RECORDS.c.seq == seq)
                    .values(document=text)
                )
                count += 1
            forget_names(db, actor.club_id, names)
            note(db, self._now_ms(), actor, "player erased", "")  # without the name
        self._changed()
        return count

    def _entries(self, db: Connection, club_id: int, names: Sequence[str]) -> list[Any]:
        keys = set(map(name_key, names))
        wanted = (
            select(EVENT_PLAYERS, EVENTS.c.name.label("event"), EVENTS.c.game)
            .join(EVENTS, EVENTS.c.id == EVENT_PLAYERS.c.event_id)
            .where(EVENTS.c.club_id == club_id)
            .order_by(EVENT_PLAYERS.c.id)
        )
        return [row for row in db.execute(wanted) if name_key(row.name) in keys]

    def _find_records(
        self, db: Connection, club_id: int, names: Sequence[str]
    ) -> Iterator[tuple[str, str, int, JsonObject]]:
        wanted = (
            select(TABLES.c.name, RECORDS.c.log_id, RECORDS.c.seq, RECORDS.c.document)
            .join(LOGS, LOGS.c.log_id == RECORDS.c.log_id)
            .join(TABLES, TABLES.c.id == LOGS.c.table_id)
            .where(TABLES.c.club_id == club_id)
            .order_by(RECORDS.c.log_id, RECORDS.c.seq)
        )
        for row in db.execute(wanted):
            document = msgspec.json.decode(row.document)
            if _without_names(document, names) != document:
                yield row.name, row.log_id, row.seq, document


def _without_names(document: JsonObject, names: Sequence[str]) -> JsonObject:
    for name in names:
        document = without(document, name)
    return document


def without(document: Any, name: str) -> JsonObject:
    """A record's document without a name; case and spacing are ignored.

    In `reason` the name is replaced wherever it appears as whole words, in other fields only where
    it is the whole value.
    """
    parts = r"\s+".join(map(re.escape, name.split()))
    words = re.compile(rf"(?<!\w){parts}(?!\w)", re.IGNORECASE)
    cleaned: JsonObject = dict(document)
    if isinstance(names := cleaned.get(NAMES), dict):
        cleaned[NAMES] = {
            colour: one for colour, one in names.items() if not _matches_name(one, words)
        }
    if _matches_name(cleaned.get(DECIDED_BY), words):
        cleaned[DECIDED_BY] = SOMEBODY
    if isinstance(text := cleaned.get(REASON), str):
        cleaned[REASON] = words.sub(SOMEBODY, text)
    if MESSAGES in cleaned:
        cleaned[MESSAGES] = _in_message(cleaned[MESSAGES], words)
    return cleaned


def _matches_name(text: object, words: re.Pattern[str]) -> bool:
    return isinstance(text, str) and bool(words.fullmatch(text.strip()))


def _in_message(node: Any, words: re.Pattern[str]) -> Any:
    """A message, with each part that equals the name replaced."""
    if isinstance(node, dict):
        return {key: _in_message(value, words) for key, value in node.items()}
    if isinstance(node, list):
        return [_in_message(value, words) for value in node]
    return SOMEBODY if _matches_name(node, words) else node
