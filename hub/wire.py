"""What a table's forwarder and a hub say to each other, as JSON over HTTP.

A record's name is (log, seq). The hub answers every batch with the last record that it has of the
log; that is the cursor, and there is no other one. A batch says which record it follows, so that
nothing is left out unnoticed, and fingerprints tell two logs with one id apart.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from table.json_data import JsonObject

RECORDS, ENROL, CLAIM = "/api/v1/records", "/api/v1/enrolments", "/api/v1/enrolments/claim"
NEXT = "/api/v1/next"
MOST_RECORDS = 200
"""Most records of a batch."""
MOST_RECORD_BYTES = 256 << 10
"""Most bytes of a record's document; ones that are larger lose what only a replay needs."""
MOST_BATCH_BYTES = 1 << 20
"""Most bytes of a batch."""
MOST_SEQ = 2**53

Fingerprint = Annotated[str, Meta(pattern="^([0-9a-f]{64})?$")]
"""As `LogReader.fingerprints`; empty where there is no record."""
LogId = Annotated[str, Meta(pattern="^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
Seq = Annotated[int, Meta(ge=0, le=MOST_SEQ)]
Text = Annotated[str, Meta(min_length=1, max_length=200)]


class SentRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A record: its `public_document`, and what tells it from any other."""

    fingerprint: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    document: JsonObject


class Batch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Records of a log in order, of which the first follows record `after` (0: it is the first).

    `fingerprint` is that of record `after`. Without records it asks how far the hub has come.
    """

    log: LogId
    after: Seq = 0
    fingerprint: Fingerprint = ""
    records: list[SentRecord] = []


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """What of a record's document the hub needs to keep it; the rest may be of a newer version."""

    seq: Annotated[int, Meta(ge=1, le=MOST_SEQ)]
    session: Annotated[int, Meta(ge=1, le=MOST_SEQ)]
    at_ms: Annotated[int, Meta(ge=-(2**62), le=2**62)]
    fact: Annotated[str, Meta(min_length=1, max_length=40)]
    schema: Annotated[int, Meta(ge=1, le=10**6)]


class Cursor(msgspec.Struct, frozen=True, kw_only=True):
    """The last record that the hub has of a log, and its fingerprint; 0 where it has none."""

    log: LogId
    seq: Seq = 0
    fingerprint: Fingerprint = ""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """An enrolment that waits: the `code` for people, the `secret` for the table alone."""

    code: Text
    secret: Text
    expires_s: Annotated[int, Meta(ge=1, le=10**6)]


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Asks whether an organiser has entered the code."""

    secret: Text


class Enrolled(msgspec.Struct, frozen=True, kw_only=True):
    """What a table is called at the hub, and its token; empty while nobody has entered the code."""

    table: str = ""
    token: str = ""


Name = Annotated[str, Meta(min_length=1, max_length=40)]


class NextMatch(msgspec.Struct, frozen=True, kw_only=True):
    """The match that a table plays next; `match` is 0 and all else empty where there is none.

    `players` are people's names, the one who begins first; `terms` is a few words such as "to 13".
    """

    match: Annotated[int, Meta(ge=0, le=MOST_SEQ)] = 0
    table: Annotated[str, Meta(max_length=40)] = ""
    event: Annotated[str, Meta(max_length=40)] = ""
    game: Annotated[str, Meta(max_length=100)] = ""
    terms: Annotated[str, Meta(max_length=40)] = ""
    players: Annotated[tuple[Name, ...], Meta(max_length=8)] = ()


class NextMatchAnswer(NextMatch, frozen=True, kw_only=True):
    """The answer of a hub: also in how many seconds the table should ask again.

    It is 0 from an older hub, and an older table goes by none.
    """

    again_s: float = 0.0

    @property
    def next_match(self) -> NextMatch:
        """Without when to ask again."""
        return msgspec.convert(self, NextMatch, from_attributes=True)
