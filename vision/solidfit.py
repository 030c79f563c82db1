"""Fitting one solid to the picture: where it is and how surely, for a given size and pose.

The view around the piece is explained by regions: each visible face has its own light, a slope, and a share of the ground
that shines through; each stretch of ground beside a silhouette edge is the empty table, dimmed by what shadow falls there.
Their light is found by weighted linear least squares, position and heading by Gauss-Newton on what remains (variable
projection, Golub and Pereyra 1973), and every region's own scatter weighs its pixels (after Hanek and Beetz 2004), so that
glitter in a face does not drown the quiet ground beside it.  Silhouette and inner edges count as much as their contrast.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from table.solids import Array, convex_hull
from vision.background import Background
from vision.hypothesis import Hypothesis, cast_down, silhouette, visible_faces
from vision.tableview import TableView

STEPS = np.array([0.04, 0.04, 0.25])
"""Differences for derivatives: mm, mm, degrees."""
BAND_MM = 2.5
"""Ground this close to the silhouette is explained with the piece."""
THROUGH_PRIOR = 0.25
"""What is expected of the share of ground light seen through a face."""
DIMMING_TRUST = 2e-3
"""Weight of the expected shadow against the pixels that show it."""
HUBER = 2.0
MOST_PIXELS = 1500
"""More pixels than this are thinned out: misfit, not noise, limits a fit, and time goes with pixels."""
START_SIGMA = np.array([1.2, 1.2, 6.0])
"""How well a start is known: mm, mm, degrees, 1 sigma; keeps a fit from wandering along a shadow."""
LOOK_MM2 = 2.8
"""Area of table whose pixels count as one independent look."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Pixels:
    """Some pixels of the view: table coordinates (n,), light and empty ground (n, 3) linear, and noise (n, 3), 1 sigma."""

    x_mm: Array
    y_mm: Array
    light: Array
    ground: Array
    noise: Array
    blur_mm: float
    eye_mm: Array
    values_a_look: float
    """Pixels and channels err together (texture, glitter, reflections): so many of these values are one independent look."""


def pixels_around(view: TableView, ground: Background, outline_mm: Array, band_mm: float, ignore: Mask | None = None) -> Pixels:
    """Pixels inside a convex outline (n, 2) or within `band_mm` of it, without those to `ignore` (h, w)."""
    low, high = outline_mm.min(axis=0) - band_mm, outline_mm.max(axis=0) + band_mm
    corners = view.pixels(np.array([[low[0], high[1]], [high[0], low[1]]]))
    h, w = view.light.shape[:2]
    (c0, r0), (c1, r1) = np.floor(corners[0]).astype(int), np.ceil(corners[1]).astype(int) + 1
    rows, columns = slice(max(0, r0), min(h, r1)), slice(max(0, c0), min(w, c1))
    x, y = np.broadcast_arrays(*view.grid_mm(rows, columns))
    keep = outside_mm(outline_mm, x, y).max(axis=0) < band_mm
    if ignore is not None:
        keep &= ~ignore[rows, columns]
    chosen = np.flatnonzero(keep)
    every = len(chosen) // MOST_PIXELS + 1
    chosen = chosen[::every]
    light = view.light[rows, columns].reshape(-1, 3)[chosen].astype(float)
    under = ground.light[rows, columns].reshape(-1, 3)[chosen].astype(float)
    level = np.maximum(np.maximum(light, under), 0.002)
    # Noise is even in sRGB levels, so dark pixels are the sharper in linear light.
    slope = np.where(level <= 0.0031308, 1 / 12.92, (2.4 / 1.055) * level ** (1.4 / 2.4)) / 255
    look = 3 * LOOK_MM2 / (every * view.step_mm**2)
    return Pixels(x.ravel()[chosen], y.ravel()[chosen], light, under, slope * ground.noise_levels, view.blur_px * view.step_mm, view.eye_mm, look)


def outside_mm(polygon_mm: Array, x_mm: Array, y_mm: Array) -> Array:
    """Signed distance (edges, ...) of points from the lines through a counter-clockwise polygon's edges, outside positive."""
    ahead = np.roll(polygon_mm, -1, axis=0) - polygon_mm
    ahead = ahead / np.maximum(np.hypot(*ahead.T), 1e-9)[:, None]
    extra = (slice(None),) + (None,) * np.ndim(x_mm)
    dx, dy = x_mm - polygon_mm[:, 0][extra], y_mm - polygon_mm[:, 1][extra]
    return np.asarray(ahead[:, 1][extra] * dx - ahead[:, 0][extra] * dy)


def _regions(guess: Hypothesis, where: Pixels) -> tuple[Array, Array, Array]:
    """Coverage of the faces (f, n), of ground beside each silhouette edge (e, n), and distance outside (n,) mm."""
    solid = guess.solid
    flat = cast_down(solid.vertices_mm, where.eye_mm)
    faces = np.stack(
        [ndtr(-outside_mm(flat[list(face)], where.x_mm, where.y_mm) / where.blur_mm).prod(axis=0) for face in visible_faces(solid, where.eye_mm)]
    )
    apart = outside_mm(convex_hull(flat), where.x_mm, where.y_mm)
    nearest = apart.argmax(axis=0)
    ground = np.maximum(0.0, 1 - faces.sum(axis=0)) * (nearest == np.arange(len(apart))[:, None])
    return faces, ground, apart.max(axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """The picture as a hypothesis explains it: residual (n, 3) linear light, membership (regions, n), light of the faces
    (f, 3), and `dimming` (2 e,), how much light is left on the ground beside each edge and how that changes outwards."""

    residual: Array
    membership: Array
    face_light: Array
    dimming: Array


def explain(guess: Hypothesis, where: Pixels, sigma: Array, dimming: Array | None = None) -> Explained:
    """Best light for every region of a hypothesis; `sigma` (n, 3) weighs the pixels.

    `dimming` is what is expected beside the edges: shadows take all colours alike, so the mean over the channels of an
    earlier explanation is a strong expectation for each of them.
    """
    faces, ground, outside = _regions(guess, where)
    f, e = len(faces), len(ground)
    if dimming is None or len(dimming) != 2 * e:
        dimming = np.concatenate([np.ones(e), np.zeros(e)])
    u, v = (where.x_mm - guess.x_mm) / guess.size.base_mm, (where.y_mm - guess.y_mm) / guess.size.base_mm
    ramp = ground * (np.maximum(outside, 0) / BAND_MM)
    expected = np.concatenate([np.zeros(3 * f), np.full(f, THROUGH_PRIOR), dimming])
    trust = np.concatenate([np.full(f, 1e-6), np.full(3 * f, 2e-2), np.full(2 * e, DIMMING_TRUST)])
    residual, solutions = np.empty_like(where.light), np.empty((3, 4 * f + 2 * e))
    for k in range(3):
        under = where.ground[:, k]
        columns = np.concatenate([faces, faces * u, faces * v, faces * under, ground * under, ramp * under])
        weighted = columns / sigma[:, k]
        target = (where.light[:, k] - expected @ columns) / sigma[:, k]
        normal = weighted @ weighted.T
        normal[np.diag_indices(len(normal))] += trust * np.maximum(np.diag(normal), 1e-9) + 1e-9
        step = np.linalg.solve(normal, weighted @ target)
        residual[:, k] = (target - step @ weighted) * sigma[:, k]
        solutions[k] = expected + step
    return Explained(residual, np.concatenate([faces, ground]), solutions[:, :f].T, solutions[:, 4 * f :].mean(axis=0))


def scatter(now: Explained, where: Pixels) -> Array:
    """Scatter (n, 3) of each pixel by the regions that it belongs to, the camera's noise included."""
    share = now.membership / np.maximum(now.membership.sum(axis=1, keepdims=True), 1e-9)
    spread = share @ np.minimum(now.residual**2, 25 * where.noise**2 + 9 * (share.T @ (share @ now.residual**2)))
    return np.asarray(np.sqrt(now.membership.T @ spread + where.noise**2))


def settle(guess: Hypothesis, where: Pixels) -> tuple[Explained, Array]:
    """A hypothesis explained with shadows and scatter (n, 3) that it shows itself."""
    sigma, dimming = where.noise, None
    for _ in range(3):
        now = explain(guess, where, sigma, dimming)
        sigma, dimming = scatter(now, where), now.dimming
    return explain(guess, where, sigma, dimming), sigma


def _cost(residual: Array, sigma: Array) -> float:
    size = np.abs(residual / sigma)
    return float(np.where(size < HUBER, 0.5 * size**2, HUBER * (size - 0.5 * HUBER)).sum())


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A hypothesis at its best place, and the picture as it explains it there."""

    guess: Hypothesis
    explained: Explained
    where: Pixels


def fit(start: Hypothesis, view: TableView, ground: Background, ignore: Mask | None = None, rounds: int = 12) -> Fit:
    """Gauss-Newton from a start that is right to START_SIGMA; pixels to `ignore` (h, w) are left out."""
    guess, damping = start, 1e-2
    for _ in range(rounds):
        where = pixels_around(view, ground, silhouette(guess.solid, view.eye_mm), BAND_MM, ignore)
        now, sigma = settle(guess, where)
        tether = where.values_a_look / START_SIGMA**2
        away = guess.parameters - start.parameters
        value = _cost(now.residual, sigma) + 0.5 * float(tether @ away**2)
        scaled = (now.residual / sigma).ravel()
        robust = np.sqrt(np.minimum(1.0, HUBER / np.maximum(np.abs(scaled), 1e-9)))
        columns = []
        for step, offset in zip(STEPS, np.diag(STEPS), strict=True):
            ahead = explain(guess.at(guess.parameters + offset), where, sigma, now.dimming)
            columns.append(((ahead.residual - now.residual) / sigma / step).ravel())
        jacobian = np.stack(columns, axis=1) * robust[:, None]
        information = jacobian.T @ jacobian
        gradient = jacobian.T @ (scaled * robust) + tether * away
        held = information + np.diag(tether)
        moved = np.zeros(3)
        while damping < 1e5:
            move = -np.linalg.solve(held + damping * np.diag(np.diag(held)), gradient)
            move *= min(1.0, 1.5 / max(float(np.hypot(*move[:2])), 1e-9), 8.0 / max(abs(float(move[2])), 1e-9))
            trial = guess.at(guess.parameters + move)
            away = trial.parameters - start.parameters
            if _cost(explain(trial, where, sigma, now.dimming).residual, sigma) + 0.5 * float(tether @ away**2) < value:
                guess, moved, damping = trial, move, damping * 0.3
                break
            damping *= 10
        if np.abs(moved[:2]).max() < 0.01 and abs(moved[2]) < 0.03:
            break
        damping = min(damping, 1.0)
    return Fit(guess, now, where)
