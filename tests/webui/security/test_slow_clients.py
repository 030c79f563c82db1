"""Clients that hold places without asking for anything, over real sockets: pages are answered all
the same.

Nothing here looks at a clock: what must end is waited for, for PATIENCE_S at most, and limits are
set low where one is to be met.
"""

from __future__ import annotations

import json
import socket
import threading
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager

import pytest
from flask import Response

from referee.sessions.events import Record, VerdictReached
from webui import server
from webui.api import events, fanout
from webui.api.events import EventFeed, Streams
from webui.security.wrong_codes import MOST_WRONG
from webui.server import listen, serving

pytestmark = pytest.mark.slow

PATIENCE_S = 60


@contextmanager
def served_app(app, behind_proxy=False):
    """The address of an app that this process serves."""
    with listen(port=0) as listening, serving(app, listening, behind_proxy):
        yield listening.getsockname()


@pytest.fixture
def served(app, session):
    session.served = True
    with served_app(app) as address:
        yield address


def send(address, text):
    connection = socket.create_connection(address, timeout=PATIENCE_S)
    connection.sendall(text.encode())
    return connection


def status_of(address, path="/api/v1/me"):
    with urllib.request.urlopen(
        f"http://{address[0]}:{address[1]}{path}", timeout=PATIENCE_S
    ) as answer:
        return answer.status


def ended(connection):
    """All that still comes; returns once the other side has closed."""
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


HALVES = {
    "nothing": "",
    "a word": "GE",
    "half a head": "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    "a head without a body": (
        "POST /join HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\ncode="
    ),
    "chunks": (
        "POST /join HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ncode=\r\n"
    ),
}


def test_pages_are_answered_while_six_hundred_requests_are_half_sent(panel):
    host, port = panel.url.removeprefix("http://").split(":")
    halves = list(HALVES.values())
    with ExitStack() as stack:
        for number in range(600):
            stack.enter_context(send((host, int(port)), halves[number % len(halves)]))
            if number % 40 == 39:
                assert status_of((host, int(port)), "/") == 200


@pytest.mark.parametrize("half", HALVES)
def test_a_request_that_is_not_completed_is_given_up(served, monkeypatch, half):
    monkeypatch.setattr(server, "HEAD_S", 0.05)
    monkeypatch.setattr(server, "BODY_S", 0.05)
    with send(served, HALVES[half]) as connection:
        assert ended(connection) == b""
    assert status_of(served) == 200


def test_a_head_that_trickles_in_is_given_up(served, monkeypatch):
    """Each byte that comes is no new beginning."""
    monkeypatch.setattr(server, "HEAD_S", 0.3)
    with send(served, "GET / HTTP/1.1\r\nX: ") as connection:
        connection.settimeout(0.02)
        for _ in range(round(PATIENCE_S / 0.02)):
            try:
                connection.sendall(b"a")
                if connection.recv(1) == b"":
                    return
            except TimeoutError:
                continue
            except (ConnectionResetError, BrokenPipeError):
                return
        raise AssertionError("a head that never ended was listened to for ever")


def test_a_connection_that_asks_for_nothing_more_is_closed_in_the_end(served, monkeypatch):
    monkeypatch.setattr(server, "IDLE_S", 0.05)
    with send(served, "GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\n\r\n") as connection:
        assert b'"spectator"' in ended(connection)


def test_an_answer_that_nobody_takes_is_given_up(app, session, monkeypatch):
    monkeypatch.setattr(server, "STALL_S", 0.05)
    monkeypatch.setattr(server, "SLOWEST_BYTES_S", 2**40)
    session.served, given_up = True, threading.Event()

    def large():
        response = Response(b"x" * 1_000_000 for _ in range(200))
        response.call_on_close(given_up.set)
        return response

    app.add_url_rule("/large", view_func=large)
    with (
        served_app(app) as address,
        send(address, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    ):
        assert given_up.wait(PATIENCE_S)
        assert status_of(address) == 200


def stream_status(address):
    try:
        return status_of(address, "/api/v1/stream?after=16")
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code


def test_a_listener_who_reads_a_little_now_and_then_is_dropped(app, session, monkeypatch):
    """Reading a few bytes is no sign that all that was sent will ever be taken."""
    monkeypatch.setattr(server, "MOST_STREAMS", 1)
    monkeypatch.setattr(fanout, "STALLED_S", 0.2)
    session.served = True
    ruled = VerdictReached(verdict="accepted", code="boule.throw", message="x" * 100_000)
    session.kept += [Record(seq=seq, session=1, at_ms=0, event=ruled) for seq in range(17, 117)]
    ask = "GET /api/v1/stream?after=16 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with served_app(app) as address, send(address, ask) as slow:
        slow.recv(1)
        for _ in range(1500):  # 6 of 10 MB
            slow.recv(4096)
            if stream_status(address) == 200:
                return
    raise AssertionError("the one place was never given back")


def test_one_address_has_its_share_and_what_waits_longest_makes_room(served, monkeypatch):
    monkeypatch.setattr(server, "MOST_OF_ONE", 8)
    monkeypatch.setattr(server, "is_this_machine", lambda _address: False)
    with ExitStack() as stack:
        held = [stack.enter_context(send(served, "GET / HT")) for _ in range(40)]
        assert status_of(served) == 200
        for connection in held[:30]:
            assert ended(connection) == b""
        with send(
            served, "GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        ) as asking:
            assert b"spectator" in ended(asking)


def test_one_address_has_its_share_of_streams_and_this_machine_has_not(session, live):
    streams = Streams(EventFeed(session, live, "x"), limit=events.MOST_OF_ONE + 20)
    assert [streams.enter("10.0.0.9") for _ in range(events.MOST_OF_ONE + 1)] == [
        True
    ] * events.MOST_OF_ONE + [False]
    assert streams.enter("10.0.0.8")
    streams.leave("10.0.0.9")
    assert streams.enter("::ffff:10.0.0.9")
    assert [streams.enter("127.0.0.1") for _ in range(20)] == [True] * 19 + [False]


@pytest.mark.parametrize(
    "text",
    [
        f"POST /join HTTP/1.1\r\nHost: localhost\r\nContent-Length: {'9' * 5000}\r\n\r\n",
        "GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET http://[::1:80/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        f"GET / HTTP/1.1\r\nHost: localhost\r\nX: {'x' * 40_000}\r\n\r\n",
        "POST /join HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "\x00\x01\x02\r\n\r\n",
    ],
)
def test_what_is_no_request_is_answered_with_what_is_wrong_with_it(served, caplog, text):
    with send(served, text) as connection:
        assert ended(connection).split()[1][:1] == b"4"
    assert status_of(served) == 200
    assert caplog.text == ""


def post(address, path, document, **headers):
    sent = {"Content-Type": "application/json"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    request = urllib.request.Request(
        f"http://{address[0]}:{address[1]}{path}", json.dumps(document).encode(), sent
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code


def secure_cookie(address):
    text = (
        f"POST /language HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\nConnection:"
        " close\r\nSec-Fetch-Site: same-origin\r\n"
    )
    body = "language=de"
    text += (
        "X-Forwarded-Proto: https\r\nContent-Type:"
        f" application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    )
    with send(address, text) as connection:
        answer = ended(connection)
    assert b"Set-Cookie: language=de" in answer
    return b"Secure" in answer


@pytest.mark.parametrize("behind_proxy", [True, False])
def test_what_a_proxy_says_is_believed_only_where_there_is_said_to_be_one(app, behind_proxy):
    right = {"code": app.extensions["access"].codes.now.table}
    with served_app(app, behind_proxy) as address:
        for _ in range(MOST_WRONG):
            assert (
                post(address, "/api/v1/join", {"code": "2222"}, X_Forwarded_For="10.0.0.9") == 403
            )
        assert post(address, "/api/v1/join", right, X_Forwarded_For="10.0.0.9") == 429
        assert post(address, "/api/v1/join", right, X_Forwarded_For="10.0.0.8") == (
            201 if behind_proxy else 429
        )
        assert secure_cookie(address) == behind_proxy
