"""Outlines of boards, by hand, and what is inside them."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from table.boards import Chessboard, Coasters, Hex, Open, Orientation, Tiles, within
from table.solids import Array, convex_hull

L_SHAPE = np.array([[0.0, 0.0], [30.0, 0.0], [30.0, 10.0], [10.0, 10.0], [10.0, 30.0], [0.0, 30.0]])


@pytest.mark.parametrize(
    ("board", "outline_mm"),
    [
        (
            Chessboard(square_mm=45.0, files=8, ranks=2, origin_mm=(5.0, 6.0)),
            [[5, 6], [365, 6], [365, 96], [5, 96]],
        ),
        (Coasters(cell_mm=31.0, origin_mm=(5.0, 6.0)), [[5, 6], [191, 6], [191, 192], [5, 192]]),
        (Tiles(cell_mm=51.0), [[0, 0], [255, 0], [255, 255], [0, 255]]),
        (Open(outline_mm=((0, 0), (90, 0), (0, 90))), [[0, 0], [90, 0], [0, 90]]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_outlines(
    board: Chessboard | Coasters | Tiles | Open, outline_mm: list[list[float]]
) -> None:
    assert board.outline().tolist() == outline_mm


@pytest.mark.parametrize(("orientation", "first_deg"), [("pointy", 0), ("flat", 30)])
def test_a_hexagon_is_around_all_its_cells(orientation: Orientation, first_deg: float) -> None:
    """The corners of the six corner cells, 4 cells of 32 mm from the middle, are the farthest out
    of 5 a side.
    """
    outline = Hex(size=5, cell_mm=32.0, orientation=orientation, origin_mm=(100.0, 50.0)).outline()
    around = np.radians(first_deg + np.arange(0, 360, 60))
    centres = 4 * 32 * np.column_stack([np.cos(around), np.sin(around)]) + (100, 50)
    corners = (
        32
        / math.sqrt(3)
        * np.column_stack([np.cos(around + math.pi / 6), np.sin(around + math.pi / 6)])
    )
    assert all(within(outline, corner) for corner in (centres[:, None] + corners).reshape(-1, 2))
    assert not any(within(outline, centre) for centre in 1.5 * (centres - (100, 50)) + (100, 50))


INSIDE, OUTSIDE = [(5, 5), (25, 5), (5, 25)], [(25, 25), (11, 11), (-1, 5), (31, 5)]


@pytest.mark.parametrize(
    ("point", "inside"), [(p, True) for p in INSIDE] + [(p, False) for p in OUTSIDE]
)
def test_a_bent_outline(point: tuple[float, float], inside: bool) -> None:
    for outline in (L_SHAPE, L_SHAPE[::-1], np.roll(L_SHAPE, 3, axis=0)):
        assert within(outline, np.array(point)) is inside


coordinates = st.floats(-100, 100)
points = st.tuples(coordinates, coordinates).map(np.array)


@given(st.lists(points, min_size=3, max_size=12), points)
def test_inside_a_convex_outline_is_left_of_all_its_sides(
    corners: list[Array], point: Array
) -> None:
    hull = convex_hull(np.array(corners))
    assume(len(hull) >= 3)
    sides, towards = np.roll(hull, -1, axis=0) - hull, point - hull
    left = sides[:, 0] * towards[:, 1] - sides[:, 1] * towards[:, 0]
    assume(np.abs(left).min() > 1e-6)
    assert within(hull, point) == bool((left > 0).all())
