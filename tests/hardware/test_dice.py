"""Electronic dice: drawn first, told of, then seen to tumble; and fair."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from scipy.stats import chisquare

from hardware.dice import Roller, draw, picture, tumble
from hardware.fairness import judge_rolls
from hardware.fakes import FakeDice
from table.errors import InputError

PATIENCE_S = 20.0


def test_values_are_told_before_anything_is_seen():
    dice, told = FakeDice(2), []
    values = iter([5, 2])
    roller = Roller(dice, lambda rolled: told.append((rolled, list(dice.shown))), pause=lambda _: None, draw=lambda: next(values))
    assert roller.roll() == (5, 2)
    assert roller.wait(PATIENCE_S)
    assert told == [((5, 2), [])]
    assert dice.shown[-1] == (5, 2)
    assert len(dice.shown) == 9


def test_a_roll_that_cannot_be_kept_is_not_shown():
    dice = FakeDice(1)

    def refuse(_values):
        raise InputError("not now")

    roller = Roller(dice, refuse)
    with pytest.raises(InputError, match="not now"):
        roller.roll()
    assert dice.shown == []
    assert roller.wait(0)


def test_who_asks_while_dice_tumble_is_not_heard():
    told, again = [], []
    roller = Roller(FakeDice(1), told.append, pause=lambda _: again.append(roller.roll()))
    roller.roll()
    assert roller.wait(PATIENCE_S)
    assert len(told) == 1
    assert set(again[:-1]) == {None}


def test_one_die_of_two_may_be_rolled():
    dice = FakeDice(2)
    roller = Roller(dice, lambda _: None, pause=lambda _: None, draw=lambda: 3)
    assert roller.roll(1) == (3,)
    assert roller.wait(PATIENCE_S)
    assert {faces[1] for faces in dice.shown} == {None}


def test_dice_tumble_over_other_faces_slower_and_slower():
    for values in product(range(1, 7), repeat=2):
        seen = list(tumble(values))
        assert seen[-1] == (values, 0)
        for (faces, hold_ms), (following, later_ms) in pairwise(seen[:-1]):
            assert hold_ms < later_ms
            assert all(one != other for one, other in zip(faces, following, strict=True))
        assert all(set(faces) <= set(range(1, 7)) for faces, _ in seen)
        assert all(one != other for one, other in zip(seen[-2][0], values, strict=True)), "nothing is known before the end"


def test_dice_are_drawn_in_signs():
    assert picture((5, 2)).splitlines() == [
        "+-------+   +-------+",
        "| o   o |   | o     |",
        "|   o   |   |       |",
        "| o   o |   |     o |",
        "+-------+   +-------+",
    ]
    assert all(picture((value,)).count("o") == value for value in range(1, 7))


def test_draws_are_values_of_a_die_and_fair():
    """Fails for a fair die once in a thousand thousand runs."""
    fairness = judge_rolls(draw() for _ in range(6000))
    assert fairness.probability > 1e-6


@pytest.mark.parametrize("counts", [(10, 10, 10, 10, 10, 10), (8, 12, 9, 11, 10, 10), (10, 10, 10, 10, 10, 40), (0, 0, 0, 0, 0, 60)])
def test_fairness_is_as_scipy_has_it(counts):
    fairness = judge_rolls(value for value, count in enumerate(counts, 1) for _ in range(count))
    expected = chisquare(counts)
    assert fairness.counts == counts
    assert (fairness.chi_square, fairness.probability) == pytest.approx((expected.statistic, expected.pvalue))
    assert bool(fairness) == (expected.pvalue >= 0.001)


@pytest.mark.parametrize(("rolls", "why"), [([1] * 29, "30 rolls or more, got 29"), ([1, 7] * 30, "values of 1 to 6, got 7")])
def test_what_is_no_test_of_a_die(rolls, why):
    with pytest.raises(ValueError, match=why):
        judge_rolls(rolls)
