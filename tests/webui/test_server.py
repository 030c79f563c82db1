"""The panel behind a real server: addresses, the stop, streams over a socket."""

from __future__ import annotations

import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from flask import Flask

from referee.sessions.events import Record, VerdictReached
from table.errors import InputError
from webui import server
from webui.api import fanout
from webui.server import listen, serving

pytestmark = pytest.mark.slow


def test_a_port_that_is_taken_is_one_line_that_says_what_to_do():
    with listen(port=0) as first:
        port = first.getsockname()[1]
        with pytest.raises(InputError) as caught:
            listen(port=port)
    message = str(caught.value)
    assert f"port {port}" in message
    assert "--port" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("host", "port"),
    [("no.such.host.invalid", 8000), ("192.0.2.1", 8000), ("127.0.0.1", 70_000), ("127.0.0.1", -1)],
)
def test_an_address_that_cannot_be_had_is_one_line(host, port):
    with pytest.raises(InputError, match="--host, --port") as caught:
        listen(host, port)
    assert "\n" not in str(caught.value)


def test_streams_arrive_over_the_wire_as_they_come_and_pages_are_answered_beside_them(panel):
    with urllib.request.urlopen(f"{panel.url}/api/v1/stream?after=16", timeout=20) as stream:
        assert stream.readline() == b"event: hello\n"
        panel.change(record=True)
        lines = iter(stream.readline, b"")
        assert next(line for line in lines if line.startswith(b"id: ")) == b"id: 17\n"
        with urllib.request.urlopen(f"{panel.url}/api/v1/state", timeout=20) as answer:
            assert answer.status == 200


def test_streams_hold_no_threads_and_all_are_told(panel):
    streams = [
        urllib.request.urlopen(f"{panel.url}/api/v1/stream?after=16", timeout=20) for _ in range(40)
    ]
    panel.change(record=True)
    for stream in streams:
        assert (
            next(line for line in iter(stream.readline, b"") if line.startswith(b"id: "))
            == b"id: 17\n"
        )
    with urllib.request.urlopen(f"{panel.url}/", timeout=20) as page:
        assert page.status == 200
    for stream in streams:
        stream.close()


def opened(url):
    """A stream, as soon as there is a place for it."""
    while True:
        try:
            return urllib.request.urlopen(url, timeout=20)
        except urllib.error.HTTPError as refused:
            with refused:
                if refused.code != 503:
                    raise


@pytest.fixture
def served(app, session, monkeypatch):
    """The panel's address; it is served by this process."""
    session.served = True
    monkeypatch.setattr(server, "MOST_STREAMS", 1)
    with listen(port=0) as listening, serving(app, listening):
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_who_hung_up_gives_the_place_back(served):
    for _ in range(3):
        with opened(f"{served}/api/v1/stream") as stream:
            assert stream.readline() == b"event: hello\n"


def test_one_who_does_not_read_is_dropped_and_the_next_hears_everything(
    session, served, monkeypatch
):
    monkeypatch.setattr(fanout, "STALLED_S", 0.2)
    ruled = VerdictReached(verdict="accepted", code="boule.throw", message="x" * 100_000)
    host, port = served.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as deaf:
        deaf.sendall(
            f"GET /api/v1/stream?after=16 HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
        )
        deaf.recv(1)
        session.kept += [Record(seq=seq, session=1, at_ms=0, event=ruled) for seq in range(17, 97)]
        other = opened(f"{served}/api/v1/stream?after=16")
    monkeypatch.setattr(fanout, "STALLED_S", 20.0)
    heard = [
        int(line[4:]) for line in iter(other.readline, b"id: 96\n") if line.startswith(b"id: ")
    ]
    assert heard == list(range(17, 96))
    other.close()


def test_an_interrupt_ends_it_at_once_though_somebody_listens(panel):
    with urllib.request.urlopen(f"{panel.url}/api/v1/stream", timeout=20) as stream:
        stream.readline()
        panel.process.send_signal(signal.SIGINT)
        assert stream.read().endswith(b"\n\n")
        assert panel.process.wait(timeout=20) == 0


def test_a_body_that_never_ends_is_cut_off(panel):
    host, port = panel.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        head = (
            f"POST /api/v1/command HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type:"
            " application/json\r\nContent-Length: 99999999\r\n\r\n"
        )
        connection.sendall(head.encode())
        assert b" 413 " in connection.recv(4096).split(b"\r\n")[0]


def test_the_loop_rests_while_a_thread_sends(monkeypatch):
    rounds, loop, send = [], server.wasyncore.loop, server.Channel.send

    def counted(**options):
        rounds.append(1)
        loop(**options)

    def slow(channel, data, do_close=True):
        time.sleep(0.3)
        return send(channel, data, do_close)

    monkeypatch.setattr(server.wasyncore, "loop", counted)
    monkeypatch.setattr(server.Channel, "send", slow)
    app = Flask("test")
    app.add_url_rule("/", view_func=lambda: "answer")
    with closing(listen(port=0)) as listening:
        port = listening.getsockname()[1]
        with serving(app, listening), urllib.request.urlopen(f"http://127.0.0.1:{port}") as answer:
            assert answer.read() == b"answer"
    assert len(rounds) < 50


def test_an_answer_that_is_under_way_is_sent_whole_before_the_server_stops():
    body, under_way, stopping = b"x" * 8_000_000, threading.Event(), threading.Event()
    app = Flask("test")
    app.add_url_rule("/", view_func=lambda: body)

    def ask(port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=20) as answer:
            under_way.set()
            assert stopping.wait(20)
            return answer.read()

    with closing(listen(port=0)) as listening, ThreadPoolExecutor(1) as asking:
        with serving(app, listening):
            answer = asking.submit(ask, listening.getsockname()[1])
            assert under_way.wait(20)
            stopping.set()
        assert answer.result(20) == body
