"""Notify another program that results of a club have changed.

A message contains the club and the paths of its results, not the results themselves. So lost, late
or repeated messages do no harm. No state is stored: after a start, every club is notified once.
Headers and signature follow Standard Webhooks (standardwebhooks.com).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import random
import re
from collections.abc import Callable, Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Event as Stop
from urllib.parse import urlsplit

import msgspec
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection

from hub.events import Events
from hub.matches import MatchResult, Status
from hub.retries import wait_s
from hub.standings import Results
from hub.store import CLUBS, Store
from table.errors import InputError
from table.measured_text import time_utc
from table.messages import msg
from webui.security.host_names import read_authority

logger = logging.getLogger(__name__)

LOOK_S = 2.0
"""Interval for comparing results with those last notified."""
LONGEST_WAIT_S = 300.0
"""Longest wait after a failure."""
TIMEOUT_S = 10.0
LEAST_SECRET = 24
"""Minimum length of a secret, in characters."""


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """Payload of a message: a club, and the paths of its results at the hub."""

    club: int
    standings: str
    events: tuple[str, ...]


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """The body of a message."""

    type: str
    timestamp: str
    data: Changed


class _Finished(msgspec.Struct, frozen=True):
    """Fields of a finished game that enter the fingerprint."""

    table: str
    game: str
    seq: int
    names: Mapping[str, str]
    scores: Mapping[str, float]
    winners: tuple[str, ...]


class _Played(msgspec.Struct, frozen=True):
    """Fields of a match that enter the fingerprint."""

    id: int
    table: str
    players: tuple[str, ...]
    status: Status
    result: MatchResult | None


class HubResults:
    """Fingerprints of the results of all clubs."""

    def __init__(self, store: Store, results: Results, events: Events) -> None:
        self._store, self._results, self._events = store, results, events

    def now(self) -> dict[int, tuple[str, Changed]]:
        """Current fingerprint and payload, by club id."""
        with self._store.reading() as db:
            clubs = [row.id for row in db.execute(select(CLUBS.c.id))]
        return {club_id: self._club_results(club_id) for club_id in clubs}

    def _club_results(self, club_id: int) -> tuple[str, Changed]:
        games = [
            _Finished(
                one.table,
                one.result.game,
                one.result.seq,
                one.result.names,
                one.result.scores,
                one.result.winners,
            )
            for one in self._results.games(club_id)
            if one.result.over
        ]
        listed = [(one.id, one.state) for one in self._events.listed(club_id)]
        numbers = [number for number, state in listed if state == "running"]
        events = [self._events.event(club_id, number) for number in numbers]
        matches = [
            _Played(
                one.match.id,
                one.match.table,
                tuple(seat.name for seat in one.match.seats),
                one.status,
                one.result,
            )
            for event in events
            for one in event.matches
        ]
        digest = hashlib.sha256(msgspec.json.encode((games, matches, listed))).hexdigest()
        base = f"/halls/{club_id}"
        paths = tuple(f"{base}/tournaments/{number}/event.json" for number in numbers)
        changed = Changed(club=club_id, standings=f"{base}/standings.json", events=paths)
        return digest, changed


class Webhook:
    """Notifies one address; not thread-safe."""

    def __init__(
        self,
        url: str,
        secret: str,
        results: Callable[[], Mapping[int, tuple[str, Changed]]],
        now_ms: Callable[[], int],
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`results` is as `HubResults.now`, `now_ms` the wall clock.

        Raises InputError for an invalid address or a secret that is too short.
        """
        parts = urlsplit(url)
        authority = read_authority(parts.netloc, parts.scheme)
        plain = re.fullmatch("[!-~]*", url)  # allowed in a request line
        if parts.scheme not in ("http", "https") or authority is None or not plain:
            raise InputError(
                msg(
                    "--webhook: expected an address such as https://example.org/x, got {raw}",
                    raw=repr(url),
                )
            )
        if len(secret) < LEAST_SECRET:
            raise InputError(
                msg(
                    "--webhook-secret: expected at least {n} letters, got {n2}",
                    n=LEAST_SECRET,
                    n2=len(secret),
                )
            )
        self._host, self._port, self._tls = authority.name, authority.port, parts.scheme == "https"
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._secret = secret.encode()
        self._results, self._now_ms, self._chance = results, now_ms, chance
        self._delivered: dict[int, str] = {}

    def run(self, stopping: Stop) -> None:
        """Send notifications until `stopping` is set; failed ones are retried."""
        failures = 0
        while not stopping.is_set():
            try:
                self.round()
            except (OSError, HTTPException, DBAPIError, NoConnection) as error:
                logger.warning("webhook: %s", " ".join(str(error).split())[:200])
                stopping.wait(wait_s(failures, LONGEST_WAIT_S, self._chance))
                failures += 1
            else:
                failures = 0
                stopping.wait(LOOK_S)

    def round(self) -> int:
        """Notify of every club whose results have changed; returns the number of messages.

        Raises OSError or HTTPException if the receiver does not accept a message.
        """
        count = 0
        for club_id, (digest, changed) in self._results().items():
            if self._delivered.get(club_id) != digest:
                self._send(f"{club_id}-{digest[:16]}", changed)
                self._delivered[club_id] = digest
                count += 1
        return count

    def _send(self, name: str, changed: Changed) -> None:
        now_ms = self._now_ms()
        message = Message(type="results.changed", timestamp=time_utc(now_ms), data=changed)
        body, second = msgspec.json.encode(message), str(now_ms // 1000)
        headers = {
            "Content-Type": "application/json",
            "webhook-id": name,
            "webhook-timestamp": second,
            "webhook-signature": signature(self._secret, name, second, body),
        }
        kind = HTTPSConnection if self._tls else HTTPConnection
        connection = kind(self._host, self._port, timeout=TIMEOUT_S)
        try:
            connection.request("POST", self._path, body, headers)
            status = connection.getresponse().status
        finally:
            connection.close()
        if not 200 <= status < 300:
            raise HTTPException(f"HTTP {status}")


def signature(secret: bytes, name: str, second: str, body: bytes) -> str:
    """`v1,` and HMAC-SHA256 of `NAME.SECOND.BODY`, in base64."""
    signed = b".".join((name.encode(), second.encode(), body))
    return f"v1,{base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()}"
