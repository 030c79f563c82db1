"""A piece that may be there, as the few numbers that are fitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from table.pieces import PieceSize
from table.solids import FACES, REPEATS_DEG, Array, Pose, Solid, convex_hull, lying, tipped, upright

STEPS = np.array([0.05, 0.05, 0.2, 0.5])
"""Differences for derivatives by a hypothesis's parameters: mm, mm, degrees, degrees."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A piece at a place; `tilt_deg` is how far a leaning one is tipped up about its base edge, `z_mm` the height of what it
    stands on."""

    size: PieceSize
    pose: Pose
    x_mm: float
    y_mm: float
    heading_deg: float
    tilt_deg: float = 0.0
    z_mm: float = 0.0

    @property
    def solid(self) -> Solid:
        if self.pose == "upright":
            return upright(self.size, self.x_mm, self.y_mm, self.heading_deg, self.z_mm)
        flat = lying(self.size, self.x_mm, self.y_mm, self.heading_deg, self.z_mm)
        if self.pose == "lying":
            return flat
        return tipped(flat, np.array([self.x_mm, self.y_mm, self.z_mm]), self.heading_deg, self.tilt_deg)

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
        """The same piece elsewhere."""
        x, y, heading, *tilt = (float(value) for value in parameters)
        return replace(self, x_mm=x, y_mm=y, heading_deg=heading, tilt_deg=tilt[0] if tilt else 0.0)


def vertices_mm(guess: Hypothesis, parameters: Array) -> Array:
    """Vertices (m, 5, 3) of the hypothesis elsewhere, at m rows of parameters (m, p) together."""
    x, y, heading = parameters[:, :3].T
    tilt = np.radians(parameters[:, 3]) if guess.pose == "leaning" else np.zeros(len(parameters))
    local = _at_origin(guess.size, guess.pose)
    (rise, run), (s, c) = ((np.sin(turn)[:, None], np.cos(turn)[:, None]) for turn in (tilt, np.radians(heading)))
    ahead, up = local[:, 0] * run - local[:, 2] * rise, local[:, 0] * rise + local[:, 2] * run
    columns = (x[:, None] + c * ahead - s * local[:, 1], y[:, None] + s * ahead + c * local[:, 1], guess.z_mm + up)
    return np.stack(columns, axis=2)


@cache
def _at_origin(size: PieceSize, pose: Pose) -> Array:
    return (upright if pose == "upright" else lying)(size, 0.0, 0.0, 0.0).vertices_mm


def cast_down(points_mm: Array, eye_mm: Array) -> Array:
    """Central projection (..., 2) of points (..., 3) from the eye on to z = 0."""
    stretch = eye_mm[2] / (eye_mm[2] - points_mm[..., 2:])
    flat: Array = eye_mm[:2] + (points_mm[..., :2] - eye_mm[:2]) * stretch
    return flat


def silhouette(solid: Solid, eye_mm: Array) -> Array:
    """Outline (n, 2), counter-clockwise, of a solid cast down from the eye on to z = 0."""
    return convex_hull(cast_down(solid.vertices_mm, eye_mm))


def visible_faces(solid: Solid, eye_mm: Array) -> list[tuple[int, ...]]:
    """Faces that look towards the eye, counter-clockwise as the eye sees them."""
    corners = solid.vertices_mm[[face[:3] for face in FACES]]
    a = corners[:, 0]
    normals = _crossed(corners[:, 1] - a, corners[:, 2] - a)
    return [face for face, towards in zip(FACES, ((eye_mm - a) * normals).sum(axis=1), strict=True) if towards > 0]


def _crossed(a: Array, b: Array) -> Array:
    """Cross products of rows; NumPy's own is slow for a few."""
    return np.stack([a[:, i] * b[:, j] - a[:, j] * b[:, i] for i, j in ((1, 2), (2, 0), (0, 1))], axis=1)
