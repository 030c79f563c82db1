"""A small drawn table, on which pieces lie exactly where they are put."""

from __future__ import annotations

import numpy as np
import pytest

from simulation.generate.cases import random_case
from simulation.generate.tables import square_marker
from simulation.render.renderer import Renderer
from simulation.render.scene import Lamp, Scene, ScenePiece, Sensor, Stage, Surface, look_at
from table.boards import Open
from table.observation import Camera
from table.pieces import load_piece_set
from table.table_config import Fiducials, Game, Lens, Setup
from vision.geometry.piece_pose import Hypothesis
from vision.geometry.rectified_view import Photo
from vision.localization.fiducials import locate

LENS = Lens(
    width=900,
    height=700,
    matrix=((1500.0, 0.0, 449.5), (0.0, 1500.0, 349.5), (0.0, 0.0, 1.0)),
    distortion=(0.02, -0.01, 1e-4, 1e-4, 0.0),
)
SETUP = Setup(
    camera=LENS,
    fiducials=Fiducials(
        markers=(square_marker(0, -150.0, 0.0, 30.0), square_marker(1, 150.0, 0.0, 30.0)), z_mm=0.15
    ),
    board=Open(outline_mm=((-120.0, -100.0), (120.0, -100.0), (120.0, 100.0), (-120.0, 100.0))),
    game=Game(name="ice_boule", colours=("red", "blue"), sizes=("medium",), target="black"),
    pieces=load_piece_set("looney"),
)
CAMERA: Camera = look_at(np.array([60.0, -180.0, 700.0]), np.zeros(3))
STAGE = Stage(
    table=Surface("paper", (0.5, 0.5, 0.46), 0.05),
    lamps=(Lamp((300.0, 200.0, 1200.0), 0.7),),
    sensor=Sensor(blur_px=0.7, vignetting=0.0),
    seed=3,
)


@pytest.fixture
def open_ground() -> Setup:
    """The table, for Ice Boule."""
    return SETUP


@pytest.fixture
def photo_of():
    """photo_of(*hypotheses): a picture of red pieces there; on another board of the same size with
    `setup`.
    """

    def draw(*guesses, setup: Setup = SETUP, see_through: bool = False) -> Photo:
        pieces = tuple(ScenePiece(guess.solid, "red", see_through=see_through) for guess in guesses)
        return Photo(
            Renderer(setup, CAMERA).picture(Scene(STAGE, pieces), np.random.default_rng(2)),
            CAMERA,
            setup,
        )

    return draw


@pytest.fixture(scope="session")
def tables():
    """Photographs of made-up tables that no network was taught on, and what lies there."""
    out = []
    for kind, seed in (("boule", 60001), ("storm", 60002), ("zamboni", 60001)):
        case = random_case(kind, seed)
        picture = Renderer(case.setup, case.camera).picture(
            case.scene(), np.random.default_rng(seed)
        )
        there = [
            Hypothesis(case.setup.pieces[one.size], one.pose, *_stands_at(one), one.heading_deg)
            for one in case.layout.placed
            if one.pose != "leaning" and not one.on_target
        ]
        out.append((Photo(picture, locate(picture, case.setup), case.setup), there))
    return out


def _stands_at(one):
    corners = one.piece.solid.vertices_mm[:, :2]
    return (corners[:4] if one.pose == "upright" else corners[1:3]).mean(axis=0)
