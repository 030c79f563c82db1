"""What is computed fast against slow and obvious versions of itself."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from table.pieces import load_piece_set
from table.solids import FACES, POSES, convex_hull, lying, upright
from vision.geometry.piece_pose import (
    Hypothesis,
    project_to_table,
    silhouette,
    vertices_mm,
    visible_faces,
)

SIZES = load_piece_set("looney").sizes
EYE = np.array([120.0, -200.0, 900.0])
PLACE, TURN = st.floats(-300, 300), st.floats(0, 360)


@given(
    st.sampled_from(SIZES),
    st.sampled_from(POSES),
    PLACE,
    PLACE,
    TURN,
    st.floats(-5, 60),
    st.floats(-8, 20),
)
def test_many_places_at_once_are_the_places_one_by_one(size, pose, x, y, heading, tilt, z):
    guess = Hypothesis(size, pose, x, y, heading, tilt if pose == "leaning" else 0.0, z)
    rows = guess.parameters + np.random.default_rng(3).normal(0, 20, (4, len(guess.parameters)))
    one_by_one = [guess.at(row).solid.vertices_mm for row in rows]
    np.testing.assert_allclose(vertices_mm(guess, rows), one_by_one, atol=1e-9)
    np.testing.assert_allclose(
        project_to_table(np.array(one_by_one), EYE),
        [project_to_table(points, EYE) for points in one_by_one],
        atol=1e-9,
    )


@given(st.sampled_from(SIZES), st.sampled_from(["upright", "lying"]), PLACE, PLACE, TURN)
def test_the_silhouette_is_the_outline_of_everything_that_is_cast_down(size, pose, x, y, heading):
    solid = Hypothesis(size, pose, x, y, heading).solid
    weights = np.random.default_rng(5).dirichlet(np.ones(5), 200)
    outline = silhouette(solid, EYE).astype(np.float32)[:, None]
    for point in project_to_table(weights @ solid.vertices_mm, EYE):
        assert cv2.pointPolygonTest(outline, (float(point[0]), float(point[1])), True) > -1e-3


@given(st.sampled_from(SIZES), st.booleans(), TURN, st.floats(-400, 400), st.floats(-400, 400))
def test_visible_faces_tile_the_silhouette(size, stands, heading, x, y):
    solid = (upright if stands else lying)(size, x, y, heading)
    flat = project_to_table(solid.vertices_mm, EYE)

    def area(points):
        ahead = np.roll(points, -1, axis=0)
        return 0.5 * float(np.sum(points[:, 0] * ahead[:, 1] - ahead[:, 0] * points[:, 1]))

    faces = [area(flat[list(face)]) for face in visible_faces(solid, EYE)]
    hidden = [area(flat[list(face)]) for face in FACES if face not in visible_faces(solid, EYE)]
    assert min(faces) >= -1e-9
    assert max(hidden) <= 1e-9
    assert sum(faces) == pytest.approx(area(convex_hull(flat)), rel=1e-6)
