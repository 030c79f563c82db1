"""Views of the target through a lens that is known, to measure calibration by: corners with Gaussian noise."""

from __future__ import annotations

import math

import cv2
import numpy as np

from calibration.lens_views import View
from calibration.sheets_cards import TARGET_COLUMNS, TARGET_ROWS
from table.setup import Lens
from table.solids import Array

SQUARE_MM = 20.0


def random_lens(rng: np.random.Generator) -> Lens:
    """A camera as they are sold: 55 to 75 degrees wide, a little off centre, with barrel or pincushion distortion."""
    width, height = ((1640, 1232), (1920, 1080), (2304, 1296))[int(rng.integers(3))]
    focal = float(width * rng.uniform(0.7, 0.95))
    matrix = (
        (focal, 0.0, width / 2 + float(rng.normal(0, 10))),
        (0.0, focal * float(rng.normal(1, 5e-4)), height / 2 + float(rng.normal(0, 10))),
        (0.0, 0.0, 1.0),
    )
    distortion = float(rng.uniform(-0.1, 0.1)), float(rng.uniform(-0.05, 0.05)), float(rng.normal(0, 5e-4)), float(rng.normal(0, 5e-4)), 0.0
    return Lens(width=width, height=height, matrix=matrix, distortion=distortion)


def random_pose(lens: Lens, rng: np.random.Generator, most_tilt_deg: float = 45.0) -> tuple[Array, Array]:
    """A pose (rotation vector, translation mm) as a player holds the target: wholly in the picture, near, tilted to any side."""
    corners = SQUARE_MM * np.array([(x, y, 0.0) for x in (0, TARGET_COLUMNS) for y in (0, TARGET_ROWS)])
    middle = corners.mean(axis=0)
    while True:
        tilt, side, turn = (
            math.radians(rng.uniform(0, most_tilt_deg)),
            rng.uniform(0, 2 * math.pi),
            rng.normal(0, 0.25) + rng.integers(2) * math.pi / 2,
        )
        axis = tilt * np.array([math.cos(side), math.sin(side), 0.0])
        rotation = np.asarray(cv2.Rodrigues(axis)[0]) @ np.asarray(cv2.Rodrigues(np.array([0.0, 0.0, turn]))[0])
        away = float(rng.uniform(260, 520))
        reach = away * np.array([lens.width / lens.matrix[0][0], lens.height / lens.matrix[1][1]]) / 2
        shift = np.append(rng.uniform(-0.7, 0.7, 2) * reach, away) - rotation @ middle
        vector = np.asarray(cv2.Rodrigues(rotation)[0], float).reshape(3)
        pixels, _ = cv2.projectPoints(corners.reshape(-1, 1, 3), vector, shift, np.array(lens.matrix), np.array(lens.distortion))
        flat = np.asarray(pixels).reshape(-1, 2)
        if (flat > 8).all() and (flat < np.array([lens.width, lens.height]) - 8).all():
            return vector, shift


def simulated_view(name: str, lens: Lens, pose: tuple[Array, Array], noise_px: float, rng: np.random.Generator) -> View:
    """All corners of the target from a pose, each coordinate with noise of `noise_px`, 1 sigma."""
    target = SQUARE_MM * np.array([(x, y) for y in range(1, TARGET_ROWS) for x in range(1, TARGET_COLUMNS)], float)
    points = np.column_stack([target, np.zeros(len(target))]).reshape(-1, 1, 3)
    pixels, _ = cv2.projectPoints(points, *pose, np.array(lens.matrix), np.array(lens.distortion))
    flat = np.asarray(pixels, float).reshape(-1, 2)
    return View(name, target, flat + rng.normal(0, noise_px, flat.shape))


def simulated_views(lens: Lens, count: int, noise_px: float, rng: np.random.Generator) -> tuple[View, ...]:
    """Views from random poses."""
    return tuple(simulated_view(f"{index:02d}.jpg", lens, random_pose(lens, rng), noise_px, rng) for index in range(count))
