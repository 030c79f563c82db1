"""Fit a lens to views of a target: OpenCV minimizes; views, corners and models are selected here.

Views that do not fit the others, and corners that do not fit their view, are left out with the
reason. The model is the one with the best prediction of unseen views. Uncertainties come from the
whole adjustment, in which the pose of every view is unknown too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np

from calibration.lens.models import (
    MODELS,
    LensSolution,
    fit_pose,
    information,
    inverse,
    noise_px2,
    solve,
)
from calibration.lens.views import LEAST_VIEWS, RejectedView, View
from table.errors import InputError
from table.formatting import beside
from table.messages import msg, phrase
from table.solids import Array
from table.table_config import Lens
from vision.geometry.camera_model import Pose

USUAL = "k1 k2 p1 p2"
FISHEYE_RATIO = 1.2
"""Ratio of the usual model's residuals to the fisheye model's from which the lens is treated as a
fisheye from the start.
"""
FOLDS = 4
OUTLIER_VIEW = 2.5
"""Ratio of a view's smooth residual to the median of the others above which it is an outlier."""
SURFACE_TERMS = 10
"""Terms of a cubic polynomial in two variables."""
OUTLIER_CORNER = 4.5
"""Residual of a corner, in sigmas, above which it is left out."""
MEDIAN_SQUARE = 2 * math.log(2)
"""Median of the squared distance of a point whose two coordinates have a variance of 1."""
WORST_FOCAL_SHARE = 0.01
"""Largest relative standard deviation of the focal length at which a lens is accepted."""


@dataclass(frozen=True, slots=True, eq=False)
class ViewFit:
    """A view with its fit: residuals (n, 2) px, tilt of the target and its distance."""

    view: View
    residual_px: Array
    tilt_deg: float
    away_mm: float

    @property
    def rms_px(self) -> float:
        """Root mean square residual of the view."""
        return _rms(self.residual_px)


@dataclass(frozen=True, slots=True, eq=False)
class LensCalibration:
    """A lens and its accuracy.

    `sigma` (1 sigma) and `covariance` are of the model's free parameters, in pixels where they are
    lengths. Residuals are root mean square distances in the image over all corners. `held_out_px`
    are the cross-validation residuals, by model.
    """

    lens: Lens
    model: str
    covariance: Array
    rms_px: float
    held_out_px: dict[str, float]
    views: tuple[ViewFit, ...]
    left_out: tuple[RejectedView, ...]

    @property
    def sigma(self) -> dict[str, float]:
        """Standard deviations (1 sigma) of the free parameters by name."""
        return dict(
            zip(
                MODELS[self.model].parameters,
                np.sqrt(np.diag(self.covariance)).tolist(),
                strict=True,
            )
        )


def calibrate_lens(views: tuple[View, ...], size_px: tuple[int, int]) -> LensCalibration:
    """Calibrate a lens from views.

    Raises InputError if too few views agree, or they do not determine the focal length.
    """
    kept, left_out = _reject_outliers(views, size_px)
    held_out = {model: _cross_validate(kept, size_px, model) for model in MODELS}
    model = _choose(held_out)
    solved = solve(kept, size_px, model)
    covariance = noise_px2(solved) * inverse(information(kept, solved))
    focal = solved.lens.matrix[0][0]
    if not (sigma := math.sqrt(covariance[0, 0])) < WORST_FOCAL_SHARE * focal:
        advice = phrase(
            "tilt the target more, hold it closer, and reach all corners of the picture"
        )
        reached = beside(100 * sigma / focal, 100 * WORST_FOCAL_SHARE, 1)
        raise InputError(
            msg(
                "expected views that give the focal length to {mm} % (1 sigma), they give"
                " it to {mm2} %; {text}",
                mm=f"{100 * WORST_FOCAL_SHARE:g}",
                mm2=reached,
                text=advice,
            )
        )
    judged = tuple(
        _view_fit(view, pose, residual)
        for view, pose, residual in zip(kept, solved.poses, solved.residuals_px, strict=True)
    )
    held_out_px = {
        name: _rms(np.concatenate(list(residuals))) for name, residuals in held_out.items()
    }
    return LensCalibration(
        solved.lens,
        model,
        covariance,
        _rms(np.concatenate(solved.residuals_px)),
        held_out_px,
        judged,
        left_out,
    )


def _reject_outliers(
    views: tuple[View, ...], size_px: tuple[int, int]
) -> tuple[tuple[View, ...], tuple[RejectedView, ...]]:
    """Leave out views that do not fit the others, and corners that do not fit their view.

    The worst view is removed first, and all others are fitted anew.
    """
    solved = fit_first_model(views, size_px, (USUAL, "fisheye", "rational"))
    model, left_out = solved.model, []
    kept = [
        _without_outlier_corners(view, residual, _usual_rms(residual))
        for view, residual in zip(views, solved.residuals_px, strict=True)
    ]
    while True:
        solved = solve(tuple(kept), size_px, model)
        bends = np.array(
            [
                _smooth_residual(view, residual)
                for view, residual in zip(kept, solved.residuals_px, strict=True)
            ]
        )
        worst = int(bends.argmax())
        usual = float(np.median(np.delete(bends, worst)))
        if bends[worst] <= OUTLIER_VIEW * usual:
            break
        one, other = (
            bend * math.sqrt(SURFACE_TERMS / len(kept[worst].pixels))
            for bend in (bends[worst], usual)
        )
        detail = phrase(
            "its corners are {mm} px off as a group, those of the other views {mm2} px; was"
            " the target bent, or did it move?",
            mm=f"{one:.2f}",
            mm2=f"{other:.2f}",
        )
        left_out.append(
            RejectedView(kept.pop(worst).name, phrase("it does not fit the others"), detail)
        )
        if len(kept) < LEAST_VIEWS:
            names = ", ".join(out.name for out in left_out[:4])
            raise InputError(
                msg(
                    "expected at least {n} views that fit one lens, got {n2}; {raw} do not"
                    " fit; is the target flat and the focus locked?",
                    n=LEAST_VIEWS,
                    n2=len(kept),
                    raw=names,
                )
            )
    usual = _usual_rms(np.concatenate(solved.residuals_px))
    good = (
        _without_outlier_corners(view, residual, usual)
        for view, residual in zip(kept, solved.residuals_px, strict=True)
    )
    return tuple(good), tuple(left_out)


def _without_outlier_corners(view: View, residual: Array, usual_rms: float) -> View:
    """A view without outlier corners."""
    good = np.hypot(*residual.T) <= OUTLIER_CORNER * usual_rms / math.sqrt(2)
    return replace(view, target_mm=view.target_mm[good], pixels=view.pixels[good])


def fit_first_model(
    views: tuple[View, ...], size_px: tuple[int, int], models: tuple[str, ...] = (USUAL, "fisheye")
) -> LensSolution:
    """Fit the first of these models, or a later one if it fits much better.

    With too simple a model, good views would be rejected.
    """
    best, *others = (solve(views, size_px, model) for model in models)
    for other in others:
        one, two = (
            np.median([_usual_rms(residual) for residual in solved.residuals_px])
            for solved in (best, other)
        )
        best = other if one > FISHEYE_RATIO * two else best
    return best


def _cross_validate(
    views: tuple[View, ...], size_px: tuple[int, int], model: str
) -> tuple[Array, ...]:
    """Cross-validation residuals (n, 2) of each view.

    The lens is calibrated without the view, then only the view's pose is fitted.
    """
    residuals: dict[int, Array] = {}
    for fold in range(FOLDS):
        solved = solve(
            tuple(view for index, view in enumerate(views) if index % FOLDS != fold), size_px, model
        )
        for index in range(fold, len(views), FOLDS):
            residuals[index] = fit_pose(views[index], solved.lens)[1]
    return tuple(residuals[index] for index in range(len(views)))


def _choose(held_out: dict[str, tuple[Array, ...]]) -> str:
    """Choose the model with the best prediction; in doubt the usual one.

    Real lenses are slightly decentred, and leaving that out distorts the other parameters. Another
    model must gain significantly: Wilcoxon's signed-rank statistic of the gain per view must lie
    one standard error above 0 if the model is simpler, two if it is richer. Ranks are used because
    one view that a model cannot fit would dominate the rest.
    """
    squares = {
        model: np.array([np.sum(residual**2) for residual in residuals])
        for model, residuals in held_out.items()
    }
    best, usual = USUAL, list(MODELS).index(USUAL)
    for place, model in enumerate(MODELS):
        gain = squares[best] - squares[model]
        ranks = 1 + np.argsort(np.argsort(np.abs(gain)))
        errors = 1 if place < usual else 2
        if np.sum(np.sign(gain) * ranks) > errors * math.sqrt(np.sum(ranks**2)):
            best = model
    return best


def _view_fit(view: View, pose: Pose, residual: Array) -> ViewFit:
    rotation, _ = cv2.Rodrigues(pose[0])
    middle = np.asarray(rotation, float) @ np.append(view.target_mm.mean(axis=0), 0.0) + pose[1]
    tilt = math.degrees(math.acos(min(1.0, abs(float(np.asarray(rotation)[2, 2])))))
    return ViewFit(view, residual, tilt, float(np.linalg.norm(middle)))


def _smooth_residual(view: View, residual: Array) -> float:
    """Root mean square of the smooth part of a view's residuals, in px.

    The smooth part is a cubic surface fitted over the target. Independent corner noise has little
    effect on it; a bent or moving target has its full effect. For noise alone, the result is scaled
    to the size of the noise.
    """
    x, y = ((view.target_mm - view.target_mm.mean(axis=0)) / np.ptp(view.target_mm, axis=0).max()).T
    surface, _ = np.linalg.qr(
        np.column_stack([x**i * y**j for i in range(4) for j in range(4 - i)])
    )
    return float(np.linalg.norm(surface.T @ residual) / math.sqrt(SURFACE_TERMS))


def _usual_rms(residual: Array) -> float:
    """Robust root mean square of residuals (n, 2), insensitive to a few stray corners."""
    return math.sqrt(2 * float(np.median(np.sum(residual**2, axis=1))) / MEDIAN_SQUARE)


def _rms(residual: Array) -> float:
    return float(np.sqrt(np.mean(np.sum(residual**2, axis=1))))
