"""A player is given all that is known of them, or is erased by name."""

from __future__ import annotations

import json
from contextlib import closing

import pytest
from sqlalchemy import select

from hub.app import create_hub_app
from hub.forwarder import Forwarder
from hub.people import without
from hub.store import RECORDS
from referee.sessions.commands import Resign
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from tests.support.hubs import PASSWORD, Club, DirectHub


@pytest.fixture
def url(sqlite_url):
    return sqlite_url


def played(club, path):
    """A game that Ann Lee gave up, at a table of the club."""
    names = {"red": "Ann Lee", "blue": "Ben"}
    with Log(path) as log:
        session = Session.begin(
            log, SessionStarted(game="icebreaker", players=("red", "blue"), names=names)
        )
        session.command(Resign(player="red", decided_by="ann  lee"))
    with closing(Forwarder(path, DirectHub(club, club.enrol()), print)) as forwarder:
        while forwarder.round().more:
            pass


def organiser(app, name="Host of Club"):
    browser = app.test_client()
    assert post(browser, "/login", name=name, password=PASSWORD).status_code == 303
    return browser


def post(browser, path, **form):
    headers = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html"}
    return browser.post(path, data=form, headers=headers)


def documents(club):
    with club.store.reading() as db:
        return "\n".join(row.document for row in db.execute(select(RECORDS.c.document)))


def test_a_name_is_erased_everywhere_and_the_game_stays(club, tmp_path):
    played(club, tmp_path / "log.sqlite")
    app = create_hub_app(club.store, (), club.now_ms, club.accounts)
    browser, halls = organiser(app), f"/halls/{club.actor.club_id}"
    app.extensions["hall"].refresh()
    for path in (halls, f"{halls}/standings"):
        assert "Ann Lee" in browser.get(path).get_data(as_text=True)
    answer = post(browser, "/players/erase", name=" ANN lee ")
    assert "2 records" in answer.get_data(as_text=True)
    app.extensions["hall"].refresh()
    for path in (halls, f"{halls}/standings", "/organisers"):
        page = browser.get(path).get_data(as_text=True)
        assert "ann lee" not in page.casefold()
    assert "ann" not in documents(club).casefold().replace("cannot", "")
    lines = json.loads(browser.get(f"{halls}/standings.json").data)["standings"]
    assert [(one["player"], one["won"]) for one in lines] == [("Ben", 1)]


def test_all_records_with_a_name_are_exported(club, tmp_path):
    played(club, tmp_path / "log.sqlite")
    app = create_hub_app(club.store, (), club.now_ms, club.accounts)
    found = json.loads(post(organiser(app), "/players/export", name="Ann Lee").data)
    assert [one["document"]["fact"] for one in found] == ["session_started", "resigned"]
    assert {one["table"] for one in found} == {"Table 1"}
    assert json.loads(post(organiser(app), "/players/export", name="Ann").data) == []


def test_another_clubs_players_are_out_of_reach(club, tmp_path):
    played(club, tmp_path / "log.sqlite")
    Club(club.store, "Elsewhere")
    app = create_hub_app(club.store, (), club.now_ms, club.accounts)
    browser, before = organiser(app, "Host of Elsewhere"), documents(club)
    assert json.loads(post(browser, "/players/export", name="Ben").data) == []
    post(browser, "/players/erase", name="Ben")
    assert documents(club) == before


def test_only_an_admin_erases_and_only_organisers_export(club):
    app = create_hub_app(club.store, (), club.now_ms, club.accounts)
    club.accounts.add("Club", "Cleo", PASSWORD, "organiser", club.actor)
    for name in ("/players/erase", "/players/export"):
        assert post(app.test_client(), name, name="Ben").status_code == 401
    cleo = organiser(app, "Cleo")
    assert post(cleo, "/players/erase", name="Ben").status_code == 403
    assert post(cleo, "/players/export", name="Ben").status_code == 200
    assert post(cleo, "/players/export", name="").status_code == 400
    assert cleo.get("/players").status_code == 200


@pytest.mark.parametrize(
    ("document", "left"),
    [
        ({"names": {"red": "Red", "blue": "B"}, "player": "red"}, {"names": {"blue": "B"}}),
        ({"decided_by": "Red"}, {"decided_by": "somebody"}),
        ({"decided_by": "red and blue"}, {"decided_by": "red and blue"}),
        ({"reason": "no, Red moved it"}, {"reason": "no, somebody moved it"}),
        ({"reason": "Reduced"}, {"reason": "Reduced"}),
        (
            {"said": {"type": "m", "values": {"raw": "Red"}}},
            {"said": {"values": {"raw": "somebody"}}},
        ),
        ({"state": {"turn": "red"}}, {"state": {"turn": "red"}}),
    ],
)
def test_what_is_no_name_stays(document, left):
    found = without(document, "red")
    assert found == {**document, **left} or found["said"]["values"] == left["said"]["values"]
    assert found.keys() == document.keys()
