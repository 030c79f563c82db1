"""Detect a piece under another by its rim, which sticks out in its own colour in oblique views."""

from __future__ import annotations

import numpy as np

from table.solids import Array, Solid
from vision.assignment.colour import FLOOR, LOOKS, MOST_APART, PIXELS, Body, colour_distances
from vision.geometry.rectified_view import Photo
from vision.geometry.srgb import linear
from vision.pose.region_likelihood import outside

CLEAR_PX = 1.0
"""Distance from an outline within which pixels mix both sides and are ignored."""
AROUND_PX, NOT_NEAR_PX = 13, 6
"""Largest and least distance from a piece at which the ground is sampled."""
LEAST_PX = 10
"""Least number of pixels of a rim that is evaluated."""
SHADED = 0.7
"""Light of the ground beside a piece, as a share of that farther off."""
CHROMA_SIGMA, LEVEL_SIGMA = 0.2, 0.6
"""Standard deviations of a surface about its visible surroundings, in natural logarithms."""


def rim_gain(above: Solid, below: Solid, body: Body, photo: Photo, occluders: list[Array]) -> float:
    """Log-likelihood ratio of the rim of a piece of colour `body` that sticks out under another.

    `below` is that piece, `above` the other. The alternatives are a part of the upper piece and the
    ground. `occluders` are outlines (n, 2) px of other pieces. 0 if nothing sticks out.
    """
    outer, inner = photo.silhouette(below), photo.silhouette(above)
    left, top = np.maximum(outer.min(axis=0).astype(int) - AROUND_PX, 0)
    right, bottom = outer.max(axis=0).astype(int) + AROUND_PX + 1
    code = photo.image[top:bottom, left:right]
    rows, columns = np.ogrid[top : top + code.shape[0], left : left + code.shape[1]]
    out, away = outside(columns, rows, outer), outside(columns, rows, inner)
    free = np.ones(code.shape[:2], bool)
    for outline in occluders:
        free &= outside(columns, rows, outline) > CLEAR_PX
    rim, ring = (
        free & (out < -CLEAR_PX) & (away > CLEAR_PX),
        free & (out > NOT_NEAR_PX) & (away > NOT_NEAR_PX),
    )
    if min(rim.sum(), ring.sum()) < LEAST_PX:
        return 0.0
    light = linear(code) / photo.paper
    seen, ground = light[rim], light[ring]
    of_body = colour_distances(seen, np.tile(np.median(ground, axis=0), (2, 1)), (body,))[:, 0]
    of_above, of_ground = (
        _distances(seen, light[away < -CLEAR_PX]),
        _distances(seen, SHADED * ground),
    )
    score, *others = (
        -0.5 * LOOKS * float(np.minimum(apart, MOST_APART).mean())
        for apart in (of_body, of_above, of_ground)
    )
    return score - max(others)


def _distances(seen: Array, known: Array) -> Array:
    """Squared distances (n,), in sigmas, of light (n, 3) from the nearest reference (m, 3)."""
    if not len(known):
        return np.full(len(seen), MOST_APART)
    apart = np.log(np.maximum(seen, 0) + FLOOR)[:, None] - np.log(
        np.maximum(known[:: len(known) // PIXELS + 1], 0) + FLOOR
    )
    level = apart.mean(axis=2)
    chroma = ((apart - level[..., None]) ** 2).sum(axis=2)
    distances: Array = (chroma / CHROMA_SIGMA**2 + (level / LEVEL_SIGMA) ** 2).min(axis=1)
    return distances
