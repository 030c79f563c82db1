"""Synthetic views of the target through a known lens, with Gaussian noise, to test calibration."""

from __future__ import annotations

import math

import cv2
import numpy as np

from calibration.lens.views import View
from calibration.sheets.cards import TARGET_COLUMNS, TARGET_ROWS
from table.table_config import Lens
from vision.geometry.camera_model import Pose, project_posed, undistort

SQUARE_MM = 20.0


def random_lens(rng: np.random.Generator) -> Lens:
    """A typical camera: field of view 55 to 75 degrees, slightly off centre.

    With barrel or pincushion distortion.
    """
    width, height = ((1640, 1232), (1920, 1080), (2304, 1296))[int(rng.integers(3))]
    focal = float(width * rng.uniform(0.7, 0.95))
    matrix = (
        (focal, 0.0, width / 2 + float(rng.normal(0, 10))),
        (0.0, focal * float(rng.normal(1, 5e-4)), height / 2 + float(rng.normal(0, 10))),
        (0.0, 0.0, 1.0),
    )
    distortion = (
        float(rng.uniform(-0.1, 0.1)),
        float(rng.uniform(-0.05, 0.05)),
        float(rng.normal(0, 5e-4)),
        float(rng.normal(0, 5e-4)),
        0.0,
    )
    return Lens(width=width, height=height, matrix=matrix, distortion=distortion)


def wide_lens(rng: np.random.Generator) -> Lens:
    """A fisheye camera with a field of view of about 120 degrees from corner to corner."""
    width, height = 2304, 1296
    focal = float(rng.uniform(0.44, 0.52)) * width
    matrix = (
        (focal, 0.0, width / 2 + float(rng.normal(0, 10))),
        (0.0, focal, height / 2 + float(rng.normal(0, 10))),
        (0.0, 0.0, 1.0),
    )
    return Lens(
        width=width,
        height=height,
        matrix=matrix,
        distortion=(float(rng.uniform(-0.03, 0.08)), -0.01, 0.002, 0.0),
        model="fisheye",
    )


def random_pose(lens: Lens, rng: np.random.Generator, most_tilt_deg: float = 45.0) -> Pose:
    """A pose (rotation vector, translation mm) like those of a hand-held target.

    Wholly in the image, near, tilted to any side.
    """
    corners = SQUARE_MM * np.array(
        [(x, y, 0.0) for x in (0, TARGET_COLUMNS) for y in (0, TARGET_ROWS)]
    )
    middle = corners.mean(axis=0)
    while True:
        tilt, side, turn = (
            math.radians(rng.uniform(0, most_tilt_deg)),
            rng.uniform(0, 2 * math.pi),
            rng.normal(0, 0.25) + rng.integers(2) * math.pi / 2,
        )
        axis = tilt * np.array([math.cos(side), math.sin(side), 0.0])
        rotation = np.asarray(cv2.Rodrigues(axis)[0]) @ np.asarray(
            cv2.Rodrigues(np.array([0.0, 0.0, turn]))[0]
        )
        away = float(rng.uniform(260, 520))
        at_px = (rng.uniform(-0.7, 0.7, 2) + 1) / 2 * (lens.width, lens.height)
        shift = away * np.append(undistort(at_px[None], lens)[0], 1.0) - rotation @ middle
        vector = np.asarray(cv2.Rodrigues(rotation)[0], float).reshape(3)
        flat, _ = project_posed(corners, (vector, shift), lens)
        if (flat > 8).all() and (flat < np.array([lens.width, lens.height]) - 8).all():
            return vector, shift


def simulated_view(
    name: str, lens: Lens, pose: Pose, noise_px: float, rng: np.random.Generator
) -> View:
    """All corners of the target from a pose, each coordinate with noise of `noise_px`, 1 sigma."""
    target = SQUARE_MM * np.array(
        [(x, y) for y in range(1, TARGET_ROWS) for x in range(1, TARGET_COLUMNS)], float
    )
    flat, _ = project_posed(np.column_stack([target, np.zeros(len(target))]), pose, lens)
    return View(name, target, flat + rng.normal(0, noise_px, flat.shape))


def simulated_views(
    lens: Lens, count: int, noise_px: float, rng: np.random.Generator
) -> tuple[View, ...]:
    """Views from random poses."""
    return tuple(
        simulated_view(f"{index:02d}.jpg", lens, random_pose(lens, rng), noise_px, rng)
        for index in range(count)
    )
