"""Project table points into a camera's picture."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from table.observation import Camera
from table.solids import Array
from table.table_config import Setup
from vision.geometry.camera_model import project


def camera_projection(setup: Setup, camera: Camera) -> Callable[[Array], Array]:
    """Return the projection into a camera's picture, for drawing over it.

    It maps table points (n, 3) in mm to pixels (n, 2) of the full-size picture.
    """
    return partial(project, camera=camera, lens=setup.camera)
