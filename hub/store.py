"""The hub's database: PostgreSQL, or SQLite for one club, by SQLAlchemy and Alembic.

All times are milliseconds since 1970 in UTC, by the hub's own clock.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    create_engine,
    event,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from table.errors import InputError
from table.messages import msg

logger = logging.getLogger(__name__)

BUSY_S = 20
"""Longest wait for another writer of a SQLite file, in seconds."""
POOL = 12
"""Size of the connection pool; the server has 16 threads, not all of which query at once."""
POOL_S = 5
"""Longest wait in seconds for a pooled connection, and for PostgreSQL to accept one."""
WRITES = "rinkside_writes"

METADATA = MetaData()


def _id() -> Column[Any]:
    return Column("id", Integer, primary_key=True)


CLUBS = Table("clubs", METADATA, _id(), Column("name", Text))
ORGANISERS = Table(
    "organisers",
    METADATA,
    _id(),
    Column("club_id", Integer, ForeignKey("clubs.id")),
    Column("name", Text),
    Column("password_hash", Text),
    Column("role", Text),
)
LOGINS = Table(
    "logins",
    METADATA,
    Column("secret_sha256", Text, primary_key=True),
    Column("organiser_id", Integer, ForeignKey("organisers.id")),
    Column("expires_ms", BigInteger),
)
AUDIT = Table(
    "audit",
    METADATA,
    _id(),
    Column("club_id", Integer, ForeignKey("clubs.id")),
    Column("at_ms", BigInteger),
    Column("who", Text),
    Column("client", Text),
    Column("what", Text),
    Column("about", Text),
)
TABLES = Table(
    "tables",
    METADATA,
    _id(),
    Column("club_id", Integer, ForeignKey("clubs.id")),
    Column("name", Text),
)
TOKENS = Table(
    "tokens",
    METADATA,
    Column("secret_sha256", Text, primary_key=True),
    Column("table_id", Integer, ForeignKey("tables.id")),
    Column("made_ms", BigInteger),
    Column("withdrawn_ms", BigInteger),
)
ENROLMENTS = Table(
    "enrolments",
    METADATA,
    Column("secret_sha256", Text, primary_key=True),
    Column("code", Text),
    Column("client", Text),
    Column("expires_ms", BigInteger),
    Column("table_id", Integer, ForeignKey("tables.id")),
)
LOGS = Table(
    "logs",
    METADATA,
    Column("log_id", Text, primary_key=True),
    Column("table_id", Integer, ForeignKey("tables.id")),
    Column("seq", BigInteger),
    Column("fingerprint", Text),
    Column("trouble", Text),
    Column("heard_ms", BigInteger),
)
RECORDS = Table(
    "records",
    METADATA,
    Column("log_id", Text, ForeignKey("logs.log_id"), primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("session", BigInteger),
    Column("received_ms", BigInteger),
    Column("fingerprint", Text),
    Column("document", Text),
)
EVENTS = Table(
    "events",
    METADATA,
    _id(),
    Column("club_id", Integer, ForeignKey("clubs.id")),
    Column("name", Text),
    Column("game", Text),
    Column("format", Text),
    Column("terms", Text),
    Column("rounds", Integer),
    Column("state", Text),
    Column("made_ms", BigInteger),
)
EVENT_PLAYERS = Table(
    "event_players",
    METADATA,
    _id(),
    Column("event_id", Integer, ForeignKey("events.id")),
    Column("number", Integer),
    Column("name", Text),
    Column("code", Text),
    Column("withdrawn", Integer),
)
EVENT_TABLES = Table(
    "event_tables",
    METADATA,
    Column("event_id", Integer, ForeignKey("events.id"), primary_key=True),
    Column("table_id", Integer, ForeignKey("tables.id"), primary_key=True),
)
MATCHES = Table(
    "matches",
    METADATA,
    _id(),
    Column("event_id", Integer, ForeignKey("events.id")),
    Column("round", Integer),
    Column("number", Integer),
    Column("table_id", Integer, ForeignKey("tables.id")),
    Column("made_ms", BigInteger),
    Column("entered_by", Text),
    Column("entered", Text),
    Column("confirmed", Text),
    Column("disputed_by", Integer, ForeignKey("event_players.id")),
    Column("frozen", Text),
)
ALIASES = Table(
    "aliases",
    METADATA,
    Column("club_id", Integer, ForeignKey("clubs.id"), primary_key=True),
    Column("other_key", Text, primary_key=True),
    Column("other", Text),
    Column("name", Text),
)
SEATS = Table(
    "seats",
    METADATA,
    Column("match_id", Integer, ForeignKey("matches.id"), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("player_id", Integer, ForeignKey("event_players.id")),
    Column("agreed", Text),
)


class Store:
    """The database at an address; connections are opened on demand, and reopened."""

    def __init__(self, url: str) -> None:
        """`url` is `sqlite:///PATH` or `postgresql://USER@HOST/NAME`; raises InputError."""
        try:
            address = make_url(url)
        except ArgumentError as error:
            raise InputError(_unexpected_database(url)) from error
        options: dict[str, object] = {"pool_pre_ping": True}
        match address.get_backend_name():
            case "sqlite":
                address = address.set(drivername="sqlite+pysqlite")
                options["connect_args"] = {"timeout": BUSY_S}
            case "postgresql":
                address = address.set(drivername="postgresql+psycopg")
                options |= {"pool_size": POOL, "max_overflow": 0, "pool_timeout": POOL_S}
                options["connect_args"] = {"connect_timeout": POOL_S}
            case _:
                raise InputError(_unexpected_database(address.render_as_string()))
        self.shown = address.set(drivername=address.get_backend_name()).render_as_string()
        """The address without its password."""
        # psycopg warns of what it skips after an error; the error itself is reported.
        logging.getLogger("psycopg").setLevel(logging.ERROR)
        self.engine: Engine = create_engine(address, **options)
        self._is_sqlite = address.get_backend_name() == "sqlite"
        if self._is_sqlite:
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)

    def upgrade(self) -> None:
        """Create or migrate the tables; raises InputError if there is no database.

        All migrations are one transaction, so a kill leaves all of them done or none.
        """
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        config.set_main_option("path_separator", "os")
        try:
            with self.writing() as db:
                if not self._is_sqlite:  # two hubs may start at once
                    db.exec_driver_sql("SELECT pg_advisory_xact_lock(1380535883)")
                config.attributes["connection"] = db
                command.upgrade(config, "head")
        except DBAPIError as error:
            raise InputError(
                msg(
                    "{raw}: expected a database for the hub, but it cannot be used ({raw2})",
                    raw=self.shown,
                    raw2=" ".join(str(error.orig).split())[:200],
                )
            ) from error

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A read-only transaction."""
        with self.engine.connect() as db, db.begin():
            yield db

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction, committed at the end of the block, rolled back on any exception."""
        with self.engine.connect().execution_options(**{WRITES: True}) as db, db.begin():
            yield db

    def insert_new(
        self, db: Connection, table: Table, rows: Sequence[Mapping[str, object]]
    ) -> None:
        """Insert rows; rows with an existing key are left unchanged."""
        dialect = sqlite if self._is_sqlite else postgresql
        if rows:
            db.execute(dialect.insert(table).on_conflict_do_nothing(), rows)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def _unexpected_database(got: str) -> str:
    return msg(
        "--database: expected {raw} or {raw2}, got {raw3}",
        raw="sqlite:///PATH",
        raw2="postgresql://USER@HOST/NAME",
        raw3=repr(got),
    )


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # transactions begin only below
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(db: Connection) -> None:
    writes = db.get_execution_options().get(WRITES)
    db.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def clubs_of(store: Store) -> list[tuple[int, str]]:
    """Ids and names of all clubs, sorted by name."""
    with store.reading() as db:
        return [(row.id, row.name) for row in db.execute(select(CLUBS).order_by(CLUBS.c.name))]
