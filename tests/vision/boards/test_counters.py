"""Counters among the discs that the detector sees."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from table.observation import Camera
from vision.boards.counters import counters
from vision.networks.detector import DISC, Detection

DIAMETER_MM = 28.0
EYE_MM = np.array([0.0, 0.0, 700.0])


def disc(at_mm, width_mm, chance=0.9):
    chances = np.zeros(DISC + 1)
    chances[DISC] = chance
    return Detection(chances, np.array(at_mm, float), np.zeros(2), 0.0, width_mm, np.array([1.0]))


def counted(widths_mm):
    return seen([disc((40.0 * k, 0.0), width) for k, width in enumerate(widths_mm)])


def seen(discs, before=()):
    game = SimpleNamespace(counters=SimpleNamespace(diameter_mm=DIAMETER_MM, colour="white"))
    photo = SimpleNamespace(
        setup=SimpleNamespace(game=game),
        camera=Camera(np.eye(3), -EYE_MM, np.eye(6) * 1e-6, 0.1, (0, 1, 2, 3)),
    )
    return counters(SimpleNamespace(objects=discs), photo, before)


@pytest.mark.parametrize("share", [0.65, 1.0, 1.4])
def test_counters_that_are_all_read_too_small_or_too_large_are_counters(share):
    assert len(counted([share * DIAMETER_MM * wide for wide in (0.92, 0.97, 1.0, 1.04, 1.09)])) == 5


def test_a_disc_of_another_width_is_none():
    assert len(counted([28.0, 27.0, 29.0, 18.0, 45.0])) == 3


def test_discs_that_are_all_far_too_small_are_none():
    assert counted([9.0, 10.0, 9.5]) == ()


def test_a_counter_that_was_surely_seen_stays_one_while_it_is_hardly_seen():
    before = seen([disc((0.0, 0.0), DIAMETER_MM), disc((40.0, 0.0), DIAMETER_MM)])
    pale = [
        disc((0.5, 0.0), DIAMETER_MM, 0.3),
        disc((40.0, 0.0), DIAMETER_MM, 0.1),
        disc((80.0, 0.0), DIAMETER_MM, 0.3),
    ]
    assert seen(pale) == ()
    (kept,) = seen(pale, before)
    assert kept.x_mm == pytest.approx(0.5, abs=0.1)
    narrow = [
        disc((0.0, 0.0), 0.6 * DIAMETER_MM, 0.45),
        disc((40.0, 0.0), DIAMETER_MM),
        disc((80.0, 0.0), DIAMETER_MM),
    ]
    assert (len(seen(narrow)), len(seen(narrow, before))) == (2, 3)
