"""From where the second look sees vertices to solids: every size and pose laid on them, with what
speaks for each.
"""

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
    cast_down,
    posed,
)
from vision.networks.keypoints import TURNED, Looked

ROUNDS = 4
SLACK = np.array([1e4, 1e4, 1e4, 12.0])
"""What is known of place, heading and tilt before anything is seen, 1 sigma around the start."""
TILT_DEG = 20.0
"""What is expected of a leaning piece."""
INSIDE_OUT, AGAINST_INSIDE_OUT = [1, 0, 3, 2, 4], 3.0
"""A base that is seen the wrong way round, its upper edge for its lower one, as drawings of cubes
can be; and what speaks against that.
"""
ROBUST = 2.5
"""Vertices farther off than this, in sigmas, are believed less and less: they may be another's."""
VERTICES_TOGETHER = 2.0
"""The vertices of one crop err together: what they say is believed to this root."""
SIZE_FREEDOM, SIZE_SCALE = 5.0, 0.8
"""Errors of the second look's sizes, in its own sigmas, are Student's with so many degrees of
freedom and this scale: of 1,348 pieces, drawn and photographed, 14 were off by more than 3 sigmas
and one by 9.
"""
LEAST_SHARE = 1e-3
"""Sizes and poses that are less likely than this are not laid on the vertices."""
COUNTED = np.array([[*corners, 4] for corners in TURNED])
"""Vertices (4, 5) counted from each corner of the base, first as they are."""
LYING_SLACK = np.array([3.0, 3.0, 10.0])
"""How well the place of a piece that was taken for one that stands is known, if it lies instead:
mm, mm, degrees, 1 sigma.
"""
MOST_AGAINST, MOST_DOUBTED = 7.0, 5
"""What is seen badly speaks no more than the first against a size and pose, and so much its
vertices do; so many it may be at most.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Guess:
    """A size and pose where the vertices have it, the covariance (p, p) of its parameters, and the
    logarithm of what speaks for it.
    """

    guess: Hypothesis
    covariance: Array
    evidence: float


def guesses(
    looked: Sequence[Looked],
    sizes: Sequence[PieceSize],
    habit: Array,
    eye_mm: Array,
    z_mm: Sequence[float],
) -> list[list[Guess]]:
    """All likely sizes and poses of each, the likeliest first; `habit` (3,) says how pieces stand
    in this game as a rule, `z_mm` on what each stands.
    """
    return _laid_out(looked, sizes, habit, eye_mm, z_mm, LEAST_SHARE, 0.0)


def doubtful_guesses(
    looked: Looked, sizes: Sequence[PieceSize], habit: Array, eye_mm: Array, z_mm: float
) -> list[Guess]:
    """The likeliest of all sizes and poses, likely or not, for a piece that is seen badly, and one
    that lies the other way round.
    """
    least = float(np.exp(-MOST_AGAINST))
    best, *others = _laid_out([looked], sizes, habit, eye_mm, [z_mm], 0.0, least)[0][:MOST_DOUBTED]
    others += [_turned_round(one) for one in (best, *others) if one.guess.pose == "lying"][:1]
    return [
        best,
        *(replace(one, evidence=max(one.evidence, best.evidence - MOST_AGAINST)) for one in others),
    ]


def lying_on_its_side(one: Guess) -> list[Guess]:
    """A piece that lies with its base to the camera looks like one that stands: the four ways in
    which it may lie.
    """
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
        ways.append(Guess(lies, np.diag(LYING_SLACK**2), one.evidence - MOST_AGAINST))
    return ways


def _turned_round(one: Guess) -> Guess:
    """The same piece with its tip where its base was, which speaks less for it than anything else
    does.
    """
    tip = one.guess.solid.vertices_mm[4]
    turned = replace(
        one.guess, x_mm=float(tip[0]), y_mm=float(tip[1]), heading_deg=one.guess.heading_deg + 180
    )
    return Guess(turned, one.covariance, -np.inf)


def _laid_out(
    looked: Sequence[Looked],
    sizes: Sequence[PieceSize],
    habit: Array,
    eye_mm: Array,
    z_mm: Sequence[float],
    asked_above: float,
    at_least: float,
) -> list[list[Guess]]:
    """Sizes and poses of more than a share, none of which is taken for less than another."""
    asked: list[tuple[Hypothesis, Looked]] = []
    told: list[tuple[int, float]] = []
    for k, (one, height_mm) in enumerate(zip(looked, z_mm, strict=True)):
        weights = _weights(one, sizes, habit)
        for i, j in np.argwhere(weights >= asked_above):
            asked.append((_start(one, sizes[i], POSES[j], height_mm), one))
            told.append((k, float(np.log(max(weights[i, j], at_least)))))
    out: list[list[Guess]] = [[] for _ in looked]
    for (k, before), guess in zip(told, _standing_clear(asked, eye_mm), strict=True):
        out[k].append(replace(guess, evidence=before + guess.evidence))
    return [sorted(some, key=lambda guess: -guess.evidence) for some in out]


def _standing_clear(asked: list[tuple[Hypothesis, Looked]], eye_mm: Array) -> list[Guess]:
    """Each hypothesis laid on what was seen; one that leans, and would have to reach into the
    table, also on that seen inside out.
    """
    laid = _laid(asked, eye_mm)
    sunk = [
        k
        for k, one in enumerate(laid)
        if one.guess.pose == "leaning" and one.guess.tilt_deg <= LEAST_TILT_DEG
    ]
    again = [
        replace(one, vertices_mm=one.vertices_mm[INSIDE_OUT], sigma_mm=one.sigma_mm[INSIDE_OUT])
        for one in (asked[k][1] for k in sunk)
    ]
    starts = [
        _start(one, asked[k][0].size, "leaning", asked[k][0].z_mm)
        for k, one in zip(sunk, again, strict=True)
    ]
    for k, other in zip(sunk, _laid(list(zip(starts, again, strict=True)), eye_mm), strict=True):
        laid[k] = max(
            laid[k],
            replace(other, evidence=other.evidence - AGAINST_INSIDE_OUT),
            key=lambda one: one.evidence,
        )
    return laid


def _weights(looked: Looked, sizes: Sequence[PieceSize], habit: Array) -> Array:
    """Shares (s, 3) of sizes and poses in what it may be, before they are laid on the vertices."""
    off = (np.log([size.base_mm for size in sizes]) - looked.log_base) / (
        SIZE_SCALE * looked.log_base_sigma
    )
    by_size = -0.5 * (SIZE_FREEDOM + 1) * np.log1p(off**2 / SIZE_FREEDOM)
    shares = np.exp(by_size - by_size.max())
    poses = looked.poses * habit
    return np.outer(shares / shares.sum(), poses / poses.sum())


def _start(looked: Looked, size: PieceSize, pose: Pose, z_mm: float) -> Hypothesis:
    corners = looked.vertices_mm
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


def _laid(asked: list[tuple[Hypothesis, Looked]], eye_mm: Array) -> list[Guess]:
    """Each hypothesis with least squares between its vertices and those that were seen
    (Gauss-Newton, Huber's weights), all at once; only one that leans has a tilt to choose.
    """
    if not asked:
        return []
    starts, looked = zip(*asked, strict=True)
    seen, sigma = _in_order(starts, looked, eye_mm)
    local, z_mm = (
        np.array([at_origin(one.size, one.pose) for one in starts]),
        np.array([one.z_mm for one in starts]),
    )
    begun = np.array([[one.x_mm, one.y_mm, one.heading_deg, one.tilt_deg] for one in starts])
    free = np.ones((len(starts), 1, 4))
    leans = np.array([one.pose == "leaning" for one in starts])
    free[~leans, :, 3] = 0.0
    here, prior, moves = (
        begun,
        np.diag(SLACK**-2.0),
        np.concatenate([np.zeros((1, 4)), np.diag(STEPS)]),
    )
    for _ in range(ROUNDS):
        flat = cast_down(
            posed(local[:, None], here[:, None] + moves, z_mm[:, None]), eye_mm
        ).reshape(len(starts), len(moves), -1)
        scaled = free * (flat[:, 1:] - flat[:, :1]).transpose(0, 2, 1) / STEPS / sigma[..., None]
        off = (seen - flat[:, 0]) / sigma
        away = np.hypot(off[:, ::2], off[:, 1::2])
        weight = np.repeat(np.minimum(1.0, ROBUST / np.maximum(away, 1e-9)), 2, axis=1)
        back = scaled.transpose(0, 2, 1)
        information = back @ (scaled * weight[..., None]) + prior
        here = (
            here
            + np.linalg.solve(
                information, back @ (weight * off)[..., None] + prior @ (begun - here)[..., None]
            )[..., 0]
        )
        here[leans, 3] = np.maximum(here[leans, 3], LEAST_TILT_DEG)
    cost = (
        np.where(away < ROBUST, 0.5 * away**2, ROBUST * (away - 0.5 * ROBUST)).sum(axis=1)
        / VERTICES_TOGETHER
    )
    covariances = VERTICES_TOGETHER * np.linalg.inv(information)
    laid = []
    for start, place, covariance, against in zip(starts, here, covariances, cost, strict=True):
        count = len(start.parameters)
        known = covariance[:count, :count]
        # Laplace's approximation: one that has more to choose from must be better for it.
        room = 0.5 * float(np.linalg.slogdet(known)[1]) - float(np.log(SLACK[:count]).sum())
        laid.append(Guess(start.at(place[:count]), known, room - float(against)))
    return laid


def _in_order(
    starts: Sequence[Hypothesis], looked: Sequence[Looked], eye_mm: Array
) -> tuple[Array, Array]:
    """The vertices (n, 10) that were seen and their sigmas, in the order of the solid's: what the
    network takes for lying may be asked whether it stands, and the base of one that stands may be
    counted from any corner.
    """
    seen, sigma = (
        np.array([one.vertices_mm for one in looked]),
        np.array([one.sigma_mm for one in looked]),
    )
    flat = cast_down(np.array([one.solid.vertices_mm for one in starts]), eye_mm)
    away = np.hypot(*np.moveaxis(seen[:, COUNTED] - flat[:, None], 3, 0)).sum(axis=2)
    away[[one.pose != "upright" for one in starts], 1:] = np.inf
    order = COUNTED[away.argmin(axis=1)]
    seen, sigma = (
        np.take_along_axis(seen, order[..., None], axis=1),
        np.take_along_axis(sigma, order, axis=1),
    )
    return seen.reshape(len(starts), -1), np.repeat(sigma, 2, axis=1)
