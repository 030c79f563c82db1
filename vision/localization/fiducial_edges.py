"""Fit the pose to the black-to-white edges of all markers' borders in one adjustment.

Edges are measured in linear light along their normals. Further unknowns, the blooms, are outward
shifts of those edges, one common to all and one per marker. Over-exposed paper spreads, and the
shift would otherwise read as a smaller marker farther away. Errors of the edges of one side are
correlated, because lens, print and blur shift them alike. This correlation is estimated from the
residuals of whole sides, and widens the covariance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from table.messages import phrase
from table.solids import Array
from table.table_config import Marker, Setup
from vision.cameras.frame import Image
from vision.geometry.camera_model import Pose, project_posed
from vision.geometry.srgb import sample_light
from vision.geometry.uncertainty import SIGMAS_A_MEDIAN
from vision.localization.corner_pose import PoseFit, displaced_marker_covariance
from vision.localization.markers import NoPose

LUMA = np.array([0.299, 0.587, 0.114], np.float32)
"""Weights of red, green and blue light in grey."""
SAMPLES_PER_SIDE = 24
SIDE_MARGIN = 0.12
"""Share of a side next to each corner that is not measured, because it is blurred by the other
side.
"""
REACH_MODULES = 0.42
"""Half length of the profile across an edge, in modules (a sixth of a 4x4 marker's side)."""
CLIPPED = 0.9
"""Linear light of paper above which it is over-exposed, and its edges spread."""
COMMON_BLOOM_PX, BLOOM_PX, CLIPPED_BLOOM_PX = 0.5, 0.02, 0.3
"""Prior of the blooms, 1 sigma: common to all, and of one marker beyond that, exposed well or
clipped.
"""
STEPS, SETTLED_PX = 5, 0.01
"""Largest number of iterations, and motion of the edges, in px, below which they stop."""
LEAST_EDGES = 60
"""Least number of edges that give a pose."""
FLOOR_PX, FLOOR_SIDES = 0.03, 4
"""Error of a side's place by lens and print, 1 sigma, which does not average out. Number of sides
that this prior counts for.
"""
BLUR_SHIFT, SHARP_PX = 0.1, 1.0
"""Prior of a common shift of all edges by blur: share, 1 sigma, of the blur beyond SHARP_PX."""
LEAST_OF_SIDE, FREE = 6, 7
"""Least number of edges of a side that counts for the scatter of sides; number of fitted
parameters.
"""


@dataclass(frozen=True, slots=True, eq=False)
class _Edges:
    """Edges of one image, measured from a predicted pose.

    `offset` (n,) px is outward from the prediction, `normal_px` (n, 2). `derivatives` (2 n, 10 + d)
    are those of the places by pose and lens, `paper` (n,) the levels of the paper. `width_px` (n,)
    is each edge's blur, 1 sigma, and `good` (n,) a validity mask.
    """

    offset: Array
    normal_px: Array
    derivatives: Array
    paper: Array
    width_px: Array
    good: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class EdgeFit(PoseFit):
    """As PoseFit, with the scatter of whole sides.

    `scatter_px` is their residual, 1 sigma, beyond that explained by the noise of their edges.
    """

    scatter_px: float


@dataclass(frozen=True, slots=True, eq=False)
class _Adjustment:
    """The last step of an adjustment, by n good edges, of u unknowns: 6 of the pose, the blooms.

    `design` is (n, u), `left` (n,) px the residuals after the step, `weight` (n,) their weights,
    and `normal` (u, u) the normal matrix with the prior of the blooms.
    """

    pose: Pose
    edges: _Edges
    design: Array
    left: Array
    weight: Array
    normal: Array

    @property
    def rms_px(self) -> float:
        """Weighted root mean square of the residuals."""
        return float(np.sqrt(np.average(self.left**2, weights=self.weight)))

    @property
    def pose_derivatives(self) -> Array:
        """Derivative (u, n) of the unknowns by each edge's offset."""
        return np.asarray(np.linalg.solve(self.normal, (self.design * self.weight[:, None]).T))


def fit_edges(image: Image, setup: Setup, pose: Pose, markers: list[Marker]) -> EdgeFit | NoPose:
    """Fit the pose to the border edges of the detected markers.

    A half-covered marker is not used, because the edge of the covering arm would bias the fit.
    """
    samples = _border_samples(markers, setup.fiducials.z_mm)
    owner = np.repeat(np.arange(len(markers)), 4 * SAMPLES_PER_SIDE)
    fit = _adjust(image, setup, pose, samples, owner)
    if isinstance(fit, NoPose):
        return fit
    edges, good = fit.edges, fit.edges.good
    pose_derivatives = fit.pose_derivatives
    side = np.flatnonzero(good) // SAMPLES_PER_SIDE
    squares = _side_residual_squares(fit.left, fit.weight, side)
    freedom = max(int((np.bincount(side, fit.weight) >= LEAST_OF_SIDE).sum()) - FREE, 1)
    by_all = pose_derivatives[:6] @ edges.normal_px[good]
    covariance = (
        _noise_covariance(fit, squares, freedom)
        + _displaced_covariance(fit, pose_derivatives, side, owner[good])
        + _blur_shift_px(edges) ** 2 * by_all @ by_all.T
    )
    by_places = edges.derivatives.reshape(len(owner), 2, -1)
    return EdgeFit(
        fit.pose,
        covariance,
        pose_derivatives[:6],
        np.einsum("nk,nkp->np", edges.normal_px, by_places)[good],
        samples[0][good],
        owner[good],
        fit.rms_px,
        float(np.sqrt(squares / freedom)),
    )


def _adjust(
    image: Image,
    setup: Setup,
    pose: Pose,
    samples: tuple[Array, Array, float],
    owner: NDArray[np.intp],
) -> _Adjustment | NoPose:
    """Gauss-Newton with Huber weights; edges are measured anew at each step.

    `owner` (n,) is the marker that each edge belongs to.
    """
    rvec, tvec = pose
    markers = np.arange(owner[-1] + 1)
    bloom = np.zeros(1 + len(markers))
    for _ in range(STEPS):
        shift = bloom[0] + bloom[1 + owner]
        edges = _measure(image, setup, (rvec, tvec), samples, shift)
        if edges.good.sum() < LEAST_EDGES:
            return NoPose(
                phrase(
                    "the markers are too blurred or too dark to measure; focus the camera"
                    " or turn up the light"
                )
            )
        by_pose = np.einsum(
            "nk,nkp->np", edges.normal_px, edges.derivatives[:, :6].reshape(-1, 2, 6)
        )
        design = np.column_stack([by_pose, np.ones(len(owner)), owner[:, None] == markers])
        design = design[edges.good]
        residual = (edges.offset - shift)[edges.good]
        weight, spread = _huber_weights(residual)
        tie = (spread / _bloom_sigmas(edges, owner)) ** 2
        normal = design.T @ (design * weight[:, None])
        normal[6:, 6:] += np.diag(tie)
        right = design.T @ (weight * residual)
        right[6:] -= tie * bloom
        change = np.linalg.solve(normal, right)
        rvec, tvec, bloom = rvec + change[:3], tvec + change[3:6], bloom + change[6:]
        if np.abs(design @ change).max() < SETTLED_PX:
            break
    return _Adjustment((rvec, tvec), edges, design, residual - design @ change, weight, normal)


def _huber_weights(residual: Array) -> tuple[Array, float]:
    """Weights (n,) of residuals in px, and the spread, 1 sigma, that they are relative to."""
    left = residual - np.median(residual)
    spread = max(SIGMAS_A_MEDIAN * float(np.median(np.abs(left))), 0.02)
    return np.minimum(1.0, 1.5 * spread / np.maximum(np.abs(left), 1e-9)), spread


def _noise_covariance(fit: _Adjustment, squares: float, freedom: int) -> Array:
    """Covariance (6, 6) of the pose by the noise of edges and of whole sides.

    `squares` px^2 is the sum of squared residuals of sides with `freedom` degrees of freedom. The
    variance is that of Student's t, which is larger for few sides.
    """
    floor = (FLOOR_SIDES * FLOOR_PX**2 + squares) / (FLOOR_SIDES + freedom - 2)
    noise = fit.rms_px**2 + floor * SAMPLES_PER_SIDE
    return np.asarray(np.linalg.inv(fit.normal)[:6, :6] * noise)


def _displaced_covariance(
    fit: _Adjustment, pose_derivatives: Array, side: NDArray[np.intp], owner: NDArray[np.intp]
) -> Array:
    """Covariance (6, 6) of the pose if a marker is displaced (`displaced_marker_covariance`).

    `side` and `owner` (n,) are the side and the marker of each good edge.
    """
    rows = np.arange(len(side))
    markers = fit.design.shape[1] - 7  # without the pose and the common bloom
    displaced = np.zeros((len(side), markers, 2))
    displaced[rows, owner] = fit.edges.normal_px[fit.edges.good]
    # All weights are 1: sides of a displaced marker have little weight in the fit.
    every = np.ones(len(side))
    # Upper bound of the part that is due to lens and print.
    left_by_chance = 2 * FLOOR_PX**2 * len(np.unique(side))
    return displaced_marker_covariance(
        max(0.0, _side_residual_squares(fit.left, every, side) - left_by_chance),
        pose_derivatives,
        fit.design,
        displaced.reshape(len(side), -1),
        lambda column: _side_residual_squares(column, every, side),
    )


def _measure(
    image: Image, setup: Setup, pose: Pose, samples: tuple[Array, Array, float], shift: Array
) -> _Edges:
    edge_mm, normal_mm, module_mm = samples
    edge_px, derivatives = project_posed(edge_mm, pose, setup.camera)
    beside, _ = project_posed(edge_mm + normal_mm, pose, setup.camera)
    step = beside - edge_px
    scale = np.linalg.norm(step, axis=1)
    normal_px = step / scale[:, None]
    reach_px = REACH_MODULES * module_mm * float(np.median(scale))
    offset, paper, width, good = _edge_profiles(image, edge_px, normal_px, reach_px, shift)
    return _Edges(offset, normal_px, derivatives, paper, width, good)


def _blur_shift_px(edges: _Edges) -> float:
    """Common shift of all edges by blur, 1 sigma, because camera shake is not symmetric."""
    return BLUR_SHIFT * max(0.0, float(np.median(edges.width_px[edges.good])) - SHARP_PX)


def _bloom_sigmas(edges: _Edges, owner: NDArray[np.intp]) -> Array:
    """Prior standard deviations of the blooms (1 + n,)."""
    beside_each = [edges.paper[edges.good & (owner == k)] for k in range(owner[-1] + 1)]
    clipped = np.array(
        [len(levels) > 0 and np.median(levels) > CLIPPED for levels in beside_each]
    )  # a border may have no good edges
    return np.array([COMMON_BLOOM_PX, *np.where(clipped, CLIPPED_BLOOM_PX, BLOOM_PX)])


def _side_residual_squares(left: Array, weight: Array, side: NDArray[np.intp]) -> float:
    """Sum of squares, px^2, of whole sides' residuals beyond the noise of their edges (n,)."""
    count = np.bincount(side, weight)
    mean = np.bincount(side, weight * left) / np.maximum(count, 1e-9)
    noise = float(np.average((left - mean[side]) ** 2, weights=weight))
    many = count >= LEAST_OF_SIDE
    return max(0.0, float(np.sum(mean[many] ** 2 - noise / count[many])))


def _border_samples(markers: list[Marker], z_mm: float) -> tuple[Array, Array, float]:
    """Points (n, 3) along all markers' borders, outward unit normals (n, 3), and module in mm."""
    corners = np.array([marker.corners_mm for marker in markers])
    corners = np.dstack([corners, np.full(corners.shape[:2], z_mm)])
    along = np.linspace(SIDE_MARGIN, 1 - SIDE_MARGIN, SAMPLES_PER_SIDE)[None, None, :, None]
    ahead = np.roll(corners, -1, axis=1) - corners
    samples = corners[:, :, None] + along * ahead[:, :, None]
    # Corners run clockwise seen from above, so the paper is to the left of each side.
    outward = np.stack([-ahead[..., 1], ahead[..., 0], ahead[..., 2]], axis=-1) / np.linalg.norm(
        ahead, axis=-1, keepdims=True
    )
    normal = np.broadcast_to(outward[:, :, None], samples.shape)
    return (
        samples.reshape(-1, 3),
        normal.reshape(-1, 3),
        float(np.linalg.norm(ahead, axis=-1).mean()) / 6,
    )


def edge_offsets(
    image: Image, edge_px: Array, normal_px: Array, reach_px: float, centre_px: Array
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Offset in px of each edge (n, 2) along its normal (n, 2), towards the white side.

    Searched for within `reach_px` of `centre_px` (n,) along the normal.  Also the level of the
    paper (n,), linear light, and a validity mask.
    """
    offset, paper, _, good = _edge_profiles(image, edge_px, normal_px, reach_px, centre_px)
    return offset, paper, good


def edge_widths(image: Image, quads: Sequence[Array]) -> Array:
    """Blur (n,) px, 1 sigma, of the border edges that can be read of fiducials.

    `quads` are their detected corners, (4, 2) px each, clockwise as printed.
    """
    along = np.linspace(SIDE_MARGIN, 1 - SIDE_MARGIN, SAMPLES_PER_SIDE)[None, :, None]
    widths = []
    for quad in quads:
        ahead = np.roll(quad, -1, axis=0) - quad
        length = np.linalg.norm(ahead, axis=1)
        if length.min() < 1:
            continue
        edge_px = (quad[:, None] + along * ahead[:, None]).reshape(-1, 2)
        outward = np.column_stack([ahead[:, 1], -ahead[:, 0]]) / length[:, None]
        normal_px = np.repeat(outward, SAMPLES_PER_SIDE, axis=0)
        reach_px = REACH_MODULES * float(length.mean()) / 6
        _, _, width, good = _edge_profiles(
            image, edge_px, normal_px, reach_px, np.zeros(len(edge_px))
        )
        widths.append(width[good])
    return np.concatenate([np.zeros(0), *widths])


def _edge_profiles(
    image: Image, edge_px: Array, normal_px: Array, reach_px: float, centre_px: Array
) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
    """As `edge_offsets`, with the blur (n,) px of each edge, 1 sigma, before the validity mask."""
    reach_px = max(reach_px, 2.0)
    steps = (
        np.linspace(-reach_px, reach_px, max(17, 2 * int(4 * reach_px) + 1)) + centre_px[:, None]
    )
    xy = edge_px[:, None] + normal_px[:, None] * steps[..., None]
    # In parts of neighbouring edges, so that light is decoded only around each part.
    light = np.concatenate(
        [
            sample_light(image, part)
            for part in np.array_split(xy, -(-len(xy) // (4 * SAMPLES_PER_SIDE)))
        ]
    )
    profile = light @ LUMA
    x, y = xy[..., 0], xy[..., 1]
    profile[(x < 0) | (y < 0) | (x > image.shape[1] - 1) | (y > image.shape[0] - 1)] = np.nan
    rise = np.diff(profile, axis=1)
    middle = (steps[:, 1:] + steps[:, :-1]) / 2
    quarter = max(2, steps.shape[1] // 5)
    paper = profile[:, -quarter:].mean(axis=1)
    contrast = paper - profile[:, :quarter].mean(axis=1)
    with np.errstate(invalid="ignore"):
        weight = np.clip(rise, 0, None)
        weight = np.where(weight < 0.15 * weight.max(axis=1, keepdims=True), 0, weight)
        offset = (weight * middle).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-12)
        width = np.sqrt(
            (weight * (middle - offset[:, None]) ** 2).sum(axis=1)
            / np.maximum(weight.sum(axis=1), 1e-12)
        )
        usual = np.nanmedian(contrast) if np.isfinite(contrast).any() else np.inf
        good = (contrast > 0.5 * usual) & (width < 0.45 * reach_px) & np.isfinite(offset)
    return np.nan_to_num(offset), paper, width, good
