"""Enrol the tables of a club by code, authenticate them by token, and revoke tokens.

A table shows a code; an organiser enters it, and only then does the table receive a token. Source
of the idea: RFC 8628, device authorisation. The hub stores only SHA-256 digests of secrets.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, update

from hub.audit import Actor, note
from hub.store import ENROLMENTS, LOGS, TABLES, TOKENS, Store
from hub.wire import Asked, Enrolled
from table.messages import msg
from webui.security.codes import new_code, plain
from webui.security.requests import Refusal

CODE_LETTERS = 8
"""Code length: 31^8 codes, of which at most MOST_WAITING are valid."""
WAITS_S = 15 * 60
"""Lifetime of a code in seconds."""
MOST_WAITING, MOST_OF_ONE = 200, 20
"""Maximum number of pending codes, in total and per client."""
MOST_NAME = 40


@dataclass(frozen=True, slots=True)
class KnownTable:
    """The table that a token belongs to."""

    id: int
    club_id: int
    name: str


@dataclass(frozen=True, slots=True)
class ListedTable:
    """A table on its organiser's page.

    `tokens` counts valid tokens; `heard_ms` is the time of the last batch, `records` the number of
    records sent, and `trouble` the fault code of one of its logs.
    """

    id: int
    name: str
    tokens: int
    heard_ms: int | None
    records: int
    trouble: str


def digest(secret: str) -> str:
    """SHA-256 of a secret, hexadecimal.

    Secrets are long and random, so a fast hash is enough.
    """
    return hashlib.sha256(secret.encode()).hexdigest()


def read_name(text: str, what: str) -> str:
    """Normalise spaces in a name; raises Refusal if it is empty or too long."""
    name = " ".join(text.split())
    if not 1 <= len(name) <= MOST_NAME:
        raise Refusal(
            400,
            "bad_name",
            msg(
                "{raw}: expected a name of 1 to {n} characters, got {n2}.",
                raw=what,
                n=MOST_NAME,
                n2=len(name),
            ),
        )
    return name


class Tables:
    """Enrolment and tokens.  Thread-safe."""

    def __init__(self, store: Store, now_ms: Callable[[], int]) -> None:
        """`now_ms` is the hub's wall clock."""
        self._store, self._now_ms = store, now_ms

    def ask(self, client: str) -> Asked:
        """Start an enrolment with a new code; raises Refusal if too many are pending."""
        code, secret = new_code(CODE_LETTERS), secrets.token_urlsafe(32)
        now_ms = self._now_ms()
        with self._store.writing() as db:
            db.execute(delete(ENROLMENTS).where(ENROLMENTS.c.expires_ms <= now_ms))
            waiting = [one for (one,) in db.execute(select(ENROLMENTS.c.client))]
            if len(waiting) >= MOST_WAITING or waiting.count(client) >= MOST_OF_ONE:
                raise Refusal(
                    429,
                    "too_many_codes",
                    msg("Too many tables wait to be enrolled; try again later."),
                    retry_s=60,
                )
            db.execute(
                insert(ENROLMENTS).values(
                    secret_sha256=digest(secret),
                    code=plain(code),
                    client=client,
                    expires_ms=now_ms + 1000 * WAITS_S,
                )
            )
        return Asked(code=code, secret=secret, expires_s=WAITS_S)

    def enrol(self, actor: Actor, code: str, name: str) -> KnownTable:
        """Enrol the table that shows this code, under a name.

        An existing name means the same table with a new card: its older tokens are revoked.
        Raises Refusal for an unknown code.
        """
        name, now_ms = read_name(name, "name"), self._now_ms()
        with self._store.writing() as db:
            waiting = db.execute(
                select(ENROLMENTS.c.secret_sha256).where(
                    ENROLMENTS.c.code == plain(code),
                    ENROLMENTS.c.expires_ms > now_ms,
                    ENROLMENTS.c.table_id.is_(None),
                )
            ).one_or_none()
            if waiting is None:
                raise Refusal(
                    404,
                    "no_such_code",
                    msg("No table shows this code now; look at its screen and enter it again."),
                )
            table_id = self._table_id(db, actor.club_id, name)
            _withdraw(db, table_id, now_ms)
            db.execute(
                update(ENROLMENTS)
                .where(ENROLMENTS.c.secret_sha256 == waiting.secret_sha256)
                .values(table_id=table_id)
            )
            note(db, now_ms, actor, "table enrolled", name)
        return KnownTable(table_id, actor.club_id, name)

    def _table_id(self, db: Connection, club_id: int, name: str) -> int:
        wanted = (TABLES.c.club_id == club_id, TABLES.c.name == name)
        self._store.insert_new(db, TABLES, [{"club_id": club_id, "name": name}])
        return int(db.execute(select(TABLES.c.id).where(*wanted)).scalar_one())

    def claim(self, secret: str) -> Enrolled:
        """Hand out the token of an enrolled table, once; empty until the code was entered.

        Raises Refusal for an enrolment that is over.
        """
        key, now_ms = digest(secret), self._now_ms()
        with self._store.writing() as db:
            row = db.execute(
                select(ENROLMENTS).where(
                    ENROLMENTS.c.secret_sha256 == key, ENROLMENTS.c.expires_ms > now_ms
                )
            ).one_or_none()
            if row is None:
                raise Refusal(404, "no_such_enrolment", msg("This code is used, or too old."))
            if row.table_id is None:
                return Enrolled()
            token = secrets.token_urlsafe(32)
            db.execute(delete(ENROLMENTS).where(ENROLMENTS.c.secret_sha256 == key))
            db.execute(
                insert(TOKENS).values(
                    secret_sha256=digest(token), table_id=row.table_id, made_ms=now_ms
                )
            )
            name = db.execute(select(TABLES.c.name).where(TABLES.c.id == row.table_id)).scalar_one()
        return Enrolled(table=name, token=token)

    def known(self, token: str) -> KnownTable:
        """The table of a token; raises Refusal for an invalid one."""
        with self._store.reading() as db:
            return valid_table(senders(db, [token])[token])

    def withdraw(self, actor: Actor, table_id: int) -> None:
        """Revoke all tokens of a table; raises Refusal if the club does not have it."""
        now_ms = self._now_ms()
        with self._store.writing() as db:
            name = db.execute(
                select(TABLES.c.name).where(
                    TABLES.c.id == table_id, TABLES.c.club_id == actor.club_id
                )
            ).scalar_one_or_none()
            if name is None:
                raise Refusal(404, "no_such_table", msg("There is no such table."))
            _withdraw(db, table_id, now_ms)
            note(db, now_ms, actor, "tokens withdrawn", name)

    def dismiss(self, actor: Actor, table_id: int) -> None:
        """Clear the fault codes of a table's logs."""
        with self._store.writing() as db:
            mine = select(TABLES.c.id).where(
                TABLES.c.id == table_id, TABLES.c.club_id == actor.club_id
            )
            db.execute(update(LOGS).where(LOGS.c.table_id.in_(mine)).values(trouble=""))
            note(db, self._now_ms(), actor, "trouble dismissed", str(table_id))

    def listed(self, club_id: int) -> Sequence[ListedTable]:
        """The tables of a club, by name."""
        tokens = (
            select(func.count())
            .where(TOKENS.c.table_id == TABLES.c.id, TOKENS.c.withdrawn_ms.is_(None))
            .scalar_subquery()
        )
        with self._store.reading() as db:
            rows = db.execute(
                select(
                    TABLES.c.id,
                    TABLES.c.name,
                    tokens.label("tokens"),
                    func.max(LOGS.c.heard_ms).label("heard_ms"),
                    func.coalesce(func.sum(LOGS.c.seq), 0).label("records"),
                    func.coalesce(func.max(LOGS.c.trouble), "").label("trouble"),
                )
                .outerjoin(LOGS, LOGS.c.table_id == TABLES.c.id)
                .where(TABLES.c.club_id == club_id)
                .group_by(TABLES.c.id, TABLES.c.name)
                .order_by(TABLES.c.name)
            ).all()
        return [
            ListedTable(row.id, row.name, row.tokens, row.heard_ms, int(row.records), row.trouble)
            for row in rows
        ]


def senders(db: Connection, tokens: Collection[str]) -> dict[str, KnownTable | Refusal]:
    """The table of each token, or a Refusal for an invalid one."""
    keys = {digest(token): token for token in tokens}
    rows = db.execute(
        select(TOKENS, TABLES.c.id, TABLES.c.club_id, TABLES.c.name)
        .join(TABLES, TABLES.c.id == TOKENS.c.table_id)
        .where(TOKENS.c.secret_sha256.in_(keys))
    )
    found = {
        keys[row.secret_sha256]: KnownTable(row.id, row.club_id, row.name)
        if row.withdrawn_ms is None
        else _token_withdrawn()
        for row in rows
    }
    return {token: _no_token() for token in tokens} | found


def valid_table(found: KnownTable | Refusal) -> KnownTable:
    """Return the table, or raise the Refusal of an invalid token."""
    if isinstance(found, Refusal):
        raise found
    return found


def _no_token() -> Refusal:
    return Refusal(401, "no_token", msg("Expected the token of a table; enrol this table."))


def _token_withdrawn() -> Refusal:
    return Refusal(
        401, "token_withdrawn", msg("The token of this table was withdrawn; enrol the table again.")
    )


def _withdraw(db: Connection, table_id: int, now_ms: int) -> None:
    db.execute(
        update(TOKENS)
        .where(TOKENS.c.table_id == table_id, TOKENS.c.withdrawn_ms.is_(None))
        .values(withdrawn_ms=now_ms)
    )
    db.execute(delete(ENROLMENTS).where(ENROLMENTS.c.table_id == table_id))
