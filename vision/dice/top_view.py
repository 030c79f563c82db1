"""Rectify a dice corner in the plane of the tops of dice, and compute its gradients."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from table.solids import Array
from table.table_config import DiceCorner
from vision.geometry.camera_model import mm_per_pixel
from vision.geometry.rectified_view import Photo

NOISES, LEAST_STEP = 3.5, 0.008
"""Brightness step per pixel of a certain edge: multiple of the corner's usual step, and lower
bound.
"""
SMOOTH = 0.03
"""Width of the smoothing before differentiation, in edges of the die."""


@dataclass(frozen=True, slots=True, eq=False)
class TopView:
    """The corner in the plane of the die's top, (h, w, 3) 0..1, and its gradients along x and y.

    Gradients are (h, w, 3); 1 is a certain edge.  `start_mm` (2,) is the upper left, `step_mm` the
    size of a pixel.
    """

    shown: NDArray[np.float32]
    along_x: NDArray[np.float32]
    along_y: NDArray[np.float32]
    start_mm: Array
    step_mm: float

    def part(self, box: tuple[slice, slice]) -> TopView:
        """A part of the view: rows and columns."""
        rows, columns = box
        away_mm = self.step_mm * np.array([columns.start, -rows.start])
        return TopView(
            self.shown[box],
            self.along_x[box],
            self.along_y[box],
            self.start_mm + away_mm,
            self.step_mm,
        )

    def pixels(self, points_mm: Array) -> NDArray[np.float32]:
        """Pixels (n, 2), as (column, row), of points (n, 2) of the plane."""
        return np.asarray((points_mm - self.start_mm) / self.step_mm * (1, -1), np.float32)


def level_mm(photo: Photo, corner: DiceCorner) -> float:
    """Height of the surface that the die lies on."""
    return photo.setup.fiducials.z_mm if corner.z_mm is None else corner.z_mm


def top_view(photo: Photo, corner: DiceCorner, step_mm: float) -> TopView:
    """The corner, with room for a die that lies half over its edge."""
    outline, top_mm = np.array(corner.outline_mm), level_mm(photo, corner) + corner.edge_mm
    low, high = outline.min(axis=0) - corner.edge_mm, outline.max(axis=0) + corner.edge_mm
    w, h = np.ceil((high - low) / step_mm).astype(int)
    at = photo.plane_map(np.array([low[0], high[1]]), step_mm, (int(w), int(h)), top_mm)
    coarser = step_mm / mm_per_pixel(photo.camera, photo.setup.camera, outline.mean(axis=0))
    (u0, v0), (u1, v1) = (
        np.floor(at.min(axis=(0, 1)) - 3 * max(1.0, coarser)).astype(int),
        np.ceil(at.max(axis=(0, 1)) + 3 * max(1.0, coarser)).astype(int),
    )
    part = photo.image[max(0, v0) : max(1, v1), max(0, u0) : max(1, u1)]
    image = cv2.GaussianBlur(part, (0, 0), 0.4 * coarser) if coarser > 1.5 else part
    at -= np.maximum(0, [u0, v0]).astype(np.float32)
    shown = np.asarray(
        cv2.remap(image, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE),
        np.float32,
    )
    shown /= np.float32(255)
    smooth = cv2.GaussianBlur(shown, (0, 0), SMOOTH * corner.edge_mm / step_mm)
    along_x, along_y = (
        cv2.Scharr(smooth, cv2.CV_32F, 1, 0) / 32,
        -cv2.Scharr(smooth, cv2.CV_32F, 0, 1) / 32,
    )
    sure = np.float32(
        max(LEAST_STEP, NOISES * float(np.median(np.sqrt((along_x**2 + along_y**2).sum(axis=2)))))
    )
    return TopView(
        shown,
        np.asarray(along_x / sure, np.float32),
        np.asarray(along_y / sure, np.float32),
        np.array([low[0], high[1]]),
        step_mm,
    )
