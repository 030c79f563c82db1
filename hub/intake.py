"""Take records in: each once, in order, from the one table whose log it is."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Condition

import msgspec
from sqlalchemy import Connection, select, update

from hub.store import LOGS, RECORDS, Store
from hub.tables import KnownTable
from hub.wire import MOST_RECORD_BYTES, MOST_RECORDS, Batch, Cursor, Place, SentRecord
from table.errors import InputError, message_of
from table.files import convert
from table.messages import msg, phrase
from webui.security.requests import Refusal

logger = logging.getLogger(__name__)

MOST_LOGS = 100
"""Most logs of one table: a log is made when a table gets a new card, not every evening."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """A record that was sent, as it is kept."""

    place: Place
    fingerprint: str
    document: str


NOT_YOURS = Refusal(
    409,
    "log_of_another_table",
    msg(
        "This log is another table's. If its card was copied, make this log one of its own:"
        " {program}",
        program="rinkside log rename",
    ),
)


class News:
    """Tells who waits that something was taken in.  Safe to use from many threads."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._count = 0

    def tell(self) -> None:
        """Something was committed."""
        with self._changed:
            self._count += 1
            self._changed.notify_all()

    def wait(self, after: int, timeout_s: float) -> int:
        """How often something was told, as soon as that is more than `after`."""
        with self._changed:
            self._changed.wait_for(lambda: self._count > after, timeout_s)
            return self._count


class Intake:
    """The way in.  Safe to use from many threads and many processes."""

    def __init__(self, store: Store, news: News, now_ms: Callable[[], int]) -> None:
        """`now_ms` is the hub's wall clock."""
        self._store, self._news, self._now_ms = store, news, now_ms

    def take(self, table: KnownTable, body: bytes) -> Cursor:
        """Keep the records of a batch that are new, and say what the hub has of the log now.

        A batch that follows a record that the hub has not is left, and so is one that brings
        nothing new. Returns only when all is on disk. Raises Refusal for what is no batch, and for
        a log that is another table's, or another log with the same id; then nothing is kept.
        """
        batch = _batch(body)
        sent = [_checked(record) for record in batch.records]
        _check_order(batch, sent)
        with self._store.writing() as db:
            owner, cursor = self._row(db, table, batch.log)
            wrong = NOT_YOURS if owner != table.id else self._compare(db, batch, sent, cursor)
            if wrong is not None:
                _note(db, batch.log, wrong.code)
            elif batch.after <= cursor.seq and (
                new := [one for one in sent if one.place.seq > cursor.seq]
            ):
                cursor = self._keep(db, batch.log, new)
        if wrong is not None:
            logger.warning("table %s, log %s: %s", table.name, batch.log, wrong.code)
            raise Refusal(wrong.status, wrong.code, wrong.message)
        if batch.records:
            self._news.tell()
        return cursor

    def _row(self, db: Connection, table: KnownTable, log_id: str) -> tuple[int, Cursor]:
        """The table whose log it is, and how far it has come; it is this table's if it is new.

        The row is locked, so that two batches of one log never mix.
        """
        found = select(LOGS).where(LOGS.c.log_id == log_id).with_for_update()
        row = db.execute(found).one_or_none()
        if row is None:
            mine = select(LOGS.c.log_id).where(LOGS.c.table_id == table.id).limit(MOST_LOGS)
            if len(db.execute(mine).all()) >= MOST_LOGS:
                raise Refusal(
                    409,
                    "too_many_logs",
                    msg("Expected at most {n} logs of one table, got one more.", n=MOST_LOGS),
                )
            first = {
                "log_id": log_id,
                "table_id": table.id,
                "seq": 0,
                "fingerprint": "",
                "trouble": "",
                "heard_ms": self._now_ms(),
            }
            self._store.insert_new(db, LOGS, [first])
            row = db.execute(found).one()
        return row.table_id, Cursor(log=log_id, seq=row.seq, fingerprint=row.fingerprint)

    def _compare(
        self, db: Connection, batch: Batch, sent: Sequence[_Sent], cursor: Cursor
    ) -> Refusal | None:
        """Is what was sent before still the same?  A Refusal if it is not."""
        told = {one.place.seq: one.fingerprint for one in sent if one.place.seq <= cursor.seq}
        if 0 < batch.after <= cursor.seq:
            told[batch.after] = batch.fingerprint
        kept = {cursor.seq: cursor.fingerprint}  # mostly all that is asked for
        if asked := told.keys() - kept.keys():
            rows = db.execute(
                select(RECORDS.c.seq, RECORDS.c.fingerprint).where(
                    RECORDS.c.log_id == batch.log, RECORDS.c.seq.in_(asked)
                )
            ).all()
            kept |= {row.seq: row.fingerprint for row in rows}
        wrong = sorted(seq for seq, print_ in told.items() if kept.get(seq) != print_)
        if not wrong:
            return None
        return Refusal(
            409,
            "another_log",
            msg(
                "Record {n} of this log differs from the hub's: two logs have one id. If this card"
                " was copied, make this log one of its own: {program}",
                n=wrong[0],
                program="rinkside log rename",
            ),
        )

    def _keep(self, db: Connection, log_id: str, new: Sequence[_Sent]) -> Cursor:
        now_ms, last = self._now_ms(), new[-1]
        rows = [
            {
                "log_id": log_id,
                "seq": one.place.seq,
                "session": one.place.session,
                "received_ms": now_ms,
                "fingerprint": one.fingerprint,
                "document": one.document,
            }
            for one in new
        ]
        self._store.insert_new(db, RECORDS, rows)
        cursor = Cursor(log=log_id, seq=last.place.seq, fingerprint=last.fingerprint)
        db.execute(
            update(LOGS)
            .where(LOGS.c.log_id == log_id)
            .values(seq=cursor.seq, fingerprint=cursor.fingerprint, heard_ms=now_ms)
        )
        return cursor


def _note(db: Connection, log_id: str, trouble: str) -> None:
    """Keep what is wrong with a log until an organiser has seen it."""
    db.execute(update(LOGS).where(LOGS.c.log_id == log_id).values(trouble=trouble))


def _batch(body: bytes) -> Batch:
    try:
        batch = convert(msgspec.json.decode(body), Batch, "batch")
    except InputError as error:
        raise _bad(message_of(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _bad(phrase("expected a JSON document")) from error
    if len(batch.records) > MOST_RECORDS:
        raise Refusal(
            413,
            "too_many_records",
            msg(
                "Expected at most {n} records, got {n2}; nothing was done.",
                n=MOST_RECORDS,
                n2=len(batch.records),
            ),
        )
    return batch


def _checked(record: SentRecord) -> _Sent:
    document = msgspec.json.encode(record.document)
    if len(document) > MOST_RECORD_BYTES:
        raise Refusal(
            413,
            "record_too_large",
            msg(
                "Expected records of at most {n} kB, got {n2} kB; nothing was done.",
                n=MOST_RECORD_BYTES >> 10,
                n2=len(document) >> 10,
            ),
        )
    try:
        place = msgspec.convert(record.document, Place)
    except msgspec.ValidationError as error:
        raise _bad(phrase("expected a record ({raw})", raw=error)) from error
    return _Sent(place, record.fingerprint, document.decode())


def _check_order(batch: Batch, sent: Sequence[_Sent]) -> None:
    """Raise Refusal unless numbers rise, and every record is of a session that began before."""
    last = batch.after
    for one in sent:
        if one.place.seq <= last or one.place.session > one.place.seq:
            raise _bad(
                phrase("expected records in order after {n}, got {n2}", n=last, n2=one.place.seq)
            )
        if (one.place.session == one.place.seq) != (one.place.fact == "session_started"):
            raise _bad(
                phrase("record {n}: expected a session that begins with it", n=one.place.seq)
            )
        last = one.place.seq


def _bad(why: str) -> Refusal:
    return Refusal(400, "bad_batch", msg("{text}; nothing was done.", text=why))
