"""Parts of the fit against slow and obvious versions of themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from table.pieces import load_piece_set
from table.solids import FACES, convex_hull, lying, upright
from vision.colours import PALETTE, colour_distances, colour_probabilities, shadow_distances
from vision.hypothesis import Hypothesis, cast_down, silhouette, visible_faces
from vision.solidfit import outside_mm

SIZES = load_piece_set("looney").sizes
EYE = np.array([120.0, -200.0, 900.0])


@given(st.sampled_from(SIZES), st.sampled_from(["upright", "lying"]), st.floats(-300, 300), st.floats(-300, 300), st.floats(0, 360))
def test_the_silhouette_is_the_outline_of_everything_that_is_cast_down(size, pose, x, y, heading):
    solid = Hypothesis(size, pose, x, y, heading).solid
    rng = np.random.default_rng(5)
    weights = rng.dirichlet(np.ones(5), 200)
    inside = cast_down(weights @ solid.vertices_mm, EYE)
    outline = silhouette(solid, EYE)
    assert outside_mm(outline, inside[:, 0], inside[:, 1]).max() < 1e-6


@given(st.sampled_from(SIZES), st.booleans(), st.floats(0, 360), st.floats(-400, 400), st.floats(-400, 400))
def test_visible_faces_tile_the_silhouette(size, stands, heading, x, y):
    solid = (upright if stands else lying)(size, x, y, heading)
    flat = cast_down(solid.vertices_mm, EYE)

    def area(points):
        ahead = np.roll(points, -1, axis=0)
        return 0.5 * float(np.sum(points[:, 0] * ahead[:, 1] - ahead[:, 0] * points[:, 1]))

    faces = [area(flat[list(face)]) for face in visible_faces(solid, EYE)]
    hidden = [area(flat[list(face)]) for face in FACES if face not in visible_faces(solid, EYE)]
    assert min(faces) >= -1e-9
    assert max(hidden) <= 1e-9
    assert sum(faces) == pytest.approx(area(convex_hull(flat)), rel=1e-6)


@given(st.floats(-20, 20), st.floats(-20, 20))
def test_distance_outside_a_polygon_is_measured_from_its_edges(x, y):
    square = np.array([[-5.0, -5.0], [5.0, -5.0], [5.0, 5.0], [-5.0, 5.0]])
    assert outside_mm(square, x, y).max() == pytest.approx(max(abs(x), abs(y)) - 5)


@pytest.mark.parametrize("colour", ["red", "yellow", "green", "blue", "black", "white", "purple", "orange", "cyan"])
@pytest.mark.parametrize("ground", [(0.02, 0.02, 0.02), (0.8, 0.8, 0.8), (0.3, 0.2, 0.12)])
def test_a_body_colour_is_read_as_itself_on_any_ground(colour, ground):
    names = ("red", "yellow", "green", "blue", "black", "white", "purple", "orange", "cyan")
    light = np.tile(0.8 * np.array(PALETTE[colour]) + 0.01, (50, 1))
    chances = colour_probabilities(light, np.tile(ground, (50, 1)), np.ones(3), names)
    assert names[int(chances.argmax())] == colour
    assert chances.sum() == pytest.approx(1)


@given(st.floats(0.55, 1.0), st.sampled_from([(0.8, 0.8, 0.8), (0.3, 0.2, 0.12), (0.05, 0.3, 0.12)]))
def test_a_neutral_shadow_is_no_colour(share, ground):
    light, bare = np.array([ground]) * share, np.array([ground])
    assert shadow_distances(light, bare, np.ones(3))[0] < 1
    assert shadow_distances(light, bare, np.ones(3))[0] < colour_distances(light, bare, np.ones(3), ("red", "blue", "yellow")).min()
