"""Hand-held phone photographs of a mat, with exact gaps: a sample, and test data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec
import numpy as np

from simulation.generate.cases import Case, truth_document
from simulation.generate.layouts import Layout, random_layout
from simulation.generate.tables import nearest_view_mm
from simulation.render.renderer import Renderer
from simulation.render.scene import Lamp, Sensor, Stage, Surface, look_at
from table.json_data import JsonObject
from table.observation import Camera
from table.table_config import Lens, Setup
from vision.cameras.frame import Image

PHONE = Lens(
    width=2016,
    height=1512,
    matrix=((1520.0, 0.0, 1012.0), (0.0, 1520.0, 751.0), (0.0, 0.0, 1.0)),
    distortion=(0.035, -0.02, 0.0003, -0.0002, 0.0),
)
"""A phone's main camera after its own distortion correction, with the view of a 26 mm lens on film.
"""
PHONE_FILM_MM = 26
WOOD, PAPER = Surface("wood", (0.30, 0.18, 0.10)), Surface("paper", (0.62, 0.62, 0.60), 0.04)
EDGE_PX = 25.0
"""Least distance of the fiducials from the edge of the picture."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawnPhotograph:
    """A photograph (h, w, 3) and its truth, in the form of a random case's `truth.json`."""

    image: Image
    setup: Setup
    truth: JsonObject


def draw_photograph(
    mat: Setup, seed: int, tilt_deg: float = 28.0, pieces: bool = True
) -> DrawnPhotograph:
    """A photograph of thrown pieces on a mat; `mat` gives the pieces in play, its lens is replaced.

    Without `pieces` the mat is empty.
    """
    rng = np.random.default_rng([seed, 77])
    setup = msgspec.structs.replace(mat, camera=PHONE)
    layout = random_layout(setup, rng) if pieces else Layout(())
    middle = setup.outline_mm().mean(axis=0)
    stage = Stage(
        table=WOOD,
        mat=PAPER,
        lamps=(Lamp((float(middle[0]) - 500.0, float(middle[1]) + 700.0, 1500.0), 0.5, 180.0),),
        ambient=0.45,
        sensor=Sensor(exposure=(1.05, 1.05, 1.0)),
        seed=seed,
    )
    case = Case(setup, _by_hand(setup, tilt_deg, rng), stage, layout, (), ())
    image = Renderer(setup, case.camera).picture(case.scene(), rng)
    return DrawnPhotograph(image, setup, truth_document(case))


def _by_hand(setup: Setup, tilt_deg: float, rng: np.random.Generator) -> Camera:
    """A camera on the players' side that sees all fiducials from the least distance."""
    corners = np.array([marker.corners_mm for marker in setup.fiducials.markers]).reshape(-1, 2)
    places = np.column_stack([corners, np.zeros(len(corners))])
    target = np.array([*corners.mean(axis=0), 0.0])
    tilt, sideways = math.radians(tilt_deg), math.radians(float(rng.uniform(-25, 25)))
    back = np.array(
        [math.sin(tilt) * math.sin(sideways), -math.sin(tilt) * math.cos(sideways), math.cos(tilt)]
    )
    roll = float(rng.normal(0, 3))
    distance_mm = nearest_view_mm(
        setup.camera, places, target, back, roll, EDGE_PX, np.arange(300.0, 5000.0, 20.0)
    )
    return look_at(target + distance_mm * back, target, roll)
