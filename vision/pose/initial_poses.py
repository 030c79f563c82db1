"""Fit solids to keypoints: every probable size and pose, with its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from table.pieces import PieceSize
from table.solids import POSES, Array, Pose
from vision.geometry.piece_pose import (
    LEAST_TILT_DEG,
    STEPS,
    Hypothesis,
    at_origin,
    pose_vertices,
    project_to_table,
)
from vision.networks.keypoints import TURNED, KeypointEstimate

ROUNDS = 4
PRIOR_SIGMAS = np.array([1e4, 1e4, 1e4, 12.0])
"""Prior standard deviations of place, heading and tilt around the start."""
TILT_DEG = 20.0
"""Initial tilt of a leaning piece."""
INSIDE_OUT, AGAINST_INSIDE_OUT = [1, 0, 3, 2, 4], 3.0
"""Order of the vertices of a base that is seen inside out, its upper edge as its lower one, and its
penalty, in nats.
"""
HUBER_SIGMAS = 2.5
"""Huber threshold of vertices, in sigmas. Farther ones may belong to another piece."""
VERTICES_TOGETHER = 2.0
"""Divisor of the vertices' evidence, because errors within one crop are correlated."""
SIZE_FREEDOM, SIZE_SCALE = 5.0, 0.8
"""Errors of the estimated sizes, in their own sigmas, follow Student's t with these degrees of
freedom and this scale.
"""
LEAST_SHARE = 1e-3
"""Least probability of a size and pose that is fitted."""
VERTEX_ORDERS = np.array([[*corners, 4] for corners in TURNED])
"""Orders (4, 5) of the vertices from each corner of the base, the identity first."""
LYING_SIGMAS = np.array([3.0, 3.0, 10.0])
"""Standard deviations of the place of a lying piece that was read as a standing one: mm, mm,
degrees.
"""
MOST_AGAINST, MOST_UNCERTAIN = 7.0, 5
"""For uncertain keypoints: largest penalty, in nats, of a size and pose, that by its vertices
included, and largest number of candidates.
"""


@dataclass(frozen=True, slots=True, eq=False)
class InitialPose:
    """A size and pose fitted to the vertices, the covariance (p, p), and the log evidence."""

    guess: Hypothesis
    covariance: Array
    evidence: float


def initial_poses(
    keypoints: Sequence[KeypointEstimate],
    sizes: Sequence[PieceSize],
    habit: Array,
    eye_mm: Array,
    z_mm: Sequence[float],
) -> list[list[InitialPose]]:
    """All probable sizes and poses of each place, the most probable first.

    `habit` (3,) is the prior of the game for the poses, `z_mm` the height of each support.
    """
    return _fit_poses(keypoints, sizes, habit, eye_mm, z_mm, LEAST_SHARE, 0.0)


def uncertain_poses(
    keypoints: KeypointEstimate,
    sizes: Sequence[PieceSize],
    habit: Array,
    eye_mm: Array,
    z_mm: float,
) -> list[InitialPose]:
    """The most probable of all sizes and poses, however improbable, for uncertain keypoints.

    The reversed piece, with tip and base exchanged, is one of them.
    """
    least = float(np.exp(-MOST_AGAINST))
    best, *others = _fit_poses([keypoints], sizes, habit, eye_mm, [z_mm], 0.0, least)[0][
        :MOST_UNCERTAIN
    ]
    others += [_reverse_piece(one) for one in (best, *others) if one.guess.pose == "lying"][:1]
    return [
        best,
        *(replace(one, evidence=max(one.evidence, best.evidence - MOST_AGAINST)) for one in others),
    ]


def lying_on_its_side(one: InitialPose) -> list[InitialPose]:
    """The four ways in which an apparently standing piece may lie with its base to the camera."""
    corners, ways = one.guess.solid.vertices_mm[:4, :2], []
    for edge in (corners + np.roll(corners, 1, axis=0)) / 2:
        across = corners.mean(axis=0) - edge
        heading_deg = float(np.degrees(np.arctan2(across[1], across[0])))
        lies = replace(
            one.guess,
            pose="lying",
            x_mm=float(edge[0]),
            y_mm=float(edge[1]),
            heading_deg=heading_deg,
        )
        ways.append(InitialPose(lies, np.diag(LYING_SIGMAS**2), one.evidence - MOST_AGAINST))
    return ways


def _reverse_piece(one: InitialPose) -> InitialPose:
    """The same piece with its tip where its base was, with the lowest evidence."""
    tip = one.guess.solid.vertices_mm[4]
    turned = replace(
        one.guess, x_mm=float(tip[0]), y_mm=float(tip[1]), heading_deg=one.guess.heading_deg + 180
    )
    return InitialPose(turned, one.covariance, -np.inf)


def _fit_poses(
    keypoints: Sequence[KeypointEstimate],
    sizes: Sequence[PieceSize],
    habit: Array,
    eye_mm: Array,
    z_mm: Sequence[float],
    least_prior: float,
    prior_floor: float,
) -> list[list[InitialPose]]:
    """Fit sizes and poses above a prior probability, which is raised to a lower bound."""
    starts_with_keypoints: list[tuple[Hypothesis, KeypointEstimate]] = []
    priors: list[tuple[int, float]] = []
    for k, (one, height_mm) in enumerate(zip(keypoints, z_mm, strict=True)):
        weights = _weights(one, sizes, habit)
        for i, j in np.argwhere(weights >= least_prior):
            starts_with_keypoints.append((_start(one, sizes[i], POSES[j], height_mm), one))
            priors.append((k, float(np.log(max(weights[i, j], prior_floor)))))
    out: list[list[InitialPose]] = [[] for _ in keypoints]
    for (k, before), guess in zip(
        priors, _fit_to_keypoints(starts_with_keypoints, eye_mm), strict=True
    ):
        out[k].append(replace(guess, evidence=before + guess.evidence))
    return [sorted(some, key=lambda guess: -guess.evidence) for some in out]


def _fit_to_keypoints(
    starts_with_keypoints: list[tuple[Hypothesis, KeypointEstimate]], eye_mm: Array
) -> list[InitialPose]:
    """Each hypothesis fitted to its keypoints.

    A leaning one that would reach into the table is also fitted inside out.
    """
    candidates = _fit_least_squares(starts_with_keypoints, eye_mm)
    sunk = [
        k
        for k, one in enumerate(candidates)
        if one.guess.pose == "leaning" and one.guess.tilt_deg <= LEAST_TILT_DEG
    ]
    again = [
        replace(one, vertices_mm=one.vertices_mm[INSIDE_OUT], sigma_mm=one.sigma_mm[INSIDE_OUT])
        for one in (starts_with_keypoints[k][1] for k in sunk)
    ]
    starts = [
        _start(one, starts_with_keypoints[k][0].size, "leaning", starts_with_keypoints[k][0].z_mm)
        for k, one in zip(sunk, again, strict=True)
    ]
    for k, other in zip(
        sunk, _fit_least_squares(list(zip(starts, again, strict=True)), eye_mm), strict=True
    ):
        candidates[k] = max(
            candidates[k],
            replace(other, evidence=other.evidence - AGAINST_INSIDE_OUT),
            key=lambda one: one.evidence,
        )
    return candidates


def _weights(keypoints: KeypointEstimate, sizes: Sequence[PieceSize], habit: Array) -> Array:
    """Prior probabilities (s, 3) of sizes and poses, before the fit to the vertices."""
    off = (np.log([size.base_mm for size in sizes]) - keypoints.log_base) / (
        SIZE_SCALE * keypoints.log_base_sigma
    )
    by_size = -0.5 * (SIZE_FREEDOM + 1) * np.log1p(off**2 / SIZE_FREEDOM)
    shares = np.exp(by_size - by_size.max())
    poses = keypoints.poses * habit
    return np.outer(shares / shares.sum(), poses / poses.sum())


def _start(keypoints: KeypointEstimate, size: PieceSize, pose: Pose, z_mm: float) -> Hypothesis:
    corners = keypoints.vertices_mm
    middle, tip = corners[:4].mean(axis=0), corners[4]
    way = corners[1] - corners[0] if pose == "upright" else tip - middle
    heading = float(np.degrees(np.arctan2(way[1], way[0])))
    place = middle if pose == "upright" else corners[1:3].mean(axis=0)
    return Hypothesis(
        size,
        pose,
        float(place[0]),
        float(place[1]),
        heading,
        TILT_DEG if pose == "leaning" else 0.0,
        z_mm,
    )


def _fit_least_squares(
    starts_with_keypoints: list[tuple[Hypothesis, KeypointEstimate]], eye_mm: Array
) -> list[InitialPose]:
    """Least-squares fit of each hypothesis to the seen vertices, all at once.

    Gauss-Newton with Huber weights; only a leaning one has a free tilt.
    """
    if not starts_with_keypoints:
        return []
    starts, keypoints = zip(*starts_with_keypoints, strict=True)
    seen, sigma = _order_vertices(starts, keypoints, eye_mm)
    local, z_mm = (
        np.array([at_origin(one.size, one.pose) for one in starts]),
        np.array([one.z_mm for one in starts]),
    )
    initial = np.array([[one.x_mm, one.y_mm, one.heading_deg, one.tilt_deg] for one in starts])
    free = np.ones((len(starts), 1, 4))
    leans = np.array([one.pose == "leaning" for one in starts])
    free[~leans, :, 3] = 0.0
    here, prior, moves = (
        initial,
        np.diag(PRIOR_SIGMAS**-2.0),
        np.concatenate([np.zeros((1, 4)), np.diag(STEPS)]),
    )
    for _ in range(ROUNDS):
        flat = project_to_table(
            pose_vertices(local[:, None], here[:, None] + moves, z_mm[:, None]), eye_mm
        ).reshape(len(starts), len(moves), -1)
        scaled = free * (flat[:, 1:] - flat[:, :1]).transpose(0, 2, 1) / STEPS / sigma[..., None]
        off = (seen - flat[:, 0]) / sigma
        away = np.hypot(off[:, ::2], off[:, 1::2])
        weight = np.repeat(np.minimum(1.0, HUBER_SIGMAS / np.maximum(away, 1e-9)), 2, axis=1)
        back = scaled.transpose(0, 2, 1)
        information = back @ (scaled * weight[..., None]) + prior
        here = (
            here
            + np.linalg.solve(
                information, back @ (weight * off)[..., None] + prior @ (initial - here)[..., None]
            )[..., 0]
        )
        here[leans, 3] = np.maximum(here[leans, 3], LEAST_TILT_DEG)
    cost = (
        np.where(
            away < HUBER_SIGMAS, 0.5 * away**2, HUBER_SIGMAS * (away - 0.5 * HUBER_SIGMAS)
        ).sum(axis=1)
        / VERTICES_TOGETHER
    )
    covariances = VERTICES_TOGETHER * np.linalg.inv(information)
    candidates = []
    for start, place, covariance, against in zip(starts, here, covariances, cost, strict=True):
        count = len(start.parameters)
        known = covariance[:count, :count]
        # Laplace's approximation: it penalizes a hypothesis with more free parameters.
        room = 0.5 * float(np.linalg.slogdet(known)[1]) - float(np.log(PRIOR_SIGMAS[:count]).sum())
        candidates.append(InitialPose(start.at(place[:count]), known, room - float(against)))
    return candidates


def _order_vertices(
    starts: Sequence[Hypothesis], keypoints: Sequence[KeypointEstimate], eye_mm: Array
) -> tuple[Array, Array]:
    """The seen vertices (n, 10) and their sigmas, in the order of the solid's.

    Keypoints of a lying piece may be fitted as a standing one, and the base of a standing one may
    start at any corner.
    """
    seen, sigma = (
        np.array([one.vertices_mm for one in keypoints]),
        np.array([one.sigma_mm for one in keypoints]),
    )
    flat = project_to_table(np.array([one.solid.vertices_mm for one in starts]), eye_mm)
    away = np.hypot(*np.moveaxis(seen[:, VERTEX_ORDERS] - flat[:, None], 3, 0)).sum(axis=2)
    away[[one.pose != "upright" for one in starts], 1:] = np.inf
    order = VERTEX_ORDERS[away.argmin(axis=1)]
    seen, sigma = (
        np.take_along_axis(seen, order[..., None], axis=1),
        np.take_along_axis(sigma, order, axis=1),
    )
    return seen.reshape(len(starts), -1), np.repeat(sigma, 2, axis=1)
