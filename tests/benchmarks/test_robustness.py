"""Pictures made worse for the benchmark still show the table where their lens says."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from benchmarks.worse_pictures import WORSE
from simulation.generate.cases import random_case
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene
from table.observation import Camera
from vision.geometry.camera_model import project
from vision.localization.fiducials import locate

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def drawn():
    case = random_case("boule", 60001)
    return case, Renderer(case.setup, case.camera).picture(
        Scene(case.stage), np.random.default_rng(3)
    )


@pytest.mark.parametrize("name", WORSE)
def test_the_camera_is_where_it_was_or_not_told(drawn, name):
    case, picture = drawn
    image, setup = WORSE[name](picture, case.setup)
    assert image.shape == (setup.camera.height, setup.camera.width, 3)
    camera = locate(image, setup)
    if isinstance(camera, Camera):
        assert np.linalg.norm(camera.eye_mm - case.camera.eye_mm) < 5
    else:
        assert name not in ("as it is", "turned by 180°", "levels x 0.5"), camera.reason


def test_a_turned_picture_shows_a_place_where_its_lens_says(drawn):
    case, picture = drawn
    image, setup = WORSE["turned by 180°"](picture, case.setup)
    place = np.array([[120.0, 80.0, 0.0], [300.0, 200.0, 20.0]])
    upside_down = case.camera.rotation * np.array([[-1.0], [-1.0], [1.0]])
    turned = Camera(
        upside_down, case.camera.translation_mm * (-1, -1, 1), case.camera.covariance, 0.0, ()
    )
    corner = np.array([setup.camera.width - 1, setup.camera.height - 1])
    np.testing.assert_allclose(
        project(place, turned, setup.camera),
        corner - project(place, case.camera, case.setup.camera),
        atol=1e-6,
    )
    np.testing.assert_array_equal(cv2.rotate(picture, cv2.ROTATE_180), image)
