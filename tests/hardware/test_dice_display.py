"""Electronic dice: drawn first, told of, then seen to tumble; and fair."""

from __future__ import annotations

import queue
from itertools import pairwise, product

import pytest
from scipy.stats import chisquare

from cli.dice import judge_rolls
from hardware import dice_display
from hardware.dice_display import Tumbler, picture, tumble
from hardware.testing.fakes import FakeDice
from referee.sessions.drawn_dice import draw
from tests.support.threads import running

PATIENCE_S = 20.0


class Watched(FakeDice):
    """Dice that can be waited for."""

    def __init__(self, count):
        super().__init__(count)
        self.queue = queue.Queue()

    def show(self, faces):
        super().show(faces)
        self.queue.put(faces)

    def wait_for(self, faces):
        while self.queue.get(timeout=PATIENCE_S) != faces:
            pass


@pytest.fixture
def rolled(monkeypatch):
    """rolled(count): dice, and a tumbler that shows each face for no time."""
    tumblers = []
    monkeypatch.setattr(
        dice_display, "tumble", lambda values: [(faces, 0) for faces, _ in tumble(values)]
    )

    def make(count):
        watched = Watched(count)
        tumblers.append(Tumbler(watched))
        return watched, tumblers[-1]

    yield make
    for tumbler in tumblers:
        tumbler.close()


def test_dice_tumble_to_what_was_drawn(rolled):
    watched, tumbler = rolled(2)
    tumbler.show((5, 2))
    watched.wait_for((5, 2))
    while tumbler.playing:
        assert running("dice")
    assert watched.shown == [faces for faces, _ in tumble((5, 2))]


def test_one_die_of_two_may_be_rolled(rolled):
    watched, tumbler = rolled(2)
    tumbler.show((3,))
    watched.wait_for((3, None))
    assert {faces[1] for faces in watched.shown} == {None}


def test_two_values_are_not_shown_on_one_die(rolled):
    watched, tumbler = rolled(1)
    tumbler.show((3, 4))
    assert not tumbler.playing
    tumbler.show((5,))
    watched.wait_for((5,))
    assert {len(faces) for faces in watched.shown} == {1}


def test_only_the_latest_roll_is_seen_to_its_end(monkeypatch):
    """The first one tumbles for ever, and gives way at once."""
    monkeypatch.setattr(
        dice_display,
        "tumble",
        lambda values: [((1,), 3_600_000)] if values == (1,) else [(values, 0)],
    )
    watched = Watched(1)
    tumbler = Tumbler(watched)
    tumbler.show((1,))
    watched.wait_for((1,))
    assert tumbler.playing
    tumbler.show((6,))
    watched.wait_for((6,))
    tumbler.show((1,))
    watched.wait_for((1,))
    tumbler.close()
    assert not running("dice")


def test_dice_tumble_over_other_faces_slower_and_slower():
    for values in product(range(1, 7), repeat=2):
        seen = list(tumble(values))
        assert seen[-1] == (values, 0)
        for (faces, hold_ms), (following, later_ms) in pairwise(seen[:-1]):
            assert hold_ms < later_ms
            assert all(one != other for one, other in zip(faces, following, strict=True))
        assert all(set(faces) <= set(range(1, 7)) for faces, _ in seen)
        assert all(one != other for one, other in zip(seen[-2][0], values, strict=True)), (
            "nothing is known before the end"
        )


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


@pytest.mark.parametrize(
    "counts",
    [
        (10, 10, 10, 10, 10, 10),
        (8, 12, 9, 11, 10, 10),
        (10, 10, 10, 10, 10, 40),
        (0, 0, 0, 0, 0, 60),
    ],
)
def test_fairness_is_as_scipy_has_it(counts):
    fairness = judge_rolls(value for value, count in enumerate(counts, 1) for _ in range(count))
    expected = chisquare(counts)
    assert fairness.counts == counts
    assert (fairness.chi_square, fairness.probability) == pytest.approx(
        (expected.statistic, expected.pvalue)
    )
    assert bool(fairness) == (expected.pvalue >= 0.001)


@pytest.mark.parametrize(
    ("rolls", "why"),
    [([1] * 29, "30 rolls or more, got 29"), ([1, 7] * 30, "values of 1 to 6, got 7")],
)
def test_what_is_no_test_of_a_die(rolls, why):
    with pytest.raises(ValueError, match=why):
        judge_rolls(rolls)
