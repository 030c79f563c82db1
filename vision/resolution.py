"""Measure the blur of a photograph, and scale it down to its real resolution.

Edge measurements assume pixels about as fine as the visible detail. Errors of neighbouring pixels
are then independent, and the width of an edge is that of lens and sensor. An enlarged or soft
picture has finer pixels. At its original size its errors would be reported too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import msgspec
import numpy as np

from table.solids import Array
from table.table_config import Fiducials, Lens, Setup
from vision.cameras.frame import Image
from vision.localization.fiducial_edges import edge_widths
from vision.localization.markers import detect_markers, side_px

SHARP_PX, SOFT_PX = 0.6, 0.75
"""Blur of the edges of fiducials, 1 sigma. A picture with more than SOFT_PX is scaled down to
SHARP_PX.
"""
SEARCHED_PX = 2304
"""Longest side of the copy in which fiducials are searched for."""
FINEST_MM = 0.2
"""Least size of a pixel on the table. No gain in accuracy from finer ones was ever verified."""
ROUNDS = 3
"""Number of blur measurements. In a very soft picture, profiles are too short for the whole blur.
"""
LEAST_SHRINK = 1.05
"""Least factor by which a picture is scaled; a smaller one is not worth another interpolation."""
LEAST_SIDE_PX = 24.0
"""Least side of a fiducial after scaling, so that it can still be detected: 4 px a module."""


@dataclass(frozen=True, slots=True, eq=False)
class ScaledPhotograph:
    """A photograph (h, w, 3) at its real resolution, `shrink` times smaller than the original."""

    image: Image
    shrink: float


def scale_to_detail(image: Image, fiducials: Fiducials) -> ScaledPhotograph:
    """A photograph of fiducials, scaled down if its pixels are finer than its detail.

    Unchanged if it shows no fiducials.
    """
    searched = scale_down(image, max(1.0, max(image.shape[:2]) / SEARCHED_PX))
    whole_px = image.shape[1] / searched.shape[1]
    found = detect_markers(searched, fiducials).corners_px
    if not found:
        return ScaledPhotograph(image, 1.0)
    finest_mm = min(
        _side_mm(marker.corners_mm) / (side_px(found[marker.id]) * whole_px)
        for marker in fiducials.markers
        if marker.id in found
    )
    least_px = min(map(side_px, found.values())) * whole_px
    most = max(1.0, least_px / LEAST_SIDE_PX)
    shrink = min(most, max(1.0, FINEST_MM / finest_mm))
    smaller = scale_down(image, shrink)
    for _ in range(ROUNDS):
        by = smaller.shape[1] / searched.shape[1]
        quads = [(quad + 0.5) * by - 0.5 for quad in found.values()]
        blur_px = marker_blur_px(smaller, quads)
        if blur_px is None or blur_px <= SOFT_PX:
            break
        shrink = min(most, shrink * blur_px / SHARP_PX)
        smaller = scale_down(image, shrink)
    if shrink < LEAST_SHRINK:
        return ScaledPhotograph(image, 1.0)
    return ScaledPhotograph(smaller, image.shape[1] / smaller.shape[1])


def marker_blur_px(image: Image, quads: Sequence[Array]) -> float | None:
    """Median blur of the borders of fiducials with corners (4, 2) px, 1 sigma.

    None if none can be read. A single marker out of focus does not change the median.
    """
    widths = edge_widths(image, quads)
    return float(np.median(widths)) if len(widths) else None


def scale_down(image: Image, shrink: float) -> Image:
    """An image (h, w, 3), `shrink` times smaller in whole pixels; each is the mean of an area."""
    height, width = (max(1, round(side / shrink)) for side in image.shape[:2])
    return _resized(image, width, height)


def resized(image: Image, like: Image) -> Image:
    """A larger image (h, w, 3) of the same view, scaled down to the size of another."""
    return _resized(image, like.shape[1], like.shape[0])


def _resized(image: Image, width: int, height: int) -> Image:
    if (width, height) == image.shape[1::-1]:
        return image
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def scaled_setup(setup: Setup, image: Image) -> Setup:
    """A setup with its lens scaled to pictures of the size of `image` (h, w, 3)."""
    return msgspec.structs.replace(setup, camera=_scaled_lens(setup.camera, image))


def _scaled_lens(lens: Lens, image: Image) -> Lens:
    height, width = image.shape[:2]
    by_x, by_y = width / lens.width, height / lens.height
    (fx, _, cx), (_, fy, cy), last = lens.matrix
    covariance = lens.covariance
    if covariance:
        by = np.ones(len(covariance))
        by[:4] = by_x, by_y, by_x, by_y
        scaled = np.array(covariance) * np.outer(by, by)
        covariance = tuple(tuple(row) for row in scaled.tolist())
    return msgspec.structs.replace(
        lens,
        width=width,
        height=height,
        matrix=(
            (fx * by_x, 0.0, (cx + 0.5) * by_x - 0.5),
            (0.0, fy * by_y, (cy + 0.5) * by_y - 0.5),
            last,
        ),
        covariance=covariance,
    )


def _side_mm(corners_mm: Sequence[Sequence[float]]) -> float:
    corners = np.array(corners_mm)
    return float(np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).mean())
