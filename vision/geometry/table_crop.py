"""Cut a picture down to the table: rooms and faces around it do not travel with it."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from table.observation import Camera
from table.solids import Array, convex_hull
from table.table_config import Lens, Setup
from vision.cameras.frame import Image
from vision.geometry.camera_model import project

MARGIN_MM = 25.0
"""Room around play area and fiducials that is left in the picture."""
PAINT = 128
"""Grey level of what is painted over."""
LEAST_PX = 64
"""Shortest side of a picture that a lens may have."""
CORNERS, STEPS = 16, 24
"""Points on the rounded corners of the margin, and on each edge of it."""
CARD = 1.6
"""Size of a fiducial's card, white border included, relative to the fiducial."""


def cropped_to_table(image: Image, camera: Camera, setup: Setup) -> tuple[Image, Setup]:
    """What an image (h, w, 3) shows of the table, and the setup with its lens moved to that.

    The table is the play area, fiducials and dice corner with a margin, up to the height of the
    tallest piece. What is around it is cut away or painted over.
    """
    height, width = image.shape[:2]
    outline_px = table_px(camera, setup)
    low, high = _window(outline_px, setup.camera, width, height)
    mask = np.zeros((height, width), np.uint8)
    cv2.fillConvexPoly(mask, np.round(outline_px).astype(np.int32), 1)
    painted = np.where(mask[..., None] > 0, image, np.uint8(PAINT))
    part = np.ascontiguousarray(painted[low[1] : high[1], low[0] : high[0]])
    return part, msgspec.structs.replace(setup, camera=_moved(setup.camera, low, high))


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


def _window(
    outline_px: Array, lens: Lens, width: int, height: int
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Left top and right bottom of the part that is kept.

    The lens's middle is in it, as a lens needs it in its picture.
    """
    middle = np.array([lens.matrix[0][2], lens.matrix[1][2]])
    low = np.minimum(np.floor(outline_px.min(axis=0)), np.floor(middle) - 1)
    high = np.maximum(np.ceil(outline_px.max(axis=0)), np.ceil(middle) + 1) + 1
    size = np.array([width, height])
    low = np.clip(np.minimum(low, size - LEAST_PX), 0, None)
    high = np.minimum(np.maximum(high, low + LEAST_PX), size)
    return (int(low[0]), int(low[1])), (int(high[0]), int(high[1]))


def _moved(lens: Lens, low: tuple[int, int], high: tuple[int, int]) -> Lens:
    """The lens of a part of its picture: all is the same but where its middle is."""
    (fx, skew, cx), (zero, fy, cy), last = lens.matrix
    return msgspec.structs.replace(
        lens,
        width=high[0] - low[0],
        height=high[1] - low[1],
        matrix=((fx, skew, cx - low[0]), (zero, fy, cy - low[1]), last),
    )
