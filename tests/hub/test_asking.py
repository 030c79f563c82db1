"""How often tables ask for their next match: together never more than one hub can answer."""

from __future__ import annotations

import heapq
import json
import threading
from random import Random

import msgspec
import pytest

from hub.app import create_hub_app
from hub.asking import KNOWN_S, TOGETHER_A_S, Askers
from hub.client import HubGone, HubRefused
from hub.next_match import ASK_S, LATER_S, LONGEST_S, MATCH_NAME, follow
from hub.wire import NextMatch, NextMatchAnswer
from table.files import convert
from tests.support.evenings import Evening

MATCH = NextMatch(match=7, table="Table 3", event="Cup", players=("Anna", "Ben"))
OLD_HUB = NextMatchAnswer()


class Clock:
    """Goes on only when it is told to."""

    def __init__(self):
        self.now_s = 0.0

    def __call__(self):
        return self.now_s


class Waits(threading.Event):
    """Notes how long it should have waited."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def wait(self, timeout=None):
        self.seen.append(timeout)
        return self.is_set()


class Saying:
    """A hub that says one thing after another, and then stops its listener."""

    def __init__(self, *said):
        self.said, self.stopping = list(said), Waits()

    def next_match(self):
        said = self.said.pop(0)
        if not self.said:
            self.stopping.set()
        if isinstance(said, Exception):
            raise said
        return said


def waits(folder, *said):
    hub = Saying(*said)
    follow(hub, folder, hub.stopping)
    return hub.stopping.seen


def answer(again_s):
    return NextMatchAnswer(again_s=again_s)


@pytest.mark.parametrize(
    ("again_s", "waited_s"),
    [
        (0.0, ASK_S),
        (-1.0, ASK_S),
        (1e-9, ASK_S),
        (ASK_S, ASK_S),
        (40.0, 40.0),
        (LONGEST_S, LONGEST_S),
        (1e300, LONGEST_S),
    ],
)
def test_a_table_asks_again_when_the_hub_says_so_within_bounds(tmp_path, again_s, waited_s):
    assert waits(tmp_path, answer(again_s)) == [waited_s]


def test_a_table_asks_a_hub_that_does_not_say_when_as_often_as_before(tmp_path):
    assert waits(tmp_path, OLD_HUB, OLD_HUB) == [ASK_S, ASK_S]
    assert waits(tmp_path, answer(300.0), OLD_HUB) == [300.0, ASK_S]


@pytest.mark.parametrize(
    "wrong", [HubGone("no answer"), HubRefused(404, "not_found", "There is nothing here.")]
)
def test_a_failure_makes_no_table_ask_sooner_than_it_was_told(tmp_path, wrong):
    assert waits(tmp_path, wrong, answer(300.0), wrong, answer(5.0), wrong) == [
        LATER_S,
        300.0,
        300.0,
        5.0,
        LATER_S,
    ]


def test_the_kept_match_is_written_again_only_when_it_is_another(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr("hub.next_match.keep_match", lambda _, match: written.append(match))
    first = NextMatchAnswer(
        match=7, table="Table 3", event="Cup", players=("Anna", "Ben"), again_s=5.0
    )
    later = NextMatchAnswer(
        match=7, table="Table 3", event="Cup", players=("Anna", "Ben"), again_s=6.0
    )
    waits(tmp_path, first, later, answer(7.0), answer(8.0))
    assert written == [MATCH, NextMatch()]


def test_old_tables_and_old_hubs_understand_new_ones():
    new = json.loads(msgspec.json.encode(NextMatchAnswer(match=7, again_s=40.0)))
    assert convert(new, NextMatch, "hub") == NextMatch(match=7)
    old = json.loads(msgspec.json.encode(NextMatch(match=7)))
    assert convert(old, NextMatchAnswer, "hub") == NextMatchAnswer(match=7)


def test_what_is_kept_says_nothing_of_when_to_ask(tmp_path):
    waits(tmp_path, NextMatchAnswer(match=7, again_s=5.0))
    assert "again_s" not in json.loads((tmp_path / MATCH_NAME).read_text())


def test_few_tables_ask_every_few_seconds_and_more_of_them_less_often():
    askers = Askers(Clock())
    few = int(ASK_S * TOGETHER_A_S)
    assert [askers.again_s(table) for table in range(few)] == [ASK_S] * few
    for table in range(few, 2 * few):
        last_s = askers.again_s(table)
    assert last_s == 2 * ASK_S
    assert askers.again_s(0) == 2 * ASK_S  # one that asks twice is one table


def test_no_table_is_asked_to_stay_away_for_longer_than_it_would():
    askers = Askers(Clock())
    for table in range(int(2 * LONGEST_S * TOGETHER_A_S)):
        last_s = askers.again_s(table)
    assert last_s == LONGEST_S


def test_tables_that_have_not_asked_for_long_no_longer_count():
    clock = Clock()
    askers = Askers(clock)
    for table in range(int(2 * ASK_S * TOGETHER_A_S)):
        askers.again_s(table)
    clock.now_s = KNOWN_S - 1.0
    assert askers.again_s(0) == 2 * ASK_S
    clock.now_s = KNOWN_S
    assert askers.again_s(1) == ASK_S
    assert len(askers) == 2


@pytest.mark.parametrize("within_s", [1.0, ASK_S, LATER_S])
def test_ten_thousand_tables_that_begin_together_soon_ask_steadily(within_s):
    clock, chance = Clock(), Random(1)
    askers, asked = Askers(clock), dict[int, int]()
    due = [(chance.uniform(0.0, within_s), table) for table in range(10_000)]
    heapq.heapify(due)
    while due[0][0] < 1200.0:
        clock.now_s, table = due[0]
        asked[int(clock.now_s)] = asked.get(int(clock.now_s), 0) + 1
        heapq.heapreplace(due, (clock.now_s + askers.again_s(table), table))
    after_s = int(within_s) + 1
    tens = [sum(asked.get(at, 0) for at in range(s, s + 10)) for s in range(after_s, 1190)]
    assert max(tens) <= 10 * 2 * TOGETHER_A_S
    assert sum(asked.get(at, 0) for at in range(600, 1200)) <= 600 * 1.1 * TOGETHER_A_S


def test_the_hub_tells_a_table_when_to_ask_again(club, tmp_path):
    evening = Evening(club, tmp_path)
    app = create_hub_app(club.store, (), club.now_ms, club.accounts)
    headers = {"Authorization": f"Bearer {next(iter(evening.tokens.values()))}"}
    answer = app.test_client().post("/api/v1/next", json={}, headers=headers)
    assert answer.get_json()["again_s"] == ASK_S


@pytest.fixture
def url(sqlite_url):
    return sqlite_url
