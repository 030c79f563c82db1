"""Wide lenses (`fisheye`): geometry both ways, and a whole made-up table read through one."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.generate.cases import random_case, truth_document
from simulation.render.renderer import Renderer
from simulation.render.scene import look_at
from table.observation import Observation
from table.table_config import Lens, load_table, save_table
from vision.cameras.frame import Frame
from vision.geometry.camera_model import pose_of, project_posed, undistort
from vision.observe import observe

pytestmark = pytest.mark.slow

WIDE = Lens(
    width=2304,
    height=1296,
    matrix=((1152.0, 0.0, 1158.3), (0.0, 1152.0, 643.9), (0.0, 0.0, 1.0)),
    distortion=(0.05, -0.01, 0.002, 0.0),
    model="fisheye",
)
"""120 degrees from corner to corner."""


@given(u=st.floats(0, 2303), v=st.floats(0, 1295))
def test_a_pixel_and_its_ray_lead_to_each_other(u: float, v: float) -> None:
    ray = undistort(np.array([[u, v]]), WIDE)
    there, _ = project_posed(np.array([[*ray[0], 1.0]]), (np.zeros(3), np.zeros(3)), WIDE)
    np.testing.assert_allclose(there, [[u, v]], atol=1e-4)


def test_the_distance_from_the_middle_grows_with_the_angle() -> None:
    """The definition: theta (1 + k1 theta^2 + k2 theta^4 ...) focal lengths from the principal
    point.
    """
    for degrees in (5, 30, 59):
        theta = math.radians(degrees)
        there, _ = project_posed(
            np.array([[math.tan(theta), 0.0, 1.0]]), (np.zeros(3), np.zeros(3)), WIDE
        )
        bent = theta * (1 + 0.05 * theta**2 - 0.01 * theta**4 + 0.002 * theta**6)
        np.testing.assert_allclose(there, [[1158.3 + 1152 * bent, 643.9]], atol=1e-9)


@pytest.mark.parametrize("model", ["fisheye", "pinhole"])
def test_derivatives_are_those_of_the_projection(model: str) -> None:
    lens = msgspec.structs.replace(WIDE, model=model)
    points, pose = (
        np.random.default_rng(1).uniform(-200, 200, (9, 3)),
        np.array([0.2, -0.3, 0.1, 30.0, -20.0, 500.0]),
    )
    numbers = np.array([1152.0, 1152.0, 1158.3, 643.9, *lens.distortion])

    def at(state):
        fx, fy, cx, cy, *distortion = state[6:].tolist()
        moved = msgspec.structs.replace(
            lens,
            matrix=((fx, 0.0, cx), (0.0, fy, cy), (0.0, 0.0, 1.0)),
            distortion=tuple(distortion),
        )
        return project_posed(points, (state[:3], state[3:6]), moved)

    state = np.concatenate([pose, numbers])
    steps = 1e-6 * np.maximum(np.abs(state), 1.0)
    columns = [
        (at(state + step)[0] - at(state - step)[0]).ravel() / (2 * step.sum())
        for step in np.diag(steps)
    ]
    np.testing.assert_allclose(at(state)[1], np.transpose(columns), rtol=1e-4, atol=1e-4)


def test_a_pose_is_found_through_a_wide_lens() -> None:
    points = np.array([(x, y, 0.0) for x in (-200, 0, 200) for y in (-100, 100)])
    pose = np.array([0.3, -0.4, 1.2]), np.array([150.0, -60.0, 320.0])
    found = pose_of(points, project_posed(points, pose, WIDE)[0], WIDE)
    np.testing.assert_allclose(np.concatenate(found), np.concatenate(pose), atol=1e-3)


def test_a_table_seen_by_a_wide_lens_is_read_right(tmp_path) -> None:
    """The camera hangs at two thirds of its usual height, so that the table fills the wider
    picture.
    """
    case = random_case("storm", 9102)
    middle = np.append(case.setup.outline_mm().mean(axis=0), 0.0)
    place = look_at(middle + 0.62 * (case.camera.eye_mm - middle), middle)
    save_table(msgspec.structs.replace(case.setup, camera=WIDE), tmp_path / "table.json")
    setup = load_table(tmp_path / "table.json")
    assert setup.camera == WIDE
    seen = observe(
        Frame(0, 0, Renderer(setup, place).picture(case.scene(), np.random.default_rng(1))), setup
    )
    assert isinstance(seen, Observation)
    assert np.linalg.norm(seen.camera.eye_mm - place.eye_mm) < 0.5
    truth = truth_document(case)["pieces"]
    assert len(seen.pieces) == len(truth)
    plan = np.array([piece.solid.vertices_mm[:, :2].mean(axis=0) for piece in seen.pieces])
    for piece in truth:
        apart = np.hypot(*(plan - np.mean(np.array(piece["vertices_mm"])[:, :2], axis=0)).T)
        nearest = seen.pieces[int(apart.argmin())]
        assert apart.min() < 0.6
        assert (nearest.colour, nearest.size, nearest.pose) == (
            piece["colour"],
            piece["size"],
            piece["pose"],
        )
