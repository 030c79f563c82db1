"""Align a solid with the edges of the photograph, and estimate its covariance.

Short profiles are read across every visible edge of the solid, straight from the photograph. Each
is explained as a blurred step between two sloping sides, at any place, or as no step at all. The
likelihood ratio by place is the profile's vote. Shadows, reflections and print have no such step,
or not at a place that agrees with the other edges, and are outvoted. An edge of the outline also
uses pixels that look like the piece or like the ground (`vision.pose.region_likelihood`). All votes
together, with the prior, are a density over the solid's place. Its mean and covariance are computed
by sampling (population Monte Carlo, Cappe et al. 2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import cv2
import numpy as np
from numpy.typing import NDArray

from table.solids import EDGES, FACES, Array
from vision.geometry.piece_pose import LEAST_TILT_DEG, STEPS, Hypothesis, facing_mask, vertices_mm
from vision.geometry.rectified_view import Photo
from vision.pose.region_likelihood import Area, outside
from vision.probability import normal_cdf, normal_quantile

REACH_PX, PLACE_PX = 5.0, 0.25
"""Search range of an edge around its predicted place, and its resolution."""
STEP_PX, SIDE_PX = 0.5, 2.0
"""Sampling distance of a profile, and its length beyond the search range on each side."""
BLUR_PX = 0.8
"""Standard deviation of the blur of an edge in photographs: lens, pixel, JPEG."""
END_SHARE = 0.08
"""Share of an edge at each end that is ignored, because other edges meet there."""
SPACING_PX, SHORTEST_PX = 2.5, 6.0
"""Distance between profiles along an edge, and the shortest edge that is used."""
POOL = 3
"""Number of neighbouring profiles with correlated errors, which count as one."""
FREEDOM, MOST = 3.0, 30.0
"""Effective number of independent values of a profile, because neighbours and channels are
correlated; clip of a vote's log-likelihood ratio.
"""
LEAST_ENERGY = 3e-6
"""Residual light that is added to each profile, so that its logarithm is limited."""
OUTLIER = 0.05
"""Least likelihood of a place under a contradicting profile, because some edges are not visible."""
PIXELS_TOGETHER = 24.0
"""Number of correlated pixels that count as one: shadows and gloss are wide."""
HEATS = 0.5 ** np.arange(0, 14)
LEAST_COUNT, ROUNDS = 0.02, 14
"""Annealing: largest number of rounds, and least share of effective draws (Kish's effective sample
size). The weight of the votes is the largest with that share, small at first and full in the end.
"""

_ENDS = np.array(EDGES)
_ON_FACES = np.array([[i in face and j in face for face in FACES] for i, j in EDGES])
"""Incidence (8, f) of edges and faces."""


@dataclass(frozen=True, slots=True, eq=False)
class AlignedPose:
    """A hypothesis aligned with the edges, and the covariance of its parameters.

    `evidence` is the log-likelihood ratio of the image with a solid near there to that without.
    """

    guess: Hypothesis
    covariance: Array
    evidence: float


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Points along edges, several per edge.

    `at_px` (n, 2) are photo pixels, `normal_px` (n, 2) unit normals on one side of each edge,
    `ends` (n, 2) the vertices of each point's edge.  `jacobian` (n, p) is the motion along the
    normals with the parameters, `length_px` (n,) the length of outline that each point stands for,
    0 inside it.
    """

    at_px: Array
    normal_px: Array
    ends: NDArray[np.int64]
    jacobian: Array
    length_px: Array


def samples(guess: Hypothesis, photo: Photo, occluders: list[Array]) -> Samples | None:
    """Points along all edges with a visible face, without occluded ones.

    None if there are too few.
    """
    solid = guess.solid
    sides = _ON_FACES[:, facing_mask(solid, photo.camera.eye_mm)].sum(axis=1)
    count = len(guess.parameters)
    corners = photo.pixels(solid.vertices_mm)
    lengths = np.hypot(*(corners[_ENDS[:, 1]] - corners[_ENDS[:, 0]]).T)
    read = np.flatnonzero((lengths >= SHORTEST_PX) & (sides > 0))
    if not len(read):
        return None
    counts = np.maximum(POOL, (lengths[read] * (1 - 2 * END_SHARE) / SPACING_PX).astype(int))
    share = np.concatenate([_shares(int(some)) for some in counts])[:, None]
    end, length = (
        np.repeat(_ENDS[read], counts, axis=0),
        np.repeat(np.where(sides == 1, lengths, 0.0)[read] / counts, counts),
    )
    moved = vertices_mm(guess, guess.parameters + np.diag(STEPS[:count]))
    vertices = np.concatenate([solid.vertices_mm[None], moved])
    points = vertices[:, end[:, 0]] + (vertices[:, end[:, 1]] - vertices[:, end[:, 0]]) * share
    pixels = photo.pixels(points.reshape(-1, 3)).reshape(count + 1, -1, 2)
    along = corners[end[:, 1]] - corners[end[:, 0]]
    normal = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.hypot(*along.T)[:, None]
    step = STEPS[:count, None, None]
    jacobian = (((pixels[1:] - pixels[0]) / step) * normal).sum(axis=2).T
    seen = ~_occluded_mask(pixels[0], occluders)
    if seen.sum() < 3 * POOL:
        return None
    return Samples(pixels[0][seen], normal[seen], end[seen], jacobian[seen], length[seen])


@cache
def _shares(count: int) -> Array:
    """Positions (count,) of the points along an edge, 0 to 1."""
    return np.linspace(END_SHARE, 1 - END_SHARE, count)


def edge_log_likelihood(points: Samples, photo: Photo) -> Array:
    """Log-likelihood ratios (n, s) of the edge at each of s places, PLACE_PX apart, to no edge."""
    search, count = _search(), len(points.at_px)
    at = points.at_px[:, None] + points.normal_px[:, None] * search.t[:, None]
    light = photo.light(at)
    root = light / np.sqrt(
        np.einsum("ntc->nc", light)[:, None] / np.float32(len(search.t)) + np.float32(0.01)
    )
    total = np.einsum("ntc,ntc->n", root, root)[:, None]
    explained = [
        np.square(root.transpose(0, 2, 1) @ basis).reshape(count, -1, places).sum(axis=1)
        for basis, places in search.bases
    ]
    both = np.maximum(total - np.concatenate(explained, axis=1), 0)
    starts = np.flatnonzero(np.any(np.diff(points.ends, axis=0) != 0, axis=1)) + 1
    for own in map(slice, [0, *starts], [*starts, count]):
        both[own] = cv2.blur(both[own], (1, POOL), borderType=cv2.BORDER_REPLICATE)
    chance = -0.5 * FREEDOM * np.log(both + LEAST_ENERGY)
    ratio = np.exp(np.minimum(chance[:, :-1] - chance[:, -1:], MOST))
    return np.asarray(np.log(OUTLIER + ratio / (1 + ratio.mean(axis=1, keepdims=True))))


def region_log_likelihood(points: Samples, area: Area, outline_px: Array) -> Array:
    """Evidence (n, s) of the pixels that a piece gains or loses by each place of its edges.

    `outline_px` is (m, 2). 0 for edges inside the outline.
    """
    middles = np.arange(-REACH_PX, REACH_PX, PLACE_PX) + PLACE_PX / 2
    ratio = area.at(points.at_px[:, None] + points.normal_px[:, None] * middles[None, :, None])
    total = np.concatenate([np.zeros((len(ratio), 1)), np.cumsum(ratio, axis=1)], axis=1) * PLACE_PX
    total -= total[:, len(middles) // 2, None]
    outward = np.sign(((points.at_px - outline_px.mean(axis=0)) * points.normal_px).sum(axis=1))
    return np.asarray(total * (outward * points.length_px)[:, None])


def _occluded_mask(points_px: Array, outlines: list[Array]) -> NDArray[np.bool_]:
    """Mask of points (n, 2) that are inside, or within a blur of, any of the convex outlines."""
    hidden = np.zeros(len(points_px), bool)
    for outline in outlines:
        hidden |= outside(points_px[:, 0], points_px[:, 1], outline) < BLUR_PX
    return hidden


def align_to_edges(
    guess: Hypothesis, covariance: Array, photo: Photo, occluders: list[Array], area: Area | None
) -> AlignedPose | None:
    """Align a hypothesis, whose parameters have the prior `covariance` (p, p), with the edges.

    None if too few of them can be read. `occluders` are convex outlines (m, 2) px,
    counter-clockwise, of other pieces; edges inside them are ignored. `area` is the region
    likelihood, if it is used.
    """
    here, root = guess, np.linalg.cholesky(covariance)
    placed: AlignedPose | None = None
    for _ in range(2):
        points = samples(here, photo, occluders)
        if points is None:
            return placed
        before = np.linalg.solve(root, guess.parameters - here.parameters)
        scores, inside = edge_log_likelihood(points, photo) / POOL, 0.0
        if area is not None:
            outline = photo.silhouette(here.solid)
            scores += region_log_likelihood(points, area, outline) / PIXELS_TOGETHER
            inside = area.inside(outline) / PIXELS_TOGETHER
        room = (here.tilt_deg - LEAST_TILT_DEG, root[3]) if here.pose == "leaning" else None
        mean, spread, evidence = _density(points.jacobian @ root, scores, before, room)
        here = here.at(here.parameters + root @ mean)
        placed = AlignedPose(here, root @ spread @ root.T, evidence + inside)
        if np.abs(points.jacobian @ root @ mean).max() < REACH_PX / 2:
            break  # inside the search range
    return placed


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Precomputed bases that explain profiles.

    `t` (t,) are the positions of a profile's values. `bases` are orthonormal, each with its number
    of places s. That of a blurred step between two slopes is (t, 4 s), the first vectors of all
    places first. That of a slope without a step is (t, 2).
    """

    t: Array
    bases: tuple[tuple[NDArray[np.float32], int], ...]


@cache
def _search() -> _Search:
    t = np.arange(-REACH_PX - SIDE_PX, REACH_PX + SIDE_PX + 1e-9, STEP_PX)
    steps = []
    for place in np.arange(-REACH_PX, REACH_PX + 1e-9, PLACE_PX):
        up = normal_cdf((t - place) / BLUR_PX)
        steps.append(
            np.linalg.qr(np.stack([1 - up, up, (1 - up) * (t - place), up * (t - place)], axis=1))[
                0
            ]
        )
    slope = np.linalg.qr(np.stack([np.ones_like(t), t], axis=1))[0]
    return _Search(
        t,
        (
            (np.stack(steps, axis=2).reshape(len(t), -1).astype(np.float32), len(steps)),
            (slope.astype(np.float32), 1),
        ),
    )


def _density(
    jacobian: Array, scores: Array, before: Array, room: tuple[float, Array] | None
) -> tuple[Array, Array, float]:
    """Mean (p,) and covariance (p, p) of a move in sigmas, and the log evidence.

    They come from votes (n, s) of the profiles and a normal prior at `before` (p,). `room` is the
    angle in degrees by which a piece can be tipped down, and its gradient (p,) by moves. Importance
    sampling from a Student-like mixture around the present estimate is repeated from its result.
    """
    p = jacobian.shape[1]
    draws = _normal_draws(p)
    wide = np.where(np.arange(len(draws)) % 4 == 0, 2.0, 1.0)[:, None]
    spread = draws * wide
    near, far = (
        np.exp(-0.5 * (spread**2).sum(axis=1) / scale**2) / scale**p for scale in (1.0, 2.0)
    )
    proposal = np.log(0.75 * near + 0.25 * far)
    mean, settled = before.copy(), False
    root: Array = np.eye(p)
    table, at_place = (scores.astype(np.float32), (jacobian / PLACE_PX).astype(np.float32))
    row = np.repeat(np.arange(len(scores), dtype=np.float32)[:, None], len(draws), axis=1)
    for _ in range(ROUNDS):
        moves = mean + spread @ root.T
        place = at_place @ moves.T.astype(np.float32) + np.float32(REACH_PX / PLACE_PX)
        scores = cv2.remap(
            table, place, row, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        ).sum(axis=0, dtype=float)
        known = -0.5 * ((moves - before) ** 2).sum(axis=1) - proposal
        if room is not None:
            known -= 0.5 * np.minimum(room[0] + moves @ room[1], 0.0) ** 2
        heat, weight = _tempered_weights(scores, known)
        top = float((scores + known).max())
        evidence = top + float(np.log(np.exp(scores + known - top).mean() * np.prod(np.diag(root))))
        mean = weight @ moves
        away = moves - mean
        covariance = away.T @ (away * weight[:, None]) + 1e-6 * np.eye(p)
        if heat == 1 and settled:
            break
        settled = heat == 1
        root = np.asarray(np.linalg.cholesky(covariance * 1.2), float)
    return mean, covariance, evidence


def _tempered_weights(scores: Array, known: Array) -> tuple[float, Array]:
    """Weight of the votes relative to the prior, and the draws' weights (n,)."""
    for heat in HEATS:
        weight = heat * scores + known
        weight = np.exp(weight - weight.max())
        weight /= weight.sum()
        if LEAST_COUNT * len(weight) * (weight @ weight) < 1:
            break
    return heat, weight


@cache
def _normal_draws(p: int) -> Array:
    """Quasi-random points (256, p) of the standard normal distribution, p up to 4.

    They are scrambled Sobol points. `tests/vision/pose/test_edge_alignment.py` has their recipe.
    They are read from a file, because the library that draws them takes 22 MB of memory.
    """
    with resources.files("vision").joinpath("data/sobol.npz").open("rb") as file:
        points: Array = np.load(file)[str(p)]
    return np.asarray(normal_quantile(points / 2.0**30))
