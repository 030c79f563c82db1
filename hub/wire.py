"""Protocol between a table's forwarder and a hub: JSON over HTTP.

A record is identified by (log, seq). The hub answers every batch with the last record that it has
of the log; this is the only cursor. A batch names the record that it follows, so gaps are detected.
Fingerprints distinguish two logs with the same id.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from table.json_data import JsonObject

RECORDS, ENROL, CLAIM = "/api/v1/records", "/api/v1/enrolments", "/api/v1/enrolments/claim"
NEXT = "/api/v1/next"
MOST_RECORDS = 200
"""Maximum number of records per batch."""
MOST_RECORD_BYTES = 256 << 10
"""Maximum size of a record's document; larger ones lose parts that only a replay needs."""
MOST_BATCH_BYTES = 1 << 20
"""Maximum size of a batch."""
MOST_SEQ = 2**53

Fingerprint = Annotated[str, Meta(pattern="^([0-9a-f]{64})?$")]
"""As `LogReader.fingerprints`; empty if there is no record."""
LogId = Annotated[str, Meta(pattern="^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
Seq = Annotated[int, Meta(ge=0, le=MOST_SEQ)]
Text = Annotated[str, Meta(min_length=1, max_length=200)]


class SentRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A record: its `public_document` and its fingerprint."""

    fingerprint: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    document: JsonObject


class Batch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Records of a log in order, of which the first follows record `after` (0: it is the first).

    `fingerprint` is that of record `after`. A batch without records queries the cursor.
    """

    log: LogId
    after: Seq = 0
    fingerprint: Fingerprint = ""
    records: list[SentRecord] = []


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of a record's document that the hub needs; all others may be of a newer version."""

    seq: Annotated[int, Meta(ge=1, le=MOST_SEQ)]
    session: Annotated[int, Meta(ge=1, le=MOST_SEQ)]
    at_ms: Annotated[int, Meta(ge=-(2**62), le=2**62)]
    fact: Annotated[str, Meta(min_length=1, max_length=40)]
    schema: Annotated[int, Meta(ge=1, le=10**6)]


class Cursor(msgspec.Struct, frozen=True, kw_only=True):
    """The hub's last record of a log, and its fingerprint; 0 if it has none."""

    log: LogId
    seq: Seq = 0
    fingerprint: Fingerprint = ""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A pending enrolment: `code` is shown to people, `secret` is for the table alone."""

    code: Text
    secret: Text
    expires_s: Annotated[int, Meta(ge=1, le=10**6)]


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query whether an organiser has entered the code."""

    secret: Text


class Enrolled(msgspec.Struct, frozen=True, kw_only=True):
    """The table's name at the hub, and its token; empty until the code was entered."""

    table: str = ""
    token: str = ""


Name = Annotated[str, Meta(min_length=1, max_length=40)]


class NextMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A table's next match; `match` is 0 and all else empty if there is none.

    `players` are names in order of play; `terms` is a few words such as "to 13".
    """

    match: Annotated[int, Meta(ge=0, le=MOST_SEQ)] = 0
    table: Annotated[str, Meta(max_length=40)] = ""
    event: Annotated[str, Meta(max_length=40)] = ""
    game: Annotated[str, Meta(max_length=100)] = ""
    terms: Annotated[str, Meta(max_length=40)] = ""
    players: Annotated[tuple[Name, ...], Meta(max_length=8)] = ()


class NextMatchAnswer(NextMatch, frozen=True, kw_only=True):
    """The hub's answer: the next match, and the seconds until the table's next poll.

    Older hubs send no interval (0), and older tables ignore it.
    """

    again_s: float = 0.0

    @property
    def next_match(self) -> NextMatch:
        """The answer without the poll interval."""
        return msgspec.convert(self, NextMatch, from_attributes=True)
