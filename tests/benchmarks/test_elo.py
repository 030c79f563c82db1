"""Elo from results: what theory says, at tables of two and of three."""

import pytest

from benchmarks.games.elo import elo, spread


def games(seats, wins):
    """Results of a table: how often each player won."""
    return [(seats, (name,)) for name, count in wins.items() for _ in range(count)]


def test_who_wins_ten_of_eleven_is_four_hundred_points_better():
    found = elo(games(("a", "b"), {"a": 1000, "b": 10000}), "a")
    assert found["a"] == 0
    assert found["b"] == pytest.approx(400, abs=1)


def test_strengths_add_up_along_a_chain():
    chain = [*games(("a", "b"), {"a": 1000, "b": 3000}), *games(("b", "c"), {"b": 1000, "c": 3000})]
    found = elo(chain, "a")
    assert found["c"] == pytest.approx(2 * found["b"], abs=2)
    assert found["b"] == pytest.approx(190.8, abs=2)


def test_one_of_three_who_wins_half_of_the_games_is_twice_as_strong():
    found = elo(games(("a", "a", "b"), {"a": 5000, "b": 5000}), "a")
    assert found["b"] == pytest.approx(120.4, abs=2)


def test_a_shared_win_counts_in_part():
    found = elo([(("a", "b"), ("a", "b"))] * 50, "a")
    assert found["b"] == pytest.approx(0, abs=1e-6)


def test_who_won_every_game_has_a_number_and_a_wide_spread():
    results = games(("a", "b"), {"b": 20})
    assert 500 < elo(results, "a")["b"] < 700
    fair = games(("a", "b"), {"a": 10, "b": 10})
    low, high = spread(fair, "a")["b"]
    assert low < 0 < high
    assert high - low > 100
