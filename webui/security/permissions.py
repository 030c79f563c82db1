"""Roles, their assignment by code, and the permission check of commands."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal, assert_never

import msgspec
from itsdangerous import BadSignature, URLSafeSerializer

from referee.presentation.session_view import Announcement, Question, SessionView
from referee.sessions.commands import (
    Answer,
    Appeal,
    Command,
    Correct,
    Declare,
    Hear,
    NextGame,
    Pause,
    Resign,
    Resume,
    Roll,
    Undo,
    Uphold,
)
from referee.sessions.secret_votes import AffectedVotes
from referee.sessions.verdict_events import HOST_DECIDES
from table.messages import msg, sentences
from webui.interfaces import SessionPort
from webui.security.client_addresses import client_of
from webui.security.codes import Codes, plain
from webui.security.requests import Refusal
from webui.security.wrong_codes import Guesses

Role = Literal["host", "player", "spectator"]


@dataclass(frozen=True, slots=True)
class Visitor:
    """The sender of a request.

    `seat` is the player's colour, `id` identifies a browser or program that gave a code.
    """

    role: Role = "spectator"
    seat: str | None = None
    id: str = ""


class Ticket(msgspec.Struct, frozen=True):
    """Signed content of a browser's cookie: its id, and marks of the codes that it gave.

    A changed code has a different mark, which invalidates the ticket.
    """

    id: str
    host: str = ""
    table: str = ""


class Access:
    """Exchanges codes for tickets and tickets for visitors.  Thread-safe."""

    def __init__(self, codes: Codes, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` is monotonic, in seconds."""
        self.codes = codes
        self._guesses = Guesses(clock)
        self._signer = URLSafeSerializer(
            codes.now.key, salt="rinkside ticket", signer_kwargs={"digest_method": hashlib.sha256}
        )
        self._link, self._used_link = secrets.token_urlsafe(18), ""
        self._lock = Lock()

    @property
    def link(self) -> str:
        """One-time secret that replaces the host's code in the terminal's link.

        It is valid once, for one browser.
        """
        return self._link

    def enter(self, code: str, address: str, ticket: str = "") -> str:
        """Issue a ticket to a visitor at `address` who gave a code.

        It keeps the permissions of the old `ticket`. A host who opens the used link again stays
        host. Raises Refusal for a wrong code, and for any code after too many wrong ones from this
        address. A browser with a valid ticket is counted separately, so that others at its address,
        for example behind a proxy, do not lock it out.
        """
        who = self.visitor(ticket)
        if who.role == "host" and _same(code.strip(), self._used_link):
            return ticket
        known = who.id
        role = self._role_of(code, f"ticket {known}" if known else client_of(address))
        had = self._read_ticket(ticket)
        kept = self.codes.now
        mark = (
            {"host": self._mark(kept.host)} if role == "host" else {"table": self._mark(kept.table)}
        )
        return self._write(msgspec.structs.replace(had or Ticket(id=secrets.token_hex(8)), **mark))

    def renewed(self, ticket: str) -> str:
        """Reissue the ticket of a host who has replaced the host's code."""
        had = self._read_ticket(ticket) or Ticket(id=secrets.token_hex(8))
        return self._write(msgspec.structs.replace(had, host=self._mark(self.codes.now.host)))

    def visitor(self, ticket: str) -> Visitor:
        """The visitor with this ticket.

        A spectator if the ticket is invalid, or its code has been changed.
        """
        had, kept = self._read_ticket(ticket), self.codes.now
        if had is None:
            return Visitor()
        if hmac.compare_digest(had.host, self._mark(kept.host)):
            return Visitor("host", id=had.id)
        return (
            Visitor("player", id=had.id)
            if hmac.compare_digest(had.table, self._mark(kept.table))
            else Visitor()
        )

    def bearer(self, token: str, address: str) -> Visitor:
        """The visitor with this bearer token, a code or ticket; raises Refusal for any other."""
        if (visitor := self.visitor(token)).id:
            return visitor
        return Visitor(self._role_of(token, client_of(address)))

    def _role_of(self, code: str, client: str) -> Role:
        with self._lock:  # serialised: the link is valid once, and parallel guesses are impossible
            if _same(code.strip(), self._link):
                self._link, self._used_link = "", self._link
                return "host"
            if _same(code.strip(), self._used_link):
                raise Refusal(
                    403,
                    "used_link",
                    msg("This link was already used. Enter the host's code from the terminal."),
                )
            self._guesses.check(client)
            kept, given = self.codes.now, plain(code[:64]).encode()
            for role, right in (("host", kept.host), ("player", kept.table)):
                if hmac.compare_digest(given, plain(right).encode()):
                    return "host" if role == "host" else "player"
            self._guesses.wrong(client)
        raise Refusal(
            403,
            "wrong_code",
            msg(
                "Wrong code for this table: the host's code is in the terminal, the table's"
                " code is on the host's page."
            ),
        )

    def _mark(self, code: str) -> str:
        return hmac.new(self.codes.now.key.encode(), code.encode(), hashlib.sha256).hexdigest()[:24]

    def _write(self, ticket: Ticket) -> str:
        text = self._signer.dumps(msgspec.to_builtins(ticket))
        return text.decode() if isinstance(text, bytes) else text

    def _read_ticket(self, text: str) -> Ticket | None:
        try:
            return msgspec.convert(self._signer.loads(text), Ticket)
        except (BadSignature, msgspec.ValidationError):
            return None


def _same(given: str, secret: str) -> bool:
    """Constant-time comparison; False for an empty secret."""
    return bool(secret) and hmac.compare_digest(given.encode(), secret.encode())


def permitted_command(
    visitor: Visitor, command: Command, session: SessionPort, held: Collection[str]
) -> Command:
    """The command as this visitor may give it now; raises Refusal without permission.

    `held` are the occupied seats.  A player's command gets the player as its author.
    """
    if visitor.role == "spectator":
        raise Refusal(
            403,
            "spectator",
            msg(
                "Spectators cannot change anything: enter the host's code, or enter the"
                " table's code and take a seat."
            ),
        )
    if visitor.role == "player":
        view = session.view()
        if visitor.seat is None:
            raise Refusal(
                403, "no_seat", msg("Take a seat first: players speak for their own pieces only.")
            )
        if not _own(visitor.seat, command, view):
            raise Refusal(
                403,
                "not_yours",
                msg(
                    "That is not {player}'s decision: ask the player concerned, or the host.",
                    player=visitor.seat,
                ),
            )
        command = msgspec.structs.replace(
            command, decided_by=view.names.get(visitor.seat, visitor.seat)
        )
    refuse_others_votes(visitor, session.touched(command), held)
    return command


def refuse_others_votes(visitor: Visitor, touched: AffectedVotes, held: Collection[str]) -> None:
    """Raise Refusal if a command would change another player's hidden vote, or reveal any.

    Votes of seats that no other visitor holds may be changed.
    """
    others = sorted(
        player for player in touched.voters if player in held and player != visitor.seat
    )
    if others:
        message = sentences(
            msg(
                "{player} votes by phone: nobody else can, and nobody can see it.", player=others[0]
            ),
            msg("If nobody is there, free the seat first."),
        )
        raise Refusal(403, "secret", message)
    if touched.aloud:
        message = msg(
            "Votes are secret now, and this would reveal one: vote with the buttons, and"
            " say other things one at a time."
        )
        raise Refusal(403, "secret", message)


def sayings(
    visitor: Visitor, session: SessionPort, view: SessionView, held: Collection[str]
) -> list[Announcement]:
    """The entries of a view's `may_say` that this visitor may say now."""
    waits = view.phase == "playing"
    return [
        one
        for one in view.state.get("may_say") or ()
        if waits and _may_hear(visitor, Hear(heard=one["said"]), session, held)
    ]


def revocable_vote(seat: str, view: SessionView) -> int | None:
    """The record of a hidden vote that this player may still change."""
    return view.hidden.get(seat)


def _own(seat: str, command: Command, view: SessionView) -> bool:
    """True if the command concerns only the player's own seat."""
    match command:
        case Hear():
            return command.heard.get("player") == seat or command.heard in _general_announcements(
                view
            )
        case Answer():
            return view.question is None or may_answer(seat, view.question)
        case Roll() | Appeal() | Resign():
            return command.player == seat
        case Undo():
            return command.record is not None and command.record == revocable_vote(seat, view)
        case Declare() | Correct() | Uphold() | Pause() | Resume() | NextGame():
            return False
        case _:
            assert_never(command)


def may_answer(seat: str | None, question: Question) -> bool:
    """True if the holder of this seat may answer the open question. The host always may."""
    return (
        seat is not None
        and not question.evidence.get(HOST_DECIDES)
        and question.player in (None, seat)
    )


def _general_announcements(view: SessionView) -> list[Mapping[str, Any]]:
    """Announcements that any player may make now, about any player."""
    return [one["said"] for one in view.state.get("may_say") or () if one.get("anybody")]


def _may_hear(visitor: Visitor, hear: Hear, session: SessionPort, held: Collection[str]) -> bool:
    try:
        permitted_command(visitor, hear, session, held)
    except Refusal:
        return False
    return True
