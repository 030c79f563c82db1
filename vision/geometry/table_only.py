"""Paint over everything in a picture but the table, so that no rooms or faces are passed on.

The picture keeps its size: a cropped copy of a difficult picture was read differently.
"""

from __future__ import annotations

import cv2
import numpy as np

from table.observation import Camera
from table.solids import Array, convex_hull
from table.table_config import Setup
from vision.cameras.frame import Image
from vision.geometry.camera_model import project

MARGIN_MM = 25.0
"""Margin around play area and fiducials that stays in the picture."""
PAINT = 128
"""Grey level of the painted area."""
CORNERS, STEPS = 16, 24
"""Number of points on the rounded corners of the margin, and on each of its edges."""
FAR_PX = 20_000
"""Limit of pixel coordinates outside the picture: OpenCV takes 32-bit integers."""
CARD = 1.6
"""Side of a fiducial's card, white border included, relative to the fiducial."""


def table_only(image: Image, camera: Camera, setup: Setup) -> Image:
    """The part of an image (h, w, 3) that shows the table; the rest is grey.

    The table is the play area, fiducials and dice corner with a margin, up to the height of the
    tallest piece.
    """
    mask = np.zeros(image.shape[:2], np.uint8)
    outline_px = np.clip(table_px(camera, setup), -FAR_PX, FAR_PX)
    cv2.fillConvexPoly(mask, np.round(outline_px).astype(np.int32), 1)
    return np.where(mask[..., None] > 0, image, np.uint8(PAINT))


def table_px(camera: Camera, setup: Setup) -> Array:
    """The outline of the table with its margin in the picture, (n, 2) pixels, convex."""
    flat = [setup.outline_mm(), *(marker.around_mm(CARD) for marker in setup.fiducials.markers)]
    if setup.dice_corner is not None:
        flat.append(np.array(setup.dice_corner.outline_mm))
    turns = np.radians(np.arange(CORNERS) * 360 / CORNERS)
    circle = MARGIN_MM * np.column_stack([np.cos(turns), np.sin(turns)])
    grown = convex_hull((np.vstack(flat)[:, None] + circle).reshape(-1, 2))
    part = np.linspace(0, 1, STEPS, endpoint=False)[:, None, None]
    edges = (grown + part * (np.roll(grown, -1, axis=0) - grown)).reshape(-1, 2)
    tallest_mm = max(max(size.height_mm, size.base_mm) for size in setup.sizes)
    heights_mm = (0.0, tallest_mm, setup.fiducials.z_mm)
    points = [np.column_stack([edges, np.full(len(edges), z_mm)]) for z_mm in heights_mm]
    return convex_hull(project(np.vstack(points), camera, setup.camera))
