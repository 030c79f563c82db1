"""Where two pictures differ: against noise, a change of all light, and changes of more than half of
the picture.
"""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.geometry.change_mask import changed_mask, changed_pixels, shadow_mask

SHAPE = (160, 240, 3)


def noisy(levels, seed, sigma=3.0):
    return np.clip(levels + np.random.default_rng(seed).normal(0, sigma, SHAPE), 0, 255).astype(
        np.uint8
    )


def ground():
    return np.broadcast_to(np.linspace(90, 150, SHAPE[1])[None, :, None], SHAPE)


@pytest.mark.parametrize("light", [0, -12, 9])
def test_noise_and_a_change_of_all_light_are_no_change(light):
    assert changed_pixels(noisy(ground() + light, 1), noisy(ground(), 2), 9.0).mean() < 1e-3


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.7])
def test_what_is_laid_down_is_seen_however_much_it_is(share):
    laid = ground().copy()
    width = round(share * SHAPE[1])
    laid[:, :width] += 30
    where = changed_pixels(noisy(laid, 1), noisy(ground(), 2), 9.0)
    assert where[:, : width - 2].mean() > 0.98
    assert where[:, width + 2 :].mean() < 0.01


def test_a_picture_smaller_than_a_block_has_changes_too():
    before = np.full((20, 20, 3), 100, np.uint8)
    now = before.copy()
    now[:5, :5] = 160
    assert changed_pixels(now, before, 9.0)[2, 2]
    assert not changed_pixels(now, before, 9.0)[15, 15]


@pytest.fixture
def squares():
    """A chessboard in light of 30 and 190 levels, finer drawn than a camera sees it."""
    rows, columns = np.indices((8 * SHAPE[0], 8 * SHAPE[1])) // 256
    return np.where((rows + columns) % 2, 190.0, 30.0)


def shown(squares, along_px=0.0, laid=0.0):
    """The board as a camera sees it that has moved so far along the rows, with a small piece of so
    many levels on a dark square.
    """
    fine = np.roll(squares, round(8 * along_px), axis=1)
    fine[64:152, 64:152] += laid
    fine = cv2.GaussianBlur(fine, (0, 0), 5.6)
    seen = fine.reshape(SHAPE[0], 8, SHAPE[1], 8).mean(axis=(1, 3))
    return np.broadcast_to(seen[..., None], SHAPE)


@pytest.mark.parametrize("laid", [9, -9, 40])
def test_a_dark_piece_on_a_dark_square_is_seen_to_come_and_to_go(squares, laid):
    without, there = (
        noisy(shown(squares) + 15, 1, 1.0),
        noisy(shown(squares, laid=laid) + 15, 2, 1.0),
    )
    for now, before in ((without, there), (there, without)):
        where = changed_mask(now, before)
        assert where[9:18, 9:18].mean() > 0.9
        assert where[24:].mean() < 1e-3


@pytest.mark.parametrize(
    ("light", "along_px", "sigma"), [(0, 0.0, 3.0), (7, 0.0, 1.0), (0, 0.125, 1.0)]
)
def test_nothing_was_laid_down_where_light_changes_and_the_camera_trembles(
    squares, light, along_px, sigma
):
    now, before = (
        noisy(shown(squares, along_px) + 15 + light, 1, sigma),
        noisy(shown(squares) + 15, 2, sigma),
    )
    assert changed_mask(now, before).mean() < 1e-3


WOOD = np.array([150.0, 138.0, 110.0])


@pytest.mark.parametrize("left", [0.95, 0.8, 0.6])
def test_less_light_of_the_same_hue_may_be_a_shadow(left):
    before = np.broadcast_to(WOOD, SHAPE)
    assert shadow_mask(noisy(before * left, 1, 2.0), noisy(before, 2, 2.0)).mean() > 0.95


@pytest.mark.parametrize(
    "now",
    [(200, 110, 40), (60, 90, 130), (30, 28, 22), (190, 175, 140)],
    ids=["orange", "blue", "black", "brighter"],
)
def test_another_hue_more_light_and_hardly_any_are_no_shadow(now):
    before = np.broadcast_to(WOOD, SHAPE)
    assert (
        shadow_mask(
            noisy(np.broadcast_to(np.array(now, float), SHAPE), 1, 2.0), noisy(before, 2, 2.0)
        ).mean()
        < 0.02
    )
