"""A table and a hub over a real socket: enrolment, tokens, batches, and all that goes wrong."""

from __future__ import annotations

import http.client
import socket
import threading
from contextlib import closing, contextmanager, suppress
from threading import Event

import pytest
from flask import Flask

from hub.app import create_hub_app
from hub.client import HubClient, HubGone, HubRefused
from hub.enrolling import HubToken, enrolled, keep_token, stored_token
from hub.forwarder import Forwarder
from hub.wire import MOST_BATCH_BYTES, RECORDS, Batch
from referee.sessions.event_store import LogReader
from table.errors import InputError
from tests.support.hubs import PASSWORD, Club, new_log
from tests.support.mosquitto import free_port
from webui.server import listen, serving

LOG = "01234567-89ab-4def-8123-456789abcdef"


class Hall:
    """A hub that listens, and its club."""

    def __init__(self, store) -> None:
        self.club = Club(store)
        self.app = create_hub_app(store, (), self.club.now_ms, self.club.accounts)
        self.port = 0

    def client(self, token: str = "") -> HubClient:
        return HubClient(f"http://127.0.0.1:{self.port}", token)

    def organiser(self, name: str = "Host of Club"):
        """A browser that is logged in."""
        browser = self.app.test_client()
        form = {"name": name, "password": PASSWORD}
        answer = post(browser, "/login", **form)
        assert answer.status_code == 303
        return browser


def post(browser, path, **form):
    headers = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html"}
    return browser.post(path, data=form, headers=headers)


@pytest.fixture
def hall(store):
    made = Hall(store)
    with closing(listen(port=0)) as listening:
        made.port = listening.getsockname()[1]
        with serving(made.app, listening):
            yield made


def test_a_table_is_enrolled_by_the_code_on_its_screen(hall, tmp_path):
    shown, organiser = [], hall.organiser()

    class Patience(Event):
        """In place of waiting, the organiser reads the code and enters it."""

        def wait(self, _timeout=None):
            form = {"code": shown[-1].code.lower().replace("-", " "), "name": " Table  3 "}
            assert post(organiser, "/tables/enrol", **form).status_code == 303

    with closing(hall.client()) as client:
        token = enrolled(client, shown.append, pytest.fail, Patience())
    assert (token.hub, token.table, len(shown)) == (client.url, "Table 3", 1)
    assert b"Table 3" in organiser.get("/tables").data
    keep_token(tmp_path, token)
    assert stored_token(tmp_path, client.url) == token.token
    assert stored_token(tmp_path, "http://elsewhere") == ""
    assert (tmp_path / "hub.json").stat().st_mode & 0o777 == 0o600
    with closing(hall.client(token.token)) as client:
        assert client.send(Batch(log=LOG)).seq == 0


def test_a_token_is_handed_out_once(hall):
    with closing(hall.client()) as client:
        asked = client.ask()
        assert client.claim(asked.secret).token == ""
        hall.club.tables.enrol(hall.club.actor, asked.code, "Table 1")
        assert client.claim(asked.secret).token
        with pytest.raises(HubRefused) as refused:
            client.claim(asked.secret)
        assert refused.value.code == "no_such_enrolment"


def test_a_code_that_nobody_enters_is_over_after_a_while_and_followed_by_another(hall):
    shown = []

    class Patience(Event):
        def wait(self, _timeout=None):
            if len(shown) > 2:
                self.set()
            hall.club.at_ms += 16 * 60 * 1000

    with closing(hall.client()) as client:
        assert enrolled(client, shown.append, pytest.fail, Patience()) is None
    assert len({asked.code for asked in shown}) == 3
    answer = post(hall.organiser(), "/tables/enrol", code=shown[0].code, name="Table 1")
    assert answer.status_code == 404


def test_codes_cannot_be_asked_for_without_end(hall):
    with closing(hall.client()) as client:
        for _ in range(20):
            client.ask()
        with pytest.raises(HubGone, match="Too many") as gone:
            client.ask()
    assert gone.value.retry_s == 60


@pytest.mark.parametrize("token", ["", "guessed", "withdrawn", "replaced"])
def test_a_token_that_does_not_count_is_refused(hall, token):
    club, code = hall.club, "token_withdrawn" if token in ("withdrawn", "replaced") else "no_token"
    old = club.enrol()
    if token == "withdrawn":
        (table,) = club.tables.listed(club.actor.club_id)
        post(hall.organiser(), "/tables/withdraw", table=table.id)
    if token == "replaced":
        club.enrol()
    token = old if code == "token_withdrawn" else token
    with closing(hall.client(token)) as client, pytest.raises(HubRefused) as refused:
        client.send(Batch(log=LOG))
    assert (refused.value.status, refused.value.code) == (401, code)


def test_a_log_is_forwarded_over_the_network(hall, tmp_path):
    with closing(hall.client(hall.club.enrol())) as client:
        forwarder = Forwarder(new_log(tmp_path), client, print)
        count = forwarder.round().records + forwarder.round().records
        forwarder.close()
    (table,) = hall.club.tables.listed(hall.club.actor.club_id)
    assert table.records == count > 0
    assert str(count).encode() in hall.organiser().get("/tables").data


def raw(hall, body, length=None, **headers):
    """What the server answers to a batch as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", hall.port, timeout=30)
    with closing(connection):
        connection.putrequest("POST", RECORDS)
        headers = {"Content-Type": "application/json", **headers}
        for name, value in (headers | {"Content-Length": str(length or len(body))}).items():
            connection.putheader(name.replace("_", "-"), value)
        with suppress(BrokenPipeError, ConnectionResetError):  # it answers before it has read all
            connection.endheaders(body)
        answer = connection.getresponse()
        answer.read()
        return answer.status


def test_a_batch_of_a_gigabyte_is_refused_before_it_is_read(hall):
    assert raw(hall, b"{", length=10**9) == 413
    assert raw(hall, b" " * (MOST_BATCH_BYTES + 1)) == 413
    assert raw(hall, b"{}") == 401
    token = hall.club.enrol()
    assert raw(hall, b"{}", Authorization=f"Bearer {token}") == 400
    assert raw(hall, b"{}", Authorization=f"Bearer {token}", Content_Type="text/plain") != 200
    assert raw(hall, b" " * (MOST_BATCH_BYTES - 1), Authorization=f"Bearer {token}") == 400


def test_a_hub_whose_database_is_gone_asks_to_wait_and_recovers(hall, url, request):
    if not url.startswith("postgresql"):
        pytest.skip("SQLite is a file of the hub's own")
    server = request.getfixturevalue("postgres")
    with closing(hall.client(hall.club.enrol())) as client:
        client.send(Batch(log=LOG))
        server.kill()
        try:
            with pytest.raises(HubGone) as gone:
                client.send(Batch(log=LOG))
            assert gone.value.retry_s == 5
            assert raw(hall, b"{}", Authorization="Bearer x") == 503
        finally:
            server.start()
        assert client.send(Batch(log=LOG)).seq == 0


def test_a_hub_that_restarts_is_found_again_on_the_same_client(store):
    hall = Hall(store)
    hall.port = free_port()
    with closing(hall.client(hall.club.enrol())) as client:
        with pytest.raises(HubGone):
            client.send(Batch(log=LOG))
        for _ in range(2):
            with closing(listen(port=hall.port)) as listening, serving(hall.app, listening):
                assert client.send(Batch(log=LOG)).seq == 0
                assert client.send(Batch(log=LOG)).seq == 0


@contextmanager
def answering(text: bytes):
    """Something that is no hub, and answers everything so."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            with server.accept()[0] as connection:
                connection.recv(65536)
                connection.sendall(text)

        thread = threading.Thread(target=answer)
        thread.start()
        yield server.getsockname()[1]
        thread.join()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>",
        b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"log": "no"',
        b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"log": "no"}',
        b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 6\r\n\r\n<html>",
        b"HTTP/1.1 502 Bad Gateway\r\nRetry-After: soon\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b" " * 70_000,
    ],
)
def test_what_is_no_hub_is_a_hub_that_is_gone(text):
    with (
        answering(text) as port,
        closing(HubClient(f"http://127.0.0.1:{port}", "t")) as client,
        pytest.raises(HubGone),
    ):
        client.send(Batch(log=LOG))


@pytest.mark.parametrize("said", [b"<html>", b'{"error": {"code": "c", "said": "s"}}'])
def test_a_proxys_page_about_size_is_no_hub_that_is_gone(said):
    head = f"HTTP/1.1 413 Payload Too Large\r\nContent-Length: {len(said)}\r\n\r\n"
    with (
        answering(head.encode() + said) as port,
        closing(HubClient(f"http://127.0.0.1:{port}", "t")) as client,
        pytest.raises(HubRefused) as refused,
    ):
        client.send(Batch(log=LOG))
    assert refused.value.status == 413


@pytest.mark.parametrize(
    "url", ["", "hub", "ftp://hub", "http://", "http://a b", "https://hub?x=1"]
)
def test_an_address_of_a_hub_is_one(url):
    with pytest.raises(InputError, match="--hub: expected an address such as"):
        HubClient(url)


def test_certificates_are_checked(tmp_path):
    (tmp_path / "ca.pem").write_text("nothing")
    with pytest.raises(InputError, match="expected certificates"):
        HubClient("https://hub.example.org", "", tmp_path / "ca.pem")


def test_a_damaged_token_file_is_named(tmp_path):
    keep_token(tmp_path, HubToken(hub="http://hub", table="Table 1", token="t"))
    (tmp_path / "hub.json").write_text('{"hub": 3}')
    with pytest.raises(InputError, match=r"hub\.json"):
        stored_token(tmp_path, "http://hub")


def test_health_needs_the_database(hall):
    app: Flask = hall.app
    assert app.test_client().get("/healthz").data == b"ok: The hub works.\n"


def test_monitors_are_told_how_many_and_how_well(hall, tmp_path):
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    path, token = new_log(tmp_path), hall.club.enrol("Secret table")
    with closing(hall.client(token)) as client, closing(Forwarder(path, client, print)) as sender:
        while sender.round().more:
            pass
    hall.club.at_ms += 90_000
    headers = {"Accept": "application/openmetrics-text; version=1.0.0"}
    answer = hall.app.test_client().get("/metrics", headers=headers)
    assert "Secret" not in answer.text
    found = {
        sample.name: sample.value
        for family in parser.text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    with LogReader(path) as log:
        assert found["rinkside_hub_records_total"] == len(log.records())
    assert found["rinkside_hub_tables"] == 1
    assert found["rinkside_hub_logs_in_trouble"] == 0
    assert found["rinkside_hub_events_running"] == 0
    assert found["rinkside_hub_silent_seconds"] == 90
