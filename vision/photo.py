"""A photograph whose camera's place is known."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from table.observation import Camera
from table.setup import Setup
from table.solids import Array
from vision.camera import mm_per_pixel, project
from vision.frame import Image
from vision.light import Light, read_light

GRID_PX = 16
"""Lens and perspective bend so little that the map of a flat view is computed at every 16th pixel and interpolated."""


@dataclass(frozen=True, slots=True, eq=False)
class FlatView:
    """The table seen from straight above: pixel (i, j) of `code` (h, w, 3), R-G-B, shows x = left + j * step, y = top - i * step."""

    code: Image
    left_mm: float
    top_mm: float
    step_mm: float

    def pixels(self, points_mm: Array) -> Array:
        """Pixels (n, 2) as (column, row) of table points (n, 2)."""
        return np.column_stack([(points_mm[:, 0] - self.left_mm) / self.step_mm, (self.top_mm - points_mm[:, 1]) / self.step_mm])

    def millimetres(self, pixels: Array) -> Array:
        """Table points (n, 2) of pixels (n, 2) as (column, row)."""
        return np.array([self.left_mm, self.top_mm]) + self.step_mm * pixels * [1, -1]


@dataclass(frozen=True, slots=True, eq=False)
class Photo:
    """A picture, the camera's place and the table that it shows."""

    image: Image
    camera: Camera
    setup: Setup

    def pixels(self, points_mm: Array) -> Array:
        """Pixels (n, 2) of table points (n, 3), lens distortion included."""
        return project(points_mm, self.camera, self.setup.camera)

    def light(self, pixels: Array) -> Light:
        """Linear light (n, m, 3) at pixels (n, m, 2)."""
        return read_light(self.image, pixels)

    def flat(self, step_mm: float, margin_mm: float) -> FlatView:
        """The play area and what lies `margin_mm` around it laid flat, lens and perspective taken out."""
        outline = self.setup.outline_mm()
        low, high = outline.min(axis=0) - margin_mm, outline.max(axis=0) + margin_mm
        w, h = np.ceil((high - low) / step_mm).astype(int)
        columns, rows = (GRID_PX * (np.arange(-1, size // GRID_PX + 2) + 0.5) - 0.5 for size in (w, h))
        x, y = np.meshgrid(low[0] + columns * step_mm, high[1] - rows * step_mm)
        coarse = self.pixels(np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])).reshape(len(rows), len(columns), 2)
        # Pixels of the photograph that come to one of the view are averaged first: remap reads points.
        shrink = max(1, round(step_mm / min(mm_per_pixel(self.camera, self.setup.camera, place) for place in (*outline, outline.mean(axis=0)))))
        coarse = ((coarse + 0.5) / shrink - 0.5).astype(np.float32)
        every = cv2.resize(coarse, (GRID_PX * len(columns), GRID_PX * len(rows)), interpolation=cv2.INTER_LINEAR)
        at = every[GRID_PX : GRID_PX + h, GRID_PX : GRID_PX + w]
        image = self.image[: self.image.shape[0] // shrink * shrink, : self.image.shape[1] // shrink * shrink]
        small = cv2.resize(image, (image.shape[1] // shrink, image.shape[0] // shrink), interpolation=cv2.INTER_AREA)
        code = cv2.remap(small, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return FlatView(np.asarray(code, np.uint8), float(low[0]), float(high[1]), step_mm)
