"""Whole games that are played by hand on the virtual table."""

from __future__ import annotations

from benchmarks.suite.by_hand import BENCHMARK, Played, Summary, flickers, most_in_a_minute

PLAYED = Played("ice_boule", 40, 200, 5, 5, 2, 6.0, "Red wins.", "", (0.0, 0.01, 0.02), 0)


def test_shifts_are_summed_over_the_worst_minute_after_the_page_is_there():
    shifts = [(100, 0.5), (6_000, 0.01), (20_000, 0.02), (65_999, 0.01), (66_001, 0.03)]
    assert round(most_in_a_minute(shifts), 6) == 0.06
    assert most_in_a_minute([]) == 0


def test_a_game_in_which_nothing_happens_any_more_is_a_broken_promise():
    stuck = Played("icefloe", 3, 20, 0, 0, 0, 3.0, "", "Red votes.", (0.0, 0.0, 0.0), 0)
    assert list(BENCHMARK.broken(Summary((PLAYED, stuck)))) == ["icefloe was stuck: Red votes."]


def test_a_page_that_shifts_is_a_broken_promise():
    shifts = Played("icefloe", 3, 20, 0, 0, 0, 3.0, "Red wins.", "", (0.03, 0.0, 0.0), 0)
    assert list(BENCHMARK.broken(Summary((shifts,)))) == [
        "icefloe shifts by 0.030 in a minute at 390 px"
    ]


def test_a_text_that_is_soon_back_flickers():
    texts = [(0, "turn", "Red", "7"), (5_000, "turn", "Blue", "7"), (5_400, "turn", "Red", "7")]
    assert flickers(texts) == 1
    assert flickers([*texts[:2], (9_000, "turn", "Red", "7")]) == 0
    assert flickers([*texts[:2], (5_400, "verdict", "Red", "7")]) == 0


def test_a_text_that_is_back_with_a_new_record_does_not_flicker():
    texts = [
        (0, "question", "", "7"),
        (5_000, "question", "Who?", "8"),
        (5_400, "question", "", "9"),
    ]
    assert flickers(texts) == 0


def test_a_text_that_flickers_is_a_broken_promise():
    flickering = Played("icefloe", 3, 20, 0, 0, 0, 3.0, "Red wins.", "", (0.0, 0.0, 0.0), 2)
    assert list(BENCHMARK.broken(Summary((flickering,)))) == [
        "icefloe has 2 texts that change without news"
    ]
