"""Classify dice with a small network: what a die shows, and whether it lies flat.

Its input is a crop, rectified in the plane of the die's top with the top upright, and a mask of the
faces that would be visible.  Its output are the probabilities of 1 to 6 pips on top of a die that
lies flat there, and of anything else: a cocked die, one elsewhere, none.
`data/dice.onnx` is trained on rendered dice of all colours, see `training.dice_examples`.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from table.solids import Array
from vision.dice.cube_fit import Cube
from vision.dice.top_view import TopView
from vision.geometry.rectified_view import SUB_BITS
from vision.networks.keypoints import QUARTERS
from vision.networks.runtime import run_network
from vision.probability import softmax

CROP_PX, EDGE_PX = 64, 28
"""Side of the crop, and of a die's edge in it."""
CHANNELS, ANSWERS = 4, 7
"""Input: three of the image and the mask of faces.  Output: nothing that lies flat, and 1 to 6
pips.
"""
TOP, SIDE = 1.0, 0.5
"""Levels of the faces in the mask."""


def classify_cubes(cubes: Sequence[Cube], view: TopView) -> Array:
    """Probabilities (n, ANSWERS) for dice that may lie flat in a view.

    Test-time augmentation: mean of the logits over four rotations and their mirror images.
    """
    if not cubes:
        return np.zeros((0, ANSWERS))
    turned = np.stack(
        [
            crop(cube.moved(np.array([0.0, 0.0, quarter])), view)
            for cube in cubes
            for quarter in QUARTERS
        ]
    )
    logits = (
        run_network("dice", np.concatenate([turned, turned[:, :, ::-1]]))
        .astype(float)
        .reshape(2, len(cubes), len(QUARTERS), ANSWERS)
    )
    return np.asarray(softmax(logits.mean(axis=(0, 2))))


def crop(cube: Cube, view: TopView) -> NDArray[np.float32]:
    """Network input for a die that may lie flat, (CHANNELS, CROP_PX, CROP_PX) in 0..1."""
    right, up = cube.axes()
    ahead = (np.arange(CROP_PX) - (CROP_PX - 1) / 2) * cube.edge_mm / EDGE_PX
    places = cube.middle_mm + ahead[None, :, None] * right - ahead[:, None, None] * up
    at = view.pixels(places.reshape(-1, 2)).reshape(CROP_PX, CROP_PX, 2)
    seen = cv2.remap(
        view.shown, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    faces = np.zeros((CROP_PX, CROP_PX), np.float32)
    for face, level in [*((side, SIDE) for side in cube.sides()), (cube.top(), TOP)]:
        away = (face - cube.middle_mm) @ np.column_stack([right, -up]) * EDGE_PX / cube.edge_mm + (
            CROP_PX - 1
        ) / 2
        cv2.fillConvexPoly(
            faces, np.rint(away * (1 << SUB_BITS)).astype(np.int32), level, cv2.LINE_8, SUB_BITS
        )
    return np.concatenate([np.asarray(seen, np.float32).transpose(2, 0, 1), faces[None]])
