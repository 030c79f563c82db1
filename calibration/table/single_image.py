"""Estimate a lens from one photograph of the table: a first estimate, with its full covariance.

The corners of the fiducials, and the lines of boards printed in one piece, are known. Lens, pose
and the spread of light are fitted to their edges in one adjustment. A plane seen from one place
hardly determines some parameters; from straight above, nothing of the focal length. So a prior of
usual cameras is part of the fit, and the covariance shows the information of the image beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

from calibration.lens.models import PINHOLE
from calibration.table.board_edges import BoardEdges, printed_edges
from calibration.table.marker_edges import edge_samples, refuse_mirrored
from table.boards import Board
from table.errors import InputError
from table.messages import msg, phrase
from table.observation import Camera
from table.optimize import least_squares
from table.solids import Array
from table.table_config import Fiducials, Lens, Marker, Setup, rows_of
from vision.cameras.frame import Image
from vision.geometry.camera_model import place_covariance, pose_of, project_with
from vision.geometry.uncertainty import SIGMAS_A_MEDIAN
from vision.localization.corner_pose import wrong_edges_mask
from vision.localization.fiducial_edges import (
    BLOOM_PX,
    CLIPPED,
    CLIPPED_BLOOM_PX,
    COMMON_BLOOM_PX,
    FLOOR_PX,
    REACH_MODULES,
    edge_offsets,
)
from vision.localization.markers import DISAGREES_SHARE, corner_points, detect_markers

PRIOR_MEAN = np.array([np.log(0.78), 0, 0, 0, 0, 0, 0, 0])
"""Prior mean of the parameters of PRIOR_SIGMA."""
PRIOR_SIGMA = np.array([0.25, 0.001, 0.01, 0.01, 0.15, 0.1, 0.001, 0.001])
"""Prior standard deviation of log(fx), log(fy / fx), principal point from the centre (lengths in
image widths), k1, k2, p1, p2.
"""
FIRST_FOCALS = (0.5, 0.78, 1.1)
LEAST_FIDUCIALS, LEAST_EDGES = 3, 60
"""Least number of visible fiducials, and of their edges, for an estimate."""
CORNER_PX = 0.5
"""Standard deviation of a detected corner, for the first estimate."""
ALONE_ROUNDS, ROUNDS = 3, 7
"""Rounds with the fiducials alone, and all rounds. The later ones use the board's lines too."""
OUTLIER_SIGMAS = 2.5
"""Residual of an edge, in sigmas, at which its weight is one half."""
CORRELATED_EDGES = 7
"""Number of neighbouring edges with correlated errors."""
BOARD_BLOOM_PX = 0.3
"""Prior of the bloom of the board's print, 1 sigma."""
EXIF_SIGMA, EXIF_AGREES = 0.05, 0.25
"""Standard deviation of the logarithm of a focal length stated in the picture file, and its largest
difference from the picture's own. Beyond that the picture was cropped, and the stated one is
ignored.
"""
LENS, POSE, PRINT = slice(0, 8), slice(8, 14), slice(14, 20)
BLOOMS_FROM = PRINT.stop
"""First index of the blooms. The shifts of the fiducials follow if their places are uncertain."""
PRINT_SIGMA = np.array([0.3, 0.3, 0.001, 0.001, 0.001, 0.001])
"""Standard deviations of a board's print relative to the fiducials: place (mm, x and y) and shape
(shares, of x by x, x by y, y by x, y by y).
"""
NORMAL_MM = 0.5
LEAST_NOISE_PX = 0.02
"""Least noise of edges."""
MOST_PRIOR_SIGMAS = 4.0
"""Distance from the prior, in sigmas, above which a lens is rejected."""
OFF_PX, LEAST_SHARE = 0.5, 0.3
"""Largest median offset of a fiducial's edges, and least share of them near their predicted places.
"""
HIGH_MM = 30.0
"""Height, that of most pyramids, at which the uncertainty of standing pieces is reported."""
CHECK = phrase("check its position and size")


class UnfitMarkerError(InputError):
    """Most edges of fiducial `marker` are not at their places: it is moved, shaded or soiled."""

    def __init__(self, marker: int) -> None:
        super().__init__(
            msg(
                "expected markers where the table or the mat has them, but marker {n} does not fit"
                " the others; {text}",
                n=marker,
                text=CHECK,
            )
        )
        self.marker = marker


@dataclass(frozen=True, slots=True, eq=False)
class FirstLens:
    """A lens estimated from one photograph.

    `lens` is marked as a first estimate and has its covariance; `sigma` is by name of `PINHOLE`, 1
    sigma. `edges` is the number measured on fiducials and on the board, with a residual of
    `rms_px`. `tilt_deg` is the angle between the viewing direction and the table's normal.
    """

    lens: Lens
    sigma: dict[str, float]
    edges: tuple[int, int]
    rms_px: float
    tilt_deg: float
    fiducials: Fiducials
    """Visible fiducials at their places by this photograph, with their remaining `covariance`."""


@dataclass(frozen=True, slots=True, eq=False)
class _Prior:
    """Prior of the lens: mean and standard deviation (8,).

    `root` (3 m, 3 m) whitens the shifts (3 m,) of the fiducials. m is 0 if their places are exact.
    """

    mean: Array
    sigma: Array
    root: Array


@dataclass(frozen=True, slots=True, eq=False)
class _Edges:
    """Edges of known place: points and unit normals (n, 3), and their shift per bloom (n, b).

    There is one bloom (spread of light) common to all fiducials, one of each fiducial, and one of
    the board. `printed` (n,) is true on the board. `shifts` (n, 3, 3 m) mm are the motions of the
    points per shift and turn (mm and rad) of each fiducial. m is 0 if their places are exact.
    """

    points_mm: Array
    normals: Array
    blooms: Array
    printed: NDArray[np.bool_]
    shifts: Array


@dataclass(frozen=True, slots=True, eq=False)
class _MeasuredEdges:
    """Valid edges, their measured places (n, 2) px, and the normals there."""

    edges: _Edges
    places_px: Array
    normals_px: Array


def first_lens(
    image: Image, fiducials: Fiducials, board: Board, focal_px: float | None = None
) -> FirstLens:
    """Estimate the lens that took an image (h, w, 3).

    `focal_px` is the focal length stated in the picture file, which is ignored if the picture
    contradicts it. Fiducials with a covariance may be displaced accordingly. Raises InputError if
    the image shows too few fiducials, or they are not at their places.
    """
    size = np.array(image.shape[1::-1])
    corners, seen = _corners(image, fiducials)
    marks, lines = _fiducial_edges(seen), printed_edges(board)
    start, prior = _initial_state(corners, seen, size, focal_px)
    state = np.concatenate(
        [start, np.zeros(len(PRINT_SIGMA) + len(seen.markers) + 2 + len(prior.root))]
    )
    noise = 0.1
    for turn in range(ROUNDS):
        own, bloom_sigma = _measure_marks(image, state, marks, _module_px(state, seen, size))
        if len(own.places_px) < LEAST_EDGES:
            raise InputError(
                msg(
                    "the markers are too blurred or too dark to measure; focus the camera"
                    " or turn up the light"
                )
            )
        printed = (
            _measure_lines(image, state, lines, marks) if lines and turn >= ALONE_ROUNDS else None
        )
        measured = _join_edges(own, printed) if printed else own
        state, noise, jacobian = _solve(state, measured, bloom_sigma, noise, size, prior)
    _check(state, own, marks, seen, corners, size, prior)
    covariance = _covariance(jacobian)
    estimated = _estimated_lens(state, covariance, size)
    counts = len(own.places_px), len(measured.places_px) - len(own.places_px)
    tilt = float(
        np.degrees(np.arccos(np.clip(-np.asarray(cv2.Rodrigues(state[POSE][:3])[0])[2, 2], -1, 1)))
    )
    sigma = dict(zip(PINHOLE, np.sqrt(np.diag(estimated.covariance)).tolist(), strict=False))
    off = _edge_residuals(state, measured, size)
    rms_px = float(np.sqrt(np.mean(off**2)))
    return FirstLens(
        estimated, sigma, counts, rms_px, tilt, _shift_fiducials(seen, state, covariance)
    )


def _corners(image: Image, fiducials: Fiducials) -> tuple[Array, Fiducials]:
    """Corners (4 m, 2) px of the visible fiducials, and those fiducials."""
    detected = detect_markers(image, fiducials)
    if detected.repeated_ids:
        raise InputError(
            msg(
                "expected each marker once, but marker {n} is seen twice; take one away",
                n=detected.repeated_ids[0],
            )
        )
    seen = tuple(marker for marker in fiducials.markers if marker.id in detected.corners_px)
    if len(seen) < LEAST_FIDUCIALS:
        refuse_mirrored(image, fiducials)
        missing = ", ".join(
            str(marker.id) for marker in fiducials.markers if marker.id not in detected.corners_px
        )
        raise InputError(
            msg(
                "expected at least {n} markers in the picture, got {n2}; not found: {text}",
                n=LEAST_FIDUCIALS,
                n2=len(seen),
                text=missing or phrase("no others"),
            )
        )
    corners = np.concatenate([detected.corners_px[marker.id] for marker in seen])
    covariance = fiducials.covariance
    if covariance is not msgspec.UNSET:
        rows = np.flatnonzero(np.repeat([marker in seen for marker in fiducials.markers], 3))
        covariance = rows_of(np.array(covariance)[np.ix_(rows, rows)])
    return corners, msgspec.structs.replace(fiducials, markers=seen, covariance=covariance)


def _fiducial_edges(fiducials: Fiducials) -> _Edges:
    points, normals, blooms, moves = [], [], [], []
    uncertain = fiducials.covariance is not msgspec.UNSET
    for index, marker in enumerate(fiducials.markers):
        local, ways = edge_samples(marker.id, fiducials.dictionary)
        corners = np.array(marker.corners_mm)
        sides = np.array([corners[1] - corners[0], corners[0] - corners[3]])
        points.append(corners.mean(axis=0) + local @ sides)
        normals.append(ways @ sides / np.linalg.norm(sides[0]))
        shifts = np.zeros((len(local), len(fiducials.markers) + 2))
        shifts[:, [0, index + 1]] = 1
        blooms.append(shifts)
        moved = np.zeros((len(local), 3, 3 * len(fiducials.markers) if uncertain else 0))
        if uncertain:
            away = local @ sides
            moved[:, 0, 3 * index] = moved[:, 1, 3 * index + 1] = 1
            moved[:, :2, 3 * index + 2] = np.column_stack([-away[:, 1], away[:, 0]])
        moves.append(moved)
    places = _at_height(np.concatenate(points), fiducials.z_mm)
    return _Edges(
        places,
        _at_height(np.concatenate(normals), 0.0),
        np.concatenate(blooms),
        np.zeros(len(places), bool),
        np.concatenate(moves),
    )


def _at_height(points: Array, z_mm: float) -> Array:
    return np.column_stack([points, np.full(len(points), z_mm)])


def _prior(fiducials: Fiducials, size: NDArray[np.intp], focal_px: float | None) -> _Prior:
    """The prior: usual cameras, upright or on their side, or the stated focal length."""
    mean, sigma = PRIOR_MEAN.copy(), PRIOR_SIGMA.copy()
    mean[0] += np.log(max(1.0, size[1] / size[0]))
    if focal_px is not None:
        mean[0], sigma[0] = np.log(focal_px / size[0]), EXIF_SIGMA
    if fiducials.covariance is msgspec.UNSET:
        return _Prior(mean, sigma, np.zeros((0, 0)))
    return _Prior(
        mean, sigma, np.linalg.inv(np.linalg.cholesky(np.array(fiducials.covariance, float)))
    )


def _initial_state(
    corners: Array, fiducials: Fiducials, size: NDArray[np.intp], focal_px: float | None
) -> tuple[Array, _Prior]:
    """Initial lens and pose (14,), and the prior.

    A stated focal length is used unless that by the corners, with the prior of usual cameras,
    differs by more than EXIF_AGREES.
    """
    usual = _prior(fiducials, size, None)
    if focal_px is None:
        return _pose_from_corners(corners, fiducials, size, usual), usual
    start = _pose_from_corners(corners, fiducials, size, usual)
    stated = _prior(fiducials, size, focal_px)
    if abs(start[0] - stated.mean[0]) > EXIF_AGREES:
        return start, usual
    return _pose_from_corners(corners, fiducials, size, stated), stated


def _pose_from_corners(
    corners: Array, fiducials: Fiducials, size: NDArray[np.intp], prior: _Prior
) -> Array:
    """Initial lens and pose (14,) from the detected corners (4 m, 2).

    Raises InputError if they do not fit.
    """
    points = _at_height(
        np.array([marker.corners_mm for marker in fiducials.markers]).reshape(-1, 2), fiducials.z_mm
    )

    def off(state: Array) -> Array:
        return np.concatenate(
            [
                (_project(state, points, size) - corners).ravel() / CORNER_PX,
                (state[LENS] - prior.mean) / prior.sigma,
            ]
        )

    best = None
    for focal in FIRST_FOCALS:
        usual = np.array([np.log(focal) + prior.mean[0] - PRIOR_MEAN[0], *PRIOR_MEAN[1:]])
        start = np.concatenate([usual, *pose_of(points, corners, _lens(usual, size))])
        found = least_squares(off, start, method="lm", x_scale="jac", max_nfev=3000)
        if best is None or found.cost < best.cost:
            best = found
    assert best is not None
    worst = np.hypot(*(_project(best.x, points, size) - corners).T).reshape(-1, 4).max(axis=1)
    side = np.linalg.norm(corners[1::4] - corners[::4], axis=1)
    if (worst > DISAGREES_SHARE * side).any():
        wrong = fiducials.markers[int((worst / side).argmax())].id
        raise InputError(
            msg(
                "expected markers where the table or the mat has them, but they do not fit one"
                " camera; marker {n} fits worst; check positions and sizes",
                n=wrong,
            )
        )
    return np.asarray(best.x)


def _lens(state: Array, size: NDArray[np.intp]) -> Lens:
    width, height = size.tolist()
    focal = float(np.exp(state[0])) * width
    cx, cy = ((size - 1) / 2 + state[2:4] * width).tolist()
    k1, k2, p1, p2 = state[4:8].tolist()
    matrix = ((focal, 0.0, cx), (0.0, focal * float(np.exp(state[1])), cy), (0.0, 0.0, 1.0))
    return Lens(width=width, height=height, matrix=matrix, distortion=(k1, k2, p1, p2, 0.0))


def _project(state: Array, points_mm: Array, size: NDArray[np.intp]) -> Array:
    turn, shift = np.split(state[POSE], 2)
    return project_with(np.asarray(cv2.Rodrigues(turn)[0]), shift, points_mm, _lens(state, size))


def _module_px(state: Array, fiducials: Fiducials, size: NDArray[np.intp]) -> float:
    """Length of the smallest module in the picture."""
    corners = _at_height(
        np.array([marker.corners_mm for marker in fiducials.markers]).reshape(-1, 2), fiducials.z_mm
    )
    quads = _project(state, corners, size).reshape(-1, 4, 2)
    modules = (
        int(cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, fiducials.dictionary)).markerSize)
        + 2
    )
    return float(np.linalg.norm(np.roll(quads, -1, axis=1) - quads, axis=2).min()) / modules


def _predict_edges(state: Array, edges: _Edges, size: NDArray[np.intp]) -> tuple[Array, Array]:
    """Predicted places (n, 2) px of edges, and unit normals (n, 2) there."""
    places = _places(state, edges)
    there = _project(state, places, size)
    step = _project(state, places + NORMAL_MM * edges.normals, size) - there
    return there, step / np.linalg.norm(step, axis=1, keepdims=True)


def _places(state: Array, edges: _Edges) -> Array:
    """Places (n, 3) of edges on the table; those of the board as its print is fitted."""
    moved = edges.points_mm.copy()
    flat = moved[edges.printed, :2]
    moved[edges.printed, :2] = flat + state[PRINT][:2] + flat @ state[PRINT][2:].reshape(2, 2).T
    if edges.shifts.shape[2]:
        moved += edges.shifts @ state[BLOOMS_FROM + edges.blooms.shape[1] :]
    return moved


def _blooms(state: Array, edges: _Edges) -> Array:
    return state[BLOOMS_FROM : BLOOMS_FROM + edges.blooms.shape[1]]


def _measure_marks(
    image: Image, state: Array, marks: _Edges, module_px: float
) -> tuple[_MeasuredEdges, Array]:
    """Measured edges of the fiducials, and the prior sigma of the blooms (b,)."""
    edges, normals = _predict_edges(state, marks, np.array(image.shape[1::-1]))
    offset, paper, good = edge_offsets(
        image, edges, normals, REACH_MODULES * module_px, marks.blooms @ _blooms(state, marks)
    )
    clipped = [
        np.median(paper[own]) > CLIPPED if (own := good & (column > 0)).any() else False
        for column in marks.blooms.T[1:-1]
    ]
    sigma = np.array(
        [COMMON_BLOOM_PX, *np.where(clipped, CLIPPED_BLOOM_PX, BLOOM_PX), BOARD_BLOOM_PX]
    )
    return _select_edges(marks, edges + offset[:, None] * normals, normals, good), sigma


def _measure_lines(image: Image, state: Array, lines: BoardEdges, marks: _Edges) -> _MeasuredEdges:
    """Measured edges of the board's print."""
    blooms = np.zeros((len(lines.points_mm), marks.blooms.shape[1]))
    blooms[:, -1] = lines.look == "step"
    edges = _Edges(
        _at_height(lines.points_mm, 0.0),
        _at_height(lines.normals, 0.0),
        blooms,
        np.ones(len(blooms), bool),
        np.zeros((len(blooms), *marks.shifts.shape[1:])),
    )
    there, normals = _predict_edges(state, edges, np.array(image.shape[1::-1]))
    offset, good = lines.measure(image, there, normals)
    return _select_edges(edges, there + offset[:, None] * normals, normals, good)


def _select_edges(
    edges: _Edges, places: Array, normals: Array, good: NDArray[np.bool_]
) -> _MeasuredEdges:
    kept = _Edges(
        edges.points_mm[good],
        edges.normals[good],
        edges.blooms[good],
        edges.printed[good],
        edges.shifts[good],
    )
    return _MeasuredEdges(kept, places[good], normals[good])


def _join_edges(one: _MeasuredEdges, other: _MeasuredEdges) -> _MeasuredEdges:
    a, b = one.edges, other.edges
    points, normals, blooms = (
        np.concatenate(pair)
        for pair in ((a.points_mm, b.points_mm), (a.normals, b.normals), (a.blooms, b.blooms))
    )
    edges = _Edges(
        points,
        normals,
        blooms,
        np.concatenate([a.printed, b.printed]),
        np.concatenate([a.shifts, b.shifts]),
    )
    return _MeasuredEdges(
        edges,
        np.concatenate([one.places_px, other.places_px]),
        np.concatenate([one.normals_px, other.normals_px]),
    )


def _edge_residuals(state: Array, measured: _MeasuredEdges, size: NDArray[np.intp]) -> Array:
    """Residuals (n,) of edges along their normals, px."""
    away = measured.places_px - _project(state, _places(state, measured.edges), size)
    return np.asarray(
        np.sum(away * measured.normals_px, axis=1)
        - measured.edges.blooms @ _blooms(state, measured.edges)
    )


def _solve(
    state: Array,
    measured: _MeasuredEdges,
    bloom_sigma: Array,
    noise: float,
    size: NDArray[np.intp],
    prior: _Prior,
) -> tuple[Array, float, Array]:
    """One robust least-squares step: state, noise of an edge in px, and Jacobian in sigmas."""
    weight = 1 / np.sqrt(
        1 + (_edge_residuals(state, measured, size) / (OUTLIER_SIGMAS * noise)) ** 2
    )
    sigma = np.sqrt(noise**2 + CORRELATED_EDGES * FLOOR_PX**2)

    def off(state: Array) -> Array:
        return np.concatenate(
            [
                weight * _edge_residuals(state, measured, size) / sigma,
                (state[LENS] - prior.mean) / prior.sigma,
                state[PRINT] / PRINT_SIGMA,
                _blooms(state, measured.edges) / bloom_sigma,
                prior.root @ state[len(state) - len(prior.root) :],
            ]
        )

    found = least_squares(off, state, method="lm", x_scale="jac", max_nfev=3000)
    left = np.abs(_edge_residuals(found.x, measured, size))
    return (
        np.asarray(found.x),
        max(SIGMAS_A_MEDIAN * float(np.median(left)), LEAST_NOISE_PX),
        np.asarray(found.jac),
    )


def _check(
    state: Array,
    own: _MeasuredEdges,
    marks: _Edges,
    fiducials: Fiducials,
    corners_px: Array,
    size: NDArray[np.intp],
    prior: _Prior,
) -> None:
    """Raise InputError if the fit is not plausible.

    Reasons are a fiducial that is not at its place, or not at its detected corners (4 m, 2), and a
    lens unlike any camera's.
    """
    wrong = wrong_edges_mask(
        _project(state, corner_points(_found_markers(fiducials, state), fiducials.z_mm), size),
        corners_px,
    )
    if wrong.any():
        why = phrase(
            "the edges of marker {n} are not where the marker is",
            n=fiducials.markers[int(np.argmax(wrong))].id,
        )
        raise InputError(
            msg(
                "expected a sharp picture, but {text}; hold the camera still, focus it,"
                " and take another",
                text=why,
            )
        )
    off = _edge_residuals(state, own, size)
    for index, marker in enumerate(fiducials.markers):
        mine = own.edges.blooms[:, index + 1] > 0
        if mine.sum() < LEAST_SHARE * np.count_nonzero(marks.blooms[:, index + 1]):
            raise UnfitMarkerError(marker.id)
        off_px = float(np.median(np.abs(off[mine])))
        if off_px > OFF_PX:
            raise InputError(
                msg(
                    "expected markers where the table or the mat has them, but marker {n} is off by"
                    " {mm} px; {text}",
                    n=marker.id,
                    mm=f"{off_px:.1f}",
                    text=CHECK,
                )
            )
    _check_usual(state, size, prior)


def _check_usual(state: Array, size: NDArray[np.intp], prior: _Prior) -> None:
    """Raise InputError if the lens is unlike any camera's."""
    if (np.abs(state[LENS] - prior.mean) > MOST_PRIOR_SIGMAS * prior.sigma).any():
        focal, k1 = float(np.exp(state[0])) * size[0], state[4]
        raise InputError(
            msg(
                "expected markers that fit a normal lens, got a focal length of"
                " {n} px and k1 {mm}; check positions and sizes; calibrate a"
                " fisheye lens",
                n=f"{focal:.0f}",
                mm=f"{k1:.2f}",
            )
        )


def _covariance(jacobian: Array) -> Array:
    """Covariance of all unknowns, from the Jacobian in sigmas."""
    scale = np.linalg.norm(jacobian, axis=0)
    inverse = np.linalg.inv((jacobian / scale).T @ (jacobian / scale))
    return np.asarray(inverse / np.outer(scale, scale))


def _estimated_lens(state: Array, covariance: Array, size: NDArray[np.intp]) -> Lens:
    """The lens with its covariance (8, 8), with poses and blooms marginalized."""
    lens, width = _lens(state, size), float(size[0])
    to_lens = np.diag([lens.matrix[0][0], lens.matrix[1][1], width, width, 1.0, 1.0, 1.0, 1.0])
    to_lens[1, 0] = lens.matrix[1][1]
    return msgspec.structs.replace(
        lens, covariance=rows_of(to_lens @ covariance[LENS, LENS] @ to_lens.T), first_estimate=True
    )


def _shift_fiducials(fiducials: Fiducials, state: Array, covariance: Array) -> Fiducials:
    """The fiducials at their estimated places, with their remaining covariance."""
    if fiducials.covariance is msgspec.UNSET:
        return fiducials
    markers = _found_markers(fiducials, state)
    shapes, count = _motion_free_projection(markers), 3 * len(markers)
    return msgspec.structs.replace(
        fiducials,
        markers=tuple(markers),
        covariance=rows_of(shapes @ covariance[-count:, -count:] @ shapes.T),
    )


def _found_markers(fiducials: Fiducials, state: Array) -> list[Marker]:
    """The fiducials, shifted if their places are uncertain."""
    if fiducials.covariance is msgspec.UNSET:
        return list(fiducials.markers)
    shifts = state[-3 * len(fiducials.markers) :].reshape(-1, 3)
    markers = []
    for marker, (x, y, turn) in zip(fiducials.markers, shifts, strict=True):
        corners = marker.around_mm(1.0)
        away = corners - corners.mean(axis=0)
        moved = corners + [x, y] + turn * np.column_stack([-away[:, 1], away[:, 0]])
        a, b, c, d = ((float(u), float(v)) for u, v in moved)
        markers.append(msgspec.structs.replace(marker, corners_mm=(a, b, c, d)))
    return markers


def _motion_free_projection(markers: list[Marker]) -> Array:
    """Projection (3 m, 3 m) that removes the common motion from the fiducials' shifts.

    The fiducials define the table's frame, so a common shift and turn of all of them has no effect.
    """
    middles = np.array([np.mean(marker.corners_mm, axis=0) for marker in markers])
    x, y = (middles - middles.mean(axis=0)).T
    motions = np.zeros((len(markers), 3, 3))
    motions[:, 0, 0] = motions[:, 1, 1] = motions[:, 2, 2] = 1
    motions[:, 0, 2], motions[:, 1, 2] = -y, x
    placed = motions.copy()
    placed[:, 2] = 0
    flat = motions.reshape(-1, 3)
    return np.asarray(np.eye(len(flat)) - flat @ np.linalg.pinv(placed.reshape(-1, 3)))


def worst_sigma_mm(setup: Setup, camera: Camera, height_mm: float) -> float:
    """The largest uncertainty, 1 sigma, of a place over the board's corners, in any direction."""
    places = [np.array([*corner, height_mm]) for corner in setup.outline_mm()]
    return max(
        float(np.sqrt(np.linalg.eigvalsh(place_covariance(place, camera, setup.camera)).max()))
        for place in places
    )
