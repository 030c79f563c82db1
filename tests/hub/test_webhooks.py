"""Webhooks: another program is told, signed, once for each change, and until it has taken it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from contextlib import closing
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from hub.matches import result_text
from hub.webhooks import HubResults, Webhook
from table.errors import InputError
from tests.support.evenings import Evening
from tests.support.mosquitto import free_port

SECRET = "a secret of enough letters"


@pytest.fixture
def url(sqlite_url):
    return sqlite_url


class Receiver:
    """A program that is told; `answers` are its next statuses, 204 after these."""

    def __init__(self, port: int = 0) -> None:
        self.heard: list[tuple[str, dict[str, str], bytes]] = []
        self.answers: list[int] = []
        self.came = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.heard.append((self.path, headers, body))
                self.send_response(receiver.answers.pop(0) if receiver.answers else 204)
                self.end_headers()
                receiver.came.set()

            def log_message(self, *_):
                pass

        self._server = HTTPServer(("127.0.0.1", port), Handler)
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def receiver():
    with closing(Receiver()) as made:
        yield made


@pytest.fixture
def evening(club, tmp_path):
    return Evening(club, tmp_path)


def webhook(evening, port, path="/told?by=us"):
    results = HubResults(evening.club.store, evening.results, evening.events)
    return Webhook(f"http://127.0.0.1:{port}{path}", SECRET, results.now, evening.club.now_ms)


def test_each_change_is_told_once_and_nothing_else(evening, receiver):
    hook = webhook(evening, receiver.port)
    assert [hook.round(), hook.round()] == [1, 0]
    evening.pair()
    assert [hook.round(), hook.round()] == [1, 0]
    evening.began("Anna", "Ben")
    evening.send()
    assert hook.round() == 1  # the match is being played
    evening.play("Anna", "Ben", lost="Ben")
    assert [hook.round(), hook.round()] == [1, 0]
    (one,) = evening.matches
    evening.desk.confirm(evening.actor, evening.id, one.match.id, result_text(one.result))
    assert [hook.round(), hook.round()] == [1, 0]
    evening.events.end(evening.actor, evening.id)
    assert [hook.round(), hook.round()] == [1, 0]
    assert len({headers["webhook-id"] for _, headers, _ in receiver.heard}) == 6


def test_a_message_is_signed_and_says_where_the_results_are(evening, receiver):
    evening.pair()
    webhook(evening, receiver.port).round()
    ((path, headers, body),) = receiver.heard
    club = evening.actor.club_id
    assert path == "/told?by=us"
    assert json.loads(body) == {
        "type": "results.changed",
        "timestamp": "2027-01-15T08:00:01+00:00",
        "data": {
            "club": club,
            "standings": f"/halls/{club}/standings.json",
            "events": [f"/halls/{club}/tournaments/{evening.id}/event.json"],
        },
    }
    signed = b".".join(
        (headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body)
    )
    expected = hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(expected).decode()}"
    assert b"Anna" not in body


@pytest.mark.parametrize("status", [500, 404, 302, 410])
def test_what_is_not_taken_is_told_again(evening, receiver, status):
    hook = webhook(evening, receiver.port)
    receiver.answers = [status]
    with pytest.raises(HTTPException, match=str(status)):
        hook.round()
    assert hook.round() == 1
    ids = [headers["webhook-id"] for _, headers, _ in receiver.heard]
    assert ids[0] == ids[1]


def test_a_receiver_that_was_gone_is_told_when_it_is_back(evening):
    port = free_port()

    class Patience(threading.Event):
        """In place of waiting, the receiver comes back; once it was told, all ends."""

        receiver = None

        def wait(self, _timeout=None):
            if self.receiver is None:
                self.receiver = Receiver(port)
            elif self.receiver.came.is_set():
                self.set()
            return self.is_set()

    stopping = Patience()
    webhook(evening, port).run(stopping)
    with closing(stopping.receiver) as receiver:
        assert len(receiver.heard) == 1


@pytest.mark.parametrize(
    "url_", ["", "hub", "ftp://x", "http://", "http://a b", "http://a/b c", "http://a/ü"]
)
def test_an_address_is_one(url_):
    with pytest.raises(InputError, match="--webhook: expected an address"):
        Webhook(url_, SECRET, dict, int)


def test_a_short_secret_is_refused():
    with pytest.raises(InputError, match="--webhook-secret: expected at least 24 letters, got 5"):
        Webhook("https://example.org/", "short", dict, int)
