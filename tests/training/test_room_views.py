"""Views of ray-traced rooms show their pieces where their labels say."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs PyTorch: pip install '.[training]'")

from training.labelled_views import VIEW_PX, LabelledView
from training.room_views import QUARTER_PX, Quarter, join_quarters

if TYPE_CHECKING:
    from vision.cameras.frame import Image

SEED = 8
"""A scene with several pieces in its quarter."""


@pytest.fixture(scope="module")
def quarter() -> Quarter:
    one = Quarter(SEED)
    one.render()
    return one


def test_labels_are_where_the_camera_sees_the_pieces(quarter: Quarter) -> None:
    """The map of the view leads from each vertex to its pixel in the picture."""
    assert quarter.listed.sum() >= 3
    seen = quarter.shown.objects.points[0].numpy()
    for corners, wanted in zip(
        quarter.corners_px[quarter.listed], seen[: len(quarter.listed)][quarter.listed], strict=True
    ):
        inside = ((corners > 1) & (corners < QUARTER_PX - 2)).all(axis=1)
        found = np.array([sampled(quarter.map, 2 * corner + 0.5) for corner in corners[inside]])
        assert found == pytest.approx(wanted[inside], abs=0.05)


def sampled(field: np.ndarray, at: np.ndarray) -> np.ndarray:
    """A field (h, w, 2) between its pixels."""
    x, y = np.floor(at).astype(int)
    dx, dy = at - [x, y]
    left, right = (field[y : y + 2, column] for column in (x, x + 1))
    rows = left * (1 - dx) + right * dx
    return np.asarray(rows[0] * (1 - dy) + rows[1] * dy)


def test_every_photograph_of_a_scene_has_the_same_labels(quarter: Quarter) -> None:
    one, other = quarter.view(), quarter.view()
    assert (one.vertices == other.vertices).all()
    assert (one.image != other.image).any()


def test_four_quarters_make_one_view(quarter: Quarter) -> None:
    one = quarter.view()
    whole: LabelledView = join_quarters([one] * 4)
    picture: Image = whole.image
    assert picture.shape == (VIEW_PX, VIEW_PX, 3)
    assert whole.masks.shape == (2, VIEW_PX, VIEW_PX)
    assert (picture[QUARTER_PX:, :QUARTER_PX] == one.image).all()
    last = whole.vertices[3 * len(one.pose) :]
    assert last == pytest.approx(one.vertices + QUARTER_PX)
    assert len(whole.pose) == len(whole.colour) == len(whole.base) == 4 * len(one.pose)
