"""Where exactly a solid is: moved until its edges lie on those of the photograph, with the
covariance that the edges leave.

Along every edge of the solid that can be seen, short profiles are read across it, straight from the
photograph.  Each is explained as a blurred step between two sloping sides, wherever the step is, or
as no step at all: that is the profile's vote. Shadows, reflections and print have no such step, or
not where the other edges say, and are outvoted.  An edge of the outline also takes in pixels that
look as the piece does, or as the ground (`vision.pose.region_likelihood`).  All votes together,
with what was known before, are a density over the solid's place; its mean and covariance are found
by sampling (population Monte Carlo, Cappe et al. 2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import norm, qmc

from table.solids import EDGES, FACES, Array
from vision.geometry.piece_pose import LEAST_TILT_DEG, STEPS, Hypothesis, looks_at, vertices_mm
from vision.geometry.rectified_view import Photo
from vision.pose.region_likelihood import Area, outside

REACH_PX, PLACE_PX = 5.0, 0.25
"""How far from where an edge is expected it is looked for, and how finely."""
STEP_PX, SIDE_PX = 0.5, 2.0
"""Distance of a profile's values, and how much further than the places tried it reaches."""
BLUR_PX = 0.8
"""Standard deviation of the blur of an edge in photographs: lens, pixel, JPEG."""
END_SHARE = 0.08
"""Share of an edge at each end that is not read: there other edges meet it."""
SPACING_PX, SHORTEST_PX = 2.5, 6.0
POOL = 3
"""Neighbouring profiles err together: so many count as one."""
FREEDOM, MOST = 3.0, 30.0
"""Independent values of a profile, as neighbours and channels err together; and the most that a
vote's exponent is trusted.
"""
LEAST_ENERGY = 3e-6
OUTLIER = 0.05
"""What a profile that speaks against a place still leaves to it: some edges do not show at all."""
PIXELS_TOGETHER = 24.0
"""Pixels err together, as shadows and gloss are wide: so many count as one."""
DRAWS = 256
HEATS = 0.5 ** np.arange(0, 14)
LEAST_COUNT, ROUNDS = 0.02, 14
"""In each round of draws the votes are believed as far as leaves this share of the draws with a say
(Kish's effective sample size): at first little, in the end fully.
"""

_ENDS = np.array(EDGES)
_ON_FACES = np.array([[i in face and j in face for face in FACES] for i, j in EDGES])
"""Which faces (8, f) an edge bounds."""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A hypothesis where the edges have it, the covariance of its parameters, and the evidence: the
    logarithm of how much more likely the picture is with such a solid about there than with none.
    """

    guess: Hypothesis
    covariance: Array
    evidence: float


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Points along edges, a few to a side of each: photo pixels (n, 2), unit normals (n, 2) on one
    side of each edge, the vertices between which each lies (n, 2), how pixels move along the
    normals with the parameters (n, p), and the length of outline that each stands for (n,), 0
    within it.
    """

    at_px: Array
    normal_px: Array
    ends: NDArray[np.int64]
    jacobian: Array
    length_px: Array


def samples(guess: Hypothesis, photo: Photo, hidden_by: list[Array]) -> Samples | None:
    """Points along all edges of which at least one face is seen, where nothing hides them; None
    where there are too few.
    """
    solid = guess.solid
    sides = _ON_FACES[:, looks_at(solid, photo.camera.eye_mm)].sum(axis=1)
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
    seen = ~_hidden(pixels[0], hidden_by)
    if seen.sum() < 3 * POOL:
        return None
    return Samples(pixels[0][seen], normal[seen], end[seen], jacobian[seen], length[seen])


@cache
def _shares(count: int) -> Array:
    """How far along an edge its points (count,) are, 0 to 1."""
    return np.linspace(END_SHARE, 1 - END_SHARE, count)


def votes(points: Samples, photo: Photo) -> Array:
    """Log likelihood ratio (n, s) of the edge's being at each of s places, PLACE_PX apart, to there
    being no edge in reach.
    """
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


def taken_in(points: Samples, area: Area, outline_px: Array) -> Array:
    """What speaks for the piece in the pixels that it takes in if an edge of its outline (m, 2) is
    at each of s places, less what it gives up, (n, s); 0 for edges within the outline.
    """
    middles = np.arange(-REACH_PX, REACH_PX, PLACE_PX) + PLACE_PX / 2
    ratio = area.at(points.at_px[:, None] + points.normal_px[:, None] * middles[None, :, None])
    total = np.concatenate([np.zeros((len(ratio), 1)), np.cumsum(ratio, axis=1)], axis=1) * PLACE_PX
    total -= total[:, len(middles) // 2, None]
    outward = np.sign(((points.at_px - outline_px.mean(axis=0)) * points.normal_px).sum(axis=1))
    return np.asarray(total * (outward * points.length_px)[:, None])


def _hidden(points_px: Array, outlines: list[Array]) -> NDArray[np.bool_]:
    """Which points (n, 2) are inside, or within a blur of, any of the convex outlines."""
    hidden = np.zeros(len(points_px), bool)
    for outline in outlines:
        hidden |= outside(points_px[:, 0], points_px[:, 1], outline) < BLUR_PX
    return hidden


def snap(
    guess: Hypothesis, covariance: Array, photo: Photo, hidden_by: list[Array], area: Area | None
) -> Placed | None:
    """Move a hypothesis whose parameters are known to `covariance` (p, p) on to the edges; None
    where too few of them can be read.

    `hidden_by`: convex outlines (m, 2) px, counter-clockwise, of other pieces; edges in there are
    not this one's.  `area`: what speaks for piece and ground around it, if anything can be said of
    that.
    """
    here, root = guess, np.linalg.cholesky(covariance)
    placed: Placed | None = None
    for _ in range(2):
        points = samples(here, photo, hidden_by)
        if points is None:
            return placed
        before = np.linalg.solve(root, guess.parameters - here.parameters)
        said, inside = votes(points, photo) / POOL, 0.0
        if area is not None:
            outline = photo.silhouette(here.solid)
            said += taken_in(points, area, outline) / PIXELS_TOGETHER
            inside = area.inside(outline) / PIXELS_TOGETHER
        room = (here.tilt_deg - LEAST_TILT_DEG, root[3]) if here.pose == "leaning" else None
        mean, spread, evidence = _density(points.jacobian @ root, said, before, room)
        here = here.at(here.parameters + root @ mean)
        placed = Placed(here, root @ spread @ root.T, evidence + inside)
        if np.abs(points.jacobian @ root @ mean).max() < REACH_PX / 2:
            break  # near enough to where it was looked for
    return placed


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Distances (t,) of a profile's values; and, each with the number of places s that it is for,
    orthonormal bases (t, 4 s) of what a blurred step between two slopes explains at each place, the
    first vectors of all places first, and (t, 2) of what a slope without a step does.
    """

    t: Array
    bases: tuple[tuple[NDArray[np.float32], int], ...]


@cache
def _search() -> _Search:
    t = np.arange(-REACH_PX - SIDE_PX, REACH_PX + SIDE_PX + 1e-9, STEP_PX)
    steps = []
    for place in np.arange(-REACH_PX, REACH_PX + 1e-9, PLACE_PX):
        up = ndtr((t - place) / BLUR_PX)
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
    jacobian: Array, votes: Array, before: Array, room: tuple[float, Array] | None
) -> tuple[Array, Array, float]:
    """Mean (p,) and covariance (p, p) of a move in sigmas, and the log evidence: votes (n, s) of
    the profiles and a normal prior at `before` (p,).  `room` is by how much a piece can be tipped
    down, in degrees, and how that changes with moves (p,).

    Sampled from a Student-like mixture around what is known so far, weighed by importance, again
    from what that gives.
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
    table, at_place = votes.astype(np.float32), (jacobian / PLACE_PX).astype(np.float32)
    row = np.repeat(np.arange(len(votes), dtype=np.float32)[:, None], len(draws), axis=1)
    for _ in range(ROUNDS):
        moves = mean + spread @ root.T
        place = at_place @ moves.T.astype(np.float32) + np.float32(REACH_PX / PLACE_PX)
        said = cv2.remap(table, place, row, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE).sum(
            axis=0, dtype=float
        )
        known = -0.5 * ((moves - before) ** 2).sum(axis=1) - proposal
        if room is not None:
            known -= 0.5 * np.minimum(room[0] + moves @ room[1], 0.0) ** 2
        heat, weight = _believed(said, known)
        top = float((said + known).max())
        evidence = top + float(np.log(np.exp(said + known - top).mean() * np.prod(np.diag(root))))
        mean = weight @ moves
        away = moves - mean
        covariance = away.T @ (away * weight[:, None]) + 1e-6 * np.eye(p)
        if heat == 1 and settled:
            break
        settled = heat == 1
        root = np.asarray(np.linalg.cholesky(covariance * 1.2), float)
    return mean, covariance, evidence


def _believed(said: Array, known: Array) -> tuple[float, Array]:
    """How far what the votes say of each draw (n,) can be believed beside what is known, and the
    draws' weights (n,) then.
    """
    for heat in HEATS:
        weight = heat * said + known
        weight = np.exp(weight - weight.max())
        weight /= weight.sum()
        if LEAST_COUNT * len(weight) * (weight @ weight) < 1:
            break
    return heat, weight


@cache
def _normal_draws(p: int) -> Array:
    """Points (DRAWS, p) spread evenly over the standard normal distribution."""
    return np.asarray(
        norm.ppf(qmc.Sobol(p, scramble=True, rng=np.random.default_rng(1)).random(DRAWS))
    )
