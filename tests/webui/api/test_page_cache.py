"""A page is written once for all who look at the same moment in the same role, and again as soon as
anything on it is another thing.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.sessions.commands import Pause
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from webui import create_app
from webui.pages import panel


@pytest.fixture
def real(tmp_path):
    """A session on a log, whose view is one object as long as nothing happens."""
    with Log(tmp_path / "log.sqlite") as log:
        session = Session.begin(log, SessionStarted(game="ice_boule", players=("blue", "yellow")))
        yield session
        session.close()


@pytest.fixture
def written(monkeypatch):
    """How often the table was drawn for a page."""
    times = []
    draw = panel.draw
    monkeypatch.setattr(panel, "draw", lambda *words: times.append(1) or draw(*words))
    return times


def test_the_view_of_a_session_is_made_once_for_each_record(real):
    before = real.view()
    assert real.view() is before
    real.command(Pause())
    assert real.view() is not before
    assert real.view().seq == before.seq + 1


def test_all_who_watch_are_given_one_page_until_something_changes(real, live, written):
    app = create_app(real, live)
    watchers = [app.test_client() for _ in range(5)]
    assert len({watcher.get("/").text for watcher in watchers}) == 1
    live.become(
        frame_seq=99, at_ms=99_000, observation=replace(live.latest.observation, frame_seq=99)
    )
    watchers[0].get("/")
    assert len(written) == 1, "another picture of the same table"

    live.become(message="A hand is over the board.")
    assert "A hand is over the board." in watchers[0].get("/").text
    real.command(Pause())
    watchers[0].get("/")
    moved = live.latest.observation
    live.become(observation=replace(moved, pieces=tuple(reversed(moved.pieces))))
    watchers[1].get("/")
    assert len(written) == 4


def test_nobody_is_given_the_page_of_another_role_seat_or_language(
    real, live, as_host, as_player, written
):
    app = create_app(real, live)
    watcher, host, blue, yellow = (
        app.test_client(),
        as_host(app),
        as_player(app, "blue"),
        as_player(app, "yellow"),
    )
    for _ in range(2):
        assert "Undo the last ruling" not in watcher.get("/").text
        assert "Undo the last ruling" in host.get("/").text
        assert ">Blue<" in blue.get("/play").text.replace("</span> ", ">")
        assert ">Yellow<" in yellow.get("/play").text.replace("</span> ", ">")
        assert (
            'lang="de"'
            in watcher.get("/", headers={"Accept-Language": "de"}).text.split("<head>")[0]
        )
        assert watcher.get("/").text != watcher.get("/?view=near").text
    assert len(written) == 4
    blue.post("/seat/back", headers={"Sec-Fetch-Site": "same-origin"})
    assert "Take your seat" in blue.get("/play").text


def test_who_has_the_page_is_sent_its_mark_alone(real, live):
    client = create_app(real, live).test_client()
    first = client.get("/")
    again = client.get("/", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    live.become(message="Something else.")
    assert client.get("/", headers={"If-None-Match": first.headers["ETag"]}).status_code == 200
