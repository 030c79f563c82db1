"""Server-sent events: nothing missed, nothing doubled, never silent, never more than the server can
carry.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest


def events(answer) -> Iterator[tuple[str, int | None, dict]]:
    """(name, id, data) of each event as it comes."""
    for text in answer.iter_encoded():
        fields = dict(line.split(": ", 1) for line in text.decode().strip().split("\n"))
        assert text.endswith(b"\n\n")
        yield (
            fields["event"],
            int(fields["id"]) if "id" in fields else None,
            json.loads(fields["data"]),
        )


@pytest.fixture
def listen(client):
    """listen(after=..., last=...): an open stream; all are closed in the end."""
    opened = []

    def open_stream(after="0", last=None):
        answer = client.get(
            f"/api/v1/stream?after={after}", headers={} if last is None else {"Last-Event-ID": last}
        )
        opened.append(answer)
        return answer

    yield open_stream
    for answer in opened:
        answer.close()


def take(stream, count):
    return [next(stream) for _ in range(count)]


def test_it_says_which_run_of_the_panel_it_is_then_what_is_new_then_the_moment(client, listen):
    answer = listen(after="14")
    assert answer.mimetype == "text/event-stream"
    stream = events(answer)
    name, number, data = next(stream)
    assert (name, number) == ("hello", None)
    assert f'data-instance="{data["instance"]}"' in client.get("/").text
    assert [(name, number, data["seq"]) for name, number, data in take(stream, 2)] == [
        ("record", 15, 15),
        ("record", 16, 16),
    ]
    assert next(stream) == ("live", None, client.get("/api/v1/state").get_json()["live"])


def test_a_stream_that_breaks_is_caught_up_with_nothing_missed_or_doubled(
    listen, session, more_records
):
    stream = events(listen(after="16"))
    take(stream, 2)
    more_records(3)
    heard = [number for name, number, _ in take(stream, 2) if name == "record"]
    more_records(2)
    again = events(
        listen(after="16", last=str(heard[-1]))
    )  # what a browser sends: the old address and Last-Event-ID
    heard += [number for name, number, _ in take(again, 1 + 3 + 1) if name == "record"]
    assert heard == [17, 18, 19, 20, 21]
    assert session.kept[-1].seq == 21


def test_a_number_of_another_log_begins_from_the_start(listen):
    stream = events(listen(last="4000"))
    assert [number for name, number, _ in take(stream, 17) if name == "record"] == list(
        range(1, 17)
    )


@pytest.mark.parametrize("last", ["x", "-3", "1e3", "9" * 40])
def test_a_number_that_is_none_is_refused(listen, last):
    answer = listen(last=last)
    assert answer.status_code == 400
    assert answer.get_json()["error"]["code"] == "bad_number"


def test_the_moment_is_told_when_it_changes_and_only_then(listen, live):
    stream = events(listen(after="16"))
    take(stream, 2)
    live.become(status="settling", message="The pieces are coming to rest.")
    assert next(stream)[2]["status"] == "settling"
    assert next(stream)[0] == "beat"


def test_silence_is_broken_by_beats(listen):
    stream = events(listen(after="16"))
    assert [name for name, _, _ in take(stream, 5)] == ["hello", "live", "beat", "beat", "beat"]


def test_a_closed_session_ends_the_stream(listen, session):
    stream = events(listen(after="16"))
    take(stream, 2)
    session.closed = True
    assert list(stream) == []


def test_more_streams_than_the_server_carries_are_refused_and_places_come_back(app, listen):
    app.extensions["streams"].limit = 2
    first, second = listen(), listen()
    next(events(second))
    full = listen()
    assert full.status_code == 503
    assert "2 live connections" in full.get_json()["error"]["said"]
    second.close()
    first.close()  # never read from
    third = listen()
    assert third.status_code == 200
    assert [listen().status_code, listen().status_code] == [200, 503]


def test_a_question_for_the_head_alone_keeps_no_place(app, client, listen):
    app.extensions["streams"].limit = 1
    client.head("/api/v1/stream").close()
    assert listen().status_code == 200
