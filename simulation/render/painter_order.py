"""Painter's order of pieces, counters and tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from simulation.render.scene import Body, ScenePiece
from table.solids import FACES, Array

TOUCHING_MM = 1e-6


def draw_order(bodies: Sequence[Body], eye_mm: Array) -> list[Body]:
    """Bodies from the farthest to the nearest, so that each may be painted over those before it."""
    left = sorted(
        bodies, key=lambda body: -float(np.linalg.norm(body.vertices_mm.mean(axis=0) - eye_mm))
    )
    behind = _overlapping(left, eye_mm)
    waits_for = {
        one: {other for other in others if _may_hide(one, other, eye_mm)}
        for one, others in behind.items()
    }
    order: list[Body] = []
    while left:
        free = next((body for body in left if not waits_for[body]), left[0])
        left.remove(free)
        order.append(free)
        for others in waits_for.values():
            others.discard(free)
    return order


def _may_hide(front: Body, back: Body, eye_mm: Array) -> bool:
    """True if the first body may hide part of the second.

    It cannot if a piece's face separates them and the eye is on the second's side. Counters and
    tiles have one height and do not touch, so that their distances determine the order.
    """
    if not isinstance(front, ScenePiece) and not isinstance(back, ScenePiece):
        return False
    for piece, other in ((front, back), (back, front)):
        if not isinstance(piece, ScenePiece):
            continue
        for face in FACES:
            a, b, c = piece.vertices_mm[list(face[:3])]
            normal = np.cross(b - a, c - a)
            normal = normal / np.linalg.norm(normal)
            if ((other.vertices_mm - a) @ normal).min() >= -TOUCHING_MM and (
                (eye_mm - a) @ normal >= 0
            ) == (piece is front):
                return False
    return True


def _overlapping(bodies: Sequence[Body], eye_mm: Array) -> dict[Body, list[Body]]:
    """For each body, the others whose bounding spheres overlap its own in the picture."""
    if not bodies:
        return {}
    middles = np.array([body.vertices_mm.mean(axis=0) for body in bodies])
    radii = np.array(
        [
            float(np.linalg.norm(body.vertices_mm - middle, axis=1).max())
            for body, middle in zip(bodies, middles, strict=True)
        ]
    )
    distances = np.linalg.norm(middles - eye_mm, axis=1)
    directions = (middles - eye_mm) / distances[:, None]
    angles = np.arcsin(np.minimum(1.0, radii / distances))
    apart = np.linalg.norm(directions[:, None] - directions[None], axis=2)
    near = apart < 2 * np.sin(np.minimum(angles[:, None] + angles[None], math.pi) / 2)
    np.fill_diagonal(near, False)
    return {
        body: [bodies[int(index)] for index in np.flatnonzero(row)]
        for body, row in zip(bodies, near, strict=True)
    }
