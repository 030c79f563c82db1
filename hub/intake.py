"""Store incoming records exactly once, in order, from the table that owns the log."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Condition, Lock
from time import monotonic, sleep

import msgspec
from sqlalchemy import Connection, Row, bindparam, select, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection

from hub.store import LOGS, RECORDS, Store
from hub.tables import KnownTable, senders, valid_table
from hub.wire import MOST_RECORD_BYTES, MOST_RECORDS, Batch, Cursor, Place, SentRecord
from table.errors import InputError, message_of
from table.files import convert
from table.messages import msg, phrase
from webui.security.requests import Refusal

logger = logging.getLogger(__name__)

MOST_LOGS = 100
"""Maximum number of logs per table. A table starts a new log only with a new card."""
PACE_S = 0.02
"""Interval between transactions; batches that arrive in between share one commit."""
MOST_NEWS = 10_000
"""Capacity of the queue of committed batches; the oldest are dropped first."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record as stored in the database."""

    place: Place
    fingerprint: str
    document: str


@dataclass(frozen=True, slots=True)
class NewRecords:
    """Records of a table's log that were committed; the first follows record `after`."""

    table: KnownTable
    log_id: str
    after: int
    records: Sequence[StoredRecord]

    @property
    def cursor(self) -> Cursor:
        """Number and fingerprint of the last record."""
        last = self.records[-1]
        return Cursor(log=self.log_id, seq=last.place.seq, fingerprint=last.fingerprint)


class News:
    """Queue of committed records for one consumer.  Thread-safe."""

    def __init__(self) -> None:
        self._changed, self._has_news = Condition(), False
        self._taken = deque[NewRecords](maxlen=MOST_NEWS)

    def tell(self, taken: Sequence[NewRecords] = ()) -> None:
        """Add committed records and wake the consumer."""
        with self._changed:
            self._has_news = True
            self._taken.extend(taken)
            self._changed.notify()

    def wait(self, timeout_s: float) -> list[NewRecords]:
        """Wait for committed records and return all since the last call.

        The oldest are missing after an overflow; read those from the database.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._has_news, timeout_s)
            taken, self._has_news = list(self._taken), False
            self._taken.clear()
            return taken


@dataclass(frozen=True, slots=True)
class _QueuedBatch:
    """A queued batch with its token and the future of its answer."""

    token: str
    batch: Batch
    sent: Sequence[StoredRecord]
    answer: Future[Cursor]


class Intake:
    """Entry point for batches.  Safe to use from many threads and many processes.

    One thread writes. Batches that arrive during a commit are committed together next, which costs
    little more than one batch.
    """

    def __init__(self, store: Store, news: News, now_ms: Callable[[], int]) -> None:
        """`now_ms` is the hub's wall clock."""
        self._store, self._news, self._now_ms = store, news, now_ms
        self._waiting: list[_QueuedBatch] = []
        self._known: set[str] = set()  # tokens found valid; no others are added
        self._lock, self._writer = Lock(), ThreadPoolExecutor(1, "intake")

    def take(self, token: str, body: bytes) -> Cursor:
        """Store the new records of a batch, and return the log's cursor.

        A batch with nothing new, or one that leaves a gap after the cursor, is ignored. Returns
        only when all is on disk. Raises Refusal, and stores nothing, for an invalid token, for a
        malformed batch, for another table's log, and for a different log with the same id.
        """
        if token not in self._known:  # before untrusted input is parsed
            with self._store.reading() as db:
                valid_table(senders(db, [token])[token])
            self._known.add(token)
        batch = _batch(body)
        sent = [_checked(record) for record in batch.records]
        _check_order(batch, sent)
        waiting = _QueuedBatch(token, batch, sent, Future())
        with self._lock:
            self._waiting.append(waiting)
        self._writer.submit(self._take_waiting)
        return waiting.answer.result()

    def _take_waiting(self) -> None:
        """Store queued batches, one per log at a time: the next depends on the new cursor."""
        with self._lock:
            group: dict[str, _QueuedBatch] = {}
            later = [
                one for one in self._waiting if group.setdefault(one.batch.log, one) is not one
            ]
            self._waiting = later
        if group:
            next_s = monotonic() + PACE_S
            self._answer([group[log_id] for log_id in sorted(group)])
            sleep(max(0.0, next_s - monotonic()))

    def _answer(self, group: Sequence[_QueuedBatch]) -> None:
        """Store batches in one transaction, or one by one if that fails."""
        try:
            answers, taken = self._take(group)
        except Exception as error:
            gone = isinstance(error, OperationalError | NoConnection)
            for one in group:
                if gone or len(group) == 1:
                    one.answer.set_exception(error)
                else:
                    self._answer([one])
            return
        if taken:
            self._news.tell(taken)
        for one, answer in zip(group, answers, strict=True):
            if isinstance(answer, Refusal):
                one.answer.set_exception(answer)
            else:
                one.answer.set_result(answer)

    def _take(
        self, group: Sequence[_QueuedBatch]
    ) -> tuple[list[Cursor | Refusal], list[NewRecords]]:
        """Commit batches of different logs; returns each answer, and the new records."""
        answers: list[Cursor | Refusal] = []
        taken: list[NewRecords] = []
        with self._store.writing() as db:
            tables = senders(db, {one.token for one in group})
            logs = self._logs(db, [one.batch.log for one in group])
            for one in group:
                try:
                    table = valid_table(tables[one.token])
                    row = logs.get(one.batch.log) or self._log_row(db, table, one.batch.log)
                    cursor = self._cursor(db, one, table, row)
                except Refusal as refusal:
                    answers.append(refusal)
                    continue
                new = [record for record in one.sent if record.place.seq > cursor.seq]
                if new and one.batch.after <= cursor.seq:
                    taken.append(NewRecords(table, cursor.log, cursor.seq, new))
                    cursor = taken[-1].cursor
                answers.append(cursor)
            self._write_records(db, taken)
        return answers, taken

    def _logs(self, db: Connection, log_ids: Sequence[str]) -> dict[str, Row]:
        """Lock and return the rows of the known logs.

        The locks keep batches of one log apart. They are taken in the order of the ids, so that
        two hub processes cannot deadlock.
        """
        wanted = select(LOGS).where(LOGS.c.log_id.in_(log_ids)).order_by(LOGS.c.log_id)
        return {row.log_id: row for row in db.execute(wanted.with_for_update())}

    def _log_row(self, db: Connection, table: KnownTable, log_id: str) -> Row:
        """Insert the row of a new log; raises Refusal if the table has too many logs."""
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
        return self._logs(db, [log_id])[log_id]  # another hub process may have inserted it first

    def _cursor(self, db: Connection, one: _QueuedBatch, table: KnownTable, row: Row) -> Cursor:
        """The cursor of a log; raises Refusal if the batch belongs to a different log."""
        cursor = Cursor(log=row.log_id, seq=row.seq, fingerprint=row.fingerprint)
        mine = row.table_id == table.id
        wrong = self._compare(db, one.batch, one.sent, cursor) if mine else _not_yours()
        if wrong is not None:
            _note(db, row.log_id, wrong.code)
            logger.warning("table %s, log %s: %s", table.name, row.log_id, wrong.code)
            raise wrong
        return cursor

    def _compare(
        self, db: Connection, batch: Batch, sent: Sequence[StoredRecord], cursor: Cursor
    ) -> Refusal | None:
        """Compare fingerprints of records sent again; returns a Refusal if they differ."""
        known_prints = {
            one.place.seq: one.fingerprint for one in sent if one.place.seq <= cursor.seq
        }
        if 0 < batch.after <= cursor.seq:
            known_prints[batch.after] = batch.fingerprint
        stored = {cursor.seq: cursor.fingerprint}  # mostly all that is asked for
        if asked := known_prints.keys() - stored.keys():
            rows = db.execute(
                select(RECORDS.c.seq, RECORDS.c.fingerprint).where(
                    RECORDS.c.log_id == batch.log, RECORDS.c.seq.in_(asked)
                )
            ).all()
            stored |= {row.seq: row.fingerprint for row in rows}
        wrong = sorted(seq for seq, print_ in known_prints.items() if stored.get(seq) != print_)
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

    def _write_records(self, db: Connection, taken: Sequence[NewRecords]) -> None:
        """Write records and cursors."""
        now_ms = self._now_ms()
        records = [
            {
                "log_id": one.log_id,
                "seq": record.place.seq,
                "session": record.place.session,
                "received_ms": now_ms,
                "fingerprint": record.fingerprint,
                "document": record.document,
            }
            for one in taken
            for record in one.records
        ]
        self._store.insert_new(db, RECORDS, records)
        cursors = [msgspec.structs.asdict(one.cursor) for one in taken]
        if cursors:
            db.execute(ADVANCE, [one | {"heard_ms": now_ms} for one in cursors])


ADVANCE = update(LOGS).where(LOGS.c.log_id == bindparam("log"))
"""Update the row of log `log`; all other parameters are its new column values."""


def _not_yours() -> Refusal:
    return Refusal(
        409,
        "log_of_another_table",
        msg(
            "This log is another table's. If its card was copied, make this log one of its own:"
            " {program}",
            program="rinkside log rename",
        ),
    )


def _note(db: Connection, log_id: str, trouble: str) -> None:
    """Store a log's fault code until an organiser dismisses it."""
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


def _checked(record: SentRecord) -> StoredRecord:
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
    return StoredRecord(place, record.fingerprint, document.decode())


def _check_order(batch: Batch, sent: Sequence[StoredRecord]) -> None:
    """Raise Refusal unless numbers increase and each session's first record starts it."""
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
