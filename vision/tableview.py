"""The photograph laid flat as fine as it is itself, in linear light: what fits before the ground are made in.

Solids are drawn in it by central projection from the camera's eye on to z = 0, so a fit needs no lens model: straight
edges are straight, and a table point (x, y, 0) is at a fixed place whatever the camera.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from table.solids import Array
from vision.light import Light, linear
from vision.photo import FlatView, Photo

LARGEST_PX = 2200
BLUR_PX = 0.9
"""Lens, pixel and interpolation together, measured on edges of fiducials."""


@dataclass(frozen=True, slots=True, eq=False)
class TableView(FlatView):
    """A flat view with its `light` (h, w, 3), linear."""

    light: Light
    eye_mm: Array
    blur_px: float
    """Standard deviation of the blur of an edge in this view."""

    def grid_mm(self, rows: slice = slice(None), columns: slice = slice(None)) -> tuple[Array, Array]:
        """Table x (1, w) and y (h, 1) of the pixels in a window."""
        h, w = self.light.shape[:2]
        x = self.left_mm + self.step_mm * np.arange(w, dtype=float)[columns]
        y = self.top_mm - self.step_mm * np.arange(h, dtype=float)[rows]
        return x[None, :], y[:, None]


def flatten(photo: Photo, like: TableView | None = None) -> TableView:
    """The area of a photograph, about as fine as the photograph at its finest, or as fine as `like`."""
    low, high = photo.area_mm
    step_mm = max(photo.finest_mm, float((high - low).max()) / LARGEST_PX) if like is None else like.step_mm
    at = photo.flat_map(step_mm)
    code = np.asarray(cv2.remap(photo.image, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.uint8)
    return TableView(code, float(low[0]), float(high[1]), step_mm, linear(code), photo.camera.eye_mm, BLUR_PX)
