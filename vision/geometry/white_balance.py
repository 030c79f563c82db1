"""White balance under the table's light, from the paper of the fiducials."""

from __future__ import annotations

import cv2
import numpy as np

from table.observation import Camera
from table.solids import Array
from table.table_config import Setup
from vision.cameras.frame import Image
from vision.geometry.camera_model import project
from vision.geometry.srgb import linear

BESIDE = 1.13
"""Side of the square on which the paper is sampled, relative to the printed one."""


def paper_light(image: Image, camera: Camera, setup: Setup) -> Array:
    """Linear light (3,) of white paper: median beside each seen fiducial, averaged over them."""
    levels = []
    for marker in setup.fiducials.markers:
        if marker.id not in camera.fiducials_seen:
            continue
        around = marker.around_mm(BESIDE)
        along = np.linspace(0, 1, 20, endpoint=False)[:, None]
        points = np.concatenate(
            [a + (b - a) * along for a, b in zip(around, np.roll(around, -1, axis=0), strict=True)]
        )
        pixels = project(
            np.column_stack([points, np.full(len(points), setup.fiducials.z_mm)]),
            camera,
            setup.camera,
        ).astype(np.float32)
        seen = cv2.remap(image, pixels[None, :, 0], pixels[None, :, 1], cv2.INTER_LINEAR)[0]
        levels.append(np.median(linear(np.asarray(seen, np.uint8)), axis=0))
    return np.asarray(np.maximum(np.mean(levels, axis=0), 0.02), float)
