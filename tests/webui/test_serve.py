"""The panel behind a real server: addresses, the stop, streams over a socket."""

from __future__ import annotations

import signal
import socket
import urllib.request

import pytest

from table.errors import InputError
from webui.serve import listen, serve


def test_a_port_that_is_taken_is_one_line_that_says_what_to_do():
    with listen(port=0) as first:
        port = first.getsockname()[1]
        with pytest.raises(InputError) as caught:
            listen(port=port)
    said = str(caught.value)
    assert f"port {port}" in said
    assert "--port" in said
    assert "\n" not in said


@pytest.mark.parametrize(("host", "port"), [("no.such.host.invalid", 8000), ("192.0.2.1", 8000), ("127.0.0.1", 70_000), ("127.0.0.1", -1)])
def test_an_address_that_cannot_be_had_is_one_line(host, port):
    with pytest.raises(InputError, match="--host, --port") as caught:
        listen(host, port)
    assert "\n" not in str(caught.value)


def test_too_few_threads_are_a_mistake_of_the_caller(app):
    with listen(port=0) as listening, pytest.raises(ValueError, match="threads"):
        serve(app, listening, threads=4)


def test_streams_arrive_over_the_wire_as_they_come_and_pages_are_answered_beside_them(panel):
    with urllib.request.urlopen(f"{panel.url}/api/v1/stream?after=16", timeout=20) as stream:
        assert stream.readline() == b"event: hello\n"
        panel.change(record=True)
        lines = iter(stream.readline, b"")
        assert next(line for line in lines if line.startswith(b"id: ")) == b"id: 17\n"
        with urllib.request.urlopen(f"{panel.url}/api/v1/state", timeout=20) as answer:
            assert answer.status == 200


def test_open_streams_never_take_the_last_threads(panel):
    streams = [urllib.request.urlopen(f"{panel.url}/api/v1/stream?after=16", timeout=20) for _ in range(12)]
    with pytest.raises(urllib.error.HTTPError, match="503") as caught:
        urllib.request.urlopen(f"{panel.url}/api/v1/stream", timeout=20)
    assert b"12 live connections" in caught.value.read()
    caught.value.close()
    with urllib.request.urlopen(f"{panel.url}/", timeout=20) as page:
        assert page.status == 200
    for stream in streams:
        stream.close()


def test_an_interrupt_ends_it_at_once_though_somebody_listens(panel):
    with urllib.request.urlopen(f"{panel.url}/api/v1/stream", timeout=20) as stream:
        stream.readline()
        panel.process.send_signal(signal.SIGINT)
        assert stream.read().endswith(b"\n\n")
        assert panel.process.wait(timeout=20) == 0


def test_a_body_that_never_ends_is_cut_off(panel):
    host, port = panel.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        head = f"POST /api/v1/command HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n"
        connection.sendall(head.encode())
        assert b" 413 " in connection.recv(4096).split(b"\r\n")[0]
