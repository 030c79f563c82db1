"""The photograph laid flat: the table seen from straight above, in linear light, with the lens taken out.

Solids are drawn in it by central projection from the camera's eye on to z = 0, so a fit needs no lens model: straight
edges are straight, and a table point (x, y, 0) is at a fixed place whatever the camera.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from table.observation import Camera
from table.setup import Setup
from table.solids import Array, Solid
from vision.camera import mm_per_pixel, project
from vision.frame import Image
from vision.hypothesis import cast_down
from vision.light import Light, linear

MARGIN_MM = 45.0
"""How far beyond the outline strays are looked for."""
LARGEST_PX = 2200
GRID_PX = 12
"""Lens and perspective bend so little that the map is computed at every 12th pixel and interpolated."""


@dataclass(frozen=True, slots=True, eq=False)
class TableView:
    """`light` (h, w, 3) linear, `code` the same as sRGB bytes; pixel (i, j) shows x = left + j * step, y = top - i * step."""

    light: Light
    code: Image
    left_mm: float
    top_mm: float
    step_mm: float
    eye_mm: Array
    blur_px: float
    """Standard deviation of the blur of an edge in this view."""

    def pixels(self, points_mm: Array) -> Array:
        """View pixels (n, 2) as (column, row) of table points (n, 2)."""
        return np.column_stack([(points_mm[:, 0] - self.left_mm) / self.step_mm, (self.top_mm - points_mm[:, 1]) / self.step_mm])

    def grid_mm(self, rows: slice = slice(None), columns: slice = slice(None)) -> tuple[Array, Array]:
        """Table x (1, w) and y (h, 1) of the pixels in a window."""
        h, w = self.light.shape[:2]
        x = self.left_mm + self.step_mm * np.arange(w, dtype=float)[columns]
        y = self.top_mm - self.step_mm * np.arange(h, dtype=float)[rows]
        return x[None, :], y[:, None]

    def shadow_mm(self, solid: Solid) -> Array:
        """Where the vertices (5, 2) of a solid appear in the view: projected from the eye on to z = 0."""
        return cast_down(solid.vertices_mm, self.eye_mm)


def flatten(image: Image, camera: Camera, setup: Setup, like: TableView | None = None) -> TableView:
    """The part of the table around the play area, about as fine as the photograph at its finest, or as fine as `like`."""
    outline = setup.outline_mm()
    middle = outline.mean(axis=0)
    low, high = outline.min(axis=0) - MARGIN_MM, outline.max(axis=0) + MARGIN_MM
    finest = min(mm_per_pixel(camera, setup.camera, corner) for corner in (*outline, middle))
    step = max(finest, float((high - low).max()) / LARGEST_PX) if like is None else like.step_mm
    w, h = (np.ceil((high - low) / step)).astype(int)
    columns, rows = np.arange(-GRID_PX, w + 2 * GRID_PX, GRID_PX), np.arange(-GRID_PX, h + 2 * GRID_PX, GRID_PX)
    x, y = np.meshgrid(low[0] + columns * step, high[1] - rows * step)
    pixels = project(np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)]), camera, setup.camera)
    coarse = pixels.reshape(len(rows), len(columns), 2)
    full = np.einsum("ir,rcp,jc->ijp", _between(h, len(rows)), coarse, _between(w, len(columns)), optimize=True).astype(np.float32)
    flat = cv2.remap(image, full[..., 0], full[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    code: Image = np.asarray(flat, np.uint8)
    return TableView(linear(code), code, float(low[0]), float(high[1]), step, camera.eye_mm, BLUR_PX)


def _between(fine: int, coarse: int) -> Array:
    """Linear interpolation as a matrix (fine, coarse); entry k of the coarse grid is at (k - 1) * GRID_PX in the view."""
    at = np.arange(fine) / GRID_PX + 1
    return np.asarray(np.maximum(0.0, 1 - np.abs(at[:, None] - np.arange(coarse))))


BLUR_PX = 0.9
"""Lens, pixel and interpolation together, measured on edges of fiducials."""
