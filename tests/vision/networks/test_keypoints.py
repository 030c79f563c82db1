"""What the keypoint network is shown, and what it answers on pictures drawn here."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.generate.cases import random_case
from simulation.render.renderer import Renderer
from table.pieces import load_piece_set
from table.solids import POSES, lying
from vision.geometry.piece_pose import project_to_table
from vision.geometry.rectified_view import FlatView, Photo
from vision.localization.fiducials import locate
from vision.networks.detector import Detection, search, view_of
from vision.networks.keypoints import (
    BASE_PX,
    CROP_PX,
    Crop,
    KeypointEstimate,
    crop_of,
    crops_for_pose,
    estimate_from_all_sides,
    estimate_keypoints,
)

pytestmark = pytest.mark.slow


@given(st.floats(0, 360), st.floats(0.5, 2.0), st.floats(90, 160), st.floats(90, 160))
def test_a_crop_shows_what_its_map_says(turn_deg, zoom, x, y):
    picture = np.zeros((256, 256, 3), np.uint8)
    picture[..., 0], picture[..., 1] = np.arange(256)[None], np.arange(256)[:, None]
    cut = Crop(np.array([x, y]), turn_deg, zoom)
    crop = cut.of(picture)
    for column, row in ((0, 0), (63, 0), (20, 40), (31, 31)):
        place = cut.affine @ (column, row, 1)
        if (place > 2).all() and (place < 253).all():
            np.testing.assert_allclose(crop[row, column, :2], place, atol=1.1)
    np.testing.assert_allclose(cut.affine @ (*np.full(2, (CROP_PX - 1) / 2), 1), (x, y), atol=1e-9)


def test_a_lying_piece_points_to_the_right():
    view = FlatView(np.zeros((300, 300, 3), np.uint8), 0.0, 0.0, 1.0)
    found = Detection(
        np.array([0.1, 0.9, 0.0, 0.0]),
        np.array([150.0, -150.0]),
        np.array([0.0, 40.0]),
        0.0,
        24.0,
        np.ones(1),
    )
    cut = crop_of(found, view)
    np.testing.assert_allclose(
        cut.affine[:, :2] @ (1.0, 0.0), (0.0, -24.0 / BASE_PX), atol=1e-9
    )  # to the right in the crop, up in the view


def test_nothing_to_look_at_is_nothing_seen():
    assert (
        estimate_keypoints([], FlatView(np.zeros((10, 10, 3), np.uint8), 0.0, 0.0, 1.0), ("red",))
        == []
    )


def test_vertices_poses_and_bases_are_seen_on_tables_of_every_kind():
    off, doubt, right, base = [], [], [], []
    for kind, seed in (
        ("boule", 60001),
        ("storm", 60002),
        ("zamboni", 60001),
        ("icebreaker", 60000),
        ("icefloe", 60003),
    ):
        case = random_case(kind, seed)
        picture = Renderer(case.setup, case.camera).picture(
            case.scene(), np.random.default_rng(seed)
        )
        photo = Photo(picture, locate(picture, case.setup), case.setup)
        sight = search(view_of(photo), case.setup.colours)
        looked = estimate_keypoints(
            [crop_of(one, sight.view) for one in sight.objects if not one.is_disc],
            sight.view,
            case.setup.colours,
        )
        for place in case.layout.placed:
            corners = project_to_table(place.piece.solid.vertices_mm, photo.camera.eye_mm)
            width = np.linalg.norm(
                place.piece.solid.vertices_mm[1] - place.piece.solid.vertices_mm[0]
            )
            nearest = min(
                looked,
                key=lambda one, corners=corners: np.hypot(
                    *(one.vertices_mm - corners).mean(axis=0)
                ),
            )
            if (
                nearest.presence > 0.5
                and np.hypot(*(nearest.vertices_mm - corners).mean(axis=0)) < width / 2
            ):
                order = min(
                    ([(k + turn) % 4 for k in range(4)] + [4] for turn in range(4)),
                    key=lambda way, n=nearest, c=corners: np.abs(n.vertices_mm[way] - c).sum(),
                )
                off.append(np.median(np.hypot(*(nearest.vertices_mm[order] - corners).T)) / width)
                doubt.append(np.median(nearest.sigma_mm) / width)
                right.append(POSES[int(nearest.poses.argmax())] == place.pose)
                base.append(np.exp(nearest.log_base) / width)
    assert len(off) > 40
    assert np.median(off) < 0.06
    assert 0.3 < np.median(off) / np.median(doubt) < 3
    assert np.mean(right) > 0.9
    assert np.median(np.abs(np.log(base))) < 0.05


def test_a_crop_at_the_edge_of_the_view_is_no_trouble():
    picture = np.full((40, 40, 3), 90, np.uint8)
    assert Crop(np.array([0.0, 39.0]), 45.0, 3.0).of(picture).shape == (CROP_PX, CROP_PX, 3)
    assert (
        len(
            estimate_keypoints(
                [Crop(np.array([-50.0, 500.0]), 0.0, 1.0)],
                FlatView(cv2.blur(picture, (3, 3)), 0.0, 0.0, 1.0),
                ("red", "blue"),
            )
        )
        == 1
    )


def test_in_a_mirror_the_same_is_seen_the_other_way_round():
    case = random_case("storm", 60002)
    picture = Renderer(case.setup, case.camera).picture(case.scene(), np.random.default_rng(2))
    photo = Photo(picture, locate(picture, case.setup), case.setup)
    view, colours = view_of(photo), case.setup.colours
    height = view.code.shape[0]
    mirror = FlatView(np.ascontiguousarray(view.code[::-1]), view.left_mm, 0.0, view.step_mm)
    cuts = [crop_of(one, view) for one in search(view, colours).objects]
    turned = [
        Crop(np.array([cut.middle_px[0], height - 1 - cut.middle_px[1]]), -cut.turn_deg, cut.zoom)
        for cut in cuts
    ]
    assert len(cuts) > 10
    for one, other in zip(
        estimate_keypoints(cuts, view, colours),
        estimate_keypoints(turned, mirror, colours),
        strict=True,
    ):
        assert abs(one.presence - other.presence) < 0.05
        seen, back = (
            view.pixels(one.vertices_mm),
            mirror.pixels(other.vertices_mm) * [1, -1] + [0, height - 1],
        )
        if one.presence > 0.5:
            apart = np.linalg.norm(seen[:, None] - back[None], axis=2).min(axis=1)
            assert apart.max() < 0.5, "pixels of the view"


def test_what_seems_to_lie_is_looked_at_as_if_it_stood_on_its_base():
    view = FlatView(np.zeros((300, 300, 3), np.uint8), 0.0, 0.0, 0.5)
    solid = lying(load_piece_set("looney")["medium"], 60.0, -70.0, 30.0)
    looked = KeypointEstimate(
        0.9,
        np.array([0.1, 0.9, 0.0]),
        np.ones(1),
        float(np.log(19.84)),
        0.1,
        solid.vertices_mm[:, :2],
        np.ones(5),
    )
    (cut,) = crops_for_pose("upright", looked, view)
    np.testing.assert_allclose(
        cut.middle_px, view.pixels(solid.vertices_mm[:4, :2].mean(axis=0)[None])[0]
    )
    level = (
        np.linalg.inv(cut.affine[:, :2])
        @ (view.pixels(solid.vertices_mm[2:3, :2]) - view.pixels(solid.vertices_mm[1:2, :2]))[0]
    )
    assert abs(level[1]) < 1e-6, "the edge that touches the board is level"
    assert np.linalg.norm(level) == pytest.approx(BASE_PX, rel=1e-3)
    assert [round(cut.turn_deg) % 90 for cut in crops_for_pose("lying", looked, view)] == [
        round(cut.turn_deg) % 90
    ] * 4


def test_what_was_looked_at_from_a_wrong_side_is_seen_better_from_another():
    case = random_case("storm", 60002)
    picture = Renderer(case.setup, case.camera).picture(case.scene(), np.random.default_rng(2))
    photo = Photo(picture, locate(picture, case.setup), case.setup)
    view, colours = view_of(photo), case.setup.colours
    lie = [
        project_to_table(one.piece.solid.vertices_mm, photo.camera.eye_mm)
        for one in case.layout.placed
        if one.pose == "lying"
    ]
    astray, back = [], []
    for corners in lie:
        (base, tip), width = (
            view.pixels(np.array([corners[:4].mean(axis=0), corners[4]])),
            np.linalg.norm(corners[1] - corners[2]),
        )
        backwards = Crop(
            (base + tip) / 2,
            float(np.degrees(np.arctan2(*(base - tip)[::-1]))),
            width / view.step_mm / BASE_PX,
        )
        (wrong,) = estimate_keypoints([backwards], view, colours)
        better = estimate_from_all_sides(wrong, view, colours)
        assert better.blur <= wrong.blur
        for looked, off in ((wrong, astray), (better, back)):
            off.append(np.hypot(*(looked.vertices_mm - corners).T).mean() / width)
    assert len(lie) > 4
    assert np.median(back) < min(0.1, 0.6 * np.median(astray))
