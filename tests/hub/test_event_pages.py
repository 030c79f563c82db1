"""Pages of events: an organiser runs one, players confirm by code, everybody looks."""

from __future__ import annotations

import csv
import html
import io
import json
import re

import pytest

from engines import GAMES
from hub.app import create_hub_app
from referee.sessions.events import SessionStarted
from referee.sessions.game_text import read_games, replay
from referee.sessions.session import Session
from tests.support.boule_games import won_by_blue
from tests.support.evenings import Evening
from tests.support.hubs import PASSWORD, Club


@pytest.fixture
def url(sqlite_url):
    return sqlite_url


@pytest.fixture
def app(club):
    return create_hub_app(club.store, (), club.now_ms, club.accounts)


def post(browser, path, **form):
    headers = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html"}
    return browser.post(path, data=form, headers=headers)


def log_in(app, name="Host of Club"):
    browser = app.test_client()
    assert post(browser, "/login", name=name, password=PASSWORD).status_code == 303
    return browser


def text(answer):
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", answer.get_data(as_text=True))))


def test_an_organiser_runs_an_event_from_its_page(app, club):
    club.enrol("Table 1")
    browser = log_in(app)
    form = {"name": "Cup", "game": "ice_boule", "format": "swiss", "terms": "to 13", "rounds": "2"}
    page = post(browser, "/tournaments/make", **form).location
    event = page.rpartition("/")[2]
    act = f"/tournaments/{event}"
    post(browser, f"{act}/players", names="Anna, Ben,Cleo, , Dora,")
    post(browser, f"{act}/tables", table=["1"])
    assert "Ice Boule to 13, Swiss system. Not begun" in text(browser.get(page))
    assert post(browser, f"{act}/pair", after="0").status_code == 303
    shown = text(browser.get(page))
    assert "Anna – Cleo to play, Table 1" in shown
    assert "2 matches are not confirmed yet" in shown
    outcome = {"outcome": ["won", "lost"], "score": ["13", "7,5"]}
    assert post(browser, f"{act}/decide", match="1", **outcome).status_code == 303
    assert "1 – 0 (13 : 7.5)" in text(browser.get(page))
    assert post(browser, f"{act}/pair", after="1").status_code == 409
    assert post(browser, f"{act}/decide", match="2", outcome=["lost", "won"]).status_code == 303
    assert post(browser, f"{act}/pair", after="1").status_code == 303
    assert "Ben – Anna" in text(browser.get(page))
    for wrong in ({"outcome": ["won"]}, {"outcome": ["won", "so"]}, {"score": ["x", "1"]}):
        assert post(browser, f"{act}/decide", match="1", **(outcome | wrong)).status_code == 400
    for path in ("move", "confirm", "let-go", "take-back", "end", "withdraw"):
        assert post(browser, f"{act}/{path}", match="1").status_code in (303, 400, 404, 409)


def test_pages_of_an_event_are_for_everybody_and_its_forms_for_organisers(app, club, tmp_path):
    evening = Evening(club, tmp_path, "swiss", ("Anna", "Ben", "Cleo"), tables=2)
    evening.pair()
    browser, base = app.test_client(), f"/halls/{club.actor.club_id}/tournaments"
    page = browser.get(f"{base}/{evening.id}")
    assert "Standings" in text(page)
    assert evening.player("Anna").code[:4] not in text(page)
    assert "<form" not in page.get_data(as_text=True).partition("<main")[2].partition("</main")[0]
    for path in ("players", "pair", "confirm", "decide", "let-go", "move", "end", "take-back"):
        assert post(browser, f"/tournaments/{evening.id}/{path}").status_code == 401
    Club(club.store, "Elsewhere")
    stranger = log_in(app, "Host of Elsewhere")
    assert evening.player("Anna").code[:4] not in text(stranger.get(f"{base}/{evening.id}"))
    assert post(stranger, f"/tournaments/{evening.id}/pair", after="1").status_code == 404
    for path in ("/7", "/7/matches/1", f"/{evening.id}/matches/99", "/7/standings.csv"):
        assert browser.get(f"{base}{path}").status_code == 404


def test_both_players_confirm_what_the_table_says_by_their_codes(app, club, tmp_path):
    evening = Evening(club, tmp_path)
    evening.pair()
    evening.play("Anna", "Ben", lost="Ben")
    browser, number = app.test_client(), str(evening.matches[0].match.id)
    for name in ("Anna", "Ben"):
        code = evening.player(name).code
        assert browser.get(f"/me?code={code[:4]}-{code[4:].lower()}").location.startswith("/me/")
        page = browser.get(f"/me/{code}").get_data(as_text=True)
        (result,) = set(re.findall(r'name="result" value="([^"]+)"', page))
        form = {"what": "agree", "match": number, "result": html.unescape(result)}
        assert post(browser, f"/me/{code}/result", **form).status_code == 303
    assert evening.matches[0].status == "confirmed"
    assert browser.get("/me/AAAAAAAA").status_code == 404


def test_an_organiser_confirms_all_results_that_are_on_the_page(app, club, tmp_path):
    evening = Evening(club, tmp_path, names=("Anna", "Ben", "Cleo", "Dora"), tables=2)
    evening.pair()
    for table, pair in zip(("Table 1", "Table 2"), evening.players_of(1), strict=True):
        evening.play(*pair, lost=pair[0], table=table)
    browser, page = log_in(app), f"/halls/{club.actor.club_id}/tournaments/{evening.id}"
    shown = browser.get(page).get_data(as_text=True)
    (form,) = re.findall(r"<form[^>]*>(?:(?!</form>).)*Confirm all results", shown, re.DOTALL)
    fields = {
        name: [html.unescape(one) for one in re.findall(rf'name="{name}" value="([^"]*)"', form)]
        for name in ("match", "result")
    }
    assert post(browser, f"/tournaments/{evening.id}/confirm", **fields).status_code == 303
    statuses = [one.status for one in evening.matches]
    assert statuses == ["confirmed"] * 2 + ["waiting"] * 4


def test_a_disputed_result_shows_its_evidence(app, club, tmp_path):
    evening = Evening(club, tmp_path)
    evening.pair()
    evening.play("Anna", "Ben", lost="Ben")
    browser, code = app.test_client(), evening.player("Ben").code
    page = browser.get(f"/me/{code}").get_data(as_text=True)
    (result,) = set(re.findall(r'name="result" value="([^"]+)"', page))
    number = evening.matches[0].match.id
    form = {"what": "dispute", "match": str(number), "result": html.unescape(result)}
    post(browser, f"/me/{code}/result", **form)
    match = f"/halls/{club.actor.club_id}/tournaments/{evening.id}/matches/{number}"
    shown = text(browser.get(match))
    assert "Ben says that this is wrong. The result is frozen" in shown
    assert "Session 1 of Table 1" in shown
    assert "Blue resigns." in shown


def test_files_of_an_event_say_what_its_page_says(app, club, tmp_path):
    evening = Evening(club, tmp_path, "swiss", ("=Anna", "Ben", "Cleo"))
    evening.pair()
    evening.decide_all()
    browser = app.test_client()
    base = f"/halls/{club.actor.club_id}/tournaments/{evening.id}"
    rows = browser.get(f"{base}/standings.csv").get_data().decode("utf-8-sig")
    assert [(row["player"], row["points"]) for row in csv.DictReader(io.StringIO(rows))] == [
        ("Cleo", "1.0"),
        ("'=Anna", "1.0"),
        ("Ben", "0.0"),
    ]
    document = json.loads(browser.get(f"{base}/event.json").data)
    assert document["tie_breaks"][:2] == ["points", "direct"]
    assert [one["status"] for one in document["matches"]] == ["confirmed", "bye"]
    lines = browser.get(f"{base}/event.trf").get_data(as_text=True).splitlines()
    assert [line[89:] for line in lines if line.startswith("001")] == [
        "     2 w 1",
        "     1 b 0",
        "  0000 - U",
    ]


def test_a_player_is_erased_from_events_too_and_results_stay(app, club, tmp_path):
    evening = Evening(club, tmp_path)
    evening.pair()
    evening.play("Anna", "Ben", lost="Ben")
    browser, code = log_in(app), evening.player("Ben").code
    found = json.loads(post(browser, "/players/export", name="ben").data)
    assert found[-1] == {"event": "Cup", "game": "icebreaker", "number": 2, "name": "Ben"}
    post(browser, "/players/erase", name="ben")
    page = f"/halls/{club.actor.club_id}/tournaments/{evening.id}"
    assert "Ben" not in text(browser.get(page))
    assert browser.get(f"/me/{code}").status_code == 404
    (one,) = evening.matches
    assert {seat.name for seat in one.match.seats} == {"Anna", "somebody"}
    assert sorted(one.result.shares) == [0, 1]


def test_a_player_has_a_page(app, club, tmp_path):
    evening = Evening(club, tmp_path)
    evening.pair()
    evening.play("Anna", "Ben", lost="Ben")
    browser, hall = app.test_client(), f"/halls/{club.actor.club_id}"
    assert f'href="{hall}/player?name=Anna"' in browser.get(f"{hall}/standings").get_data(True)
    shown = text(browser.get(f"{hall}/player?name=ANNA"))
    assert "Anna Club" in shown
    assert "Icebreaker1110000" in shown.replace(" ", "")
    assert "Anna – Ben 1 – 0" in shown
    post(log_in(app), "/players/merge", other="Ana", name="Anna")
    assert "Anna Club" in text(browser.get(f"{hall}/player?name=ana"))
    for nobody in ("Zoe", "", "somebody", "%00", "A" * 5000):
        assert browser.get(f"{hall}/player?name={nobody}").status_code == 404
    assert browser.get("/halls/99/player?name=Anna").status_code == 404


def test_games_of_an_event_are_played_again_from_their_text(app, club, tmp_path):
    evening = Evening(club, tmp_path, names=("Anna", "Ben", "Cleo"))
    evening.pair()
    evening.play("Ben", "Cleo", lost="Cleo")
    evening.began("Ben", "Anna")
    evening.send()
    browser, page = app.test_client(), f"/halls/{club.actor.club_id}/tournaments/{evening.id}"
    (found,) = read_games(browser.get(f"{page}/games.txt").get_data(as_text=True), "games.txt")
    (match,) = (one.match for one in evening.matches if one.table_says)
    assert (found.event, found.site, found.round) == ("Cup", "Table 1", str(match.round))
    assert found.names == {"yellow": "Ben", "blue": "Cleo"}
    assert replay(found, GAMES, "game").winners == ("yellow",)
    one = browser.get(f"{page}/matches/{match.id}/game.txt").get_data(as_text=True)
    assert read_games(one, "game.txt") == [found]
    post(log_in(app), "/players/erase", name="Cleo")
    again = browser.get(f"{page}/games.txt").get_data(as_text=True)
    assert "Cleo" not in again
    others = [one.match.id for one in evening.matches if one.match.id != match.id]
    assert [browser.get(f"{page}/matches/{one}/game.txt").status_code for one in others] == [
        404
    ] * 2


def test_a_players_page_says_how_near_they_throw(app, club, tmp_path):
    evening = Evening(club, tmp_path, "free", game="ice_boule")
    for gap_mm in (12.0, 30.0, 20.0):
        names = {"blue": "Anna", "yellow": "Ben"}
        started = SessionStarted(game="ice_boule", players=("blue", "yellow"), names=names)
        session = Session.begin(evening.log(), started)
        won_by_blue(session, gap_mm)
        session.close()
    evening.send()
    browser, hall = app.test_client(), f"/halls/{club.actor.club_id}"
    shown = text(browser.get(f"{hall}/player?name=Anna"))
    assert "The newest 20 games of each kind count here." in shown
    assert re.search(r"Median gap, mm.*Ice Boule.*20\.0", shown)
    document = json.loads(browser.get(f"{hall}/player.json?name=Anna").data)
    (game,) = document["games"]
    assert (game["read"], game["won"], game["out"]) == (3, 3, 0)
    assert (game["gap_low_mm"], game["gap_median_mm"], game["gap_high_mm"]) == (12, 20, 30)
    assert game["gap_median_margin_mm"] == pytest.approx(0.14, abs=0.06)
    assert len(document["ratings"]["ice_boule"]) == 1
    rows = browser.get(f"{hall}/player.csv?name=Anna&all").get_data().decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(rows))
    assert (row["player"], row["measured"], row["gap_median_mm"]) == (
        "Anna",
        str(game["measured"]),
        "20.0",
    )
