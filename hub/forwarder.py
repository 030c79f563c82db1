"""Send a log to a hub as it is written, with exactly-once delivery of records.

The log is the outbox and is only read. The cursor is the hub's last record of it. No state is
stored here, so a crash leaves nothing inconsistent. Clocks affect only waiting times.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import msgspec

from hub.client import TOO_LARGE, HubGone, HubPort, HubRefused
from hub.retries import wait_s
from hub.wire import MOST_BATCH_BYTES, MOST_RECORD_BYTES, MOST_RECORDS, Batch, Cursor, SentRecord
from referee.sessions.event_store import Log, LogReader
from referee.sessions.event_tables import LogIdentity
from referee.sessions.events import Record, public_document
from table.errors import InputError, LogFailed, message_of
from table.json_data import JsonObject
from table.messages import msg

logger = logging.getLogger(__name__)

LOOK_S = 0.25
"""Interval for polling the log's files for changes."""
LOOKS = 20
"""Polls without a change after which the log is read anyway: file times are coarse."""
LOG_WAIT_S = 5.0
"""Longest wait for a log that is missing or cannot be read."""
LONGEST_WAIT_S = 60.0
"""Longest wait after a failure."""
ROOM_BYTES = MOST_BATCH_BYTES - (16 << 10)
"""Room for documents in a batch."""
LEAST_RECORD_BYTES = 4 << 10
"""Lower limit to which records are reduced when a hub or proxy rejects the size."""
LEFT_OUT: JsonObject = {
    "table": {},
    "observation": None,
    "evidence": {},
    "choices": [],
    "state": {},
}
"""Parts removed from an oversized record, in this order, and their replacements. Of these, results
need only the last.
"""
FINAL = {"no_token", "token_withdrawn", "another_log", "log_of_another_table", "too_many_logs"}
"""Codes of permanent refusals, which a person must resolve."""

Signature = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """Result of one round: number of records taken, and whether more may be ready."""

    records: int
    more: bool


class Forwarder:
    """Sends one log to one hub; not thread-safe."""

    def __init__(
        self,
        log: Path,
        hub: HubPort,
        tell: Callable[[str], None],
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`tell` shows a status message; `chance` gives numbers from 0 to 1, for jitter."""
        self._path, self._hub, self._tell, self._chance = log, hub, tell, chance
        self._reader: LogReader | None = None
        self._file = (0, 0)
        self._identity: LogIdentity | None = None
        self._cursor: Cursor | None = None
        self._most, self._record_bytes = MOST_RECORDS, MOST_RECORD_BYTES
        self._last_text = ""

    def run(self, stopping: Event) -> None:
        """Send until `stopping` is set.

        Raises HubRefused for a permanent refusal (FINAL).
        """
        failures, idle, seen = 0, 0, None
        while not stopping.is_set():
            now = _signature(self._path)
            if failures == 0 and now == seen and idle < LOOKS:
                idle += 1
                stopping.wait(LOOK_S)
                continue
            idle = 0
            try:
                sent = self.round()
            except HubGone as gone:
                wait_s = max(gone.retry_s, self._wait_s(failures))
                self._say(msg("The hub cannot be reached ({raw}); trying again.", raw=gone.why))
            except HubRefused as refused:
                if refused.code in FINAL:
                    raise
                wait_s = self._wait_s(failures)
                self._say(msg("The hub refuses: {text}", text=refused.message))
            except (InputError, LogFailed) as error:
                self._forget()
                wait_s = min(LOG_WAIT_S, self._wait_s(failures))
                self._say(message_of(error))
            else:
                if not sent.more:
                    self._say("")
                failures = 0
                seen = None if sent.more else now
                continue
            failures += 1
            stopping.wait(wait_s)

    def round(self) -> Sent:
        """Send the next batch, if there is anything to send.

        Raises HubGone, HubRefused, or InputError for a log that cannot be read.
        """
        reader, identity = self._open()
        if self._cursor is None:
            self._cursor = self._agree(reader, self._hub.send(Batch(log=identity.log_id)))
            return Sent(0, True)
        records, prints = self._next(reader, self._cursor.seq)
        if not records:
            return Sent(0, False)
        batch = _packed(identity, self._cursor, records, prints, self._record_bytes)
        try:
            answer = self._hub.send(batch)
        except HubRefused as refused:
            if refused.status == TOO_LARGE and self._smaller(len(batch.records)):
                return Sent(0, True)
            raise
        before, self._cursor = self._cursor, self._agree(reader, answer)
        self._most, self._record_bytes = min(2 * self._most, MOST_RECORDS), MOST_RECORD_BYTES
        if answer == before:
            raise HubGone(f"{len(batch.records)} sent, none taken")
        taken = sum(before.seq < record.seq <= answer.seq for record in records)
        logger.debug("%d records sent, up to %d", taken, self._cursor.seq)
        return Sent(taken, True)

    def _smaller(self, count: int) -> bool:
        """Halve the batch, or for one record its size limit; False below LEAST_RECORD_BYTES."""
        if count > 1:
            self._most = count // 2
            return True
        self._record_bytes //= 2
        return self._record_bytes >= LEAST_RECORD_BYTES

    def close(self) -> None:
        """Close the log."""
        self._forget()

    def _open(self) -> tuple[LogReader, LogIdentity]:
        """Open the current log, again if its file was replaced; returns reader and identity."""
        if self._reader is not None and _file(self._path) != self._file:
            self._forget()
        if self._reader is None and not self._path.exists():
            raise InputError(msg("{path}: waiting for the first game", path=self._path))
        if self._reader is None:
            self._file = _file(self._path)
            self._reader = LogReader(self._path)
        identity = self._reader.identity()
        if identity is None:
            self._forget()
            Log(self._path).close()  # an old log: opening it to write gives it an identity
            return self._open()
        if self._identity != identity:
            self._identity, self._cursor = identity, None
        return self._reader, identity

    def _forget(self) -> None:
        if self._reader is not None:
            self._reader.close()
        self._reader = None

    def _agree(self, reader: LogReader, cursor: Cursor) -> Cursor:
        """The hub's cursor, if that record is in this log; raises HubRefused for another log."""
        if cursor.seq:
            own = reader.fingerprints(cursor.seq - 1, 1)
            if own.get(cursor.seq) != cursor.fingerprint:
                raise HubRefused(
                    409,
                    "another_log",
                    msg(
                        "The hub has a record {n} of this log that is not in it. If this card was"
                        " copied, or an older backup restored, make this log one of its own:"
                        " {program}",
                        n=cursor.seq,
                        program="rinkside log rename",
                    ),
                )
        return cursor

    def _next(self, reader: LogReader, after: int) -> tuple[list[Record], dict[int, str]]:
        """The next records after `after`, with their fingerprints."""
        records = reader.records(after=after, most=self._most)
        prints = reader.fingerprints(after, self._most)
        return [record for record in records if record.seq in prints], prints

    def _wait_s(self, failures: int) -> float:
        return wait_s(failures, LONGEST_WAIT_S, self._chance)

    def _say(self, text: str) -> None:
        """Report each new problem once, and recovery once."""
        if text != self._last_text:
            self._last_text = text
            self._tell(text or msg("The hub has everything again."))


def _packed(
    identity: LogIdentity,
    cursor: Cursor,
    records: Sequence[Record],
    prints: dict[int, str],
    most_bytes: int,
) -> Batch:
    """A batch of as many of the first records as fit, at least one.

    Each is reduced to `most_bytes` if leaving out parts (LEFT_OUT) suffices.
    """
    sent: list[SentRecord] = []
    left = ROOM_BYTES
    for record in records:
        document = _within_size(public_document(record), most_bytes)
        left -= len(msgspec.json.encode(document)) + 200
        if sent and left < 0:
            break
        sent.append(SentRecord(fingerprint=prints[record.seq], document=document))
    return Batch(
        log=identity.log_id, after=cursor.seq, fingerprint=cursor.fingerprint, records=sent
    )


def _within_size(document: JsonObject, most_bytes: int) -> JsonObject:
    """The document, with parts left out one by one until it has at most `most_bytes`."""
    for name, nothing in LEFT_OUT.items():
        if len(msgspec.json.encode(document)) <= most_bytes:
            break
        if name in document:
            document = document | {name: nothing}
    return document


def _file(path: Path) -> tuple[int, int]:
    try:
        about = path.stat()
    except OSError:
        return (0, 0)
    return (about.st_dev, about.st_ino)


def _signature(path: Path) -> Signature:
    """Inode, size and modification time of the log's files; no database access."""
    found = []
    for one in (path, path.with_name(f"{path.name}-wal")):
        try:
            about = one.stat()
        except OSError:
            continue
        found.append((about.st_ino, about.st_size, about.st_mtime_ns))
    return tuple(found)
