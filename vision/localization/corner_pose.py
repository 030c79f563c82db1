"""Camera pose from detected corners of fiducials: coarser than by edges, but robust.

The detector's corners lie about a pixel inside the true ones, by the same amount on all fiducials
of an image, and farther in if the image is blurred.  The middle of a fiducial is not affected: it
is right to 0.2 px, blur or not (docs/ROBUSTNESS.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from table.solids import Array
from table.table_config import Lens
from vision.geometry.camera_model import Pose, project_posed

CORNER_PX, MIDDLE_PX, SIZE_PX, COMMON_SIZE_PX = 0.35, 0.1, 0.12, 2.0
"""Noise of detected corners, 1 sigma per coordinate: independent, common to a fiducial's four,
outward from its middle, and outward in common to all fiducials of the image.
"""
WRONG_PX, WRONG_SHARE = 1.0, 0.01
"""Largest offset of a fiducial's middle, in px plus a share of a side. Beyond it the wrong edges
were measured.
"""
LEAST_SEEN = 0.02
"""Lower bound on the share of a displaced marker's squared displacement that remains in the
residuals; a guard for few markers.
"""
SINGLE_MARKER_FACTOR = 2.0
"""Variance factor for a single displaced marker, the usual case. The variance near it is larger
than if all markers shared the residual.
"""
STEPS, SETTLED_PX = 8, 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class PoseFit:
    """A pose fitted to n measurements, and its covariance (6, 6).

    `pose_derivatives` (6, n) are those of the pose by each measurement, `derivatives` (n, 10 + d)
    those of each measurement by pose and lens. `points_mm` (n, 3) are the measured points on the
    table, and `owner` (n,) their markers. `rms_px` is the residual.
    """

    pose: Pose
    covariance: Array
    pose_derivatives: Array
    derivatives: Array
    points_mm: Array
    owner: NDArray[np.intp]
    rms_px: float


def displaced_marker_covariance(
    squares: float,
    pose_derivatives: Array,
    design: Array,
    displaced: Array,
    squares_of: Callable[[Array], float],
) -> Array:
    """Covariance (6, 6) of a pose if its residuals come from displaced markers.

    A marker may be bent, moved, or measured at a wrong edge. `squares` is the sum of squared
    residuals in px^2. `displaced` (n, 2 m) is the change of the measurements by a displacement of
    each of m markers by a pixel. The pose follows the displaced marker, so that little of it
    remains in the residuals, with three markers less than with four.
    """
    moved = pose_derivatives @ displaced
    seen = sum(squares_of(column) for column in (displaced - design @ moved).T)
    return np.asarray(
        SINGLE_MARKER_FACTOR
        * squares
        / max(seen, LEAST_SEEN * displaced.shape[1])
        * moved[:6]
        @ moved[:6].T
    )


def fit_corners(points_mm: Array, pixels: Array, lens: Lens, pose: Pose) -> PoseFit:
    """Fit a pose to corners (4 n, 3) of n fiducials at pixels (4 n, 2), from a first guess.

    Generalized least squares.  The covariance is widened if the corners fit worse than their noise
    allows.
    """
    weight, outwards = _weight(pixels)
    found, size = np.concatenate(pose), 0.0
    for _ in range(STEPS):
        there, derivatives = project_posed(points_mm, (found[:3], found[3:]), lens)
        design = np.column_stack([derivatives[:, :6], outwards])
        normal = design.T @ weight @ design
        normal[6, 6] += COMMON_SIZE_PX**-2
        left = (pixels - there).ravel() - outwards * size
        right = design.T @ weight @ left
        right[6] -= size * COMMON_SIZE_PX**-2
        change = np.linalg.solve(normal, right)
        found, size = found + change[:6], size + float(change[6])
        left = left - design @ change
        if float(np.abs(design @ change).max()) < SETTLED_PX:
            break
    excess = max(1.0, float(left @ weight @ left) / (len(left) - len(change)))
    pose_derivatives = np.asarray(np.linalg.solve(normal, design.T @ weight), float)
    owner = np.repeat(np.arange(len(pixels) // 4), 8)
    rms = float(np.sqrt(np.mean(left**2)))
    displaced = np.asarray(np.kron(np.eye(len(pixels) // 4), np.tile(np.eye(2), (4, 1))), float)
    expected = MIDDLE_PX**2 + CORNER_PX**2 / 4
    squares = max(
        0.0,
        _middle_residual_squares(left)
        - expected
        * sum(
            _middle_residual_squares(column)
            for column in (displaced - design @ pose_derivatives @ displaced).T
        ),
    )
    covariance = np.linalg.inv(normal)[:6, :6] * excess + displaced_marker_covariance(
        squares, pose_derivatives, design, displaced, _middle_residual_squares
    )
    return PoseFit(
        (found[:3], found[3:]),
        covariance,
        pose_derivatives[:6],
        derivatives,
        np.repeat(points_mm, 2, axis=0),
        owner,
        rms,
    )


def wrong_edges_mask(there_px: Array, pixels: Array) -> NDArray[np.bool_]:
    """Mask (n,) of fiducials whose fitted edges contradict the detected corners, by their middles.

    `there_px` (4 n, 2) are the corners by the edges, `pixels` (4 n, 2) the detected ones.
    """
    quads = pixels.reshape(-1, 4, 2)
    off = np.linalg.norm((there_px.reshape(-1, 4, 2) - quads).mean(axis=1), axis=1)
    sides = np.linalg.norm(quads - np.roll(quads, 1, axis=1), axis=2).mean(axis=1)
    return np.asarray(off > WRONG_PX + WRONG_SHARE * sides)


def _middle_residual_squares(left: Array) -> float:
    """Sum of squared residuals of the markers' middles, from their corners' residuals (8 n,)."""
    return float(np.sum(left.reshape(-1, 4, 2).mean(axis=1) ** 2))


def _weight(pixels: Array) -> tuple[Array, Array]:
    """Inverse covariance (8 n, 8 n) of corners (4 n, 2), and their outward directions (8 n,)."""
    quads = pixels.reshape(-1, 4, 2)
    out = quads - quads.mean(axis=1, keepdims=True)
    out = out / np.linalg.norm(out, axis=2, keepdims=True)
    weight = np.zeros((pixels.size, pixels.size))
    middle = np.tile(np.eye(2), (4, 1))
    for index, outwards in enumerate(out.reshape(-1, 8)):
        covariance = (
            CORNER_PX**2 * np.eye(8)
            + MIDDLE_PX**2 * middle @ middle.T
            + SIZE_PX**2 * np.outer(outwards, outwards)
        )
        rows = slice(8 * index, 8 * index + 8)
        weight[rows, rows] = np.linalg.inv(covariance)
    return weight, out.reshape(-1)
