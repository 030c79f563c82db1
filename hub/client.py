"""HTTP client of a hub, for a table; one persistent connection.

Every failure is one of two exceptions: the hub cannot be reached (`HubGone`, retry later), or it
refused the request (`HubRefused`, with its code).
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

import msgspec

from hub.wire import (
    CLAIM,
    ENROL,
    NEXT,
    RECORDS,
    Asked,
    Batch,
    Claim,
    Cursor,
    Enrolled,
    NextMatchAnswer,
)
from table.errors import InputError
from table.files import convert
from table.messages import as_message, msg
from webui.security.host_names import read_authority

T = TypeVar("T")

TIMEOUT_S = 20.0
"""Socket timeout of a request."""
MOST_ANSWER_BYTES = 64 << 10
TOO_LARGE = 413
"""HTTP status "content too large"."""
MOST_RETRY_S = 600.0
"""Upper limit of a hub's `Retry-After`."""


class HubGone(Exception):  # noqa: N818 - a state of the network, not a fault
    """The hub is unreachable or failing; retry, after `retry_s` if the hub gave it."""

    def __init__(self, why: str, retry_s: float = 0.0) -> None:
        super().__init__(why)
        self.why, self.retry_s = why, retry_s


class HubRefused(Exception):  # noqa: N818 - an answer
    """The hub refused: an HTTP status, a code for programs, a sentence for people."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


class HubPort(Protocol):
    """The forwarder's interface to a hub."""

    def send(self, batch: Batch) -> Cursor:
        """Send records, or none to query the cursor; raises HubGone or HubRefused."""


class _Error(msgspec.Struct, frozen=True):
    code: str
    said: str


class _Answer(msgspec.Struct, frozen=True):
    error: _Error


class HubClient:
    """Client of the hub at an address; not thread-safe."""

    def __init__(self, url: str, token: str = "", ca_file: Path | None = None) -> None:
        """`url` is `https://HOST` or `http://HOST`, with an optional port and path.

        `ca_file` adds certificates (PEM) to the system's. Raises InputError for an invalid address
        or file.
        """
        self.url, self.token = url.rstrip("/"), token
        parts = urlsplit(self.url)
        authority = read_authority(parts.netloc, parts.scheme)
        if parts.scheme not in ("http", "https") or authority is None or parts.query:
            raise InputError(
                msg(
                    "--hub: expected an address such as https://hub.example.org, got {raw}",
                    raw=repr(url),
                )
            )
        self._host, self._port, self._path = authority.name, authority.port, parts.path
        self._tls: ssl.SSLContext | None = None
        if parts.scheme == "https":
            self._tls = ssl.create_default_context()
            if ca_file is not None:
                self._trust(ca_file)
        self._connection: HTTPConnection | None = None

    def _trust(self, ca_file: Path) -> None:
        assert self._tls is not None
        try:
            self._tls.load_verify_locations(ca_file)
        except (OSError, ssl.SSLError) as error:
            raise InputError(
                msg("{path}: expected certificates in PEM ({raw})", path=ca_file, raw=error)
            ) from error

    def send(self, batch: Batch) -> Cursor:
        """As `HubPort.send`."""
        return self._ask(RECORDS, batch, Cursor)

    def ask(self) -> Asked:
        """Request an enrolment code; raises HubGone or HubRefused."""
        return self._ask(ENROL, None, Asked)

    def claim(self, secret: str) -> Enrolled:
        """Fetch the token; empty until the code was entered.  Raises HubGone or HubRefused."""
        return self._ask(CLAIM, Claim(secret=secret), Enrolled)

    def next_match(self) -> NextMatchAnswer:
        """Fetch this table's next match; raises HubGone or HubRefused."""
        return self._ask(NEXT, None, NextMatchAnswer)

    def close(self) -> None:
        """Close the connection; the next request opens a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, path: str, document: msgspec.Struct | None, answer: type[T]) -> T:
        body = msgspec.json.encode(document if document is not None else {})
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        try:
            status, kept, said = self._exchange(f"{self._path}{path}", body, headers)
        except (OSError, HTTPException) as error:
            self.close()
            raise HubGone(_reason(error)) from error
        if len(said) > MOST_ANSWER_BYTES:
            self.close()
            raise HubGone(f"HTTP {status}, {len(said)} B")
        if 200 <= status < 300:
            try:
                return convert(msgspec.json.decode(said), answer, "hub")
            except (msgspec.DecodeError, UnicodeDecodeError, InputError) as error:
                raise HubGone(str(error)) from error
        raise _refused(status, kept, said)

    def _exchange(
        self, path: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Send a request; repeat it on a new connection if the old one was closed.

        Repeating is safe, since the hub ignores records that it already has.
        """
        for connection in (self._connection, None):
            if connection is None:
                connection = self._connect()
            try:
                connection.request("POST", path, body, dict(headers))
                answer = connection.getresponse()
                said = answer.read(MOST_ANSWER_BYTES + 1)
            except (ConnectionError, HTTPException):
                fresh = self._connection is not connection
                self._connection = None
                connection.close()
                if fresh:
                    raise
                continue
            if answer.isclosed() and not answer.will_close:
                self._connection = connection
            else:
                connection.close()
                self._connection = None
            return answer.status, dict(answer.headers), said
        raise AssertionError("a new connection answers or raises")

    def _connect(self) -> HTTPConnection:
        if self._tls is not None:
            return HTTPSConnection(self._host, self._port, timeout=TIMEOUT_S, context=self._tls)
        return HTTPConnection(self._host, self._port, timeout=TIMEOUT_S)


def _refused(status: int, headers: Mapping[str, str], said: bytes) -> HubGone | HubRefused:
    try:
        error = msgspec.json.decode(said, type=_Answer).error
    except (msgspec.DecodeError, UnicodeDecodeError):
        if status == TOO_LARGE:  # a proxy in front of the hub, which takes less than it does
            return HubRefused(status, "too_large", msg("It takes less at once."))
        return HubGone(f"HTTP {status}")  # not this program: a proxy, or another site
    if status >= 500 or status in (408, 421, 425, 429):
        return HubGone(error.said, _retry_s(headers.get("Retry-After", "")))
    return HubRefused(status, error.code, str(as_message(error.said)))


def _retry_s(text: str) -> float:
    return min(float(text), MOST_RETRY_S) if text.isascii() and text.isdecimal() else 0.0


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{error.verify_message}"
    if isinstance(error, socket.timeout | TimeoutError):
        return "no answer"
    return str(getattr(error, "strerror", None) or error or type(error).__name__)
