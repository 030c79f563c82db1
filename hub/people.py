"""What the hub knows of one person by name: given to them, or erased.

Names are in records as players gave them. What is erased here is still in the tables' own logs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from sqlalchemy import Connection, select, update

from hub.audit import Actor, note
from hub.store import LOGS, RECORDS, TABLES, Store
from hub.tables import read_name
from table.json_data import JsonObject

NAMES, DECIDED_BY, REASON, MESSAGES = "names", "decided_by", "reason", "said"
"""Fields of a record in which people's names stand: by colour, alone, as words of a text, and as
parts of messages.
"""
SOMEBODY = "somebody"


class KnownRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record in which a name stands: the table that it is of, its log, and the record itself."""

    table: str
    log: str
    document: JsonObject


class People:
    """The people of all clubs.  Safe to use from many threads."""

    def __init__(
        self, store: Store, now_ms: Callable[[], int], changed: Callable[[], None]
    ) -> None:
        """`changed` is called after records were changed, as what was folded is old then."""
        self._store, self._now_ms, self._changed = store, now_ms, changed

    def known(self, actor: Actor, name: str) -> list[KnownRecord]:
        """All records of the club in which a name stands, in order; raises Refusal for no name."""
        name = read_name(name, "name")
        with self._store.writing() as db:
            note(db, self._now_ms(), actor, "player exported", "")
            return [
                KnownRecord(table=table, log=log_id, document=document)
                for table, log_id, _, document in self._found(db, actor.club_id, name)
            ]

    def erase(self, actor: Actor, name: str) -> int:
        """Take a name out of all records of the club, and return in how many it stood.

        Games and points stay, without the name. Raises Refusal for no name.
        """
        name, count = read_name(name, "name"), 0
        with self._store.writing() as db:
            for _, log_id, seq, document in list(self._found(db, actor.club_id, name)):
                text = msgspec.json.encode(without(document, name)).decode()
                db.execute(
                    update(RECORDS)
                    .where(RECORDS.c.log_id == log_id, RECORDS.c.seq == seq)
                    .values(document=text)
                )
                count += 1
            note(db, self._now_ms(), actor, "player erased", "")  # the name would stay here
        self._changed()
        return count

    def _found(
        self, db: Connection, club_id: int, name: str
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
            if without(document, name) != document:
                yield row.name, row.log_id, row.seq, document


def without(document: Any, name: str) -> JsonObject:
    """A record's document without a name, whatever its capitals and spaces.

    In a reason it is replaced where it stands as words of its own, elsewhere where it stands alone.
    """
    parts = r"\s+".join(map(re.escape, name.split()))
    words = re.compile(rf"(?<!\w){parts}(?!\w)", re.IGNORECASE)
    cleaned: JsonObject = dict(document)
    if isinstance(names := cleaned.get(NAMES), dict):
        cleaned[NAMES] = {colour: one for colour, one in names.items() if not _is(one, words)}
    if _is(cleaned.get(DECIDED_BY), words):
        cleaned[DECIDED_BY] = SOMEBODY
    if isinstance(text := cleaned.get(REASON), str):
        cleaned[REASON] = words.sub(SOMEBODY, text)
    if MESSAGES in cleaned:
        cleaned[MESSAGES] = _in_message(cleaned[MESSAGES], words)
    return cleaned


def _is(text: object, words: re.Pattern[str]) -> bool:
    return isinstance(text, str) and bool(words.fullmatch(text.strip()))


def _in_message(node: Any, words: re.Pattern[str]) -> Any:
    """A message, in which a name stands as a part of its own."""
    if isinstance(node, dict):
        return {key: _in_message(value, words) for key, value in node.items()}
    if isinstance(node, list):
        return [_in_message(value, words) for value in node]
    return SOMEBODY if _is(node, words) else node
