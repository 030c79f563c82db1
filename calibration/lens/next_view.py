"""Candidate next poses of the target: appearance of each, and its information about the lens."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.lens.models import lens_information
from calibration.lens.target import Target
from table.messages import Message, phrase, phrases
from table.solids import Array
from table.table_config import Lens
from vision.geometry.camera_model import Pose, project_posed, undistort

CELLS = (6, 4)
"""Columns and rows of the grid on which coverage of the picture is counted."""
WELL_COVERED = 0.75
"""Sufficient share of covered cells."""
PARTS = (
    (phrase("top left"), phrase("top centre"), phrase("top right")),
    (phrase("centre left"), phrase("centre"), phrase("centre right")),
    (phrase("bottom left"), phrase("bottom centre"), phrase("bottom right")),
)
"""The parts of a picture, from its top."""
AT_PARTS = (
    (phrase("at the top left"), phrase("at the top centre"), phrase("at the top right")),
    (phrase("at the centre left"), phrase("in the centre"), phrase("at the centre right")),
    (phrase("at the bottom left"), phrase("at the bottom centre"), phrase("at the bottom right")),
)
CENTRES = (0.2, 0.35, 0.5, 0.65, 0.8)
"""Candidate places of the target's middle, as shares of the picture's width and height."""
TILT_DEG = 35.0
"""Tilt of the target in tilted views."""
SIDES: dict[str, tuple[float, float]] = {
    "": (0.0, 0.0),
    "left": (0.0, 1.0),
    "right": (0.0, -1.0),
    "upper": (-1.0, 0.0),
    "lower": (1.0, 0.0),
}
"""Side of the target that is nearer to the camera, and the axis of rotation for it (x right, y down
in the image).
"""
SIDES_NEARER = {
    "left": phrase("with the left side closer to the camera"),
    "right": phrase("with the right side closer to the camera"),
    "upper": phrase("with the upper side closer to the camera"),
    "lower": phrase("with the lower side closer to the camera"),
}
DISTANCE_WORDS = {"near": phrase("close to the camera"), "far": phrase("farther away")}
DISTANCE_SHARES = {"near": 0.8, "far": 0.5}
"""Share of the image height that a target held straight fills."""
MARGIN = 0.01
"""Margin that the target's outline keeps from the image's edges, as a share of its size."""
GRID = (5, 7)
"""Numbers of corners across and down that represent the target when places are compared."""
CELL_WORTH = 0.25
"""Gain for a newly covered cell, in units of the log-determinant of the information."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A way to hold the target.

    `outline_px` (4, 2) are its corners in the image, clockwise from the target's own top left.
    `description` is text for the user. `information` (p, p) is its information about the lens (see
    `calibration.lens.models.information`). `cells` are the cells of the image that contain its
    corners.
    """

    outline_px: Array
    description: Message
    tilted: bool
    information: Array
    cells: NDArray[np.bool_]


def best_place(ways: Iterable[Place], known: Array, covered: NDArray[np.bool_]) -> Place | None:
    """The place with the largest gain: information beyond `known` (p, p), and newly covered cells.

    None if there is no place.
    """
    before = np.linalg.slogdet(known)[1]

    def worth(place: Place) -> float:
        return float(
            np.linalg.slogdet(known + place.information)[1]
            - before
            + CELL_WORTH * np.sum(place.cells & ~covered)
        )

    return max(ways, key=worth, default=None)


def places(target: Target, lens: Lens, free: int) -> list[Place]:
    """All ways to hold the target: wholly in the image, near or far, straight or tilted to a side.

    `free` is the number of lens parameters, from the first, that are estimated.
    """
    outline, corners = target.outline_mm, target.corners_mm
    across, down = (np.linspace(corners[:, k].min(), corners[:, k].max(), GRID[k]) for k in (0, 1))
    points = np.array([(x, y, 0.0) for y in down for x in across])
    more = len(corners) / len(points)
    found = []
    for (turned, side, away), centre in product(
        product((False, True), SIDES, DISTANCE_SHARES), product(CENTRES, CENTRES)
    ):
        pose = _pose(outline, lens, turned, side, DISTANCE_SHARES[away], centre)
        outline_px, _ = project_posed(np.column_stack([outline, np.zeros(4)]), pose, lens)
        size = np.array([lens.width, lens.height])
        if (outline_px < MARGIN * size).any() or (outline_px > (1 - MARGIN) * size).any():
            continue
        pixels, derivatives = project_posed(points, pose, lens)
        information = more * lens_information(derivatives[:, :6], derivatives[:, 6 : 6 + free])
        found.append(
            Place(
                outline_px,
                _words(outline_px, size, turned, side, away),
                bool(side),
                information,
                cells_of(pixels, lens.width, lens.height),
            )
        )
    return found


def cells_of(pixels: Array, width: int, height: int) -> NDArray[np.bool_]:
    """Mask (rows, columns) of an image's cells that contain pixels (n, 2)."""
    columns, rows = CELLS
    u, v = (np.clip((pixels + 0.5) / (width, height), 0, 1 - 1e-9) * CELLS).astype(int).T
    covered = np.zeros((rows, columns), bool)
    covered[v, u] = True
    return covered


def uncovered_parts(covered: NDArray[np.bool_]) -> list[Message]:
    """Names of the parts of the image, `top left`, ..., with uncovered cells (rows, columns)."""
    return sorted(
        {
            PARTS[down][across]
            for row, column in np.argwhere(~covered)
            for down, across in [_part((column + 0.5) / CELLS[0], (row + 0.5) / CELLS[1])]
        }
    )


def _pose(
    outline: Array, lens: Lens, turned: bool, side: str, share: float, centre: tuple[float, float]
) -> Pose:
    """Pose with the target's middle on the ray of a spot of the image.

    At its distance the target fills a share of the image height.
    """
    axis = math.radians(TILT_DEG) * np.array([*SIDES[side], 0.0])
    turn = np.array([0.0, 0.0, math.pi / 2 if turned else 0.0])
    rotation = np.asarray(cv2.Rodrigues(axis)[0]) @ np.asarray(cv2.Rodrigues(turn)[0])
    tall = float(np.ptp(outline[:, 0] if turned else outline[:, 1]))
    away = tall * lens.matrix[1][1] / (share * lens.height)
    ray = undistort(np.array(centre)[None] * (lens.width, lens.height), lens)[0]
    middle = rotation @ np.append(outline.mean(axis=0), 0.0)
    return (
        np.asarray(cv2.Rodrigues(rotation)[0], float).reshape(3),
        away * np.append(ray, 1.0) - middle,
    )


def _words(outline_px: Array, size: Array, turned: bool, side: str, away: str) -> Message:
    down, across = _part(*(outline_px.mean(axis=0) / size))
    tilt = (
        (phrase("tilted"), SIDES_NEARER[side])
        if side
        else (phrase("facing the camera straight on"),)
    )
    turn = phrase("on its side") if turned else phrase("upright")
    return phrases(DISTANCE_WORDS[away], AT_PARTS[down][across], turn, *tilt, joint=",")


def _part(column: float, row: float) -> tuple[int, int]:
    """Row and column of the part of the image at a share of its width and height."""
    return min(int(3 * row), 2), min(int(3 * column), 2)
