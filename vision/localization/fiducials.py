"""Locate the camera from all fiducials together, with the uncertainty of its pose.

The pose is measured twice: by the edges of all markers (`fiducial_edges`), to hundredths of a
pixel, and by the detector's corners (`corner_pose`), to a third of one. In a blurred image, edges
beside the true ones may be measured and still agree with each other; corners are not affected. If
both poses disagree, that of the corners is used, with its larger covariance.
"""

from __future__ import annotations

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

from table.errors import InputError, message_of
from table.messages import phrase
from table.observation import Camera
from table.solids import Array
from table.table_config import Fiducials, Marker, Setup
from vision.cameras.frame import Image
from vision.geometry.camera_model import place_covariances, pose_of, project_posed
from vision.localization.corner_pose import PoseFit, fit_corners
from vision.localization.fiducial_edges import EdgeFit, fit_edges
from vision.localization.markers import (
    DISAGREES_SHARE,
    Detected,
    NoPose,
    corner_points,
    detect_markers,
    own_fiducials,
    side_px,
)

AGREEMENT_LIMIT = 17.0
"""Limit on the squared Mahalanobis distance between the poses by edges and by corners."""
UNFIT_PX = 0.12
"""Scatter of whole sides of markers, 1 sigma, above which a warning is given."""
SURE_MM, MOST_MM = 0.4, 3.0
"""Largest standard deviation at any corner of the play area of a certain pose, and of a usable one.
"""


def locate(image: Image, setup: Setup, before: Camera | None = None) -> Camera | NoPose:
    """Locate the camera by the markers in an image (h, w, 3).

    `before`, the camera's earlier pose if known, distinguishes the table's own fiducials from
    visible copies, as on a telephone's screen.
    """
    return locate_from_markers(detect_markers(image, setup.fiducials), image, setup, before)


def locate_from_markers(
    detected: Detected, image: Image, setup: Setup, before: Camera | None = None
) -> Camera | NoPose:
    """As `locate`, for markers that are already detected; unknown ones are ignored."""
    try:
        return _locate(detected, image, setup, before)
    except InputError as error:  # a lens that cannot map the markers to these pixels
        return NoPose(message_of(error))


def _locate(
    detected: Detected, image: Image, setup: Setup, before: Camera | None
) -> Camera | NoPose:
    own = own_fiducials(detected, setup, before)
    if isinstance(own, NoPose):
        return own
    seen = [marker for marker in setup.fiducials.markers if marker.id in own.corners_px]
    hidden = sorted(
        marker.id for marker in setup.fiducials.markers if marker.id not in own.corners_px
    )
    if len(seen) < 2:
        return NoPose(
            phrase(
                "only one marker is in view, at least two are needed; uncover {text} or"
                " turn up the light"
                if seen
                else "no marker is in view, at least two are needed; uncover {text} or turn up"
                " the light",
                text=phrase("marker {cells}", cells=hidden)
                if len(hidden) == 1
                else phrase("markers {cells}", cells=hidden),
            )
        )
    if (outlier := _outlier_reason(own, seen, setup)) is not None:
        return outlier
    notes: list[str] = [phrase("marker {n} is covered", n=id_) for id_ in hidden]
    notes += [
        phrase("another marker {n} is in view, as on a screen; it is not used", n=id_)
        for id_ in own.repeated_ids
        if id_ in {one.id for one in setup.fiducials.markers}
    ]
    return _camera(_fit_pose(image, setup, own, seen), setup, seen, notes)


def _fit_pose(image: Image, setup: Setup, own: Detected, seen: list[Marker]) -> PoseFit:
    """The pose by edges if corners agree with it, else that by corners.

    The pose by corners is also used if it is the more certain one of two uncertain poses. If the
    edges show that markers do not fit each other, that by edges is kept.
    """
    points = corner_points(seen, setup.fiducials.z_mm)
    pixels = np.concatenate([own.corners_px[marker.id] for marker in seen])
    first = pose_of(points, pixels, setup.camera)
    corners = fit_corners(points, pixels, setup.camera, first)
    edges = fit_edges(image, setup, first, seen)
    if not isinstance(edges, EdgeFit) or _squared_distance(edges, corners) > AGREEMENT_LIMIT:
        return corners
    # Edges show better than corners that markers do not fit each other.
    edges_mm, unfit = _sigma_mm(edges, setup), edges.scatter_px > UNFIT_PX
    return (
        edges if edges_mm <= SURE_MM or unfit or edges_mm < _sigma_mm(corners, setup) else corners
    )


def _squared_distance(edges: PoseFit, corners: PoseFit) -> float:
    """Squared Mahalanobis distance between two independent poses."""
    away = np.concatenate(edges.pose) - np.concatenate(corners.pose)
    return float(away @ np.linalg.solve(edges.covariance + corners.covariance, away))


def _sigma_mm(fit: PoseFit, setup: Setup) -> float:
    """Largest standard deviation of a pose at the corners of the play area, in any direction."""
    outline = setup.outline_mm()
    camera = Camera(
        np.asarray(cv2.Rodrigues(fit.pose[0])[0], float), fit.pose[1], fit.covariance, 0.0, ()
    )
    covariances = place_covariances(
        np.column_stack([outline, np.zeros(len(outline))]), camera, setup.camera
    )
    return float(np.sqrt(np.linalg.eigvalsh(covariances).max()))


def _outlier_reason(own: Detected, seen: list[Marker], setup: Setup) -> NoPose | None:
    """The reason if the markers do not agree on one pose.

    It names the marker without which the others fit best.
    """
    points = corner_points(seen, setup.fiducials.z_mm)
    pixels = np.concatenate([own.corners_px[marker.id] for marker in seen])
    blocks = [np.arange(4 * k, 4 * k + 4) for k in range(len(seen))]

    def misfits(used: NDArray[np.intp]) -> list[float]:
        there, _ = project_posed(
            points, pose_of(points[used], pixels[used], setup.camera), setup.camera
        )
        off = np.hypot(*(there - pixels).T)
        return [float(off[rows].max()) / side_px(pixels[rows]) for rows in blocks]

    every = np.concatenate(blocks)
    if max(misfits(every)) <= DISAGREES_SHARE:
        return None
    worst = -1.0
    reason = phrase(
        "markers {n} and {n2} disagree about where the camera is; check their size and"
        " position in table.json, and that nobody has moved them",
        n=seen[0].id,
        n2=seen[-1].id,
    )
    for k in range(len(seen)) if len(seen) > 2 else ():
        off = misfits(np.setdiff1d(every, blocks[k]))
        rest = max(off[:k] + off[k + 1 :])
        if rest <= DISAGREES_SHARE and off[k] > worst:
            worst = off[k]
            reason = phrase(
                "marker {n} does not fit the others: its corners are off by"
                " {share} of its side; check size and place in table.json; was it"
                " moved?",
                n=seen[k].id,
                share=f"{100 * off[k]:.0f} %",
            )
    return NoPose(reason)


def _camera(fit: PoseFit, setup: Setup, used: list[Marker], notes: list[str]) -> Camera | NoPose:
    """A pose with its full uncertainty: from the image, the markers' places, and the lens."""
    sigma_mm, unfit = _sigma_mm(fit, setup), isinstance(fit, EdgeFit) and fit.scatter_px > UNFIT_PX
    if sigma_mm > MOST_MM:
        known_mm = f"{2 * sigma_mm:.0f}"
        if unfit:
            return NoPose(
                phrase(
                    "the markers do not fit together: the camera's position would"
                    " be known only to ± {mm} mm; check the lens; is a marker bent"
                    " or moved?",
                    mm=known_mm,
                ),
                unsure=True,
            )
        hidden = len(used) < len(setup.fiducials.markers)
        advice = phrase("uncover the markers") if hidden else phrase("turn up the light")
        return NoPose(
            phrase(
                "the picture is too blurred to measure: the camera's position would be"
                " known only to ± {mm} mm; hold the camera still, focus it, or {text}",
                mm=known_mm,
                text=advice,
            ),
            unsure=True,
        )
    if sigma_mm > SURE_MM:
        notes = [
            *notes,
            phrase(
                "the camera's position is known only to ± {mm} mm; hold it still, focus it, and"
                " uncover all markers",
                mm=f"{2 * sigma_mm:.1f}",
            ),
        ]
    if unfit:
        notes = [
            *notes,
            phrase("the markers do not fit together; is one bent, moved or partly covered?"),
        ]
    rotation = np.asarray(cv2.Rodrigues(fit.pose[0])[0], float)
    covariance, ids = fit.covariance, tuple(marker.id for marker in used)
    if setup.fiducials.covariance is not msgspec.UNSET:
        by_markers = fit.pose_derivatives @ _marker_derivatives(
            fit.derivatives[:, 3:6] @ rotation, fit, used
        )
        covariance = (
            covariance + by_markers @ _places_covariance(setup.fiducials, ids) @ by_markers.T
        )
    if setup.camera.covariance:
        lens = np.array(setup.camera.covariance)
        covariance = _joint_covariance(
            covariance, -fit.pose_derivatives @ fit.derivatives[:, 6 : 6 + len(lens)], lens
        )
    return Camera(rotation, fit.pose[1], covariance, fit.rms_px, ids, tuple(notes), sigma_mm)


def _marker_derivatives(by_mm: Array, fit: PoseFit, used: list[Marker]) -> Array:
    """Derivatives (n, 3 m) of measurements by the markers' places [x, y, heading].

    `by_mm` (n, 3) are those by each measurement's own point.
    """
    middles = np.array([np.mean(marker.corners_mm, axis=0) for marker in used])
    x, y = (fit.points_mm[:, :2] - middles[fit.owner]).T
    moved = np.zeros((len(x), len(used), 3))
    moved[np.arange(len(x)), fit.owner] = np.column_stack(
        [by_mm[:, :2], by_mm[:, 1] * x - by_mm[:, 0] * y]
    )
    return moved.reshape(len(x), -1)


def _places_covariance(fiducials: Fiducials, ids: tuple[int, ...]) -> Array:
    """Covariance (3 m, 3 m) of the places of the markers that are seen."""
    rows = np.concatenate(
        [
            np.arange(3 * k, 3 * k + 3)
            for k, marker in enumerate(fiducials.markers)
            if marker.id in ids
        ]
    )
    return np.asarray(np.array(fiducials.covariance, float)[np.ix_(rows, rows)])


def _joint_covariance(pose: Array, by_lens: Array, lens: Array) -> Array:
    """Joint covariance (6 + p, 6 + p) of a pose (6, 6) and the lens (p, p) used for it.

    The pose depends on the lens by `by_lens` (6, p).
    """
    together = by_lens @ lens
    return np.block([[pose + together @ by_lens.T, together], [together.T, lens]])
