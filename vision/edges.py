"""The last tenth of a millimetre: a fitted solid is moved on to the edges that the picture shows.

Along every edge of the solid that can be seen, short profiles are read across it.  Each profile is explained as a blurred
step between two sloping sides; where the step is, and how surely, comes from the likelihood over its places.  Shadows,
reflections and glitter have no such step, or not where the other edges say, and are outvoted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr

from table.solids import EDGES, Array, Solid
from vision.solidfit import Hypothesis, Mask, visible_faces
from vision.tableview import TableView, cast_down

STEP_PX, PLACE_PX = 0.5, 0.25
"""Profiles are read, and places of the step tried, at these distances along the outward normal."""
REACH_PX, SIDE_PX = 3.0, 2.0
"""How far from the edge a step is looked for, and how much further a profile reaches."""
END_SHARE = 0.1
POOL = 5
"""Profiles along an edge that are read together."""
STEPS, BEND_STEP = np.array([0.02, 0.02, 0.1]), 0.3
"""Differences for derivatives: mm, mm, degrees; and for second derivatives, in START_SIGMA."""
FREEDOM = 4.0
"""Independent values of a profile; neighbours and channels err together."""
LEAST_ENERGY = 3e-6
OUTLIER = 0.03
"""What a profile that supports no place of the edge still counts: some edges do not show at all."""
START_SIGMA = np.array([0.5, 0.5, 2.5])
"""How well the region fit knows the place: mm, mm, degrees, 1 sigma."""


@dataclass(frozen=True, slots=True, eq=False)
class _Samples:
    """Points along visible edges: view pixels (n, 2), unit normals (n, 2), the edge that each is on (n,)."""

    at_px: Array
    normal_px: Array
    edge: Array


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Distances (t,) of a profile's values, and projectors (s, t, t) on to what a step at each of s places leaves over."""

    t: Array
    projectors: Array


def _search(blur_px: float) -> _Search:
    t = np.arange(-REACH_PX - SIDE_PX, REACH_PX + SIDE_PX + 1e-9, STEP_PX)
    places = np.arange(-REACH_PX, REACH_PX + 1e-9, PLACE_PX)
    projectors = []
    for place in places:
        up = ndtr((t - place) / blur_px)
        basis = np.stack([1 - up, up, (1 - up) * (t - place), up * (t - place)], axis=1)
        q, _ = np.linalg.qr(basis)
        projectors.append(np.eye(len(t)) - q @ q.T)
    return _Search(t, np.stack(projectors))


def _edges(solid: Solid, eye_mm: Array) -> list[tuple[int, int]]:
    """Edges of which at least one face is seen."""
    faces = visible_faces(solid, eye_mm)
    return [edge for edge in EDGES if any(set(edge) <= set(face) for face in faces)]


def _samples(guess: Hypothesis, view: TableView) -> _Samples:
    flat = view.pixels(cast_down(guess.solid.vertices_mm, view.eye_mm))
    middle = flat.mean(axis=0)
    at, normals, owner = [], [], []
    for k, (i, j) in enumerate(_edges(guess.solid, view.eye_mm)):
        a, b = flat[i], flat[j]
        length = float(np.hypot(*(b - a)))
        if length < 8:
            continue
        share = np.linspace(END_SHARE, 1 - END_SHARE, max(4, int(length * (1 - 2 * END_SHARE))))
        normal = np.array([b[1] - a[1], a[0] - b[0]]) / length
        normal = normal if normal @ ((a + b) / 2 - middle) > 0 else -normal
        at.append(a + (b - a) * share[:, None])
        normals.append(np.repeat(normal[None], len(share), axis=0))
        owner.append(np.full(len(share), k))
    return _Samples(np.concatenate(at), np.concatenate(normals), np.concatenate(owner))


def _support(samples: _Samples, view: TableView, search: _Search, ignore: Mask | None) -> Array:
    """Log likelihood (n, s) of the edge's being at each of s places, at most about 0, for every sample."""
    t = search.t
    xy = samples.at_px[:, None] + samples.normal_px[:, None] * t[None, :, None]
    x, y = xy[..., 0].astype(np.float32), xy[..., 1].astype(np.float32)
    root = cv2.remap(view.light, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE).astype(float)
    root = root / np.sqrt(root.mean(axis=1, keepdims=True) + 0.01)
    energy = np.einsum("ntc,stu,nuc->ns", root, search.projectors, root, optimize=True)
    kernel = np.ones(POOL) / POOL
    for k in np.unique(samples.edge):
        own = samples.edge == k
        padded = np.pad(energy[own], ((POOL // 2, POOL // 2), (0, 0)), mode="edge")
        energy[own] = np.stack([np.convolve(padded[:, s], kernel, mode="valid") for s in range(energy.shape[1])], axis=1)
    chance = -0.5 * FREEDOM * np.log(energy + LEAST_ENERGY)
    chance -= chance.max(axis=1, keepdims=True)
    if ignore is not None:
        ends = np.rint(xy[:, [0, len(t) // 2, -1]]).astype(int)
        rows, columns = np.clip(ends[..., 1], 0, ignore.shape[0] - 1), np.clip(ends[..., 0], 0, ignore.shape[1] - 1)
        chance[ignore[rows, columns].any(axis=1)] = 0
    return np.asarray(np.log(np.exp(chance) + OUTLIER))


def snap(guess: Hypothesis, view: TableView, ignore: Mask | None = None) -> tuple[Hypothesis, Array]:
    """The hypothesis moved on to the edges, and its covariance (3, 3) in (mm, mm, degrees); pixels to `ignore` (h, w) are not
    read.  All edges vote together: a move is worth what the profiles say of the places that it takes their edges to."""
    samples = _samples(guess, view)
    support = _support(samples, view, _search(view.blur_px), ignore)
    columns = []
    for step, offset in zip(STEPS, np.diag(STEPS), strict=True):
        moved = _samples_like(guess, guess.at(guess.parameters + offset), view, samples)
        columns.append(((moved - samples.at_px) * samples.normal_px).sum(axis=1) / step)
    jacobian = np.stack(columns, axis=1) * START_SIGMA
    row = np.arange(len(support))

    def against(move: Array) -> float:
        place = np.clip((jacobian @ move + REACH_PX) / PLACE_PX, 0, support.shape[1] - 1.001)
        left = place.astype(int)
        share = place - left
        value = support[row, left] * (1 - share) + support[row, left + 1] * share
        return float(-value.sum() / POOL + 0.5 * move @ move)

    first = np.vstack([np.zeros(3), 0.6 * np.eye(3)])
    best = minimize(against, np.zeros(3), method="Nelder-Mead", options={"initial_simplex": first, "xatol": 0.01, "fatol": 0.01})
    covariance = _curvature(against, best.x) * np.outer(START_SIGMA, START_SIGMA)
    return guess.at(guess.parameters + best.x * START_SIGMA), covariance


def _curvature(against: Callable[[Array], float], at: Array) -> Array:
    """Inverse of the second derivatives (3, 3) of a function at its least value, no sharper than BEND_STEP can tell."""
    offsets = BEND_STEP * np.eye(3)
    middle = against(at)
    bend = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            if i == j:
                bend[i, i] = against(at + offsets[i]) + against(at - offsets[i]) - 2 * middle
            else:
                both, apart = offsets[i] + offsets[j], offsets[i] - offsets[j]
                bend[i, j] = (against(at + both) + against(at - both) - against(at + apart) - against(at - apart)) / 4
    values, vectors = np.linalg.eigh(bend / BEND_STEP**2)
    return np.asarray(vectors / np.maximum(values, 1.0) @ vectors.T)


def _samples_like(before: Hypothesis, after: Hypothesis, view: TableView, samples: _Samples) -> Array:
    """The same points of the solid's edges in another place: view pixels (n, 2)."""
    a, b = (view.pixels(cast_down(one.solid.vertices_mm, view.eye_mm)) for one in (before, after))
    moved = np.empty_like(samples.at_px)
    for k, (i, j) in enumerate(_edges(before.solid, view.eye_mm)):
        own = samples.edge == k
        if own.any():
            ahead = a[j] - a[i]
            share = ((samples.at_px[own] - a[i]) @ ahead) / (ahead @ ahead)
            moved[own] = b[i] + (b[j] - b[i]) * share[:, None]
    return moved
