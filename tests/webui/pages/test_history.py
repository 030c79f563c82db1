"""Looking back: sessions, moments, statistics, what is carried away and what is shared; all from a
log that is only read.
"""

from __future__ import annotations

import io
import re
import zipfile

import cv2
import numpy as np
import pytest

from referee.live.computer_seats import ComputerSeats
from referee.sessions.commands import Declare
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted, VerdictReached
from referee.sessions.session import Session
from referee.statistics.history import HistoryCache
from table.boards import Hex
from table.table_config import table_document
from tests.support.setups import setup_of
from webui import create_app, create_history_app
from webui.svg.charts import around_target, squares_map, strips


@pytest.fixture
def watcher(log):
    """A browser that has given no code."""
    return create_history_app(HistoryCache(log[0].path)).test_client()


@pytest.fixture
def pages(watcher, as_host):
    return as_host(watcher.application)


def test_the_list_has_every_session_the_newest_first(pages, log):
    page = pages.get("/sessions").text
    assert re.findall(r'href="/sessions/(\d+)"', page) == [
        str(session.id) for session in reversed(log[1:])
    ]
    assert "Anna &lt;A&gt;" in page
    assert pages.get("/").text == page
    assert "The table" not in page


def test_who_watches_sees_every_session_and_only_hosts_carry_one_away(watcher, log, as_player):
    player = as_player(watcher.application, "")
    for browser in (watcher, player):
        for path in (
            "/",
            "/sessions",
            f"/sessions/{log[1].id}",
            f"/sessions/{log[1].id}/statistics",
            "/statistics",
        ):
            assert browser.get(path).status_code == 200
        assert (
            browser.get(f"/sessions/{log[1].id}/session.zip").get_json()["error"]["code"]
            == "not_for_you"
        )
    answer = watcher.post(
        "/join",
        data={"code": watcher.application.extensions["access"].codes.now.table},
        headers={"Sec-Fetch-Site": "same-origin"},
    )
    assert answer.location == "/", "nobody plays here"


def test_a_log_that_is_not_there_yet_has_no_sessions(tmp_path):
    assert (
        "No sessions yet."
        in create_history_app(HistoryCache(tmp_path / "log.sqlite"))
        .test_client()
        .get("/sessions")
        .text
    )


def test_every_moment_has_its_verdict_board_and_picture(pages, log):
    boule = log[1]
    target, throw = (record.seq for record in boule.records()[1:3])
    page = pages.get(f"/sessions/{boule.id}").text
    assert "Blue&#39;s piece lies 57.5" in page
    assert "2 of 2" in page
    assert f'src="/sessions/{boule.id}/frame/{throw}.jpg"' in page
    assert page.count('class="piece') == 9
    before = pages.get(f"/sessions/{boule.id}?at={target}").text
    assert (
        "The green target is upright."
        in re.search(r'id="verdict".*?</section>', before, re.DOTALL)[0]
    )
    assert 'class="piece' not in before
    assert "No picture was saved." in before
    start = pages.get(f"/sessions/{boule.id}?at=0").text
    assert "Before the first ruling" in start
    assert "Nothing had been ruled yet." in start


def test_a_moment_is_what_the_page_showed_then(log):
    storm = log[2]
    story = HistoryCache(log[0].path).of(storm.id)
    assert story.view(storm.records()[-1].seq) == storm.view()
    assert [step.message for step in story.steps] == [
        record.event.message for record in storm.records()[1:]
    ]
    middle = story.view(story.steps[2].seq)
    assert middle.verdicts[0].message == "throw blue b7."
    assert middle.state["thrown"] == {"red": 1, "yellow": 1, "blue": 1}


def test_what_a_computer_wanted_is_a_moment_with_its_marks(tmp_path):
    with Log(tmp_path / "log.sqlite") as log:
        table = table_document(setup_of(Hex(size=5, cell_mm=32), ("red", "black")))
        started = SessionStarted(
            game="icebreaker", players=("red", "black"), table=table, computers={"red": "club"}
        )
        session = Session.begin(log, started)
        assert ComputerSeats(session, print, lambda: 0.0).act()
        wish = session.ledger.wish
        session.command(Declare(moves=(wish.move,)))
        session.close()
    pages = create_history_app(HistoryCache(tmp_path / "log.sqlite")).test_client()
    page = pages.get(f"/sessions/{session.id}?at={session.id + 1}").text
    assert "The computer wanted this:" in page
    assert page.count(wish.message) == 3, "above the board, on the line of time, and in the list"
    assert 'class="stroke k-path"' in page
    after = pages.get(f"/sessions/{session.id}?at={session.id + 2}").text
    assert "The computer wanted this:" not in after


def test_a_session_that_goes_on_is_read_as_far_as_it_is(log):
    stories, boule = HistoryCache(log[0].path), log[1]
    first = stories.of(boule.id)
    boule.tick(9000)
    boule.append(
        VerdictReached(
            verdict="refused", code="boule.throw.turn", message="Not yet.", player="blue"
        )
    )
    again = stories.of(boule.id)
    assert len(again.steps) == len(first.steps) + 1
    assert again.ledgers[: len(first.ledgers)] == first.ledgers


def test_the_pages_of_sessions_are_on_the_panel_too(log, live):
    client = create_app(log[1], live, histories=HistoryCache(log[0].path)).test_client()
    page = client.get("/").text
    assert 'href="/sessions"' in page
    assert f'href="/sessions/{log[1].id}/verdict/' in page
    assert 'href="/">The table' in client.get("/sessions").text
    assert create_app(log[1], live).test_client().get("/sessions").status_code == 404


def test_pictures_are_those_of_their_own_session(pages, log, live):
    seq = log[1].records()[-1].seq
    assert pages.get(f"/sessions/{log[1].id}/frame/{seq}.jpg").data == live.picture
    assert pages.get(f"/sessions/{log[2].id}/frame/{seq}.jpg").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/sessions/999",
        "/sessions/999/statistics",
        "/sessions/999/session.zip",
        "/sessions/999/verdict/3.png",
        "/sessions/x",
    ],
)
def test_what_is_not_there_is_said(pages, path):
    assert pages.get(path).status_code == 404


def test_a_verdict_is_shared_as_a_picture(pages, log):
    seq = log[1].records()[-1].seq
    answer = pages.get(f"/sessions/{log[1].id}/verdict/{seq}.png")
    image = cv2.imdecode(np.frombuffer(answer.data, np.uint8), cv2.IMREAD_COLOR)
    assert answer.mimetype == "image/png"
    assert image.shape[1] == 1200
    assert image.shape[0] > 600
    blue = (image[90:540].astype(int) @ (1, 0, -1)) > 100
    assert blue[:, 700:].sum() > 200, "the drawing has its blue pieces"
    german = pages.get(
        f"/sessions/{log[1].id}/verdict/{seq}.png", headers={"Accept-Language": "de"}
    )
    assert german.data != answer.data, "it speaks the language of who shares it"
    assert pages.get(f"/sessions/{log[1].id}/verdict/{log[1].id}.png").status_code == 404
    assert (
        pages.get(f"/sessions/{log[2].id}/verdict/{log[2].records()[-1].seq}.png").status_code
        == 200
    ), "without picture and table too"


def test_a_session_is_carried_away(pages, log):
    answer = pages.get(f"/sessions/{log[1].id}/session.zip")
    with zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        assert "records.jsonl" in archive.namelist()
        assert len(archive.namelist()) == 2


def test_votes_are_not_carried_away_while_the_session_goes_on(pages, log):
    floe = log[3]
    assert pages.get(f"/sessions/{floe.id}/session.zip").status_code == 409
    assert f"/sessions/{floe.id}/session.zip" not in pages.get(f"/sessions/{floe.id}").text
    assert "vote red 4" not in pages.get(f"/sessions/{floe.id}").text
    floe.end("over")
    assert pages.get(f"/sessions/{floe.id}/session.zip").status_code == 200


def test_statistics_of_a_session(pages, log):
    page = pages.get(f"/sessions/{log[1].id}/statistics").text
    assert "How close the throws land" in page
    assert "Anna &lt;A&gt;: median 57.5 mm of 1 throw;" in page
    assert "Where throws land around the target" in page
    storm = pages.get(f"/sessions/{log[2].id}/statistics").text
    took = re.findall(r'at=\d+">([^<]+)</a> <span class="quiet">([^<]+)<', storm)
    assert took == [
        ("Blue took yellow1", "knocked off the board"),
        ("Red took blue1", "red1 north on b4-b8"),
    ]
    assert storm.count('class="heat"') == 3


def test_statistics_of_all_sessions_leave_simulated_ones_out(pages):
    assert "Blue took" not in pages.get("/statistics").text
    assert "Blue took" in pages.get("/statistics?simulated=1").text


def test_distances_stand_to_scale():
    plot = strips({"Anna": [0.0, 10.0, 30.0], "Ben": [80.0], "Zoë": []})
    anna, ben = plot.strips
    scale = (plot.ticks[-1][0] - plot.ticks[0][0]) / plot.ticks[-1][1]
    assert [x for x, _ in anna.dots] == pytest.approx(
        [plot.ticks[0][0] + scale * mm for mm in (0, 10, 30)], abs=0.1
    )
    assert (anna.median_mm, ben.median_mm) == (10.0, 80.0)
    assert anna.low <= anna.median <= anna.high
    assert ben.low == ben.median == ben.high
    assert strips({"Anna": []}) is None


class At:
    def __init__(self, x_mm, y_mm):
        self.x_mm, self.y_mm = x_mm, y_mm


def test_landings_of_all_players_are_drawn_to_one_scale():
    maps = around_target({"Anna": [At(12, 3)], "Ben": [At(400, 20)], "Zoë": []})
    assert list(maps) == ["Anna", "Ben"]
    assert maps["Anna"].side_mm == maps["Ben"].side_mm == 100


def test_landings_are_counted_about_the_target():
    heat = around_target({"Anna": [At(12, 3), At(14, 4), At(-30, -1)]})["Anna"]
    counts = {
        (cell.x * heat.side_mm, -(cell.y + 1) * heat.side_mm): cell.count for cell in heat.cells
    }
    assert sum(counts.values()) == 3
    assert heat.side_mm == 5
    assert counts[10, 0] == 2
    assert around_target({"Anna": []}) == {}
    board = squares_map([{"a1": 2, "h8": 1}, {"a1": 1}])
    assert {(cell.x, cell.y): cell.count for cell in board.cells} == {(-4, 3): 3, (3, -4): 1}
