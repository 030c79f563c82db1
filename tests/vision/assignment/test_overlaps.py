"""Two pieces are never in one place."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from table.pieces import load_piece_set
from table.solids import lying, upright
from vision.assignment.overlaps import split_overlaps
from vision.pose.candidates import PieceEstimate

LARGE = load_piece_set("looney")["large"]


def estimate(solid):
    best = SimpleNamespace(guess=SimpleNamespace(solid=solid))
    return PieceEstimate(SimpleNamespace(), (best,), np.array([1.0]))


def split(*solids_and_chances):
    estimates = [estimate(solid) for solid, _ in solids_and_chances]
    kept, dropped = split_overlaps(estimates, [chance for _, chance in solids_and_chances])
    places = {id(one.best.solid): k for k, one in enumerate(estimates)}
    return [(places[id(one.best.solid)], one.chance) for one in kept], [
        places[id(one.best.solid)] for one in dropped
    ]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_likelier_of_two_readings_in_one_place_stays(order):
    both = (upright(LARGE, 100, 100, 10), 0.99), (lying(LARGE, 110, 100, 40), 0.2)
    kept, dropped = split(*(both[k] for k in order))
    ((stays, _),) = kept
    assert (order[stays], [order[k] for k in dropped]) == (0, [1])


def test_of_two_about_as_likely_the_one_that_stays_is_in_doubt():
    ((_, chance),), _ = split(
        (upright(LARGE, 100, 100, 10), 0.87), (lying(LARGE, 110, 100, 40), 0.86)
    )
    assert chance * 0.87 == pytest.approx(0.87 * 0.14 / (1 - 0.87 * 0.86))


def test_a_sure_piece_loses_nothing_by_an_unlikely_one():
    ((_, chance),), _ = split(
        (upright(LARGE, 100, 100, 10), 0.9999), (lying(LARGE, 110, 100, 40), 0.2)
    )
    assert chance == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("apart_mm", [0.0, 1.0, -1.0])
def test_pieces_that_touch_both_stay_even_if_they_are_measured_a_little_wrong(apart_mm):
    base_mm = LARGE.base_mm
    kept, dropped = split(
        (upright(LARGE, 100, 100, 0), 0.99),
        (upright(LARGE, 100 + base_mm + apart_mm, 100, 0), 0.99),
    )
    assert (len(kept), dropped) == (2, [])


def test_an_unlikely_reading_goes_where_it_overlaps_a_little():
    """Where both are likely the same overlap is an error of measurement."""
    base_mm, one = LARGE.base_mm, upright(LARGE, 100, 100, 0)
    other = upright(LARGE, 100 + 0.93 * base_mm, 100, 0)
    assert split((one, 0.99), (other, 0.9))[1] == []
    assert split((one, 0.99), (other, 0.2))[1] == [1]
