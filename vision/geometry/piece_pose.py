"""Hypotheses: possible pieces, each with a few parameters that are fitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from table.pieces import PieceSize
from table.solids import FACES, REPEATS_DEG, Array, Pose, Solid, convex_hull, lying, tipped, upright

STEPS = np.array([0.05, 0.05, 0.2, 0.5])
"""Steps of numerical derivatives by a hypothesis's parameters: mm, mm, degrees, degrees."""
LEAST_TILT_DEG = 3.0
"""Least tilt of a leaning piece. Its support has some height, and its tip cannot be inside the
table.
"""
_CORNERS = np.array([face[:3] for face in FACES])
"""Three corners (f, 3) of each face."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A piece at a place.

    `tilt_deg` is the angle by which a leaning piece is tipped up about its base edge, `z_mm` the
    height of its support.
    """

    size: PieceSize
    pose: Pose
    x_mm: float
    y_mm: float
    heading_deg: float
    tilt_deg: float = 0.0
    z_mm: float = 0.0

    @property
    def solid(self) -> Solid:
        """The piece as a solid in the table's frame."""
        if self.pose == "upright":
            return upright(self.size, self.x_mm, self.y_mm, self.heading_deg, self.z_mm)
        flat = lying(self.size, self.x_mm, self.y_mm, self.heading_deg, self.z_mm)
        if self.pose == "lying":
            return flat
        return tipped(
            flat, np.array([self.x_mm, self.y_mm, self.z_mm]), self.heading_deg, self.tilt_deg
        )

    @property
    def middle_mm(self) -> Array:
        """Middle (2,), seen from straight above."""
        middle: Array = self.solid.vertices_mm[:, :2].mean(axis=0)
        return middle

    @property
    def parameters(self) -> Array:
        """(x_mm, y_mm, heading_deg), and tilt_deg of a leaning piece."""
        values = [self.x_mm, self.y_mm, self.heading_deg, self.tilt_deg]
        return np.array(values if self.pose == "leaning" else values[:3])

    def away_from(self, other: Hypothesis) -> Array:
        """Difference (3,) in x_mm, y_mm and heading_deg, the heading by the shorter way round."""
        apart, period_deg = self.parameters[:3] - other.parameters[:3], REPEATS_DEG[self.pose]
        apart[2] -= period_deg * round(apart[2] / period_deg)
        return apart

    def at(self, parameters: Array) -> Hypothesis:
        """The same piece with other parameters."""
        x, y, heading, *tilt = (float(value) for value in parameters)
        return replace(self, x_mm=x, y_mm=y, heading_deg=heading, tilt_deg=tilt[0] if tilt else 0.0)


def vertices_mm(guess: Hypothesis, parameters: Array) -> Array:
    """Vertices (m, 5, 3) of the hypothesis for m rows of parameters (m, p)."""
    with_tilt = (
        parameters
        if guess.pose == "leaning"
        else np.column_stack([parameters, np.zeros(len(parameters))])
    )
    return pose_vertices(at_origin(guess.size, guess.pose), with_tilt, np.array(guess.z_mm))


def pose_vertices(local_mm: Array, parameters: Array, z_mm: Array) -> Array:
    """Vertices (..., 5, 3) of pieces, from their vertices `at_origin`.

    `parameters` (..., 4) are x_mm, y_mm, heading_deg and tilt_deg, `z_mm` (...) the height of the
    support.
    """
    x, y, heading, tilt = np.moveaxis(parameters, -1, 0)[..., None]
    rise, run, s, c = (of(np.radians(turn)) for turn in (tilt, heading) for of in (np.sin, np.cos))
    along, across, over = np.moveaxis(local_mm, -1, 0)
    ahead, up = along * run - over * rise, along * rise + over * run
    return np.stack(
        (x + c * ahead - s * across, y + s * ahead + c * across, z_mm[..., None] + up), axis=-1
    )


@cache
def at_origin(size: PieceSize, pose: Pose) -> Array:
    """Vertices (5, 3) of a piece at the table's origin that points along x.

    A leaning piece is not tipped up yet.
    """
    return (upright if pose == "upright" else lying)(size, 0.0, 0.0, 0.0).vertices_mm


def project_to_table(points_mm: Array, eye_mm: Array) -> Array:
    """Central projection (..., 2) of points (..., 3) from the eye on to z = 0."""
    stretch = eye_mm[2] / (eye_mm[2] - points_mm[..., 2:])
    flat: Array = eye_mm[:2] + (points_mm[..., :2] - eye_mm[:2]) * stretch
    return flat


def silhouette(solid: Solid, eye_mm: Array) -> Array:
    """Outline (n, 2), counter-clockwise, of a solid projected from the eye to z = 0."""
    return convex_hull(project_to_table(solid.vertices_mm, eye_mm))


def seen_middle_mm(solid: Solid, eye_mm: Array) -> Array:
    """Centroid (2,) of a solid's silhouette, projected from the eye to z = 0."""
    outline = silhouette(solid, eye_mm)
    start, ends = outline[0], outline - outline[0]
    a, b = ends[1:-1], ends[2:]
    areas = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    middle: Array = start + (areas[:, None] * (a + b)).sum(axis=0) / (3 * areas.sum())
    return middle


def move_silhouette_to(guess: Hypothesis, middle_mm: Array, eye_mm: Array) -> Hypothesis:
    """The piece, moved a short way so that its silhouette has its centroid at `middle_mm` (2,)."""
    off_mm = middle_mm - seen_middle_mm(guess.solid, eye_mm)
    return guess.at(guess.parameters + np.append(off_mm, 0.0))


def visible_faces(solid: Solid, eye_mm: Array) -> list[tuple[int, ...]]:
    """Faces that look towards the eye, counter-clockwise as the eye sees them."""
    return [face for face, looks in zip(FACES, facing_mask(solid, eye_mm), strict=True) if looks]


def facing_mask(solid: Solid, eye_mm: Array) -> NDArray[np.bool_]:
    """Mask of a solid's FACES (f,) that look towards the eye."""
    a, b, c = np.moveaxis(solid.vertices_mm[_CORNERS], 1, 0)
    return np.asarray(((eye_mm - a) * _cross(b - a, c - a)).sum(axis=1) > 0)


def _cross(a: Array, b: Array) -> Array:
    """Cross products of rows; NumPy's own is slow for a few."""
    return np.stack(
        [a[:, i] * b[:, j] - a[:, j] * b[:, i] for i, j in ((1, 2), (2, 0), (0, 1))], axis=1
    )
