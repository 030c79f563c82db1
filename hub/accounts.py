"""Organisers: their accounts, passwords (argon2id) and log-ins."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Literal, get_args

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from hub.audit import Actor, note
from hub.store import CLUBS, LOGINS, ORGANISERS, Store
from hub.tables import digest, read_name
from table.messages import msg
from webui.security.requests import Refusal
from webui.security.wrong_codes import Guesses

Role = Literal["admin", "organiser"]
"""An admin manages organisers and reads the audit log; both do everything else."""
ROLES = get_args(Role)
LOGIN_S = 14 * 24 * 3600
LEAST_PASSWORD, MOST_PASSWORD = 10, 200
AT_ONCE = 2
"""Limit of concurrent password hashes; each takes 64 MB and a processor core."""


@dataclass(frozen=True, slots=True)
class Organiser:
    """A logged-in account."""

    id: int
    club_id: int
    club: str
    name: str
    role: Role


class Accounts:
    """The accounts of all clubs.  Safe to use from many threads."""

    def __init__(
        self,
        store: Store,
        now_ms: Callable[[], int],
        hasher: PasswordHasher | None = None,
        guesses: Guesses | None = None,
    ) -> None:
        """`now_ms` is the hub's wall clock; tests pass their own `hasher` and `guesses`."""
        self._store, self._now_ms = store, now_ms
        self._hasher = hasher or PasswordHasher()
        self._guesses = guesses or Guesses()
        self._places = BoundedSemaphore(AT_ONCE)
        self._nobody = self._hasher.hash(secrets.token_urlsafe(16))
        """Hash to verify against for an unknown name, so that timing does not reveal it."""

    def add(self, club: str, name: str, password: str, role: Role, by: Actor | None = None) -> None:
        """Create an account, and its club if it does not exist.

        Raises Refusal for a name that is taken or a password that is too short.
        """
        club, name = read_name(club, "club"), read_name(name, "name")
        hashed = self._hashed(password)
        try:
            with self._store.writing() as db:
                self._store.insert_new(db, CLUBS, [{"name": club}])
                club_id = db.execute(select(CLUBS.c.id).where(CLUBS.c.name == club)).scalar_one()
                db.execute(
                    insert(ORGANISERS).values(
                        club_id=club_id, name=name, password_hash=hashed, role=role
                    )
                )
                actor = by or Actor("command line", club_id, "")
                note(db, self._now_ms(), actor, "organiser added", f"{name} ({role})")
        except IntegrityError as error:
            raise Refusal(
                409, "name_taken", msg("There is an organiser {raw} already.", raw=name)
            ) from error

    def set_password(self, name: str, password: str, by: Actor | None = None) -> None:
        """Change a password and end its log-ins; raises Refusal for an unknown name."""
        hashed = self._hashed(password)
        with self._store.writing() as db:
            row = db.execute(
                select(ORGANISERS.c.id, ORGANISERS.c.club_id).where(ORGANISERS.c.name == name)
            ).one_or_none()
            if row is None or (by is not None and by.club_id != row.club_id):
                raise Refusal(404, "no_such_organiser", msg("There is no such organiser."))
            db.execute(
                update(ORGANISERS).where(ORGANISERS.c.id == row.id).values(password_hash=hashed)
            )
            db.execute(delete(LOGINS).where(LOGINS.c.organiser_id == row.id))
            actor = by or Actor("command line", row.club_id, "")
            note(db, self._now_ms(), actor, "password changed", name)

    def remove(self, by: Actor, name: str) -> None:
        """Delete an account of the same club, but not one's own; raises Refusal."""
        with self._store.writing() as db:
            row = db.execute(
                select(ORGANISERS.c.id).where(
                    ORGANISERS.c.name == name, ORGANISERS.c.club_id == by.club_id
                )
            ).one_or_none()
            if row is None or name == by.name:
                raise Refusal(404, "no_such_organiser", msg("There is no such organiser."))
            db.execute(delete(LOGINS).where(LOGINS.c.organiser_id == row.id))
            db.execute(delete(ORGANISERS).where(ORGANISERS.c.id == row.id))
            note(db, self._now_ms(), by, "organiser removed", name)

    def names(self, club_id: int) -> list[tuple[str, Role]]:
        """The organisers of a club, by name."""
        wanted = select(ORGANISERS.c.name, ORGANISERS.c.role).where(ORGANISERS.c.club_id == club_id)
        with self._store.reading() as db:
            return [(row.name, row.role) for row in db.execute(wanted.order_by(ORGANISERS.c.name))]

    def log_in(self, name: str, password: str, client: str) -> str:
        """Log in and return the secret for the browser's cookie.

        Raises Refusal for a wrong name or password, and for a client with too many wrong ones.
        Attempts are not counted per account: anyone who knows a name could lock its owner out.
        """
        self._guesses.check(client)
        with self._store.reading() as db:
            row = db.execute(
                select(
                    ORGANISERS.c.id,
                    ORGANISERS.c.name,
                    ORGANISERS.c.club_id,
                    ORGANISERS.c.password_hash,
                ).where(ORGANISERS.c.name == name)
            ).one_or_none()
        if not self._right(row.password_hash if row else self._nobody, password) or row is None:
            self._guesses.wrong(client)
            raise Refusal(403, "wrong_password", msg("Name or password is wrong."))
        secret, now_ms = secrets.token_urlsafe(32), self._now_ms()
        with self._store.writing() as db:
            db.execute(delete(LOGINS).where(LOGINS.c.expires_ms <= now_ms))
            db.execute(
                insert(LOGINS).values(
                    secret_sha256=digest(secret),
                    organiser_id=row.id,
                    expires_ms=now_ms + 1000 * LOGIN_S,
                )
            )
            note(db, now_ms, Actor(row.name, row.club_id, client), "logged in", "")
        return secret

    def logged_in(self, secret: str) -> Organiser | None:
        """The organiser whose cookie has this secret; None if no log-in has it."""
        if not secret:
            return None
        with self._store.reading() as db:
            row = db.execute(
                select(ORGANISERS, CLUBS.c.name.label("club"))
                .join(LOGINS, LOGINS.c.organiser_id == ORGANISERS.c.id)
                .join(CLUBS, CLUBS.c.id == ORGANISERS.c.club_id)
                .where(
                    LOGINS.c.secret_sha256 == digest(secret), LOGINS.c.expires_ms > self._now_ms()
                )
            ).one_or_none()
        return row and Organiser(row.id, row.club_id, row.club, row.name, row.role)

    def log_out(self, secret: str) -> None:
        """End a log-in."""
        with self._store.writing() as db:
            db.execute(delete(LOGINS).where(LOGINS.c.secret_sha256 == digest(secret)))

    def _hashed(self, password: str) -> str:
        if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
            raise Refusal(
                400,
                "bad_password",
                msg(
                    "Expected a password of {n} to {n2} characters, got {n3}.",
                    n=LEAST_PASSWORD,
                    n2=MOST_PASSWORD,
                    n3=len(password),
                ),
            )
        with self._places:
            return str(self._hasher.hash(password))

    def _right(self, hashed: str, password: str) -> bool:
        with self._places:
            try:
                return bool(self._hasher.verify(hashed, password[: MOST_PASSWORD + 1]))
            except (VerificationError, InvalidHashError):
                return False
