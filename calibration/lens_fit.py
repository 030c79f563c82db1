"""A lens from views of a target: OpenCV finds the minimum; what to believe of it is decided here.

Views that do not fit the others, and corners that do not fit their view, are left out with the reason.  The model is
the one that predicts best the views it has not seen.  Uncertainties come from the whole adjustment, every
view's pose unknown too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np

from calibration.lens_views import LEAST_VIEWS, LeftOut, View
from table.errors import InputError
from table.setup import Lens
from table.solids import Array

PARAMETERS = ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6")
"""In the order of OpenCV's Jacobian."""
MODELS: dict[str, tuple[int, int]] = {
    "k1 k2": (6, cv2.CALIB_ZERO_TANGENT_DIST | cv2.CALIB_FIX_K3),
    "k1 k2 p1 p2": (8, cv2.CALIB_FIX_K3),
    "k1 k2 p1 p2 k3": (9, 0),
    "rational": (12, cv2.CALIB_RATIONAL_MODEL),
}
"""By name, simplest first: how many of PARAMETERS are free, and OpenCV's flags."""
USUAL = "k1 k2 p1 p2"
COEFFICIENTS = {"rational": 8}
"""How many numbers of distortion a model has, if not 5."""
FOLDS = 4
OUTLIER_VIEW = 2.5
"""A view whose residuals are so many times those of the others does not fit them."""
OUTLIER_CORNER = 4.5
"""A corner so many sigmas off is left out."""
MEDIAN_SQUARE = 2 * math.log(2)
"""Median of the squared distance of a point whose two coordinates have a variance of 1."""
WORST_FOCAL_SHARE = 0.01
"""A focal length less certain than this (1 sigma) is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A view as the lens sees it: `residual_px` (n, 2), how far the target is tilted, and how far away it is."""

    view: View
    residual_px: Array
    tilt_deg: float
    away_mm: float

    @property
    def rms_px(self) -> float:
        return _rms(self.residual_px)


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """A lens, and how good it is.

    `sigma` (1 sigma) and `covariance` are of the free parameters, the first of PARAMETERS, in pixels where they are lengths.
    Residuals are distances in the picture, root mean square over all corners; `held_out_px` those of views that the lens
    had not seen, by model.
    """

    lens: Lens
    model: str
    covariance: Array
    rms_px: float
    held_out_px: dict[str, float]
    views: tuple[Judged, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def sigma(self) -> dict[str, float]:
        return dict(zip(PARAMETERS, np.sqrt(np.diag(self.covariance)).tolist(), strict=False))


@dataclass(frozen=True, slots=True, eq=False)
class _Solved:
    """What OpenCV found."""

    matrix: Array
    distortion: Array
    poses: tuple[tuple[Array, Array], ...]
    residuals_px: tuple[Array, ...]


def calibrate_lens(views: tuple[View, ...], size_px: tuple[int, int]) -> Calibrated:
    """The lens that took these views; raises InputError where too few of them agree, or they do not tell the focal length."""
    kept, left_out = _agreeing(views, size_px)
    held_out = {model: _held_out(kept, size_px, model) for model in MODELS}
    model = _choose(held_out)
    solved = _solve(kept, size_px, model)
    covariance = _covariance(kept, solved, model)
    focal = float(solved.matrix[0, 0])
    if not (sigma := math.sqrt(covariance[0, 0])) < WORST_FOCAL_SHARE * focal:
        advice = "tilt the target more, hold it nearer, and reach all corners of the picture"
        raise InputError(f"expected views that tell the focal length to 1 %, got {focal:.0f} px, sigma {sigma:.0f}; {advice}")
    rows = tuple((float(a), float(b), float(c)) for a, b, c in solved.matrix)
    count = COEFFICIENTS.get(model, 5)
    lens = Lens(width=size_px[0], height=size_px[1], matrix=(rows[0], rows[1], rows[2]), distortion=tuple(solved.distortion[:count].tolist()))
    judged = tuple(_judged(view, pose, residual) for view, pose, residual in zip(kept, solved.poses, solved.residuals_px, strict=True))
    held_out_px = {name: _rms(np.concatenate(list(residuals))) for name, residuals in held_out.items()}
    return Calibrated(lens, model, covariance, _rms(np.concatenate(solved.residuals_px)), held_out_px, judged, left_out)


def _agreeing(views: tuple[View, ...], size_px: tuple[int, int]) -> tuple[tuple[View, ...], tuple[LeftOut, ...]]:
    """Views without those, and corners without those, that do not fit the others.  The worst view goes first, and all are fitted anew."""
    kept, left_out = list(views), []
    while True:
        solved = _solve(tuple(kept), size_px, USUAL)
        rms = np.array([_usual_rms(residual) for residual in solved.residuals_px])
        worst = int(rms.argmax())
        usual = float(np.median(np.delete(rms, worst)))
        if rms[worst] <= OUTLIER_VIEW * usual:
            break
        detail = f"its corners are {rms[worst]:.2f} px off, the others {usual:.2f}; was the target bent, or did it move?"
        left_out.append(LeftOut(kept.pop(worst).name, "it does not fit the others", detail))
        if len(kept) < LEAST_VIEWS:
            names = ", ".join(out.name for out in left_out[:4])
            raise InputError(
                f"expected {LEAST_VIEWS} views or more that fit one lens, got {len(kept)}; {names} do not fit; is the target flat, the focus locked?"
            )
    squared = np.concatenate([np.sum(residual**2, axis=1) for residual in solved.residuals_px])
    most = OUTLIER_CORNER**2 * float(np.median(squared)) / MEDIAN_SQUARE
    good = [np.sum(residual**2, axis=1) <= most for residual in solved.residuals_px]
    return tuple(replace(view, target_mm=view.target_mm[g], pixels=view.pixels[g]) for view, g in zip(kept, good, strict=True)), tuple(left_out)


def _solve(views: tuple[View, ...], size_px: tuple[int, int], model: str) -> _Solved:
    targets = [np.column_stack([view.target_mm, np.zeros(len(view.target_mm))]).astype(np.float32) for view in views]
    pixels = [view.pixels.astype(np.float32).reshape(-1, 1, 2) for view in views]
    criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 60, 1e-12)
    _, found, coefficients, turns, shifts = cv2.calibrateCamera(
        targets,
        pixels,
        size_px,
        np.eye(3),
        np.zeros(5),
        flags=MODELS[model][1],
        criteria=criteria,
    )
    matrix, distortion = np.asarray(found, np.float64), np.asarray(coefficients, np.float64).reshape(-1)
    poses = tuple((np.asarray(turn, float).reshape(3), np.asarray(shift, float).reshape(3)) for turn, shift in zip(turns, shifts, strict=True))
    residuals = tuple(_project(view, pose, matrix, distortion)[0] - view.pixels for view, pose in zip(views, poses, strict=True))
    return _Solved(matrix, distortion, poses, residuals)


def _project(view: View, pose: tuple[Array, Array], matrix: Array, distortion: Array) -> tuple[Array, Array]:
    """Where the corners should be (n, 2), and OpenCV's Jacobian (2 n, 10 + number of coefficients)."""
    points = np.column_stack([view.target_mm, np.zeros(len(view.target_mm))]).reshape(-1, 1, 3)
    there, jacobian = cv2.projectPoints(points, *pose, matrix, distortion)
    return np.asarray(there, float).reshape(-1, 2), np.asarray(jacobian, float)


def _held_out(views: tuple[View, ...], size_px: tuple[int, int], model: str) -> tuple[Array, ...]:
    """Residuals (n, 2) of each view by a lens that was calibrated without it; only its pose is fitted to it."""
    residuals: dict[int, Array] = {}
    for fold in range(FOLDS):
        solved = _solve(tuple(view for index, view in enumerate(views) if index % FOLDS != fold), size_px, model)
        for index in range(fold, len(views), FOLDS):
            view = views[index]
            points = np.column_stack([view.target_mm, np.zeros(len(view.target_mm))])
            _, turn, shift = cv2.solvePnP(points, view.pixels.reshape(-1, 1, 2), solved.matrix, solved.distortion)
            pose = np.asarray(turn, float).reshape(3), np.asarray(shift, float).reshape(3)
            residuals[index] = _project(view, pose, solved.matrix, solved.distortion)[0] - view.pixels
    return tuple(residuals[index] for index in range(len(views)))


def _choose(held_out: dict[str, tuple[Array, ...]]) -> str:
    """The model that predicts best, in doubt the usual one: lenses are a little askew, and leaving that out bends the rest.

    Another one must gain by more than chance, in the mean over views of what it gains in squares: by one standard error of
    that mean where it is simpler, by two where it is richer.
    """
    squares = {model: np.array([np.sum(residual**2) for residual in residuals]) for model, residuals in held_out.items()}
    best, usual = USUAL, list(MODELS).index(USUAL)
    for place, model in enumerate(MODELS):
        gain = squares[best] - squares[model]
        errors = 1 if place < usual else 2
        if gain.mean() > errors * gain.std(ddof=1) / math.sqrt(len(gain)):
            best = model
    return best


def _covariance(views: tuple[View, ...], solved: _Solved, model: str) -> Array:
    """Covariance (p, p) of the free parameters, the poses of all views being unknown too (Schur complement of the normal equations)."""
    count = MODELS[model][0]
    normal = np.zeros((count, count))
    for view, pose in zip(views, solved.poses, strict=True):
        jacobian = _project(view, pose, solved.matrix, solved.distortion)[1]
        by_pose, by_lens = jacobian[:, :6], jacobian[:, 6 : 6 + count]
        free = by_lens - by_pose @ np.linalg.lstsq(by_pose, by_lens, rcond=None)[0]
        normal += free.T @ free
    residuals = np.concatenate(solved.residuals_px)
    variance = float(np.sum(residuals**2)) / (residuals.size - count - 6 * len(views))
    scale = 1 / np.sqrt(np.diag(normal))
    return np.asarray(variance * np.linalg.pinv(normal * np.outer(scale, scale), hermitian=True) * np.outer(scale, scale))


def _judged(view: View, pose: tuple[Array, Array], residual: Array) -> Judged:
    rotation, _ = cv2.Rodrigues(pose[0])
    middle = np.asarray(rotation, float) @ np.append(view.target_mm.mean(axis=0), 0.0) + pose[1]
    tilt = math.degrees(math.acos(min(1.0, abs(float(np.asarray(rotation)[2, 2])))))
    return Judged(view, residual, tilt, float(np.linalg.norm(middle)))


def _usual_rms(residual: Array) -> float:
    """Root mean square (n, 2) as it would be without a few corners that stray."""
    return math.sqrt(2 * float(np.median(np.sum(residual**2, axis=1))) / MEDIAN_SQUARE)


def _rms(residual: Array) -> float:
    return float(np.sqrt(np.mean(np.sum(residual**2, axis=1))))
