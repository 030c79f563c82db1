"""Crops for the pose refiner, and how well it corrects poses that are a little off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.generate.cases import random_case
from table.pieces import load_piece_set
from table.solids import lying, upright
from vision.geometry.piece_pose import project_to_table
from vision.geometry.rectified_view import FlatView, Photo
from vision.networks.pose_refiner import (
    BASE_PX,
    CROP_PX,
    MIDDLE_PX,
    OFF,
    StraightCrop,
    draw_solid,
    refine_poses,
    straight_crop,
)

pytestmark = pytest.mark.slow

EYE = np.array([30.0, -40.0, 600.0])
LARGE = load_piece_set("looney")["large"]
headings = st.floats(0, 360)


@given(headings, st.floats(0.3, 0.9), st.floats(-20, 20), st.floats(-20, 20))
def test_a_crop_shows_what_its_map_says(turn_deg, step_mm, x, y):
    picture = np.zeros((256, 256, 3), np.uint8)
    picture[..., 0], picture[..., 1] = np.arange(256)[None], np.arange(256)[:, None]
    view = FlatView(picture, -128.0, 128.0, 1.0)
    cut = StraightCrop(np.array([x, y]), np.radians(turn_deg), step_mm)
    crop = cut.of(picture, view.pixels)
    places = np.array([[x, y], [x + 12.0, y - 7.0], [x - 15.0, y + 9.0]])
    for (column, row), (u, v) in zip(cut.pixels(places), view.pixels(places), strict=True):
        if 0 < column < CROP_PX - 1 and 0 < row < CROP_PX - 1:
            np.testing.assert_allclose(crop[round(row), round(column), :2], (u, v), atol=1.5)
    np.testing.assert_allclose(cut.pixels(places[:1]), [[MIDDLE_PX, MIDDLE_PX]], atol=1e-9)


@given(headings)
def test_a_lying_piece_points_to_the_right_and_one_that_stands_is_level(heading_deg):
    flat = lying(LARGE, 5.0, 8.0, heading_deg)
    base, tip = (
        straight_crop(flat, "lying", EYE).pixels(flat.vertices_mm[[k], :2])[0] for k in (1, 4)
    )
    assert tip[0] > base[0] + BASE_PX
    stands = upright(LARGE, 5.0, 8.0, heading_deg)
    left, right = straight_crop(stands, "upright", EYE).pixels(stands.vertices_mm[:2, :2])
    np.testing.assert_allclose(right - left, (BASE_PX, 0.0), atol=1e-6)


@given(headings)
def test_the_outline_that_is_drawn_holds_the_edges_that_are(heading_deg):
    solid = lying(LARGE, 5.0, 8.0, heading_deg)
    outline, edges = draw_solid(solid, straight_crop(solid, "lying", EYE), EYE)
    inside = outline[edges > 0]
    assert len(inside) > 3 * BASE_PX
    assert (inside > 0).mean() > 0.8, "but for the outer half of the outermost edges"
    place = straight_crop(solid, "lying", EYE).pixels(project_to_table(solid.vertices_mm, EYE))
    np.testing.assert_allclose(
        (place[:4].mean(axis=0) + place[4]) / 2, (MIDDLE_PX, MIDDLE_PX), atol=1e-6
    )


def test_nothing_to_look_at_is_nothing_seen():
    case = random_case("boule", 1)
    picture = np.zeros((case.setup.camera.height, case.setup.camera.width, 3), np.uint8)
    assert refine_poses([], Photo(picture, case.camera, case.setup)) == []


def test_pieces_laid_a_little_off_come_back_to_where_they_are(tables):
    rng, before, after, inside = np.random.default_rng(4), [], [], []
    for photo, there in tables:
        off = [one.at(one.parameters + rng.normal(0, (1.2, 1.2, 2.5))) for one in there]
        for true, guess, (seen, covariance) in zip(
            there, off, refine_poses(off, photo), strict=True
        ):
            assert (seen.size, seen.pose, seen.z_mm) == (guess.size, guess.pose, guess.z_mm)
            error = seen.away_from(true)
            before.append(np.abs(guess.away_from(true)))
            after.append(np.abs(error))
            inside.append(error @ np.linalg.solve(covariance, error) < 7.81)
    assert len(after) > 20
    assert (np.median(after, axis=0) < 0.4 * np.median(before, axis=0)).all()
    assert np.mean(inside) > 0.8, "the doubt that is told holds nearly all"


def test_where_a_piece_is_thought_to_be_matters_little(tables):
    photo, there = tables[0]
    looks = [
        [
            seen.parameters
            for seen, _ in refine_poses([replace(one, x_mm=one.x_mm + dx) for one in there], photo)
        ]
        for dx in (-0.8, 0.8)
    ]
    apart = np.abs(np.array(looks[0]) - looks[1])[:, 0]
    assert np.median(apart) < 0.4, "1.6 mm apart before"


def test_examples_show_the_pieces_that_they_are_labelled_with():
    examples = pytest.importorskip(
        "training.refiner_examples", reason="training needs PyTorch: pip install -e '.[training]'"
    )
    for made in (examples.free_pieces, examples.board_pieces):
        first, again = (next(made(5)) for _ in range(2))
        np.testing.assert_array_equal(first.view.code, again.view.code)
        seen, off = examples.example(first, np.random.default_rng(1))
        assert seen.shape == (5, CROP_PX, CROP_PX)
        assert off.shape == (3,)
        middle = first.view.pixels(project_to_table(first.solid.vertices_mm, first.eye_mm))
        np.testing.assert_allclose(
            (middle[:4].mean(axis=0) + middle[4]) / 2,
            np.full(2, (examples.SIDE_PX - 1) / 2),
            atol=1e-6,
        )
        assert (
            np.median(
                [np.abs(fit.vertices_mm - first.solid.vertices_mm).max() for fit in first.fits]
            )
            < 0.3 * first.view.step_mm * examples.BASE_PX
        )


@pytest.mark.parametrize("pose", ["upright", "lying"])
def test_an_example_knows_by_how_much_a_piece_is_off(pose):
    examples = pytest.importorskip(
        "training.refiner_examples", reason="training needs PyTorch: pip install -e '.[training]'"
    )
    solid = (upright if pose == "upright" else lying)(LARGE, 5.0, 8.0, 25.0)
    elsewhere = (upright if pose == "upright" else lying)(LARGE, 6.0, 8.0, 28.0)
    side = examples.SIDE_PX * 0.6 / 2
    near = examples.PieceView(
        FlatView(np.zeros((examples.SIDE_PX, examples.SIDE_PX, 3), np.uint8), -side, side, 0.6),
        solid,
        pose,
        EYE,
        (elsewhere,),
    )
    offs = {
        tuple(np.round(examples.example(near, np.random.default_rng(seed))[1], 3))
        for seed in range(40)
    }
    turns = [off[2] * np.degrees(OFF) for off in offs]
    assert sum(abs(abs(turn) - 3.0) < 1e-2 for turn in turns) >= 2, "as it is and in the mirror"
    middles = [project_to_table(one.vertices_mm, EYE).mean(axis=0) for one in (elsewhere, solid)]
    away = {
        round(float(np.hypot(*off[:2])) * OFF * LARGE.base_mm, 1)
        for off, turn in zip(offs, turns, strict=True)
        if abs(abs(turn) - 3.0) < 1e-2
    }
    assert len(away) == 1, "the same from every side"
    assert max(away) <= np.hypot(*(middles[1] - middles[0])) + 0.5 * LARGE.height_mm * np.radians(
        3.0
    )
