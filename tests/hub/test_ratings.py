"""Glicko-2: the paper's example, and what must always hold."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.app import create_hub_app
from hub.ratings import Rating, rate, ratings
from hub.sessions import GameResult
from hub.standings import HubGame
from tests.support.evenings import Evening

WEEK_MS = 7 * 24 * 3600 * 1000
NOW_MS = 1_800_000_000_000
RATINGS = st.builds(Rating, st.floats(500, 2500), st.floats(30, 350), st.floats(0.03, 0.1))
GAMES = st.lists(st.tuples(RATINGS, st.sampled_from((0.0, 0.5, 1.0))), max_size=12)


def test_the_example_of_the_paper():
    games = [(Rating(1400, 30), 1.0), (Rating(1550, 100), 0.0), (Rating(1700, 300), 0.0)]
    after = rate(Rating(1500, 200, 0.06), games)
    assert after.rating == pytest.approx(1464.06, abs=0.02)  # the paper rounds on its way
    assert after.deviation == pytest.approx(151.52, abs=0.01)
    assert after.volatility == pytest.approx(0.05999, abs=1e-5)


def test_who_does_not_play_becomes_less_certain_and_never_more_than_a_stranger():
    after = rate(Rating(1700, 50), [])
    assert after.rating == 1700
    assert after.deviation == pytest.approx(math.hypot(50, 0.06 * 173.7178))
    assert rate(Rating(1700, 350), []).deviation == 350


@given(RATINGS, GAMES)
def test_a_rating_is_finite_and_a_better_result_never_gives_a_lower_one(before, games):
    after = rate(before, games)
    assert math.isfinite(after.rating)
    assert 0 < after.deviation <= 350
    assert 0 < after.volatility < 1
    better = rate(before, [(opponent, 1.0) for opponent, _ in games])
    worse = rate(before, [(opponent, 0.0) for opponent, _ in games])
    assert worse.rating - 1e-6 <= better.rating
    if games:
        assert worse.rating < before.rating < better.rating


def game(names, winners, at_ms=NOW_MS, over=True):
    colours = ("red", "blue", "black")[: len(names)]
    result = GameResult(
        game="icebreaker",
        number=1,
        seq=1,
        players=colours,
        names=dict(zip(colours, names, strict=True)),
        scores={},
        over=over,
        winners=tuple(c for c, n in zip(colours, names, strict=True) if n in winners),
        outcome="",
        simulated=False,
    )
    return HubGame("Table 1", at_ms, result, began_ms=at_ms)


def test_games_of_a_week_are_rated_together_and_the_order_is_what_is_sure():
    one = rate(Rating(), [(Rating(), 1.0)] * 3)
    lines = ratings([game("AB", "A")] * 3, NOW_MS)
    assert [(line.place, line.player, line.games) for line in lines] == [(1, "A", 3), (2, "B", 3)]
    assert (lines[0].rating, lines[0].margin) == (one.rating, 2 * one.deviation)
    new = ratings([*[game("AB", "A")] * 3, game("CD", "C")], NOW_MS)
    assert [line.player for line in new] == ["A", "C", "D", "B"]


def test_a_week_without_games_makes_ratings_less_certain():
    games = [game("AB", "A", NOW_MS)]
    (first, _), (later, _) = ratings(games, NOW_MS), ratings(games, NOW_MS + 3 * WEEK_MS)
    assert later.rating == first.rating
    assert later.margin > first.margin


@pytest.mark.parametrize(
    ("names", "winners", "order"),
    [
        (["A", "B", "C"], "A", [1, 0, 0]),
        (["A", "B", "C"], "AB", [1, 1, 0]),
        (["A", "B", "C"], "", [1, 1, 1]),
    ],
)
def test_a_game_of_several_counts_against_each_of_the_others(names, winners, order):
    lines = {line.player: line.rating for line in ratings([game(names, winners)], NOW_MS)}
    best = max(lines.values())
    assert [lines[name] == pytest.approx(best) for name in names] == [bool(one) for one in order]
    assert sum(lines.values()) == pytest.approx(3 * 1500)


def test_what_is_not_finished_or_has_no_names_is_not_rated():
    assert ratings([], NOW_MS) == []
    assert ratings([game("AB", "A", over=False)], NOW_MS) == []
    nameless = game("AB", "A")
    nameless = replace(nameless, result=replace(nameless.result, names={"red": "A"}))
    assert ratings([nameless], NOW_MS) == []


@pytest.fixture
def url(sqlite_url):
    return sqlite_url


def test_the_page_of_a_games_standings_has_its_ratings(club, tmp_path):
    evening = Evening(club, tmp_path)
    evening.play("Anna", "Ben", lost="Ben")
    app = create_hub_app(club.store, (), club.now_ms, club.accounts)
    browser, address = app.test_client(), f"/halls/{club.actor.club_id}/standings"
    page = browser.get(f"{address}?game=icebreaker").get_data(as_text=True)
    assert "1662" in page
    assert "Ratings" not in browser.get(address).get_data(as_text=True)
    document = json.loads(browser.get(f"{address}.json?game=icebreaker").data)
    assert [(one["player"], round(one["rating"])) for one in document["ratings"]] == [
        ("Anna", 1662),
        ("Ben", 1338),
    ]
