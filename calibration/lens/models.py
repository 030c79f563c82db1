"""Fit one lens model to views: bundle adjustment over all corners, with unknown view poses.

OpenCV minimizes its pinhole models.  Its fisheye calibration sometimes fails on good views, so that
model is minimized here, by the same least squares.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.lens.views import View
from table.solids import Array
from table.table_config import Lens
from vision.geometry.camera_model import Pose, pose_of, project_posed

PINHOLE = ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6")
FISHEYE = ("fx", "fy", "cx", "cy", "k1", "k2", "k3", "k4")
"""Parameters in the order of `vision.geometry.camera_model.project_posed`."""


@dataclass(frozen=True, slots=True)
class Model:
    """A lens model: free parameters, number of distortion coefficients, and OpenCV flags.

    `flags` None: a fisheye lens.
    """

    parameters: tuple[str, ...]
    coefficients: int
    flags: int | None


MODELS = {
    "k1 k2": Model(PINHOLE[:6], 5, cv2.CALIB_ZERO_TANGENT_DIST | cv2.CALIB_FIX_K3),
    "k1 k2 p1 p2": Model(PINHOLE[:8], 5, cv2.CALIB_FIX_K3),
    "k1 k2 p1 p2 k3": Model(PINHOLE[:9], 5, 0),
    "fisheye": Model(FISHEYE, 4, None),
    "rational": Model(PINHOLE, 8, cv2.CALIB_RATIONAL_MODEL),
}
"""Lens models by name, simplest first."""
STEPS, POSE_STEPS = 60, 6
SMALLEST_GAIN = 1e-10
"""Relative decrease of the squared residuals below which the iteration stops."""
FISHEYE_FOCALS = (0.4, 0.55, 0.75, 1.0)
"""Initial focal lengths, in image widths, of a fisheye fit."""


@dataclass(frozen=True, slots=True, eq=False)
class LensSolution:
    """A fitted lens, the pose of every view before it, and each view's residuals (n, 2) px."""

    lens: Lens
    model: str
    poses: tuple[Pose, ...]
    residuals_px: tuple[Array, ...]


def solve(views: tuple[View, ...], size_px: tuple[int, int], model: str) -> LensSolution:
    """The lens of a model that fits views best, with equal weight for all corners."""
    flags = MODELS[model].flags
    if flags is None:
        guesses = [
            fit_poses(views, _plain_fisheye(share, size_px), model) for share in FISHEYE_FOCALS
        ]
        return refine(views, min(guesses, key=_squares))
    targets = [_points(view).astype(np.float32) for view in views]
    pixels = [view.pixels.astype(np.float32).reshape(-1, 1, 2) for view in views]
    criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, STEPS, 1e-12)
    _, matrix, distortion, turns, shifts = cv2.calibrateCamera(
        targets, pixels, size_px, np.eye(3), np.zeros(5), flags=flags, criteria=criteria
    )
    found = np.asarray(matrix, float)
    numbers = np.concatenate(
        [
            [found[0, 0], found[1, 1], found[0, 2], found[1, 2]],
            np.asarray(distortion, float).reshape(-1),
        ]
    )
    poses = tuple(
        (np.asarray(turn, float).reshape(3), np.asarray(shift, float).reshape(3))
        for turn, shift in zip(turns, shifts, strict=True)
    )
    return _solution(views, lens_of(numbers, size_px, model), model, poses)


def refine(views: tuple[View, ...], start: LensSolution) -> LensSolution:
    """Levenberg-Marquardt refinement from a start; poses are eliminated by Schur complement."""
    best, damping = start, 1e-4
    numbers = _numbers(best)
    size_px = start.lens.width, start.lens.height
    for _ in range(STEPS):
        normal, right = np.zeros((len(numbers), len(numbers))), np.zeros(len(numbers))
        parts = []
        for by_pose, by_lens, residual in _linear(views, best):
            own = by_pose.T @ by_pose
            own += damping * np.diag(np.diag(own))
            mixed, towards = by_pose.T @ by_lens, by_pose.T @ residual
            normal += by_lens.T @ by_lens - mixed.T @ np.linalg.solve(own, mixed)
            right += by_lens.T @ residual - mixed.T @ np.linalg.solve(own, towards)
            parts.append((own, mixed, towards))
        normal += damping * np.diag(np.diag(normal))
        change = np.linalg.solve(normal, right)
        turned = [np.linalg.solve(own, towards - mixed @ change) for own, mixed, towards in parts]
        poses = tuple(
            (pose[0] + step[:3], pose[1] + step[3:])
            for pose, step in zip(best.poses, turned, strict=True)
        )
        tried = _solution(
            views, lens_of(numbers + change, size_px, start.model), start.model, poses
        )
        gain = 1 - _squares(tried) / _squares(best)
        if gain > 0:
            best, numbers, damping = tried, numbers + change, damping / 10
        else:
            damping *= 10
        if abs(gain) < SMALLEST_GAIN or damping > 1e8:
            break
    return best


def fit_pose(view: View, lens: Lens) -> tuple[Pose, Array]:
    """The pose that fits a view best with a lens, and residuals (n, 2) px."""
    points = _points(view)
    turn, shift = pose_of(points, view.pixels, lens)
    for _ in range(POSE_STEPS):
        there, derivatives = project_posed(points, (turn, shift), lens)
        step = np.linalg.lstsq(derivatives[:, :6], (view.pixels - there).reshape(-1), rcond=None)[0]
        turn, shift = turn + step[:3], shift + step[3:]
    return (turn, shift), project_posed(points, (turn, shift), lens)[0] - view.pixels


def fit_poses(views: tuple[View, ...], lens: Lens, model: str) -> LensSolution:
    """A fixed lens, with the poses that fit the views best."""
    return _solution(views, lens, model, tuple(fit_pose(view, lens)[0] for view in views))


def information(views: tuple[View, ...], solved: LensSolution) -> Array:
    """Fisher information (p, p) of the free parameters, for corners with a sigma of 1 px.

    The poses are marginalized; its inverse is the parameters' covariance.
    """
    count = len(MODELS[solved.model].parameters)
    return sum(
        (lens_information(by_pose, by_lens) for by_pose, by_lens, _ in _linear(views, solved)),
        np.zeros((count, count)),
    )


def lens_information(by_pose: Array, by_lens: Array) -> Array:
    """Fisher information (p, p) that one view gives about the lens, its pose marginalized.

    From derivatives (2 n, 6) by the pose and (2 n, p) by the lens.
    """
    free = by_lens - by_pose @ np.linalg.lstsq(by_pose, by_lens, rcond=None)[0]
    return np.asarray(free.T @ free)


def noise_px2(solved: LensSolution) -> float:
    """Noise variance of a corner coordinate, from residuals and degrees of freedom."""
    residuals = np.concatenate(solved.residuals_px)
    free = residuals.size - len(MODELS[solved.model].parameters) - 6 * len(solved.poses)
    return float(np.sum(residuals**2)) / max(free, 1)


def inverse(normal: Array) -> Array:
    """Pseudo-inverse of a symmetric matrix whose rows have different units.

    The rows are scaled first; undetermined parameters come out large, not as an error.
    """
    scale = 1 / np.sqrt(np.diag(normal))
    return np.asarray(
        np.linalg.pinv(normal * np.outer(scale, scale), hermitian=True) * np.outer(scale, scale)
    )


def lens_of(numbers: Array, size_px: tuple[int, int], model: str) -> Lens:
    """fx, fy, cx, cy and distortion as a lens; missing distortion coefficients are 0."""
    fx, fy, cx, cy, *distortion = numbers.tolist()
    count = MODELS[model].coefficients
    return Lens(
        width=size_px[0],
        height=size_px[1],
        matrix=((fx, 0.0, cx), (0.0, fy, cy), (0.0, 0.0, 1.0)),
        distortion=tuple([*distortion, *[0.0] * count][:count]),
        model="fisheye" if MODELS[model].flags is None else "pinhole",
    )


def parameters_of(lens: Lens) -> dict[str, float]:
    """A lens's parameters by name."""
    (fx, _, cx), (_, fy, cy), _ = lens.matrix
    names = FISHEYE if lens.model == "fisheye" else PINHOLE
    return dict(zip(names, (fx, fy, cx, cy, *lens.distortion), strict=False))


def _numbers(solved: LensSolution) -> Array:
    """The free parameters (p,) of a fit."""
    values = parameters_of(solved.lens)
    return np.array([values[name] for name in MODELS[solved.model].parameters])


def _plain_fisheye(share: float, size_px: tuple[int, int]) -> Lens:
    width, height = size_px
    return lens_of(
        np.array([share * width, share * width, width / 2 - 0.5, height / 2 - 0.5]),
        size_px,
        "fisheye",
    )


def _solution(
    views: tuple[View, ...], lens: Lens, model: str, poses: tuple[Pose, ...]
) -> LensSolution:
    residuals = tuple(
        project_posed(_points(view), pose, lens)[0] - view.pixels
        for view, pose in zip(views, poses, strict=True)
    )
    return LensSolution(lens, model, poses, residuals)


def _linear(views: tuple[View, ...], solved: LensSolution) -> Iterator[tuple[Array, Array, Array]]:
    """For each view: derivatives (2 n, 6) by pose and (2 n, p) by lens, and residuals (2 n,)."""
    count = len(MODELS[solved.model].parameters)
    for view, pose in zip(views, solved.poses, strict=True):
        there, derivatives = project_posed(_points(view), pose, solved.lens)
        yield derivatives[:, :6], derivatives[:, 6 : 6 + count], (view.pixels - there).reshape(-1)


def _points(view: View) -> Array:
    return np.column_stack([view.target_mm, np.zeros(len(view.target_mm))])


def _squares(solved: LensSolution) -> float:
    """Sum of squared residuals; infinite if a corner has no finite projection."""
    total = float(sum(np.sum(residual**2) for residual in solved.residuals_px))
    return total if math.isfinite(total) else math.inf
