"""The tables of the log, the checksum of a record, and the detection of damage.

Every record and every picture has its own SHA-256. They are not chained: they detect damage by
disks and power cuts, and a record must be verifiable whatever happened to earlier ones.
"""

from __future__ import annotations

import hashlib
import secrets
import shlex
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

from table.errors import InputError
from table.messages import msg, phrase

SCHEMA = 2
"""Version of the tables, kept in SQLite's `user_version`.  Version 1 had no `records.sha256`."""
APPLICATION_ID = 0x52494E4B
"""`RINK`: identifies a log among SQLite databases, for `file` and for this program."""
INT64 = 2**63
"""Bound of SQLite's integers."""
MOST_VALUE = 34 << 20
"""Most bytes of a text or a picture in a log; a damaged file may state a gigabyte."""
ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""Exceptions of a database; UnicodeDecodeError if SQLite's message quotes text of a damaged
file.
"""

TABLES = (
    (
        "CREATE TABLE records (seq INTEGER PRIMARY KEY, session INTEGER NOT NULL, at_ms INTEGER NOT"
        " NULL, event TEXT NOT NULL, sha256 TEXT NOT NULL)"
    ),
    "CREATE INDEX records_by_session ON records (session, seq)",
    (
        "CREATE TABLE frames (seq INTEGER PRIMARY KEY REFERENCES records (seq), sha256 TEXT NOT"
        " NULL, jpeg BLOB NOT NULL)"
    ),
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA}",
)
IDENTITY_TABLE = "CREATE TABLE identity (log_id TEXT NOT NULL, key BLOB NOT NULL)"
"""A table outside of SCHEMA's version, so that older programs can read the log."""
KEY_BYTES = 32
UPGRADE = (
    "ALTER TABLE records ADD COLUMN sha256 TEXT NOT NULL DEFAULT ''",
    "UPDATE records SET sha256 = record_checksum(seq, session, at_ms, event)",
    f"PRAGMA user_version = {SCHEMA}",
)
"""Statements to upgrade from version 1; checksums are valid from then on."""


@dataclass(frozen=True, slots=True)
class LogIdentity:
    """Identity of a log among all logs, for programs that collect several.

    `log_id` is a UUID. `key`, of KEY_BYTES, never leaves the log. Fingerprints are keyed, as the
    plain checksum of a secret vote would reveal the vote.
    """

    log_id: str
    key: bytes = field(repr=False)


def record_checksum(seq: int, session: int, at_ms: int, event: str) -> str:
    """Return the SHA-256 of a record, hexadecimal.

    It covers the three numbers and the JSON as written, separated by spaces, in UTF-8.
    """
    return hashlib.sha256(f"{seq} {session} {at_ms} {event}".encode()).hexdigest()


def picture_checksum(jpeg: bytes) -> str:
    """Return the SHA-256 of a picture's file, hexadecimal."""
    return hashlib.sha256(jpeg).hexdigest()


def create(db: sqlite3.Connection) -> None:
    """Create the tables; a transaction must be open."""
    for statement in TABLES:
        db.execute(statement)


def upgrade(db: sqlite3.Connection) -> None:
    """Upgrade the tables of version 1; a transaction must be open."""
    db.create_function("record_checksum", 4, record_checksum, deterministic=True)
    for statement in UPGRADE:
        db.execute(statement)


def identity_of(db: sqlite3.Connection) -> LogIdentity | None:
    """Return the log's identity; None for an old log that has not been opened to write since."""
    (known,) = db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'identity'").fetchone()
    row = db.execute("SELECT log_id, key FROM identity").fetchone() if known else None
    if row is None or not _is_identity(*row):
        return None
    return LogIdentity(str(UUID(row[0])), row[1])


def _is_identity(log_id: object, key: object) -> bool:
    try:
        return isinstance(key, bytes) and len(key) == KEY_BYTES and bool(UUID(str(log_id)))
    except ValueError:
        return False


def identify(db: sqlite3.Connection, identity: LogIdentity | None = None) -> None:
    """Set the log's identity, a new one for None; a transaction must be open."""
    identity = identity or LogIdentity(str(uuid4()), secrets.token_bytes(KEY_BYTES))
    db.execute("DROP TABLE IF EXISTS identity")
    db.execute(IDENTITY_TABLE)
    db.execute("INSERT INTO identity VALUES (?, ?)", (identity.log_id, identity.key))


def version_of(db: sqlite3.Connection, path: Path) -> int:
    """Version of the tables, 0 for a database without any.

    Raises InputError for another program's database, or a newer log.
    """
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables:
        return 0
    if application != APPLICATION_ID or version < 1:
        raise InputError(
            msg("{path}: expected a log of Rinkside, got another program's database", path=path)
        )
    if version > SCHEMA:
        raise InputError(
            msg(
                "{path}: expected a log of version {n} or older, got {n2}; a newer"
                " Rinkside wrote it, update this one",
                path=path,
                n=SCHEMA,
                n2=version,
            )
        )
    return int(version)


def damage(db: sqlite3.Connection, version: int, whole: bool) -> str:
    """Describe damage in a few words; empty if none is found.

    Checks records and their index page by page, and every record's checksum. With `whole` also the
    structure of the pictures and the free pages (SQLite's `quick_check`), which reads the whole
    file. Raises sqlite3.Error if the disk cannot be read.
    """
    try:
        found = " ".join(
            " ".join(text.split())
            for (text,) in db.execute(
                "PRAGMA quick_check" if whole else "PRAGMA quick_check('records')"
            )
        )
        if found != "ok":
            return found.removeprefix("*** in database main *** ")[:100]
        changed = changed_records(db) if version > 1 else []
    except ERRORS as error:
        if is_damage(error):
            return str(error)
        raise
    if changed[1:]:
        return phrase(
            "the checksums of record {n} and of {n2} more are wrong",
            n=changed[0],
            n2=len(changed) - 1,
        )
    return phrase("the checksum of record {n} is wrong", n=changed[0]) if changed else ""


def changed_records(db: sqlite3.Connection) -> list[int]:
    """Numbers of the records whose checksum is wrong."""
    rows = db.execute("SELECT seq, session, at_ms, event, sha256 FROM records ORDER BY seq")
    return [
        seq
        for seq, session, at_ms, event, sha256 in rows
        if record_checksum(seq, session, at_ms, event) != sha256
    ]


def is_damage(error: Exception) -> bool:
    """True if SQLite reports wrong content, and not a failure to read."""
    code = getattr(error, "sqlite_errorcode", None)
    return (
        (code is not None and code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB))
        or isinstance(error, UnicodeDecodeError)
        or "decode to UTF-8" in str(error)
    )


def damaged(path: Path, what: str) -> InputError:
    """The error for a damaged log.

    It says that nothing is written to the log, and how to save what is readable.
    """
    rescue = f"rinkside log rescue {shlex.quote(str(path))} NEW.sqlite"
    return InputError(
        msg(
            "{path}: expected an intact log, but it is damaged ({text}); nothing is written"
            " to it: rescue what can be read with {raw}",
            path=path,
            text=what,
            raw=rescue,
        )
    )
