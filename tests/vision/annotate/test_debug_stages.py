"""Pictures of every stage, for people who report that something was read wrong."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from simulation.generate.cases import random_case
from simulation.render.renderer import Renderer
from table.errors import InputError
from vision.annotate.debug_stages import stages, write_stages
from vision.cameras.frame import Frame

pytestmark = pytest.mark.slow

NAMES = ["camera", "flat", "detector", "keypoints", "edges", "read"]


def test_every_stage_is_a_picture_with_something_drawn_into_it(tmp_path):
    case = random_case("icefloe", 60000)
    frame = Frame(
        0, 0, Renderer(case.setup, case.camera).picture(case.scene(), np.random.default_rng(0))
    )
    write_stages(tmp_path / "new", frame, case.setup)
    paths = sorted((tmp_path / "new").iterdir())
    assert [path.name for path in paths] == [f"{k}-{name}.png" for k, name in enumerate(NAMES, 1)]
    pictures = [cv2.imread(str(path)) for path in paths]
    assert all(picture.std() > 5 for picture in pictures)
    for k in (0, 4):
        assert (pictures[k] != frame.image[..., ::-1]).any()


def test_the_stages_are_of_the_reading_with_the_empty_table_if_that_is_given():
    case = random_case("boule", 60000)
    frame = Frame(
        0, 0, Renderer(case.setup, case.camera).picture(case.scene(), np.random.default_rng(0))
    )
    alone, with_reference = (
        dict(stages(frame, case.setup, reference)) for reference in (None, frame)
    )
    np.testing.assert_array_equal(alone["flat"], with_reference["flat"])
    assert (alone["detector"] != with_reference["detector"]).any(), (
        "on a table that was always so there is no piece"
    )
    np.testing.assert_array_equal(with_reference["edges"], frame.image)


def test_where_the_camera_cannot_be_placed_the_picture_as_it_came_is_all():
    case = random_case("boule", 60000)
    blank = Frame(
        0, 0, np.full((case.setup.camera.height, case.setup.camera.width, 3), 80, np.uint8)
    )
    shown = dict(stages(blank, case.setup))
    assert list(shown) == ["camera"]
    np.testing.assert_array_equal(shown["camera"], blank.image)


def test_a_folder_that_cannot_be_made_is_said_in_one_line(tmp_path):
    (tmp_path / "file").write_text("no folder")
    case = random_case("boule", 60000)
    frame = Frame(0, 0, np.zeros((case.setup.camera.height, case.setup.camera.width, 3), np.uint8))
    with pytest.raises(InputError, match="expected a folder that can be created and written to"):
        write_stages(tmp_path / "file" / "deeper", frame, case.setup)
