"""What a piece and the ground look like, learned from around where a piece is thought to be: drawn
tables, known exactly.
"""

from __future__ import annotations

import dataclasses
from functools import partial

import cv2
import msgspec
import numpy as np
import pytest

from table.boards import Chessboard, Tiles
from table.pieces import load_piece_set
from table.table_config import Game
from vision.geometry.piece_pose import Hypothesis
from vision.pose.edge_alignment import PLACE_PX, align_to_edges, region_log_likelihood, samples
from vision.pose.region_likelihood import area

PIECES = load_piece_set("looney")
TRUTH = Hypothesis(PIECES["medium"], "lying", 7.0, -11.0, 64.0)
NOT_SURE = np.diag(np.array([2.0, 2.0, 6.0]) ** 2)


@pytest.fixture
def squares(open_ground):
    """The same table with a chessboard."""
    board = Chessboard(square_mm=40.0, files=4, ranks=4, origin_mm=(-80.0, -80.0))
    return msgspec.structs.replace(
        open_ground,
        board=board,
        game=Game(name="ice_storm", colours=("red", "blue"), sizes=("medium",)),
    )


@pytest.fixture
def see_through(photo_of):
    """see_through(*hypotheses): a picture of see-through pieces."""
    return partial(photo_of, see_through=True)


def inside_of(photo, solid, around):
    """Cells of an area whose pixels are inside a solid's outline, the slow way."""
    outline = photo.silhouette(solid).astype(np.float32)
    rows, columns = np.indices(around.ratio.shape)
    places = (
        np.stack([columns, rows], axis=-1) * around.step
        + (around.step - 1) / 2
        + [around.left, around.top]
    )
    return np.array(
        [
            [cv2.pointPolygonTest(outline, tuple(map(float, place)), True) for place in row]
            for row in places
        ]
    )


@pytest.mark.parametrize("ground", ["open_ground", "squares"])
@pytest.mark.parametrize("clear", [True, False], ids=["see-through", "opaque"])
def test_pixels_of_a_piece_speak_for_it_and_others_against_it(ground, clear, request, photo_of):
    photo = photo_of(TRUTH, setup=request.getfixturevalue(ground), see_through=clear)
    about = TRUTH.at(TRUTH.parameters + np.array([1.2, -0.8, 3.0]))
    around = area(about.solid, photo, [])
    depth = inside_of(photo, TRUTH.solid, around)
    message = around.ratio[(np.abs(depth) > 1.5) & (around.ratio != 0)]
    right = np.sign(depth)[(np.abs(depth) > 1.5) & (around.ratio != 0)] == np.sign(message)
    assert len(message) > 500
    assert right.mean() > 0.85


def test_the_true_outline_takes_in_more_than_any_shifted_one(see_through):
    photo = see_through(TRUTH)
    around = area(TRUTH.solid, photo, [])
    there = around.inside(photo.silhouette(TRUTH.solid))
    for away in ([4, 0, 0], [-4, 0, 0], [0, 4, 0], [0, -4, 0], [0, 0, 15], [0, 0, -15]):
        assert (
            around.inside(photo.silhouette(TRUTH.at(TRUTH.parameters + np.array(away)).solid))
            < there
        )


def test_nothing_speaks_inside_other_pieces_nor_outside_the_picture(see_through):
    photo = see_through(TRUTH)
    around = area(TRUTH.solid, photo, [photo.silhouette(TRUTH.solid)])
    assert not around.ratio.any()
    assert area(dataclasses.replace(TRUTH, x_mm=4000.0).solid, photo, []) is None


def test_on_boards_with_print_nothing_is_said(open_ground, see_through):
    """A yellow pyramid that stands on a printed yellow letter is not the letter."""
    tiles = msgspec.structs.replace(
        open_ground, board=Tiles(cols=3, rows=3, cell_mm=50.0, tile_mm=46.0)
    )
    assert area(TRUTH.solid, dataclasses.replace(see_through(TRUTH), setup=tiles), []) is None


def test_where_piece_and_ground_look_alike_next_to_nothing_is_said(see_through):
    """A piece that is not there: what is learned inside of its outline is the ground."""
    photo = see_through()
    there, nothing = (area(TRUTH.solid, some, []).ratio for some in (see_through(TRUTH), photo))
    assert np.abs(nothing).mean() < 0.1 * np.abs(there).mean()


def test_what_an_edge_takes_in_is_what_the_outline_takes_in(see_through):
    """Edge by edge and place by place, against the sum over all pixels between two outlines."""
    photo = see_through(TRUTH)
    around = area(TRUTH.solid, photo, [])
    points = samples(TRUTH, photo, [])
    table = region_log_likelihood(points, around, photo.silhouette(TRUTH.solid))
    for move in np.eye(3) * [1.0, 1.0, 2.0]:
        place = np.rint(points.jacobian @ move / PLACE_PX).astype(int) + table.shape[1] // 2
        by_edges = table[np.arange(len(table)), place].sum()
        moved = TRUTH.at(TRUTH.parameters + move)
        by_pixels = around.inside(photo.silhouette(moved.solid)) - around.inside(
            photo.silhouette(TRUTH.solid)
        )
        assert by_edges == pytest.approx(by_pixels, rel=0.25, abs=20)


def test_areas_bring_back_a_piece_whose_edges_hardly_show(squares, see_through):
    """A see-through piece on a chessboard, thought to be 3 mm off: with what areas say it comes
    nearer than by its edges alone.
    """
    photo = see_through(TRUTH, setup=squares)
    away = []
    for k in range(6):
        start = TRUTH.at(
            TRUTH.parameters + [2.0, 2.0, 6.0] * np.random.default_rng(k).uniform(-1.5, 1.5, 3)
        )
        placed = align_to_edges(start, NOT_SURE, photo, [], area(start.solid, photo, []))
        away.append(np.abs(placed.guess.parameters - TRUTH.parameters))
    assert np.median(away, axis=0)[:2].max() < 0.5
    assert np.median(away, axis=0)[2] < 1.0
