"""Least distance between two solids in 3-D."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from table.solids import EDGES, FACES, Array, Solid

TOUCHING_MM = 1e-9
"""Solids nearer than this touch: floating-point error is no smaller."""

_STARTS, _ENDS = np.array(EDGES).T
_TRIANGLES = np.array(
    [(face[0], face[k], face[k + 1]) for face in FACES for k in range(1, len(face) - 1)]
)


@dataclass(frozen=True, slots=True, eq=False)
class Clearance:
    """Least distance `mm` between two solids, and the nearest points `a_mm`, `b_mm`, (3,)."""

    mm: float
    a_mm: Array
    b_mm: Array


def clearance(a: Solid, b: Solid) -> Clearance:
    """Least distance between two pyramids.

    0 where they touch or overlap; the points are then one common point.

    Convex solids that are apart are nearest at two edges, or at a vertex and the inside of a face;
    solids that share more than surface have an edge of one inside the other.  Where whole edges or
    faces are nearest, the points are one pair of many.
    """
    va, vb = a.vertices_mm, b.vertices_mm
    for inner, outer in ((va, vb), (vb, va)):
        common = _edge_inside(inner, outer)
        if common is not None:
            return Clearance(0.0, common, common)
    on_a, on_b = _edge_to_edge(va, vb)
    corner_a, face_b = _vertex_to_face(va, vb)
    corner_b, face_a = _vertex_to_face(vb, va)
    points_a, points_b = (
        np.concatenate([on_a, corner_a, face_a]),
        np.concatenate([on_b, face_b, corner_b]),
    )
    squared = np.square(points_a - points_b).sum(axis=1)
    nearest = int(squared.argmin())
    mm, point_a, point_b = float(np.sqrt(squared[nearest])), points_a[nearest], points_b[nearest]
    if mm <= TOUCHING_MM:
        return Clearance(0.0, point_a, point_a)
    return Clearance(mm, point_a, point_b)


def is_free(solid: Solid, others: Sequence[Solid], least_mm: float = 0.3) -> bool:
    """True if a solid is at least `least_mm` from all others."""
    around = solid.vertices_mm.mean(axis=0)
    reach = float(np.linalg.norm(solid.vertices_mm - around, axis=1).max())
    for other in others:
        middle = other.vertices_mm.mean(axis=0)
        apart = (
            float(np.linalg.norm(middle - around))
            - reach
            - float(np.linalg.norm(other.vertices_mm - middle, axis=1).max())
        )
        if apart < least_mm and clearance(solid, other).mm < least_mm:
            return False
    return True


def distance_slope(normal: Array, arm_mm: Array) -> Array:
    """Gradient (3,) of a distance in (x_mm, y_mm, heading_deg) of one of its solids.

    The distance opens along a unit vector (3,). The solid's nearest point is `arm_mm`, (2,) or
    (3,), from its centre of rotation.
    """
    turning = normal[1] * arm_mm[0] - normal[0] * arm_mm[1]
    return np.array([normal[0], normal[1], turning * math.pi / 180])


def _edge_inside(inner: Array, outer: Array) -> Array | None:
    """A point (3,) of an edge of `inner` strictly inside `outer`; both are vertices (5, 3)."""
    corners = outer[_TRIANGLES]
    normals = _cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    height = inner @ normals.T - (corners[:, 0] * normals).sum(axis=1)
    start, end = height[_STARTS], height[_ENDS]
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = start / (start - end)
    enters = np.where(start < 0, 0.0, crossing).max(axis=1)
    leaves = np.where(end < 0, 1.0, crossing).min(axis=1)
    edge = int(np.argmax(enters < leaves))
    if not enters[edge] < leaves[edge]:
        return None
    share = (enters[edge] + leaves[edge]) / 2
    point: Array = (1 - share) * inner[_STARTS[edge]] + share * inner[_ENDS[edge]]
    return point


def _edge_to_edge(va: Array, vb: Array) -> tuple[Array, Array]:
    """Nearest points of each edge of one and each of the other, (64, 3) twice.

    Source: Ericson, Real-Time Collision Detection, 5.1.9.

    The crossing of two lines is computed from cross products. A determinant of dot products loses
    all digits for edges parallel to 1e-6 rad. That is 5e-5 mm over the length of a piece.
    """
    start_a, start_b = va[_STARTS, None], vb[None, _STARTS]
    along_a, along_b = va[_ENDS, None] - start_a, vb[None, _ENDS] - start_b
    apart = start_b - start_a
    normal = _cross(along_a, along_b)
    length2_a, length2_b = (along_a * along_a).sum(axis=2), (along_b * along_b).sum(axis=2)
    sine2 = (normal * normal).sum(axis=2)
    share_a = (
        (_cross(apart, along_b) * normal).sum(axis=2) / np.where(sine2 > 0, sine2, 1.0)
    ).clip(0.0, 1.0)
    share_b = _share(share_a[..., None] * along_a - apart, along_b, length2_b)
    share_a = _share(apart + share_b[..., None] * along_b, along_a, length2_a)
    on_a, on_b = start_a + share_a[..., None] * along_a, start_b + share_b[..., None] * along_b
    return on_a.reshape(-1, 3), on_b.reshape(-1, 3)


def _share(point: Array, along: Array, length2: Array) -> Array:
    """Positions along the edges, 0 to 1, of the feet of `point`, relative to the edges' starts."""
    foot: Array = ((point * along).sum(axis=2) / length2).clip(0.0, 1.0)
    return foot


def _vertex_to_face(va: Array, vb: Array) -> tuple[Array, Array]:
    """Vertices of one and their feet on faces of the other, (n, 3) twice.

    Only vertices whose foot is inside the face.
    """
    corners = vb[_TRIANGLES]
    sides = np.roll(corners, -1, axis=1) - corners
    normals = _cross(sides[:, 0], sides[:, 1])
    inward = _cross(normals[:, None], sides)
    over = np.einsum("vtkx,tkx->vtk", va[:, None, None] - corners, inward)
    vertex, triangle = np.nonzero((over >= 0).all(axis=2))
    normal, point = normals[triangle], va[vertex]
    height = ((point - corners[triangle, 0]) * normal).sum(axis=1) / (normal * normal).sum(axis=1)
    return point, point - height[:, None] * normal


def _cross(a: Array, b: Array) -> Array:
    """Cross products over the last axis; for few vectors far faster than numpy.cross."""
    product: Array = a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]
    return product
