"""What a piece and the ground look like, learned from around where a piece is thought to be: drawn tables, known exactly."""

from __future__ import annotations

import dataclasses

import cv2
import msgspec
import numpy as np
import pytest

from table.boards import Chessboard, Open, Tiles
from table.observation import Camera
from table.pieces import load_piece_set
from table.setup import Fiducials, Game, Lens, Setup
from vision.areas import area
from vision.edges import PLACE_PX, samples, snap, taken_in
from vision.hypothesis import Hypothesis
from vision.photo import Photo
from vision.render import Renderer
from vision.scene import Lamp, Scene, ScenePiece, Sensor, Stage, Surface, look_at
from vision.scene_tables import square_marker

PIECES = load_piece_set("looney")
LENS = Lens(width=900, height=700, matrix=((1500.0, 0.0, 449.5), (0.0, 1500.0, 349.5), (0.0, 0.0, 1.0)), distortion=(0.02, -0.01, 1e-4, 1e-4, 0.0))
OPEN = Setup(
    camera=LENS,
    fiducials=Fiducials(markers=(square_marker(0, -150.0, 0.0, 30.0), square_marker(1, 150.0, 0.0, 30.0)), z_mm=0.15),
    board=Open(outline_mm=((-120.0, -100.0), (120.0, -100.0), (120.0, 100.0), (-120.0, 100.0))),
    game=Game(name="ice_boule", colours=("red", "blue"), sizes=("medium",), target="black"),
    pieces=PIECES,
)
SQUARES = msgspec.structs.replace(
    OPEN,
    board=Chessboard(square_mm=40.0, files=4, ranks=4, origin_mm=(-80.0, -80.0)),
    game=Game(name="ice_storm", colours=("red", "blue"), sizes=("medium",)),
)
CAMERA: Camera = look_at(np.array([60.0, -180.0, 700.0]), np.zeros(3))
STAGE = Stage(
    table=Surface("paper", (0.5, 0.5, 0.46), 0.05),
    lamps=(Lamp((300.0, 200.0, 1200.0), 0.7),),
    sensor=Sensor(blur_px=0.7, vignetting=0.0),
    seed=3,
)
TRUTH = Hypothesis(PIECES["medium"], "lying", 7.0, -11.0, 64.0)
NOT_SURE = np.diag(np.array([2.0, 2.0, 6.0]) ** 2)


def photo_of(setup, *guesses, see_through=True):
    pieces = tuple(ScenePiece(guess.solid, "red", see_through=see_through) for guess in guesses)
    return Photo(Renderer(setup, CAMERA).picture(Scene(STAGE, pieces), np.random.default_rng(2)), CAMERA, setup)


def inside_of(photo, solid, around):
    """Cells of an area whose pixels are inside a solid's outline, the slow way."""
    outline = photo.silhouette(solid).astype(np.float32)
    rows, columns = np.indices(around.ratio.shape)
    places = np.stack([columns, rows], axis=-1) * around.step + (around.step - 1) / 2 + [around.left, around.top]
    return np.array([[cv2.pointPolygonTest(outline, tuple(map(float, place)), True) for place in row] for row in places])


@pytest.mark.parametrize("setup", [OPEN, SQUARES], ids=["open ground", "chessboard"])
@pytest.mark.parametrize("see_through", [True, False], ids=["see-through", "opaque"])
def test_pixels_of_a_piece_speak_for_it_and_others_against_it(setup, see_through):
    photo = photo_of(setup, TRUTH, see_through=see_through)
    about = TRUTH.at(TRUTH.parameters + np.array([1.2, -0.8, 3.0]))
    around = area(about.solid, photo, [])
    depth = inside_of(photo, TRUTH.solid, around)
    said = around.ratio[(np.abs(depth) > 1.5) & (around.ratio != 0)]
    right = np.sign(depth)[(np.abs(depth) > 1.5) & (around.ratio != 0)] == np.sign(said)
    assert len(said) > 500
    assert right.mean() > 0.85


def test_the_true_outline_takes_in_more_than_any_shifted_one():
    photo = photo_of(OPEN, TRUTH)
    around = area(TRUTH.solid, photo, [])
    there = around.inside(photo.silhouette(TRUTH.solid))
    for away in ([4, 0, 0], [-4, 0, 0], [0, 4, 0], [0, -4, 0], [0, 0, 15], [0, 0, -15]):
        assert around.inside(photo.silhouette(TRUTH.at(TRUTH.parameters + np.array(away)).solid)) < there


def test_nothing_speaks_inside_other_pieces_nor_outside_the_picture():
    photo = photo_of(OPEN, TRUTH)
    around = area(TRUTH.solid, photo, [photo.silhouette(TRUTH.solid)])
    assert not around.ratio.any()
    assert area(dataclasses.replace(TRUTH, x_mm=4000.0).solid, photo, []) is None


def test_on_boards_with_print_nothing_is_said():
    """A yellow pyramid that stands on a printed yellow letter is not the letter."""
    tiles = msgspec.structs.replace(OPEN, board=Tiles(cols=3, rows=3, cell_mm=50.0, tile_mm=46.0))
    assert area(TRUTH.solid, Photo(photo_of(OPEN, TRUTH).image, CAMERA, tiles), []) is None


def test_where_piece_and_ground_look_alike_next_to_nothing_is_said():
    """A piece that is not there: what is learned inside of its outline is the ground."""
    photo = photo_of(OPEN)
    there, nothing = (area(TRUTH.solid, some, []).ratio for some in (photo_of(OPEN, TRUTH), photo))
    assert np.abs(nothing).mean() < 0.1 * np.abs(there).mean()


def test_what_an_edge_takes_in_is_what_the_outline_takes_in():
    """Edge by edge and place by place, against the sum over all pixels between two outlines."""
    photo = photo_of(OPEN, TRUTH)
    around = area(TRUTH.solid, photo, [])
    points = samples(TRUTH, photo, [])
    table = taken_in(points, around, photo.silhouette(TRUTH.solid))
    for move in np.eye(3) * [1.0, 1.0, 2.0]:
        place = np.rint(points.jacobian @ move / PLACE_PX).astype(int) + table.shape[1] // 2
        by_edges = table[np.arange(len(table)), place].sum()
        moved = TRUTH.at(TRUTH.parameters + move)
        by_pixels = around.inside(photo.silhouette(moved.solid)) - around.inside(photo.silhouette(TRUTH.solid))
        assert by_edges == pytest.approx(by_pixels, rel=0.25, abs=20)


def test_areas_bring_back_a_piece_whose_edges_hardly_show():
    """A see-through piece on a chessboard, thought to be 3 mm off: with what areas say it comes nearer than by its edges alone."""
    photo = photo_of(SQUARES, TRUTH)
    away = []
    for k in range(6):
        start = TRUTH.at(TRUTH.parameters + [2.0, 2.0, 6.0] * np.random.default_rng(k).uniform(-1.5, 1.5, 3))
        placed = snap(start, NOT_SURE, photo, [], area(start.solid, photo, []))
        away.append(np.abs(placed.guess.parameters - TRUTH.parameters))
    assert np.median(away, axis=0)[:2].max() < 0.5
    assert np.median(away, axis=0)[2] < 1.0
