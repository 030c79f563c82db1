"""Path-traced pictures show things where exact geometry has them, in the light that drawn ones have."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

pytest.importorskip("mitsuba", reason="tracing needs Mitsuba: pip install -e '.[training]'")
pytest.importorskip("torch", reason="teaching needs PyTorch: pip install -e '.[training]'")

from table.solids import lying, upright
from vision.camera import project
from vision.fiducials import locate
from vision.light import read_light
from vision.photo import Photo
from vision.render import Renderer
from vision.scene import NO_NOISE, Scene, ScenePiece
from vision.scene_cases import random_case, resized
from vision.training.traced import Tracer

WIDTH_PX, PATHS = 800, 60


@pytest.fixture(scope="module")
def table():
    """A table on open ground, bare and lit without noise, and its tracer."""
    case = random_case("boule", 3)
    setup, stage = resized(case.setup, WIDTH_PX), replace(case.stage, sensor=replace(NO_NOISE, exposure=case.stage.sensor.exposure))
    return setup, case.camera, stage, Tracer(setup, case.camera, PATHS)


@pytest.fixture(scope="module")
def bare(table):
    _, _, stage, tracer = table
    return tracer.picture(Scene(stage), np.random.default_rng(1))


def test_fiducials_are_where_they_belong(table, bare):
    setup, camera, _, _ = table
    found = locate(bare, setup)
    assert found, found
    corners = np.column_stack([setup.outline_mm(), np.zeros(len(setup.outline_mm()))])
    off = project(corners, found, setup.camera) - project(corners, camera, setup.camera)
    assert np.hypot(*off.T).max() < 0.25


def test_a_bare_table_is_as_light_as_a_drawn_one(table, bare):
    setup, camera, stage, _ = table
    drawn = Renderer(setup, camera).picture(Scene(stage), np.random.default_rng(1))
    places = np.stack(np.meshgrid(np.arange(100, 700, 20), np.arange(100, 500, 20)), axis=-1).astype(float)
    traced_light, drawn_light = (read_light(image, places).reshape(-1, 3).mean(axis=0) for image in (bare, drawn))
    np.testing.assert_allclose(traced_light, drawn_light, rtol=0.15)


@pytest.mark.parametrize("made", [upright, lying])
def test_a_piece_covers_what_it_hides(table, bare, made):
    setup, camera, stage, tracer = table
    middle, size = setup.outline_mm().mean(axis=0), setup.pieces["large"]
    solid = made(size, float(middle[0]), float(middle[1]), 33.0)
    scene = Scene(stage, (ScenePiece(solid, "black", gloss=0.0, dye=(0.9, 0.0, 0.9)),))
    shown = tracer.picture(scene, np.random.default_rng(1))
    outline = Photo(shown, camera, setup).silhouette(solid)
    inside = np.zeros(shown.shape[:2], np.uint8)
    cv2.fillPoly(inside, [np.rint(16 * outline).astype(np.int32)], 255, cv2.LINE_AA, 4)
    green = shown[..., 1].astype(float) / np.maximum(shown.astype(float).mean(axis=2), 1)  # the piece sends none back
    ground = np.median(bare[..., 1].astype(float) / np.maximum(bare.astype(float).mean(axis=2), 1))
    covered = green < ground / 2
    assert np.mean(covered[inside == 255]) > 0.97
    near = cv2.dilate(inside, np.ones((41, 41), np.uint8)) > 0
    assert np.mean(covered[near & (inside == 0)]) < 0.02
