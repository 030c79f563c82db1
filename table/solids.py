"""Exact solids of pyramids in the table frame.

A solid is its five vertices: the base corners 0 to 3, counter-clockwise seen from the tip, and the
tip, 4. All faces are flat and the solid is convex.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from table.pieces import PieceSize

Array = NDArray[np.float64]
Pose = Literal["upright", "lying", "leaning"]
POSES: tuple[Pose, ...] = ("upright", "lying", "leaning")
REPEATS_DEG: dict[Pose, float] = {"upright": 90.0, "lying": 360.0, "leaning": 360.0}
"""Rotation in degrees after which a piece looks the same."""

TIP = 4
BASE = (0, 3, 2, 1)
SIDES = ((0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4))
FACES: tuple[tuple[int, ...], ...] = (BASE, *SIDES)
"""Vertex numbers of each face, counter-clockwise seen from outside."""
EDGES = ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4))

CONTACT_MM = 0.05
"""A vertex below this height touches the board."""


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A pyramid in space: `vertices_mm` is (5, 3), table frame."""

    vertices_mm: Array

    @property
    def tip_mm(self) -> Array:
        """The tip, (3,)."""
        tip: Array = self.vertices_mm[TIP]
        return tip

    @property
    def base_mm(self) -> float:
        """The length of a base edge, mm."""
        return float(np.linalg.norm(self.vertices_mm[1] - self.vertices_mm[0]))

    def footprint_mm(self) -> Array:
        """Contact with the board, (n, 2), counter-clockwise.

        n is 4 upright, 3 lying, and 0 for a piece in the air.
        """
        low = self.vertices_mm[self.vertices_mm[:, 2] <= CONTACT_MM, :2]
        return convex_hull(low) if len(low) > 2 else low

    def plan_mm(self) -> Array:
        """Outline seen from straight above, (n, 2), counter-clockwise."""
        return convex_hull(self.vertices_mm[:, :2])


def upright(
    size: PieceSize, x_mm: float, y_mm: float, heading_deg: float, z_mm: float = 0.0
) -> Solid:
    """Place a piece on its base, the centre of which is at (x, y, z).

    One base edge faces the heading.
    """
    half = size.base_mm / 2
    corners = np.array(
        [
            [-half, -half, 0],
            [half, -half, 0],
            [half, half, 0],
            [-half, half, 0],
            [0, 0, size.height_mm],
        ]
    )
    return Solid(corners @ _about_z(heading_deg).T + (x_mm, y_mm, z_mm))


def lying(
    size: PieceSize, x_mm: float, y_mm: float, heading_deg: float, z_mm: float = 0.0
) -> Solid:
    """Place a piece on one face; the tip points along the heading.

    (x, y, z) is the middle of the base edge that touches.
    """
    half, slant = size.base_mm / 2, size.slant_mm
    back, up = size.base_mm * half / slant, size.base_mm * size.height_mm / slant
    corners = np.array(
        [[back, -half, up], [0, -half, 0], [0, half, 0], [back, half, up], [slant, 0, 0]]
    )
    return Solid(corners @ _about_z(heading_deg).T + (x_mm, y_mm, z_mm))


def leaning(size: PieceSize, rotation: Array, base_mm: Array) -> Solid:
    """Place a piece at any attitude.

    `rotation` (3, 3) rotates the upright piece, `base_mm` (3,) is the centre of its base.
    """
    return Solid(
        upright(size, 0.0, 0.0, 0.0).vertices_mm @ np.asarray(rotation, float).T
        + np.asarray(base_mm, float)
    )


def tipped(solid: Solid, pivot_mm: Array, heading_deg: float, up_deg: float) -> Solid:
    """Rotate a solid up about a horizontal axis perpendicular to the heading.

    The axis goes through `pivot_mm` (3,).
    """
    c, s = math.cos(math.radians(heading_deg)), math.sin(math.radians(heading_deg))
    ahead, left, up = np.array([c, s, 0.0]), np.array([-s, c, 0.0]), np.array([0.0, 0.0, 1.0])
    rise, run = math.sin(math.radians(up_deg)), math.cos(math.radians(up_deg))
    away = solid.vertices_mm - pivot_mm
    forward, height = away @ ahead, away[:, 2]
    sideways = (away @ left)[:, None] * left
    return Solid(
        pivot_mm
        + sideways
        + (forward * run - height * rise)[:, None] * ahead
        + (forward * rise + height * run)[:, None] * up
    )


def on_top(size: PieceSize, below: Solid, heading_deg: float) -> Solid:
    """Stack a piece over the tip of an equal upright piece.

    It is raised by the shell, measured along the axis.
    """
    x, y, tip_z = below.tip_mm
    return upright(
        size, float(x), float(y), heading_deg, float(tip_z) - size.height_mm + size.stack_step_mm
    )


def convex_hull(points: Array) -> Array:
    """Hull of (n, 2) points, counter-clockwise, without collinear points.

    Source: Andrew's monotone chain.
    """
    ordered = points[np.lexsort((points[:, 1], points[:, 0]))]

    def chain(side: Array) -> list[Array]:
        hull: list[Array] = []
        for point in side:
            while len(hull) > 1 and _turn(hull[-2], hull[-1], point) <= 1e-9:
                hull.pop()
            hull.append(point)
        return hull[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


def signed_area(outline: Array) -> float:
    """Area of a polygon (n, 2), in its unit squared.

    Positive for counter-clockwise, negative for clockwise.
    """
    x, y = outline.T
    return float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2)


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _about_z(degrees: float) -> Array:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
