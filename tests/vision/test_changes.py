"""Where two pictures differ: against noise, a change of all light, and changes of more than half of the picture."""

from __future__ import annotations

import numpy as np
import pytest

from vision.changes import changed

SHAPE = (160, 240, 3)


def noisy(levels, seed, sigma=3.0):
    return np.clip(levels + np.random.default_rng(seed).normal(0, sigma, SHAPE), 0, 255).astype(np.uint8)


def ground():
    return np.broadcast_to(np.linspace(90, 150, SHAPE[1])[None, :, None], SHAPE)


@pytest.mark.parametrize("light", [0, -12, 9])
def test_noise_and_a_change_of_all_light_are_no_change(light):
    assert changed(noisy(ground() + light, 1), noisy(ground(), 2), 9.0).mean() < 1e-3


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.7])
def test_what_is_laid_down_is_seen_however_much_it_is(share):
    laid = ground().copy()
    width = round(share * SHAPE[1])
    laid[:, :width] += 30
    where = changed(noisy(laid, 1), noisy(ground(), 2), 9.0)
    assert where[:, : width - 2].mean() > 0.98
    assert where[:, width + 2 :].mean() < 0.01


def test_a_picture_smaller_than_a_block_has_changes_too():
    before = np.full((20, 20, 3), 100, np.uint8)
    now = before.copy()
    now[:5, :5] = 160
    assert changed(now, before, 9.0)[2, 2]
    assert not changed(now, before, 9.0)[15, 15]
