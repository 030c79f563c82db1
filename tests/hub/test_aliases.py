"""Two names that are one player: everywhere at the hub, until they are parted or erased."""

from __future__ import annotations

import json

import pytest

from hub.aliases import Aliases
from hub.app import create_hub_app
from hub.events import Events
from hub.people import People
from hub.standings import Results, standings
from tests.support.evenings import Evening
from tests.support.hubs import PASSWORD, Club
from webui.security.requests import Refusal


def players(evening):
    lines = standings(evening.results.games(evening.actor.club_id))
    return {line.player: (line.won, line.lost) for line in lines}


def test_games_of_another_name_count_for_the_player_and_fill_the_match(club, tmp_path):
    evening, aliases = Evening(club, tmp_path), Aliases(club.store, club.now_ms)
    evening.pair()
    evening.play("Ana", "Ben", lost="Ben")
    assert evening.matches[0].status == "waiting"
    aliases.merge(evening.actor, " ana", "Anna")
    assert evening.matches[0].status == "reported"
    assert players(evening) == {"Anna": (1, 0), "Ben": (0, 1)}
    aliases.part(evening.actor, "ANA")
    assert evening.matches[0].status == "waiting"
    assert players(evening) == {"Ana": (1, 0), "Ben": (0, 1)}


def test_names_that_lead_to_one_another_lead_to_one_player(club):
    aliases = Aliases(club.store, club.now_ms)
    for other, name in (("A", "B"), ("B", "C"), ("D", "a")):
        aliases.merge(club.actor, other, name)
    found = {one.other: one.name for one in aliases.of(club.actor.club_id)}
    assert found == {"A": "C", "B": "C", "D": "C"}
    for other, name in (("C", "A"), ("x", "X "), ("", "A"), ("A", "")):
        with pytest.raises(Refusal):
            aliases.merge(club.actor, other, name)
    aliases.merge(club.actor, "A", "E")
    found = {one.other: one.name for one in aliases.of(club.actor.club_id)}
    assert found == {"A": "E", "B": "C", "D": "C"}


def test_another_clubs_names_are_its_own(club, tmp_path):
    evening = Evening(club, tmp_path)
    other, aliases = Club(club.store, "Elsewhere"), Aliases(club.store, club.now_ms)
    aliases.merge(other.actor, "Anna", "Zoe")
    evening.play("Anna", "Ben", lost="Ben")
    assert "Anna" in players(evening)
    aliases.part(club.actor, "Anna")
    assert aliases.of(other.actor.club_id)


@pytest.mark.parametrize("erased", ["Ana", "anna"])
def test_a_player_is_exported_and_erased_by_all_names(club, tmp_path, erased):
    evening, aliases = Evening(club, tmp_path), Aliases(club.store, club.now_ms)
    evening.pair()
    evening.play("Ana", "Ben", lost="Ben")
    aliases.merge(evening.actor, "Ana", "Anna")
    (before,) = evening.matches
    results = Results(club.store)
    events = Events(club.store, results, club.now_ms)
    people = People(club.store, club.now_ms, evening.results.forget, events.keep_results)
    exported = people.known(evening.actor, erased)
    assert len(exported) == 2  # the start of a session, and the event
    people.erase(evening.actor, erased)
    assert aliases.of(evening.actor.club_id) == []
    assert people.known(evening.actor, "Ana") == people.known(evening.actor, "Anna") == []
    (after,) = evening.matches
    assert after.result == before.result
    assert players(evening) == {"Ben": (0, 1)}


def test_an_organiser_merges_and_parts_names_on_the_page_of_players(club, tmp_path):
    Evening(club, tmp_path).play("Ana", "Ben", lost="Ben")
    app = create_hub_app(club.store, (), club.now_ms, club.accounts)
    browser, headers = app.test_client(), {"Sec-Fetch-Site": "same-origin"}
    merge = {"other": "Ana", "name": "Anna"}
    assert browser.post("/players/merge", data=merge, headers=headers).status_code == 401
    form = {"name": "Host of Club", "password": PASSWORD}
    browser.post("/login", data=form, headers=headers)
    browser.post("/players/merge", data=merge, headers=headers)
    assert "Ana → Anna" in browser.get("/players").get_data(as_text=True)
    lines = browser.get(f"/halls/{club.actor.club_id}/standings.json").data
    assert [one["player"] for one in json.loads(lines)["standings"]] == ["Anna", "Ben"]
    browser.post("/players/part", data={"other": "Ana"}, headers=headers)
    assert "Ana → Anna" not in browser.get("/players").get_data(as_text=True)
    assert "Ana" not in browser.get("/organisers").get_data(as_text=True)
