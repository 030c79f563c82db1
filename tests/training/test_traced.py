"""Path-traced pictures show things where exact geometry has them, in the light that drawn ones
have.
"""

from dataclasses import replace

import cv2
import numpy as np
import pytest

pytest.importorskip("mitsuba", reason="tracing needs Mitsuba: pip install -e '.[tracing]'")

import mitsuba as mi

from benchmarks.cached_tracer import CachedTracer
from simulation.generate.cases import random_case, resized
from simulation.render.dice import die_at
from simulation.render.renderer import Renderer
from simulation.render.scene import NO_NOISE, Scene, SceneDie, ScenePiece
from table.solids import lying, upright
from training.traced import Tracer, without_sparks
from training.traced_bodies import opaque, shell
from vision.geometry.camera_model import project
from vision.geometry.rectified_view import Photo
from vision.geometry.srgb import sample_light
from vision.localization.fiducials import locate

WIDTH_PX, PATHS = 800, 60


@pytest.fixture(scope="module")
def table():
    """A table on open ground, bare and lit without noise, and its tracer."""
    case = random_case("boule", 3)
    setup, stage = (
        resized(case.setup, WIDTH_PX),
        replace(case.stage, sensor=replace(NO_NOISE, exposure=case.stage.sensor.exposure)),
    )
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
    places = np.stack(
        np.meshgrid(np.arange(100, 700, 20), np.arange(100, 500, 20)), axis=-1
    ).astype(float)
    traced_light, drawn_light = (
        sample_light(image, places).reshape(-1, 3).mean(axis=0) for image in (bare, drawn)
    )
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
    green = shown[..., 1].astype(float) / np.maximum(
        shown.astype(float).mean(axis=2), 1
    )  # the piece sends none back
    ground = np.median(bare[..., 1].astype(float) / np.maximum(bare.astype(float).mean(axis=2), 1))
    covered = green < ground / 2
    assert np.mean(covered[inside == 255]) > 0.97
    near = cv2.dilate(inside, np.ones((41, 41), np.uint8)) > 0
    assert np.mean(covered[near & (inside == 0)]) < 0.02


def test_tiles_show_what_is_printed_on_them_and_gaps_the_table():
    case = random_case("icefloe", 3)
    setup, stage = (
        resized(case.setup, WIDTH_PX),
        replace(case.stage, sensor=replace(NO_NOISE, exposure=case.stage.sensor.exposure)),
    )
    scene, rng = Scene(stage, slabs=case.layout.slabs), np.random.default_rng(1)
    traced, drawn = (
        maker.picture(scene, rng).astype(float)
        for maker in (Tracer(setup, case.camera, PATHS), Renderer(setup, case.camera))
    )
    outline = project(np.column_stack([setup.outline_mm(), np.zeros(4)]), case.camera, setup.camera)
    (u0, v0), (u1, v1) = (
        np.ceil(outline.min(axis=0)).astype(int),
        np.floor(outline.max(axis=0)).astype(int),
    )
    off = np.abs(traced - drawn)[v0:v1, u0:u1].max(axis=2)
    assert np.mean(off > 40) < 0.03


def test_a_die_shows_the_face_that_is_up(table, bare):
    setup, camera, stage, tracer = table
    x, y = setup.outline_mm().mean(axis=0)
    middle, rotation = die_at(6, (float(x), float(y)), 20.0, 16.0, 0.0)
    die = SceneDie(middle, rotation, 16.0, (0.8, 0.78, 0.7), (0.02, 0.02, 0.02))
    scene, rng = Scene(stage, dice=(die,)), np.random.default_rng(1)
    traced, drawn = (
        tracer.picture(scene, rng).astype(float),
        Renderer(setup, camera).picture(scene, rng).astype(float),
    )
    outline = project(die.vertices_mm, camera, setup.camera)
    (u0, v0), (u1, v1) = (
        np.floor(outline.min(axis=0)).astype(int),
        np.ceil(outline.max(axis=0)).astype(int),
    )
    assert np.abs(traced[v0:v1, u0:u1] - bare[v0:v1, u0:u1]).max() > 60
    assert np.corrcoef(traced[v0:v1, u0:u1].ravel(), drawn[v0:v1, u0:u1].ravel())[0, 1] > 0.95


@pytest.mark.parametrize("wall_mm", [0.0, 1.5])
@pytest.mark.parametrize("made", [upright, lying])
def test_a_shell_is_closed_and_of_the_volume_of_its_plastic(table, made, wall_mm):
    size, bevel_mm = table[0].pieces["large"], 0.3
    solid = made(size, 10.0, 20.0, 33.0)
    mesh = shell(ScenePiece(solid, "red", True, wall_mm), opaque((0.5, 0.1, 0.1), 0.0), bevel_mm)
    parameters = mi.traverse(mesh)
    points, corner = np.unique(
        np.array(parameters["vertex_positions"]).reshape(-1, 3).round(4),
        axis=0,
        return_inverse=True,
    )
    faces = corner.reshape(-1)[np.array(parameters["faces"]).reshape(-1, 3)]
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    assert len(np.unique(edges, axis=0)) == len(edges), "two faces of one edge turn the same way"
    assert {tuple(edge) for edge in edges} == {tuple(edge) for edge in edges[:, ::-1]}, (
        "an edge has one face only"
    )
    first, second, third = points[faces].transpose(1, 0, 2)
    volume_mm3 = float(np.einsum("ij,ij->", np.cross(first, second), third)) / 6
    whole_mm3 = size.base_mm**2 * size.height_mm / 3
    hollow = (
        max(
            0.05,
            1
            - wall_mm
            * np.hypot(size.height_mm, size.base_mm / 2)
            / (size.base_mm / 2)
            / size.height_mm,
        )
        if wall_mm
        else 0.0
    )
    assert volume_mm3 == pytest.approx(whole_mm3 * (1 - hollow**3), rel=0.02)


def test_a_spark_goes_and_a_line_of_light_stays():
    light = np.full((20, 30, 3), 0.2, np.float32)
    light[5, 7] = 9.0
    light[12] = 9.0
    clear = without_sparks(light)
    assert clear[5, 7].max() == pytest.approx(0.3)
    light[5, 7] = clear[5, 7]
    np.testing.assert_allclose(clear[:, 1:-1], light[:, 1:-1])


def test_a_table_of_a_game_is_traced_once(table, tmp_path):
    setup, camera, stage, _ = table
    x, y = setup.outline_mm().mean(axis=0)
    scene = Scene(
        stage, (ScenePiece(upright(setup.pieces["large"], float(x), float(y), 33.0), "red", True),)
    )
    first = CachedTracer(24, tmp_path, 1, setup, camera).picture(scene, np.random.default_rng(1))
    (kept,) = tmp_path.iterdir()
    kept.touch()
    touched_ns = kept.stat().st_mtime_ns
    again = CachedTracer(24, tmp_path, 1, setup, camera)
    np.testing.assert_array_equal(again.picture(scene, np.random.default_rng(1)), first)
    assert kept.stat().st_mtime_ns == touched_ns
    again.picture(Scene(stage), np.random.default_rng(1))
    assert len(list(tmp_path.iterdir())) == 2
