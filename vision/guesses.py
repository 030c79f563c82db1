"""From where the second look sees vertices to solids: every size and pose laid on them, with what speaks for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from table.pieces import PieceSize
from table.solids import POSES, Array, Pose
from vision.hypothesis import STEPS, Hypothesis, cast_down, vertices_mm
from vision.second_look import Looked

ROUNDS = 4
SLACK = np.array([1e4, 1e4, 1e4, 12.0])
"""What is known of place, heading and tilt before anything is seen, 1 sigma around the start."""
TILT_DEG = 20.0
"""What is expected of a leaning piece."""
ROBUST = 2.5
"""Vertices farther off than this, in sigmas, are believed less and less: they may be another's."""
VERTICES_TOGETHER = 2.0
"""The vertices of one crop err together: what they say is believed to this root."""
LEAST_SHARE = 1e-3
"""Sizes and poses that are less likely than this are not laid on the vertices."""
MOST_AGAINST, MOST_DOUBTED = 7.0, 5
"""What is seen badly speaks no more than the first against a size and pose, and so much its vertices do; so many it may be at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Guess:
    """A size and pose where the vertices have it, the covariance (p, p) of its parameters, and the logarithm of what speaks for it."""

    guess: Hypothesis
    covariance: Array
    evidence: float


def guesses(looked: Looked, sizes: Sequence[PieceSize], habit: Array, eye_mm: Array, z_mm: float) -> list[Guess]:
    """All likely sizes and poses, the likeliest first; `habit` (3,) says how pieces stand in this game as a rule, `z_mm` on what."""
    return _laid_out(looked, sizes, habit, eye_mm, z_mm, LEAST_SHARE, 0.0)


def doubtful_guesses(looked: Looked, sizes: Sequence[PieceSize], habit: Array, eye_mm: Array, z_mm: float) -> list[Guess]:
    """The likeliest of all sizes and poses, likely or not, for a piece that is seen badly, and one that lies the other way round."""
    least = float(np.exp(-MOST_AGAINST))
    best, *others = _laid_out(looked, sizes, habit, eye_mm, z_mm, 0.0, least)[:MOST_DOUBTED]
    others += [_turned_round(one) for one in (best, *others) if one.guess.pose == "lying"][:1]
    return [best, *(replace(one, evidence=max(one.evidence, best.evidence - MOST_AGAINST)) for one in others)]


def _turned_round(one: Guess) -> Guess:
    """The same piece with its tip where its base was, which speaks less for it than anything else does."""
    tip = one.guess.solid.vertices_mm[4]
    turned = replace(one.guess, x_mm=float(tip[0]), y_mm=float(tip[1]), heading_deg=one.guess.heading_deg + 180)
    return Guess(turned, one.covariance, -np.inf)


def _laid_out(
    looked: Looked, sizes: Sequence[PieceSize], habit: Array, eye_mm: Array, z_mm: float, asked_above: float, at_least: float
) -> list[Guess]:
    """Sizes and poses of more than a share, none of which is taken for less than another."""
    by_size = np.array([-0.5 * ((np.log(size.base_mm) - looked.log_base) / looked.log_base_sigma) ** 2 for size in sizes])
    shares = np.exp(by_size - by_size.max())
    poses = looked.poses * habit
    weights = np.outer(shares / shares.sum(), poses / poses.sum())
    out = []
    for i, size in enumerate(sizes):
        for j, pose in enumerate(POSES):
            if weights[i, j] >= asked_above:
                before = float(np.log(max(weights[i, j], at_least)))
                out.append(_laid(_start(looked, size, pose, z_mm), looked, eye_mm, before))
    return sorted(out, key=lambda one: -one.evidence)


def _start(looked: Looked, size: PieceSize, pose: Pose, z_mm: float) -> Hypothesis:
    corners = looked.vertices_mm
    middle, tip = corners[:4].mean(axis=0), corners[4]
    way = corners[1] - corners[0] if pose == "upright" else tip - middle
    heading = float(np.degrees(np.arctan2(way[1], way[0])))
    place = middle if pose == "upright" else corners[1:3].mean(axis=0)
    return Hypothesis(size, pose, float(place[0]), float(place[1]), heading, TILT_DEG if pose == "leaning" else 0.0, z_mm)


def _laid(start: Hypothesis, looked: Looked, eye_mm: Array, before: float) -> Guess:
    """The hypothesis with least squares between its vertices and those that were seen (Gauss-Newton, Huber's weights)."""
    count = len(start.parameters)
    order = _order(start, looked, eye_mm)
    seen = looked.vertices_mm[order].ravel()
    sigma = np.repeat(looked.sigma_mm[order], 2)
    here, prior = start.parameters, np.diag(SLACK[:count] ** -2.0)
    moves = np.concatenate([np.zeros((1, count)), np.diag(STEPS[:count])])
    for _ in range(ROUNDS):
        flat = cast_down(vertices_mm(start, here + moves), eye_mm).reshape(len(moves), -1)
        jacobian = (flat[1:] - flat[0]).T / STEPS[:count]
        off = (seen - flat[0]) / sigma
        weight = np.minimum(1.0, ROBUST / np.maximum(np.repeat(np.hypot(off[::2], off[1::2]), 2), 1e-9))
        scaled = jacobian / sigma[:, None]
        information = scaled.T @ (scaled * weight[:, None]) + prior
        here = here + np.linalg.solve(information, scaled.T @ (weight * off) + prior @ (start.parameters - here))
    away = np.hypot(off[::2], off[1::2])
    cost = np.where(away < ROBUST, 0.5 * away**2, ROBUST * (away - 0.5 * ROBUST)).sum()
    covariance = VERTICES_TOGETHER * np.linalg.inv(information)
    # Laplace's approximation: one that has more to choose from must be better for it.
    room = 0.5 * float(np.linalg.slogdet(covariance)[1]) - float(np.log(SLACK[:count]).sum())
    return Guess(start.at(here), covariance, before + room - float(cost) / VERTICES_TOGETHER)


def _order(start: Hypothesis, looked: Looked, eye_mm: Array) -> list[int]:
    """Which vertex seen is which of the solid's: what the network takes for lying may be asked whether it stands."""
    flat = cast_down(start.solid.vertices_mm, eye_mm)
    turns = [[(k + turn) % 4 for k in range(4)] + [4] for turn in range(4)] if start.pose == "upright" else [list(range(5))]
    return min(turns, key=lambda turn: float(np.hypot(*(looked.vertices_mm[turn] - flat).T).sum()))
