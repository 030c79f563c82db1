"""Practice views say of every piece, counter and arm where the picture shows it."""

import cv2
import numpy as np
import pytest

from training.boards import board_views
from training.labelled_views import THROWS, VIEW_PX, Table, views

pytestmark = pytest.mark.slow

SEEDS = (*range(1, 6), 910004)
"""Of the last the rim of a card alone is in the picture, a pixel wide."""


def filled(outlines, shape=(VIEW_PX, VIEW_PX)):
    out = np.zeros(shape, np.uint8)
    for outline in outlines:
        cv2.fillConvexPoly(out, cv2.convexHull(np.rint(outline * 16).astype(np.int32)), 1, shift=4)
    return out


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("made", "least"), [(views, THROWS), (board_views, 2)])
def test_every_piece_that_has_a_label_is_in_the_mask_of_pieces(made, least, seed):
    drawn = list(made(seed))
    assert len(drawn) >= least
    for view in drawn:
        assert view.image.shape == (VIEW_PX, VIEW_PX, 3)
        assert len(view.vertices) == len(view.pose) == len(view.colour) == len(view.base)
        pieces, _ = view.masks
        inner = cv2.erode(
            filled(view.vertices), np.ones((3, 3), np.uint8)
        )  # less the pixels that rounding may shift
        assert not (inner & ~pieces).any()
        for x, y, radius in view.discs:
            if radius < min(x, y, VIEW_PX - x, VIEW_PX - y):
                assert pieces[round(y), round(x)]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_lies_there_changes_the_picture_where_the_mask_says(seed):
    table = Table(np.random.default_rng(seed))
    table.throw()
    while table.limbs or len(table.placed) < 4:
        table.throw()
    table.discs = ()
    full = table.view(table.picture())
    table.placed, table.hidden = [], []
    empty = table.view(table.picture())
    change = np.abs(full.image.astype(int) - empty.image).max(axis=2)
    inside = full.masks[0] == 1
    assert np.median(change[inside]) > 2 * np.median(change[~inside])


def test_a_seed_always_gives_the_same_views():
    first, again = (next(views(3)) for _ in range(2))
    np.testing.assert_array_equal(first.image, again.image)
    np.testing.assert_array_equal(first.vertices, again.vertices)
