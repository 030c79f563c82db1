"""Standings: a fold of finished games, with named tie-breaks."""

from __future__ import annotations

import csv
import io
import json
from contextlib import closing
from shutil import copyfile

import pytest

from engines import GAMES
from hub.app import create_hub_app
from hub.forwarder import Forwarder
from hub.sessions import GameResult
from hub.standings import HubGame, Results, standings
from referee.sessions.commands import NextGame, Resign
from referee.sessions.event_store import Log, LogReader
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from referee.statistics.results import games_of
from tests.support.hubs import DirectHub, play


def game(names: str, scores: tuple[float, ...], winners: str, over: bool = True) -> HubGame:
    """`names` and `winners` are letters; players sit in that order."""
    colours = ("red", "blue", "black")[: len(names)]
    by_name = dict(zip(names, colours, strict=True))
    result = GameResult(
        game="icebreaker",
        number=1,
        seq=1,
        players=colours,
        names={colour: name for name, colour in by_name.items()},
        scores=dict(zip(colours, scores, strict=True)),
        over=over,
        winners=tuple(by_name[name] for name in winners),
        outcome="",
        simulated=False,
    )
    return HubGame("Table 1", 0, result)


@pytest.mark.parametrize(
    ("games", "expected"),
    [
        ([], ""),
        ([game("AB", (3, 5), "B")], "1B 2A"),
        ([game("AB", (3, 5), "B", over=False)], ""),
        ([game("AB", (3, 5), "B"), game("AC", (9, 0), "A")], "1A 2B 3C"),
        ([game("AB", (4, 4), "AB"), game("CD", (9, 0), "C")], "1C 2A 2B 4D"),
        ([game("AB", (4, 4), ""), game("CD", (5, 4), "C")], "1C 2A 2B 4D"),
        ([game("AB", (2, 1), "A"), game("CD", (3, 1), "C")], "1C 2A 3B 4D"),
        ([game("AB", (2, 1), "A"), game("CD", (3, 2), "C")], "1C 2A 3D 4B"),
        ([game("AB", (2, 1), "A"), game("CD", (2, 1), "C")], "1A 1C 3B 3D"),
        ([game("aB", (2, 1), "a"), game("AB", (2, 1), "A")], "1A 2B"),
    ],
)
def test_ties_are_broken_by_wins_draws_difference_and_points(games, expected):
    assert " ".join(f"{one.place}{one.player}" for one in standings(games)) == expected


def test_a_line_adds_up():
    (_, ann, _) = standings(
        [game("AB", (7, 5), "A"), game("AB", (1, 6), "B"), game("ABC", (4, 4, 2), "AB")]
    )
    assert ann.player == "A"
    assert (ann.games, ann.won, ann.drawn, ann.lost) == (3, 1, 1, 1)
    assert (ann.points, ann.against, ann.difference) == (12, 17, -5)


@pytest.fixture
def url(sqlite_url):
    return sqlite_url


def send(club, path, token):
    with closing(Forwarder(path, DirectHub(club, token), print)) as forwarder:
        while forwarder.round().more:
            pass


def test_they_are_those_of_the_tables_own_logs(club, tmp_path):
    expected = []
    for number, name in enumerate(("icebreaker", "ice_boule", "zamboni_wars")):
        path = tmp_path / f"{name}.sqlite"
        with Log(path) as log:
            play(log, name, number, 80)
        send(club, path, club.enrol(name))
        with LogReader(path) as log:
            expected += [
                HubGame("", 0, GameResult(**fields(one))) for one in games_of(log, 1, GAMES)
            ]
    found = Results(club.store).games(club.actor.club_id)
    assert len(found) == len(expected)
    assert standings(found) == standings(expected)
    assert standings(found)


def fields(one):
    return {
        name: getattr(one, name)
        for name in ("game", "number", "players", "names", "scores", "over", "winners", "simulated")
    } | {"seq": 0, "outcome": ""}


def resigned(path, times=1, simulated=False):
    """A log with so many games that Ben gave up."""
    names = {"red": "=Anna", "blue": "Ben"}
    with Log(path) as log:
        session = Session.begin(
            log,
            SessionStarted(
                game="icebreaker", players=("red", "blue"), names=names, simulated=simulated
            ),
        )
        for number in range(times):
            if number:
                session.command(NextGame())
            session.command(Resign(player="blue"))


def test_a_session_that_goes_on_is_folded_again_and_a_renamed_copy_counts_once(club, tmp_path):
    path, copy, results = tmp_path / "log.sqlite", tmp_path / "copy.sqlite", Results(club.store)
    resigned(path, 2)
    send(club, path, club.enrol())
    assert [one.won for one in standings(results.games(club.actor.club_id))] == [2, 0]
    copyfile(path, copy)
    with Log(copy) as log:
        log.rename()
        session = Session.reopen(log, 1)
        session.command(NextGame())
        session.command(Resign(player="blue"))
    send(club, copy, club.enrol("Table 2"))
    assert [one.won for one in standings(results.games(club.actor.club_id))] == [3, 0]


def test_the_page_and_its_files_say_the_same(club, tmp_path):
    for number, simulated in enumerate((False, True)):
        path = tmp_path / f"{number}.sqlite"
        resigned(path, 2, simulated)
        send(club, path, club.enrol(f"Table {number}"))
    app = create_hub_app(club.store, (), club.now_ms, club.accounts)
    browser, address = app.test_client(), f"/halls/{club.actor.club_id}/standings"
    assert "=Anna" in browser.get(address).get_data(as_text=True)
    (first, *_) = csv.DictReader(
        io.StringIO(browser.get(f"{address}.csv").get_data().decode("utf-8-sig"))
    )
    assert (first["player"], first["won"]) == ("'=Anna", "2")
    document = json.loads(browser.get(f"{address}.json").data)
    assert document["tie_breaks"] == ["won", "drawn", "difference", "points"]
    assert [one["won"] for one in document["standings"]] == [2, 0]
    assert [one["winners"] for one in document["games"]] == [["red"], ["red"]]
    document = json.loads(browser.get(f"{address}.json?simulated=on&game=icebreaker").data)
    assert [one["won"] for one in document["standings"]] == [4, 0]
    assert json.loads(browser.get(f"{address}.json?game=ice_boule").data)["standings"] == []
    club.at_ms += 13 * 3600 * 1000
    assert json.loads(browser.get(f"{address}.json?tonight=on").data)["standings"] == []
    for path in (address, f"{address}.csv", f"{address}.json"):
        assert browser.get(path.replace(f"/{club.actor.club_id}/", "/77/")).status_code == 404
