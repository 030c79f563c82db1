"""Detect fiducials in an image, and decide which of them are the table's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations, product

import cv2
import numpy as np

from table.messages import phrase
from table.observation import Camera
from table.solids import Array
from table.table_config import Fiducials, Marker, Setup
from vision.cameras.frame import Image
from vision.geometry.camera_model import Pose, pose_of, project, project_posed

CELL_PX, CELL_RIM = 8, 0.3
"""Side in pixels of a rectified marker cell, and the share of it ignored at each edge."""
DISAGREES_SHARE = 0.2
"""Largest residual of a marker's corners, as a share of its side, at which it fits the others."""
COPIES = 4
"""Largest number of fiducials of one id that are considered, in order of size."""
LARGER = 1.5
"""Least ratio of image areas by which the table's own set of fiducials exceeds any other. A
telephone beside the table shows smaller ones.
"""
ONE_THREAD_PIXELS = 8_000_000
"""Image size above which markers are detected by one thread."""
SAME_PLACE_SHARE = 0.5
"""Largest distance of a fiducial's corners from their earlier place, as a share of its side, at
which it counts as unmoved.
"""


@dataclass(frozen=True, slots=True)
class NoPose:
    """The camera was not located; falsy, with the reason as a sentence.

    `unsure`: the fiducials agree, but the pose is too uncertain to be useful.
    """

    reason: str
    unsure: bool = False

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True, slots=True, eq=False)
class Detected:
    """Corners (4, 2) px of each marker by id.

    If an id was detected more than once, those of the largest; `all_px` has all of them.
    """

    corners_px: dict[int, Array]
    repeated_ids: tuple[int, ...]
    all_px: dict[int, tuple[Array, ...]] = field(default_factory=dict)


@contextmanager
def one_thread(pixels: int) -> Iterator[None]:
    """Run OpenCV in one thread for a large image, to save memory.

    Each thread holds all edges of the image, 100 MB if 12 megapixels are noise.
    """
    threads = cv2.getNumThreads()
    if pixels > ONE_THREAD_PIXELS:
        cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(threads)


def _detector_parameters() -> cv2.aruco.DetectorParameters:
    """Parameters of OpenCV's detector: only the middles of marker cells are read.

    Blur mixes the rims of small cells.
    """
    parameters = cv2.aruco.DetectorParameters()
    parameters.perspectiveRemovePixelPerCell = CELL_PX
    parameters.perspectiveRemoveIgnoredMarginPerCell = CELL_RIM
    return parameters


def detect_markers(image: Image, fiducials: Fiducials) -> Detected:
    """Detect markers of the table's dictionary in an image (h, w, 3); unknown ids are ignored."""
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, fiducials.dictionary))
    with one_thread(grey.size):
        found, ids, _ = cv2.aruco.ArucoDetector(dictionary, _detector_parameters()).detectMarkers(
            grey
        )
    known = {marker.id for marker in fiducials.markers}
    quads: dict[int, list[Array]] = {}
    for id_, quad in zip([] if ids is None else np.asarray(ids).ravel(), found, strict=True):
        if int(id_) in known:
            quads.setdefault(int(id_), []).append(np.asarray(quad, float).reshape(4, 2))
    largest_first = {
        id_: tuple(sorted(those, key=side_px, reverse=True)) for id_, those in quads.items()
    }
    repeated_ids = tuple(id_ for id_, those in largest_first.items() if len(those) > 1)
    return Detected(
        {id_: those[0] for id_, those in largest_first.items()}, repeated_ids, largest_first
    )


def side_px(quad: Array) -> float:
    """Mean length of the sides of a marker's corners (4, 2) in px."""
    return float(np.linalg.norm(quad - np.roll(quad, 1, axis=0), axis=1).mean())


def corner_points(markers: list[Marker], z_mm: float) -> Array:
    """Corners (4 n, 3) of markers on the table."""
    corners = np.array([marker.corners_mm for marker in markers]).reshape(-1, 2)
    return np.column_stack([corners, np.full(len(corners), z_mm)])


def own_fiducials(
    detected: Detected, setup: Setup, before: Camera | None = None
) -> Detected | NoPose:
    """The table's own fiducials, if ids were detected more than once; else unchanged.

    They are those at the places where the camera saw them `before`, else the consistent set with
    the largest area in the image. NoPose if the choice is not clear.
    """
    known = {marker.id for marker in setup.fiducials.markers}
    if all(len(quads) < 2 for id_, quads in detected.all_px.items() if id_ in known):
        return detected
    if before is not None and len(there := _at_earlier_places(detected, setup, before)) >= 2:
        return _restrict_to(there, detected)
    sets = sorted(_agreeing_sets(detected, setup), key=_area_px, reverse=True)
    ids = ", ".join(str(id_) for id_ in sorted(detected.repeated_ids) if id_ in known)
    if not sets:
        return NoPose(
            phrase(
                "markers with the same id are in view more than once (id {raw}), and none"
                " of them fit together; take the copies away",
                raw=ids,
            )
        )
    best = sets[0]
    rivals = [
        other for other in sets[1:] if not any(other.get(id_) is quad for id_, quad in best.items())
    ]
    larger = any(side_px(detected.corners_px[id_]) > side_px(quad) for id_, quad in best.items())
    if larger or (rivals and _area_px(best) < LARGER * _area_px(rivals[0])):
        return NoPose(
            phrase(
                "the table's markers are in view twice (id {raw}), and either set may be"
                " the table; take the copy or the screen away",
                raw=ids,
            )
        )
    return _restrict_to(best, detected)


def _restrict_to(own: dict[int, Array], detected: Detected) -> Detected:
    return Detected(own, detected.repeated_ids, {id_: (quad,) for id_, quad in own.items()})


def _at_earlier_places(detected: Detected, setup: Setup, before: Camera) -> dict[int, Array]:
    """For each id, the marker at the place where the camera saw it before."""
    found = {}
    for marker in setup.fiducials.markers:
        there = project(corner_points([marker], setup.fiducials.z_mm), before, setup.camera)
        off = [
            (float(np.hypot(*(quad - there).T).max()), index)
            for index, quad in enumerate(detected.all_px.get(marker.id, ()))
        ]
        if off and min(off)[0] <= SAME_PLACE_SHARE * side_px(there):
            found[marker.id] = detected.all_px[marker.id][min(off)[1]]
    return found


def _area_px(quads: dict[int, Array]) -> float:
    return sum(side_px(quad) ** 2 for quad in quads.values())


def _agreeing_sets(detected: Detected, setup: Setup) -> list[dict[int, Array]]:
    """Sets of two markers or more, one per id, consistent with one camera above the table.

    Each set is grown from a pair by the marker with the least misfit. Pairs that are already in a
    set are skipped, because they would grow to the same one.
    """
    markers = {marker.id: marker for marker in setup.fiducials.markers}
    ids = detected.corners_px.keys() & markers.keys()
    found: list[dict[int, Array]] = []
    for one, other in combinations(sorted(ids), 2):
        for first, second in product(
            detected.all_px[one][:COPIES], detected.all_px[other][:COPIES]
        ):
            if any(known.get(one) is first and known.get(other) is second for known in found):
                continue
            quads = {one: first, other: second}
            pose = _common_pose(quads, markers, setup)
            while pose is not None:
                rest = [
                    (_misfit(quad, markers[id_], pose, setup), id_, index)
                    for id_ in ids - quads.keys()
                    for index, quad in enumerate(detected.all_px[id_][:COPIES])
                ]
                for _, id_, index in sorted(rest):
                    more = {**quads, id_: detected.all_px[id_][index]}
                    if (better := _common_pose(more, markers, setup)) is not None:
                        quads, pose = more, better
                        break
                else:
                    break
            if pose is not None:
                found.append(quads)
    return found


def _common_pose(quads: dict[int, Array], markers: dict[int, Marker], setup: Setup) -> Pose | None:
    """The camera pose, above the table, that fits all these markers; None if there is none."""
    points = corner_points([markers[id_] for id_ in quads], setup.fiducials.z_mm)
    pose = pose_of(points, np.concatenate(list(quads.values())), setup.camera)
    rotation = np.asarray(cv2.Rodrigues(pose[0])[0])
    above = float(-(rotation.T @ pose[1])[2]) > 0
    fits = above and all(
        _misfit(quad, markers[id_], pose, setup) <= DISAGREES_SHARE for id_, quad in quads.items()
    )
    return pose if fits else None


def _misfit(quad: Array, marker: Marker, pose: Pose, setup: Setup) -> float:
    """Residual of a marker's corners for a pose, as a share of its side."""
    there, _ = project_posed(corner_points([marker], setup.fiducials.z_mm), pose, setup.camera)
    return float(np.hypot(*(there - quad).T).max()) / side_px(quad)
