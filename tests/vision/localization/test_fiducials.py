"""The camera's place from fiducials, on pictures of the project's own renderer, whose truth is
exact.
"""

from __future__ import annotations

import zlib
from dataclasses import replace

import cv2
import msgspec
import numpy as np
import pytest

from benchmarks.bad_pictures import (
    KINDS,
    TakenPicture,
    bend_card,
    defocus,
    off_mm,
    show_on_screen,
    shrink,
)
from simulation.generate.cases import random_case, resized
from simulation.generate.layouts import random_layout
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene
from table.observation import Camera
from vision.geometry.camera_model import on_plane, place_covariances, project
from vision.localization.corner_pose import wrong_edges_mask
from vision.localization.fiducials import SURE_MM, locate
from vision.localization.markers import NoPose, detect_markers

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scene():
    case = random_case("boule", 4242)
    return case, Renderer(case.setup, case.camera).picture(
        Scene(case.stage), np.random.default_rng(1)
    )


@pytest.fixture(scope="module")
def taken(scene):
    case, image = scene
    return TakenPicture(image, case.setup, case.camera)


def find(image, setup):
    return locate(image, setup)


def corners_px(case, marker):
    corners = np.column_stack([np.array(marker.corners_mm), np.full(4, case.setup.fiducials.z_mm)])
    return project(corners, case.camera, case.setup.camera)


def cover_markers(case, image, ids):
    image = image.copy()
    for marker in case.setup.fiducials.markers:
        if marker.id in ids:
            middle = corners_px(case, marker).mean(axis=0)
            cv2.circle(image, tuple(int(v) for v in middle), 60, (120, 90, 70), -1)
    return image


def worst_error_mm(found, case):
    outline = case.setup.outline_mm()
    truth = project(
        np.column_stack([outline, np.zeros(len(outline))]), case.camera, case.setup.camera
    )
    return float(np.hypot(*(on_plane(truth, found, case.setup.camera) - outline).T).max())


def test_all_four_give_the_place_to_a_twentieth_of_a_millimetre(scene):
    case, image = scene
    found = find(image, case.setup)
    assert isinstance(found, Camera)
    assert found.fiducials_seen == (0, 1, 2, 3)
    assert worst_error_mm(found, case) < 0.05
    assert np.linalg.eigvalsh(found.covariance).min() > 0


@pytest.mark.parametrize("hidden", [0, 1, 2, 3])
def test_any_three_suffice(scene, hidden):
    case, image = scene
    found = find(cover_markers(case, image, {hidden}), case.setup)
    assert isinstance(found, Camera)
    assert hidden not in found.fiducials_seen
    assert worst_error_mm(found, case) < 0.5


def test_two_are_less_sure_than_four(scene):
    case, image = scene
    four, two = find(image, case.setup), find(cover_markers(case, image, {1, 3}), case.setup)
    assert isinstance(two, Camera)
    assert np.trace(two.covariance[3:, 3:]) > np.trace(four.covariance[3:, 3:])


@pytest.mark.parametrize(
    ("hidden", "reason"),
    [
        ({0, 1, 2, 3}, "no marker is in view"),
        ({0, 1, 2}, "only one marker is in view"),
        ({1, 2, 3}, "uncover markers 1, 2 and 3"),
    ],
)
def test_fewer_than_two_say_what_to_do(scene, hidden, reason):
    case, image = scene
    found = find(cover_markers(case, image, hidden), case.setup)
    assert isinstance(found, NoPose)
    assert not found
    assert reason in found.reason


def with_copy(case, image, marker, factor=1.0):
    """The picture with a marker of it shown once more in the middle, so many times as large."""
    quad = corners_px(case, case.setup.fiducials.markers[marker])
    low, high = quad.min(axis=0).astype(int) - 15, quad.max(axis=0).astype(int) + 15
    copy = cv2.resize(
        image[low[1] : high[1], low[0] : high[0]],
        None,
        fx=factor,
        fy=factor,
        interpolation=cv2.INTER_AREA,
    )
    image = image.copy()
    middle = np.array(image.shape[1::-1]) // 2
    image[middle[1] : middle[1] + copy.shape[0], middle[0] : middle[0] + copy.shape[1]] = copy
    return image


@pytest.mark.parametrize("factor", [1.0, 0.6])
def test_of_two_markers_with_one_id_the_one_that_fits_the_others_is_used(scene, factor):
    case, image = scene
    found = find(with_copy(case, image, 0, factor), case.setup)
    assert isinstance(found, Camera)
    assert found.fiducials_seen == (0, 1, 2, 3)
    assert worst_error_mm(found, case) < 0.05
    assert any("another marker 0 is in view" in note for note in found.notes)


@pytest.mark.parametrize("scale", [0.3, 0.4])
def test_a_table_on_a_telephones_screen_is_not_taken_for_the_table(taken, scale):
    shown = show_on_screen(scale)(taken, np.random.default_rng(5))
    assert detect_markers(shown.image, taken.setup.fiducials).repeated_ids
    found = locate(shown.image, taken.setup)
    assert isinstance(found, Camera)
    assert off_mm(found, shown) < 0.5
    assert any("another marker" in note for note in found.notes)


def test_of_two_tables_as_large_none_is_chosen_unless_the_cameras_place_is_known(taken):
    """The same picture twice, side by side: either half may be the table."""
    half = shrink(taken.setup.camera.width // 2)(taken, np.random.default_rng(0))
    lens = msgspec.structs.replace(half.setup.camera, width=2 * half.setup.camera.width)
    setup = msgspec.structs.replace(half.setup, camera=lens)
    image = np.ascontiguousarray(np.hstack([half.image, half.image]))
    found = locate(image, setup)
    assert isinstance(found, NoPose)
    assert "the table's markers are in view twice" in found.reason
    known = locate(image, setup, half.camera)
    assert isinstance(known, Camera)
    assert off_mm(known, replace(half, setup=setup)) < 0.5


def grown(marker, factor):
    corners = np.array(marker.corners_mm)
    corners = corners.mean(axis=0) + factor * (corners - corners.mean(axis=0))
    return type(marker)(id=marker.id, corners_mm=tuple(map(tuple, corners.tolist())))


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_marker_of_another_size_than_stated_is_named(scene, factor):
    case, image = scene
    setup = case.setup
    markers = tuple(
        grown(marker, factor) if marker.id == 2 else marker for marker in setup.fiducials.markers
    )
    fiducials = type(setup.fiducials)(
        markers=markers, dictionary=setup.fiducials.dictionary, z_mm=setup.fiducials.z_mm
    )
    wrong = type(setup)(
        camera=setup.camera,
        fiducials=fiducials,
        board=setup.board,
        game=setup.game,
        pieces=setup.pieces,
    )
    found = find(image, wrong)
    assert isinstance(found, NoPose)
    assert "marker 2 does not fit the others" in found.reason


def test_projecting_and_coming_back_is_the_same_point(scene):
    case, _ = scene
    points = np.random.default_rng(3).uniform([0, 0], case.setup.outline_mm().max(axis=0), (200, 2))
    for z_mm in (0.0, 25.0):
        pixels = project(
            np.column_stack([points, np.full(len(points), z_mm)]), case.camera, case.setup.camera
        )
        assert on_plane(pixels, case.camera, case.setup.camera, z_mm) == pytest.approx(
            points, abs=1e-4
        )


def test_the_eye_is_where_the_rays_start(scene):
    case, _ = scene
    moved = replace(
        case.camera,
        translation_mm=case.camera.translation_mm
        - case.camera.rotation @ np.array([10.0, -5.0, 3.0]),
    )
    assert moved.eye_mm - case.camera.eye_mm == pytest.approx([10.0, -5.0, 3.0])


def test_small_markers_a_little_out_of_focus_are_read():
    case = random_case("boule", 73002)
    picture = Renderer(case.setup, case.camera).picture(case.scene(), np.random.default_rng(73002))
    assert sorted(detect_markers(picture, case.setup.fiducials).corners_px) == [0, 1, 2, 3]


def test_a_marker_of_whose_border_nothing_can_be_measured_does_no_harm():
    """It is read, and no more: nothing is known of how bright its paper is."""
    made = random_case("storm", 5_500_020)
    case, rng = (
        replace(made, setup=resized(made.setup, 1400)),
        np.random.default_rng([5_500_020, 5]),
    )
    layout = random_layout(case.setup, rng)
    image = Renderer(case.setup, case.camera).picture(
        Scene(case.stage, tuple(one.piece for one in layout.placed), (), layout.slabs), rng
    )
    found = find(image, case.setup)
    assert isinstance(found, Camera)
    assert worst_error_mm(found, case) < 1.0


@pytest.fixture(scope="module")
def far_table():
    """A drawn table whose fiducials are small in the picture."""
    case = random_case("boule", 310002)
    return TakenPicture(
        Renderer(case.setup, case.camera).picture(case.scene(), np.random.default_rng(310002)),
        case.setup,
        case.camera,
    )


def widest(camera, setup):
    """How well the camera's place is said to be known at the worst corner of the play area, 1
    sigma, mm.
    """
    outline = setup.outline_mm()
    covariances = place_covariances(
        np.column_stack([outline, np.zeros(len(outline))]), camera, setup.camera
    )
    return float(np.sqrt(np.linalg.eigvalsh(covariances).max()))


@pytest.mark.parametrize(
    ("kind", "strength"),
    [
        ("moved while exposed", "8 px"),
        ("rolled while exposed", "1.0°"),
        ("small and moved", "820 px wide, 3 px"),
    ],
)
def test_a_blurred_picture_never_places_the_camera_elsewhere_as_sure(far_table, kind, strength):
    """Edges settle beside the true ones here: they put the board 11 to 28 mm off."""
    bad = KINDS[kind][strength](
        far_table, np.random.default_rng(zlib.crc32(f"boule-310002 {kind} {strength}".encode()))
    )
    found = locate(bad.image, bad.setup)
    if isinstance(found, Camera):
        assert off_mm(found, bad) < (2.0 if found.sigma_mm <= SURE_MM else 4 * found.sigma_mm)
    else:
        assert "too blurred to measure" in found.reason


@pytest.mark.parametrize("share", [0.05, 0.1])
def test_a_bent_card_makes_the_place_less_sure(taken, share):
    flat = locate(taken.image, taken.setup)
    for seed in range(4):
        bad = bend_card(share)(taken, np.random.default_rng(seed))
        found = locate(bad.image, bad.setup)
        assert isinstance(found, Camera)
        assert found.sigma_mm > 3 * flat.sigma_mm
        assert off_mm(found, bad) < 4 * found.sigma_mm
        assert found.sigma_mm == pytest.approx(widest(found, bad.setup))


def test_what_is_hard_to_see_is_said_in_words(taken):
    blurred = defocus(6)(shrink(640)(taken, np.random.default_rng(0)), np.random.default_rng(0))
    found = locate(blurred.image, blurred.setup)
    assert isinstance(found, NoPose)
    assert "marker" in found.reason or "too blurred" in found.reason


def test_a_good_picture_is_sure_and_needs_no_note(taken):
    found = locate(taken.image, taken.setup)
    assert found.sigma_mm <= SURE_MM / 10
    assert found.notes == ()


def test_edges_elsewhere_than_the_middles_of_fiducials_are_noticed():
    corners = np.array([[0.0, 0.0], [40, 0], [40, 40], [0, 40]])
    pixels = np.concatenate([corners, corners + 300.0])
    larger = np.concatenate([1.1 * corners - 2.0, 1.1 * corners + 298.0])
    assert wrong_edges_mask(larger, pixels).tolist() == [False, False]
    assert wrong_edges_mask(
        np.concatenate([corners, corners + np.array([302.0, 300.0])]), pixels
    ).tolist() == [False, True]
