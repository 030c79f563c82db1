"""Which of several solids, if any, stands at a place: every rival is fitted, and the picture decides between them."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from table.solids import Array, convex_hull
from vision.background import Background
from vision.candidates import Candidate
from vision.edges import snap
from vision.hypothesis import Hypothesis, silhouette
from vision.photo import Photo
from vision.solidfit import BAND_MM, HUBER, Explained, Fit, Mask, Pixels, fit, pixels_around, scatter, settle
from vision.tableview import TableView

WORTH_LOOKS = 2.0
"""Looks that a square millimetre of foreign pixels, covered or not, is worth beside the likelihood of the picture."""
HOPELESS = 150.0
"""Looks by which a rival may cover less than the best and still be fitted."""
FIT_SIGMA = np.array([0.5, 0.5, 2.5])
"""How well the region fit knows the place before the edges are read: mm, mm, degrees, 1 sigma."""
LOOKS_TOGETHER = 10.0
"""A picture's misfits speak for a wrong rival all at once; odds are believed to this root."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The solid that explains a place best, with the covariance (3, 3) of (x_mm, y_mm, heading_deg), the probability of its
    size and pose, and the log likelihood ratio, in looks, over bare ground; `fit` is how it explains the picture."""

    guess: Hypothesis
    covariance: Array
    probability: float
    over_ground: float
    fit: Fit


def choose(candidate: Candidate, others: list[Hypothesis], photo: Photo, view: TableView, ground: Background) -> Choice:
    """Fit all guesses of a candidate and compare them on the same pixels; what belongs to other pieces is left out."""
    near = [other for other in others if beside(candidate.guesses[0], other)]
    ignore = _stamp(near, view)
    covered = WORTH_LOOKS * (np.array(candidate.worth_mm2) - max(candidate.worth_mm2))
    chances = covered > -HOPELESS
    fits = [fit(guess, view, ground, ignore) for guess, chance in zip(candidate.guesses, chances, strict=True) if chance]
    where = _common(fits, view, ground, ignore)
    seen = np.array([evidence(one.guess, where) for one in fits])
    looks = (seen + covered[chances]) / LOOKS_TOGETHER
    order = np.argsort(-looks)
    best = fits[int(order[0])]
    weights = np.exp(looks - looks.max())
    weights /= weights.sum()
    same = np.array([one.guess.pose == best.guess.pose and one.guess.size == best.guess.size for one in fits])
    placed = snap(best.guess, FIT_SIGMA, photo, [photo.silhouette(other.solid) for other in near])
    guess, covariance = best.guess, np.diag(FIT_SIGMA**2)
    if placed is not None:
        guess, covariance = placed.guess, placed.covariance
    for one, weight in zip(fits, weights * same, strict=True):
        covariance = covariance + weight * np.outer(away := one.guess.away_from(best.guess), away)
    return Choice(guess, covariance, float(weights[same].sum()), float(seen[int(order[0])] - evidence_of_ground(where)), best)


def beside(guess: Hypothesis, other: Hypothesis) -> bool:
    """Is another piece so near that its silhouette may reach into the band around this one?"""
    apart = other.solid.vertices_mm[:, :2].mean(axis=0) - guess.solid.vertices_mm[:, :2].mean(axis=0)
    return bool(np.hypot(*apart) < 1.2 * guess.size.slant_mm)


def _stamp(others: list[Hypothesis], view: TableView) -> Mask | None:
    """Pixels (h, w) that belong to other pieces, grown by a pixel; None where there are none."""
    if not others:
        return None
    mask = np.zeros(view.light.shape[:2], np.uint8)
    for other in others:
        outline = view.pixels(silhouette(other.solid, view.eye_mm))
        cv2.fillConvexPoly(mask, np.rint(outline * 16).astype(np.int32), 1, shift=4)
    return np.asarray(cv2.dilate(mask, np.ones((3, 3), np.uint8)) > 0)


def _common(fits: list[Fit], view: TableView, ground: Background, ignore: Mask | None) -> Pixels:
    outlines = np.concatenate([silhouette(one.guess.solid, view.eye_mm) for one in fits])
    return pixels_around(view, ground, convex_hull(outlines), BAND_MM, ignore)


def evidence(guess: Hypothesis, where: Pixels) -> float:
    """Log likelihood of the pixels, in looks, with every region's own scatter."""
    now, sigma = settle(guess, where)
    return _log_likelihood(now.residual, sigma, where)


def evidence_of_ground(where: Pixels) -> float:
    """The same for nothing but the empty table, evenly lit or with a soft shadow on it."""
    u, v = where.x_mm - where.x_mm.mean(), where.y_mm - where.y_mm.mean()
    reach = max(float(np.abs(u).max()), float(np.abs(v).max()), 1e-9)
    u, v = u / reach, v / reach
    shade = np.stack([np.ones_like(u), u, v, u * u, u * v, v * v])
    residual = np.empty_like(where.light)
    for k in range(3):
        columns = shade * where.ground[:, k] / where.noise[:, k]
        normal = columns @ columns.T + 1e-6 * np.eye(6)
        residual[:, k] = where.light[:, k] - np.linalg.solve(normal, columns @ (where.light[:, k] / where.noise[:, k])) @ (shade * where.ground[:, k])
    flat = Explained(residual, np.ones((1, len(u))), np.zeros((1, 3)), np.zeros(0))
    return _log_likelihood(residual, scatter(flat, where), where)


def _log_likelihood(residual: Array, sigma: Array, where: Pixels) -> float:
    size = np.abs(residual / sigma)
    loss = np.where(size < HUBER, 0.5 * size**2, HUBER * (size - 0.5 * HUBER))
    return -float((loss + np.log(sigma)).sum()) / where.values_a_look
