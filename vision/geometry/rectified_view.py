"""A photograph with a located camera, and its rectified views."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from table.boards import Chessboard
from table.observation import Camera
from table.solids import Array, Solid, convex_hull
from table.table_config import Setup
from vision.cameras.frame import Image
from vision.geometry.camera_model import mm_per_pixel, project
from vision.geometry.srgb import Light, sample_light
from vision.geometry.white_balance import paper_light

MARGIN_MM = 45.0
"""Margin around the outline in which pieces are searched for."""
THROWN_MM = 100.0
"""The same for a chessboard: a thrown piece that rolls off is still a throw."""
SUB_BITS = 4
"""Polygons are drawn to sixteenths of a pixel or cell."""
GRID_PX = 16
"""Sampling step of the map of a rectified view, interpolated between. Lens and perspective vary
slowly enough.
"""


@dataclass(frozen=True, slots=True, eq=False)
class FlatView:
    """Rectified view of the table from straight above.

    Pixel (i, j) of `code` (h, w, 3), R-G-B, shows x = left + j * step, y = top - i * step.
    """

    code: Image
    left_mm: float
    top_mm: float
    step_mm: float

    def pixels(self, points_mm: Array) -> Array:
        """Pixels (n, 2) as (column, row) of table points (n, 2)."""
        return np.column_stack(
            [
                (points_mm[:, 0] - self.left_mm) / self.step_mm,
                (self.top_mm - points_mm[:, 1]) / self.step_mm,
            ]
        )

    def polygon(self, outline_mm: Array) -> NDArray[np.int32]:
        """A polygon (n, 2) in OpenCV's fixed-point pixels with SUB_BITS."""
        return np.rint(self.pixels(outline_mm) * (1 << SUB_BITS)).astype(np.int32)[:, None]

    def inside(self, outline_mm: Array) -> NDArray[np.bool_]:
        """Mask (h, w) of the pixels inside a polygon (n, 2)."""
        mask = np.zeros(self.code.shape[:2], np.uint8)
        cv2.fillPoly(mask, [self.polygon(outline_mm)], 1, shift=SUB_BITS)
        return mask > 0

    def millimetres(self, pixels: Array) -> Array:
        """Table points (n, 2) mm of pixels (n, 2) as (column, row)."""
        return np.array([self.left_mm, self.top_mm]) + self.step_mm * pixels * [1, -1]


@dataclass(frozen=True, eq=False)
class Photo:
    """An image, the camera's pose and the table that it shows."""

    image: Image
    camera: Camera
    setup: Setup

    def pixels(self, points_mm: Array) -> Array:
        """Pixels (n, 2) of table points (n, 3), lens distortion included."""
        return project(points_mm, self.camera, self.setup.camera)

    def light(self, pixels: Array) -> Light:
        """Linear light (n, m, 3) at pixels (n, m, 2)."""
        return sample_light(self.image, pixels)

    @cached_property
    def paper(self) -> Array:
        """Linear light (3,) of white paper, measured beside the fiducials."""
        return paper_light(self.image, self.camera, self.setup)

    def silhouette(self, solid: Solid) -> Array:
        """Outline (n, 2) of a solid in the picture, counter-clockwise in (column, row)."""
        return convex_hull(self.pixels(solid.vertices_mm))

    @property
    def finest_mm(self) -> float:
        """Least size of a pixel on the table, over the play area."""
        outline = self.setup.outline_mm()
        return min(
            mm_per_pixel(self.camera, self.setup.camera, place)
            for place in (*outline, outline.mean(axis=0))
        )

    @property
    def area_mm(self) -> tuple[Array, Array]:
        """Lower left and upper right corner, (2,) each, of the play area with its margin."""
        outline = self.setup.outline_mm()
        margin_mm = THROWN_MM if isinstance(self.setup.board, Chessboard) else MARGIN_MM
        return outline.min(axis=0) - margin_mm, outline.max(axis=0) + margin_mm

    def flat_map(self, step_mm: float) -> NDArray[np.float32]:
        """Image coordinates (h, w, 2) of each pixel of the rectified area."""
        low, high = self.area_mm
        w, h = np.ceil((high - low) / step_mm).astype(int)
        return self.plane_map(np.array([low[0], high[1]]), step_mm, (int(w), int(h)))

    def plane_map(
        self, start_mm: Array, step_mm: float, size_px: tuple[int, int], z_mm: float = 0.0
    ) -> NDArray[np.float32]:
        """Image coordinates (h, w, 2) of each pixel of a view of the plane z.

        `size_px` is (w, h), `start_mm` (2,) the upper left.
        """
        w, h = size_px
        columns, rows = (
            GRID_PX * (np.arange(-1, size // GRID_PX + 2) + 0.5) - 0.5 for size in (w, h)
        )
        x, y = np.meshgrid(start_mm[0] + columns * step_mm, start_mm[1] - rows * step_mm)
        coarse = self.pixels(
            np.column_stack([x.ravel(), y.ravel(), np.full(x.size, z_mm)])
        ).reshape(len(rows), len(columns), 2)
        every = cv2.resize(
            coarse.astype(np.float32),
            (GRID_PX * len(columns), GRID_PX * len(rows)),
            interpolation=cv2.INTER_LINEAR,
        )
        return np.asarray(every[GRID_PX : GRID_PX + h, GRID_PX : GRID_PX + w], np.float32)

    def flat(self, step_mm: float) -> FlatView:
        """The rectified area, without lens distortion and perspective."""
        # Photograph pixels that fall on one view pixel are averaged first: remap samples single
        # points.
        shrink = max(1, round(step_mm / self.finest_mm))
        h, w = (size // shrink for size in self.image.shape[:2])
        small = cv2.resize(
            self.image[: h * shrink, : w * shrink], (w, h), interpolation=cv2.INTER_AREA
        )
        at = (self.flat_map(step_mm) + np.float32(0.5)) / np.float32(shrink) - np.float32(0.5)
        code = cv2.remap(
            small, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        low, high = self.area_mm
        return FlatView(np.asarray(code, np.uint8), float(low[0]), float(high[1]), step_mm)
