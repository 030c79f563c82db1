"""What the look at dice is shown, and how it is taught."""

from __future__ import annotations

import numpy as np
import pytest

from simulation.render.dice import die_at
from simulation.render.ground import table_z_mm
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene, SceneDie
from simulation.tables import game_table
from vision.dice.classifier import ANSWERS, CROP_PX, EDGE_PX, SIDE, TOP, classify_cubes, crop
from vision.dice.reader import flat_candidates
from vision.geometry.rectified_view import Photo

pytestmark = pytest.mark.slow

IVORY, BLACK = (0.75, 0.74, 0.70), (0.02, 0.02, 0.02)
TURN_DEG = 33.0


@pytest.fixture(scope="module")
def rolled():
    """Where a die with five pips lies flat, and the corner as it is seen."""
    table = game_table("zamboni_wars", 3)
    corner = table.setup.dice_corner
    x, y = (float(value) for value in np.array(corner.outline_mm).mean(axis=0))
    at, rotation = die_at(5, (x, y), TURN_DEG, corner.edge_mm, table_z_mm(table.setup))
    scene = Scene(table.stage, dice=(SceneDie(at, rotation, corner.edge_mm, IVORY, BLACK),))
    picture = Renderer(table.setup, table.place).picture(scene, np.random.default_rng(1))
    cubes, _, view = flat_candidates(Photo(picture, table.place, table.setup), corner)
    return min(cubes, key=lambda cube: np.hypot(*(cube.middle_mm - (x, y)))), view


def test_a_crop_shows_the_top_upright_in_the_middle_and_which_sides_are_seen(rolled):
    cube, view = rolled
    seen = crop(cube, view)
    assert seen.shape == (4, CROP_PX, CROP_PX)
    faces, middle = seen[3], slice((CROP_PX - EDGE_PX) // 2 + 1, (CROP_PX + EDGE_PX) // 2 - 1)
    assert (faces[middle, middle] == TOP).all()
    assert abs((faces == TOP).sum() - EDGE_PX**2) < 4 * EDGE_PX
    assert (faces == SIDE).sum() > EDGE_PX, "the camera does not look straight down"
    outside = faces == 0
    assert seen[:3, middle, middle].mean() > seen[:3, outside].mean() + 0.05, (
        "ivory on a darker table"
    )


def test_what_a_die_shows_is_told_however_it_is_turned(rolled):
    cube, view = rolled
    probabilities = classify_cubes(
        [cube.moved(np.array([0.0, 0.0, quarter])) for quarter in (0.0, 90.0, 180.0, 270.0)], view
    )
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-6)
    assert (probabilities.argmax(axis=1) == 5).all()
    beside = classify_cubes(
        [cube.moved(np.array([0.5 * cube.edge_mm, 0.3 * cube.edge_mm, 20.0]))], view
    )
    assert beside.argmax() == 0, "nothing lies flat just there"


def test_nothing_to_look_at_is_nothing_seen(rolled):
    assert classify_cubes([], rolled[1]).shape == (0, ANSWERS)


def test_examples_know_the_pips_on_top():
    examples = pytest.importorskip(
        "training.dice_examples", reason="training needs PyTorch: pip install -e '.[training]'"
    )
    known = list(examples.rolls(1))
    assert {roll.pips for roll in known} >= {0, 1, 2, 4}
    for roll in known[:4]:
        seen, pips = examples.example(roll, np.random.default_rng(1))
        assert (seen.shape, pips) == ((4, CROP_PX, CROP_PX), roll.pips)
