"""The next match of a table: the hub says it, the forwarder keeps it, the wall shows it."""

from __future__ import annotations

import json
import os
import threading

import msgspec
import pytest

from hub.app import create_hub_app
from hub.client import HubGone, HubRefused
from hub.hall import Hall
from hub.next_match import LASTS_S, MATCH_NAME, follow, keep_match, stored_match
from hub.wire import NextMatch, NextMatchAnswer
from tests.support.evenings import FIRST, Evening

MATCH = NextMatch(
    match=7, table="Table 3", event="Cup", game="ice_boule", terms="to 13", players=("Anna", "Ben")
)
AT_S = 1_800_000_000.0


@pytest.fixture
def url(sqlite_url):
    return sqlite_url


def at(seconds):
    return lambda: seconds


class Impatient(threading.Event):
    """Does not wait, as the clock is not what is tested."""

    def wait(self, _timeout=None):
        return self.is_set()


class Saying:
    """A hub that says one thing after another, and then stops its listener."""

    def __init__(self, *said):
        self.said, self.stopping = list(said), Impatient()

    def next_match(self):
        if len(self.said) == 1:
            self.stopping.set()
        said = self.said.pop(0)
        if isinstance(said, Exception):
            raise said
        return NextMatchAnswer(**msgspec.structs.asdict(said))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ((MATCH,), MATCH),
        ((MATCH, NextMatch()), None),
        ((NextMatch(), MATCH), MATCH),
        ((MATCH, HubGone("no answer")), MATCH),
        ((MATCH, HubRefused(404, "not_found", "There is nothing here.")), MATCH),
        ((MATCH, HubRefused(401, "token_withdrawn", "Withdrawn."), NextMatch()), MATCH),
        ((HubGone("no answer"), MATCH), MATCH),
    ],
)
def test_what_a_hub_says_is_kept_and_stays_while_it_is_gone(tmp_path, said, kept):
    hub = Saying(*said)
    follow(hub, tmp_path, hub.stopping)
    path = tmp_path / MATCH_NAME
    if path.exists():
        os.utime(path, (AT_S, AT_S))
    assert stored_match(tmp_path, at(AT_S + 1)) == kept


def test_an_old_match_and_a_damaged_one_are_none(tmp_path):
    keep_match(tmp_path, MATCH)
    path = tmp_path / MATCH_NAME
    os.utime(path, (AT_S, AT_S))
    assert stored_match(tmp_path, at(AT_S + LASTS_S - 1)) == MATCH
    assert stored_match(tmp_path, at(AT_S + LASTS_S)) is None
    for text in ("", "{", "[]", '{"match": "x"}', json.dumps({"players": ["x" * 41]})):
        path.write_text(text)
        os.utime(path, (AT_S, AT_S))
        assert stored_match(tmp_path, at(AT_S)) is None


def test_a_table_is_told_its_own_next_match_and_nobody_else_is(club, tmp_path):
    evening = Evening(club, tmp_path, names=("Anna", "Ben", "Cleo", "Dora"), tables=3)
    app = create_hub_app(club.store, (), club.now_ms, club.accounts)
    browser = app.test_client()

    def answer_to(table):
        app.extensions["hall"].refresh()
        headers = {"Authorization": f"Bearer {evening.tokens[table]}"}
        return json.loads(browser.post("/api/v1/next", json={}, headers=headers).data)

    assert answer_to("Table 1")["match"] == 0
    evening.pair()
    (first, second) = evening.matches[:2]
    assert answer_to("Table 1") == {
        "match": first.match.id,
        "table": "Table 1",
        "event": "Cup",
        "game": "icebreaker",
        "terms": "to 5",
        "players": [seat.name for seat in first.match.seats],
        "again_s": 5.0,
    }
    assert answer_to("Table 2")["players"] == [seat.name for seat in second.match.seats]
    assert answer_to("Table 3")["match"] == 0
    evening.decide(FIRST)
    assert answer_to("Table 1")["match"] == 0  # these two wait for the other ones
    evening.decide(FIRST, 1)
    assert answer_to("Table 1")["match"] == evening.matches[2].match.id
    assert browser.post("/api/v1/next", json={}).status_code == 401


def test_the_wall_shows_what_comes_next_and_is_told_when_that_changes(club, tmp_path):
    evening = Evening(club, tmp_path)
    hall = Hall(club.store, club.news, club.now_ms, evening.events.plan)
    hall.refresh()
    assert [one.upcoming for one in hall.tables(club.actor.club_id, "en")] == [""]
    evening.pair()
    newest = hall.newest
    hall.refresh()
    (events, tables, _) = hall.news(club.actor.club_id, "en", newest)
    assert b'"upcoming":"Anna \xe2\x80\x93 Ben, Icebreaker to 5"' in tables[1]
    assert b'"name":"Cup","game":"Icebreaker to 5"' in events[1]
    evening.began("Ben", "Anna")
    evening.send()
    hall.refresh()
    assert [one.upcoming for one in hall.tables(club.actor.club_id, "en")] == [""]


def test_the_wall_shows_who_leads_an_event_and_is_told_when_that_changes(club, tmp_path):
    evening = Evening(club, tmp_path)
    hall = Hall(club.store, club.news, club.now_ms, evening.events.plan)
    hall.refresh()
    assert hall.events(club.actor.club_id) == ()
    evening.pair()
    hall.refresh()
    newest = hall.newest
    hall.refresh()
    assert hall.newest == newest
    evening.play("Anna", "Ben", lost="Anna")
    hall.refresh()
    ((_, data), *_) = [
        one for one in hall.news(club.actor.club_id, "en", newest) if b"event: events" in one[1]
    ]
    assert b'{"place":1,"player":"Ben","points":"1"},{"place":2,"player":"Anna"' in data
    (event,) = hall.events(club.actor.club_id)
    assert [one.player for one in event.leaders] == ["Ben", "Anna"]
    assert hall.events(club.actor.club_id + 1) == ()
    evening.events.end(evening.actor, evening.id)
    hall.refresh()
    assert hall.events(club.actor.club_id) == ()
