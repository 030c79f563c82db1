"""Where the camera is, from all fiducials together.

Marker corners of detectors carry a bias of about half a pixel, so they only start the search.  The pose itself is fitted
to the black-to-white edges of every marker's border, measured in linear light along their normals, all markers in one
adjustment.  Further unknowns, the blooms, are outward shifts of those edges, one common to all and one a marker: over-exposed
paper spreads, and the shift would otherwise read as a smaller marker farther away.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

from table.errors import InputError
from table.observation import Camera
from table.setup import Fiducials, Lens, Marker, Setup
from table.solids import Array
from vision.camera import Pose, pose_of, project_posed
from vision.doubt import SIGMAS_A_MEDIAN
from vision.frame import Image
from vision.light import read_light

LUMA = np.array([0.299, 0.587, 0.114], np.float32)
"""Share of red, green and blue light in grey."""
CELL_PX, CELL_RIM = 8, 0.3
"""Pixels of a marker's cell laid straight, and the share of them on each side that does not count.  Of 309 markers of 82 tables the
detector's own 4 and 0.13 missed 5, and 17 with 7 px of shake; these missed none, and 2."""
SAMPLES_PER_SIDE = 24
SIDE_MARGIN = 0.12
"""Share of a side next to each corner that is not measured: the other side's blur reaches there."""
REACH_MODULES = 0.42
"""Half length of the profile across an edge, in modules (a sixth of a 4x4 marker's side)."""
DISAGREES_SHARE = 0.2
"""A marker whose corners are off by more than this share of its side does not fit the others."""
CLIPPED = 0.9
"""Paper brighter than this (linear light) is over-exposed, and its edges spread."""
COMMON_BLOOM_PX, BLOOM_PX, CLIPPED_BLOOM_PX = 0.5, 0.02, 0.3
"""What is expected of blooms, 1 sigma: common to all, and of one marker beyond that, exposed well or clipped."""
STEPS, SETTLED_PX = 5, 0.01
"""So many times the pose is fitted at most; it need not be again once that moves no edge by more than this."""
ONE_THREAD_PIXELS = 8_000_000
"""In larger pictures markers are looked for by one thread."""
FLOOR_PX = 0.03
"""What remains of lens and print when edge noise has averaged out; added to the pose's covariance."""


@dataclass(frozen=True, slots=True)
class NoPose:
    """The camera's place could not be found; falsy, with the reason as a sentence."""

    reason: str

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True, slots=True, eq=False)
class Detected:
    """Corners (4, 2) px of each marker by id, and ids that were seen more than once."""

    corners_px: dict[int, Array]
    twice: tuple[int, ...]


@contextmanager
def one_thread(pixels: int) -> Iterator[None]:
    """OpenCV without its threads for a picture of many pixels: each takes memory for all edges in it, 100 MB where 12 megapixels are noise."""
    threads = cv2.getNumThreads()
    if pixels > ONE_THREAD_PIXELS:
        cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(threads)


def _detector_parameters() -> cv2.aruco.DetectorParameters:
    """How OpenCV's detector reads a marker's cells: by their middles alone, as blur mixes the rims of cells of a few pixels."""
    parameters = cv2.aruco.DetectorParameters()
    parameters.perspectiveRemovePixelPerCell = CELL_PX
    parameters.perspectiveRemoveIgnoredMarginPerCell = CELL_RIM
    return parameters


def detect_markers(image: Image, fiducials: Fiducials) -> Detected:
    """Markers of the table's dictionary in a picture (h, w, 3); unknown ids are left out."""
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, fiducials.dictionary))
    with one_thread(grey.size):
        found, ids, _ = cv2.aruco.ArucoDetector(dictionary, _detector_parameters()).detectMarkers(grey)
    known = {marker.id for marker in fiducials.markers}
    corners: dict[int, Array] = {}
    twice: list[int] = []
    flat_ids = [] if ids is None else [int(id_) for id_ in np.asarray(ids).reshape(-1)]
    for id_, quad in zip(flat_ids, found, strict=True):
        if id_ not in known:
            continue
        if id_ in corners:
            twice.append(id_)
        corners[id_] = np.asarray(quad, float).reshape(4, 2)
    return Detected(corners, tuple(twice))


def locate(image: Image, setup: Setup) -> Camera | NoPose:
    """The camera's pose from the markers in a picture (h, w, 3)."""
    return locate_by(detect_markers(image, setup.fiducials), image, setup)


def locate_by(detected: Detected, image: Image, setup: Setup) -> Camera | NoPose:
    """As `locate`, for markers that were detected in the picture already; those that the table does not have are left out."""
    if detected.twice:
        return NoPose(f"two fiducials with id {detected.twice[0]} are in view; take one away or print it with another id")
    seen = [marker for marker in setup.fiducials.markers if marker.id in detected.corners_px]
    hidden = sorted(marker.id for marker in setup.fiducials.markers if marker.id not in detected.corners_px)
    if len(seen) < 2:
        count = "no fiducial is" if not seen else "only one fiducial is"
        return NoPose(f"{count} in view, at least two are needed; uncover {_listed(hidden)} or turn up the light")
    table = np.array([marker.corners_mm for marker in seen]).reshape(-1, 2)
    points = np.column_stack([table, np.full(len(table), setup.fiducials.z_mm)])
    pixels = np.concatenate([detected.corners_px[marker.id] for marker in seen])
    try:
        pose = pose_of(points, pixels, setup.camera)
        stranger = _stranger(points, pixels, tuple(marker.id for marker in seen), setup.camera, pose)
    except InputError as error:
        return NoPose(str(error))
    if stranger is not None:
        return stranger
    return _refine(image, setup, pose, tuple(marker.id for marker in seen))


def _listed(ids: list[int]) -> str:
    return "fiducial " + " and ".join(str(id_) for id_ in ids)


def _stranger(points: Array, pixels: Array, ids: tuple[int, ...], lens: Lens, pose: Pose) -> NoPose | None:
    """The reason if the markers do not agree on one pose, naming the one that the others fit best without."""

    def misfit(pose: Pose, rows: slice) -> float:
        there, _ = project_posed(points[rows], pose, lens)
        side = np.hypot(*(pixels[rows][1] - pixels[rows][0]))
        return float(np.hypot(*(there - pixels[rows]).T).max() / side)

    blocks = [slice(4 * k, 4 * k + 4) for k in range(len(ids))]
    if max(misfit(pose, rows) for rows in blocks) <= DISAGREES_SHARE:
        return None
    worst, names = -1.0, f"fiducials {ids[0]} and {ids[-1]} do not agree on where the camera is"
    for k in range(len(ids)) if len(ids) > 2 else ():
        others = np.delete(np.arange(len(points)), np.arange(4 * k, 4 * k + 4))
        without = pose_of(points[others], pixels[others], lens)
        rest = max(misfit(without, rows) for rows in blocks if rows != blocks[k])
        off = misfit(without, blocks[k])
        if rest <= DISAGREES_SHARE and off > worst:
            worst, names = off, f"fiducial {ids[k]} does not fit the others: its corners are off by {100 * off:.0f} % of its side"
    return NoPose(f"{names}; check its size and place in table.json, and that nobody has moved it")


def _refine(image: Image, setup: Setup, pose: Pose, ids: tuple[int, ...]) -> Camera | NoPose:
    """Fit the pose to the border edges of the markers seen; Gauss-Newton with Huber weights, measured anew at each step.

    Sides that show of a half-covered marker are left alone: an arm's edge beside them pulls more than they add.
    """
    markers, lens = [marker for marker in setup.fiducials.markers if marker.id in ids], setup.camera
    edge_mm, normal_mm, module_mm = _border_samples(markers, setup.fiducials.z_mm)
    owner = np.repeat(np.arange(len(markers)), 4 * SAMPLES_PER_SIDE)
    rvec, tvec = pose
    bloom = np.zeros(1 + len(markers))
    for _ in range(STEPS):
        edge_px, derivatives = project_posed(edge_mm, (rvec, tvec), lens)
        beside, _ = project_posed(edge_mm + normal_mm, (rvec, tvec), lens)
        step = beside - edge_px
        scale = np.linalg.norm(step, axis=1)
        normal_px = step / scale[:, None]
        shift = bloom[0] + bloom[1 + owner]
        offset, paper, good = edge_offsets(image, edge_px, normal_px, REACH_MODULES * module_mm * float(np.median(scale)), shift)
        residual = offset - shift
        if good.sum() < 60:
            return NoPose("the fiducials are too blurred or too dark to be measured; focus the camera or turn up the light")
        by_pose = np.einsum("nk,nkp->np", normal_px, derivatives[:, :6].reshape(-1, 2, 6))
        design = np.column_stack([by_pose, np.ones(len(owner)), owner[:, None] == np.arange(len(markers))])[good]
        residual = residual[good]
        left = residual - np.median(residual)
        spread = max(SIGMAS_A_MEDIAN * float(np.median(np.abs(left))), 0.02)
        weight = np.minimum(1.0, 1.5 * spread / np.maximum(np.abs(left), 1e-9))
        normal = design.T @ (design * weight[:, None])
        beside_each = [paper[good & (owner == k)] for k in range(len(markers))]
        clipped = np.array([len(levels) > 0 and np.median(levels) > CLIPPED for levels in beside_each])  # none of a border may be good
        tie = (spread / np.array([COMMON_BLOOM_PX, *np.where(clipped, CLIPPED_BLOOM_PX, BLOOM_PX)])) ** 2
        normal[6:, 6:] += np.diag(tie)
        right = design.T @ (weight * residual)
        right[6:] -= tie * bloom
        change = np.linalg.solve(normal, right)
        rvec, tvec, bloom = rvec + change[:3], tvec + change[3:6], bloom + change[6:]
        if np.abs(design @ change).max() < SETTLED_PX:
            break
    rms = float(np.sqrt(np.average((residual - design @ change) ** 2, weights=weight)))
    covariance = np.linalg.inv(normal)[:6, :6] * (rms**2 + FLOOR_PX**2 * SAMPLES_PER_SIDE)
    rotation = np.asarray(cv2.Rodrigues(rvec)[0], float)
    follows = -np.linalg.solve(normal, (design * weight[:, None]).T)[:6]
    if setup.fiducials.covariance is not msgspec.UNSET:
        by_mm = np.einsum("nk,nkp->np", normal_px, derivatives[:, 3:6].reshape(-1, 2, 3)) @ rotation
        by_markers = follows @ _by_markers(by_mm, edge_mm, owner)[good]
        covariance += by_markers @ _places_covariance(setup.fiducials, ids) @ by_markers.T
    if lens.covariance:
        by_lens = follows @ np.einsum("nk,nkp->np", normal_px, derivatives[:, 6:].reshape(len(owner), 2, -1))[good]
        covariance = _with_lens(covariance, by_lens[:, : len(lens.covariance)], np.array(lens.covariance))
    return Camera(rotation, tvec, covariance, rms, ids)


def _by_markers(by_mm: Array, edge_mm: Array, owner: NDArray[np.intp]) -> Array:
    """How edges (n,) move in the picture with the places [x, y, heading] of their markers, (n, 3 m); `by_mm` (n, 3): with their own."""
    moved = np.zeros((len(owner), owner[-1] + 1, 3))
    middles = edge_mm.reshape(owner[-1] + 1, -1, 3).mean(axis=1)
    x, y, _ = (edge_mm - middles[owner]).T
    moved[np.arange(len(owner)), owner] = np.column_stack([by_mm[:, :2], by_mm[:, 1] * x - by_mm[:, 0] * y])
    return moved.reshape(len(owner), -1)


def _places_covariance(fiducials: Fiducials, ids: tuple[int, ...]) -> Array:
    """Covariance (3 m, 3 m) of the places of the markers that are seen."""
    rows = np.concatenate([np.arange(3 * k, 3 * k + 3) for k, marker in enumerate(fiducials.markers) if marker.id in ids])
    return np.asarray(np.array(fiducials.covariance, float)[np.ix_(rows, rows)])


def _with_lens(pose: Array, by_lens: Array, lens: Array) -> Array:
    """Covariance (6 + p, 6 + p) of a pose (6, 6) together with the lens (p, p) that it was found with, and follows by `by_lens` (6, p)."""
    together = by_lens @ lens
    return np.block([[pose + together @ by_lens.T, together], [together.T, lens]])


def _border_samples(markers: list[Marker], z_mm: float) -> tuple[Array, Array, float]:
    """Points (n, 3) along all markers' borders, outward unit normals (n, 3), and a module's length in mm."""
    corners = np.array([marker.corners_mm for marker in markers])
    corners = np.dstack([corners, np.full(corners.shape[:2], z_mm)])
    along = np.linspace(SIDE_MARGIN, 1 - SIDE_MARGIN, SAMPLES_PER_SIDE)[None, None, :, None]
    ahead = np.roll(corners, -1, axis=1) - corners
    samples = corners[:, :, None] + along * ahead[:, :, None]
    # Corners run clockwise seen from above, so the paper is to the left of each side.
    outward = np.stack([-ahead[..., 1], ahead[..., 0], ahead[..., 2]], axis=-1) / np.linalg.norm(ahead, axis=-1, keepdims=True)
    normal = np.broadcast_to(outward[:, :, None], samples.shape)
    return samples.reshape(-1, 3), normal.reshape(-1, 3), float(np.linalg.norm(ahead, axis=-1).mean()) / 6


def edge_offsets(image: Image, edge_px: Array, normal_px: Array, reach_px: float, centre_px: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """How far along its normal (n, 2), to the white side, each edge (n, 2) is from where it was thought, in pixels.

    Looked for within `reach_px` of `centre_px` (n,) along the normal.  Also the level of the paper (n,), linear light, and which can be trusted.
    """
    reach_px = max(reach_px, 2.0)
    steps = np.linspace(-reach_px, reach_px, max(17, 2 * int(4 * reach_px) + 1)) + centre_px[:, None]
    xy = edge_px[:, None] + normal_px[:, None] * steps[..., None]
    # A part at a time, neighbours in the picture: light is decoded only around each.
    light = np.concatenate([read_light(image, part) for part in np.array_split(xy, -(-len(xy) // (4 * SAMPLES_PER_SIDE)))])
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
        width = np.sqrt((weight * (middle - offset[:, None]) ** 2).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-12))
        good = (contrast > 0.5 * np.nanmedian(contrast)) & (width < 0.45 * reach_px) & np.isfinite(offset)
    return np.nan_to_num(offset), paper, good
