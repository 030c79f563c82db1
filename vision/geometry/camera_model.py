"""Camera geometry: from table millimetres to pixels and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import cv2
import msgspec
import numpy as np

from table.errors import InputError
from table.messages import msg, phrase
from table.observation import Camera
from table.solids import Array
from table.table_config import Lens, Setup

FOCUS_STEP_DPT = 0.1
"""Largest tolerated difference of focus, in dioptres."""

Pose = tuple[Array, Array]
"""Rotation vector (3,) and translation (3,) in mm from the table's frame, or a target's, to the
camera's.
"""


def project(points_mm: Array, camera: Camera, lens: Lens) -> Array:
    """Pixels (n, 2) of table points (n, 3), lens distortion included."""
    return project_with(camera.rotation, camera.translation_mm, points_mm, lens)


def project_with(rotation: Array, translation_mm: Array, points_mm: Array, lens: Lens) -> Array:
    """As `project`, for a pose that is not yet a Camera."""
    rvec, _ = cv2.Rodrigues(np.asarray(rotation, float))
    return project_posed(
        points_mm, (np.asarray(rvec, float).reshape(3), np.asarray(translation_mm, float)), lens
    )[0]


def project_posed(points_mm: Array, pose: Pose, lens: Lens) -> tuple[Array, Array]:
    """Pixels (n, 2) of points (n, 3), and their derivatives (2 n, 10 + d).

    By the pose, by fx, fy, cx, cy, and by d distortion coefficients.
    """
    points = np.ascontiguousarray(points_mm, float).reshape(-1, 1, 3)
    matrix, distortion = np.array(lens.matrix), np.array(lens.distortion)
    if lens.model == "fisheye":
        pixels, by_lens_first = cv2.fisheye.projectPoints(points, *pose, matrix, distortion)
        # OpenCV's order here is f, c, k, rotation, translation, skew.
        derivatives = np.asarray(by_lens_first, float)[:, [*range(8, 14), *range(8)]]
    else:
        pixels, by_pose_first = cv2.projectPoints(points, *pose, matrix, distortion)
        derivatives = np.asarray(by_pose_first, float)
    return np.asarray(pixels, float).reshape(-1, 2), derivatives


def undistort(pixels: Array, lens: Lens) -> Array:
    """Normalized image coordinates (n, 2) of pixels (n, 2): their rays at z = 1."""
    raw = np.ascontiguousarray(pixels, float).reshape(-1, 1, 2)
    by_model = cv2.fisheye.undistortPoints if lens.model == "fisheye" else cv2.undistortPoints
    return np.asarray(
        by_model(raw, np.array(lens.matrix), np.array(lens.distortion)), float
    ).reshape(-1, 2)


def pose_of(points_mm: Array, pixels: Array, lens: Lens, method: int = cv2.SOLVEPNP_SQPNP) -> Pose:
    """The pose in which points (n, 3), four of a plane or more, project to pixels (n, 2).

    Raises InputError if there is none: a nonsensical lens maps all of them to one direction.
    """
    rays = undistort(pixels, lens).reshape(-1, 1, 2)
    try:
        found, rvec, tvec = cv2.solvePnP(
            np.ascontiguousarray(points_mm, float).reshape(-1, 1, 3),
            rays,
            np.eye(3),
            None,
            flags=method,
        )
    except cv2.error:
        found = False
    if not found:
        raise InputError(
            msg(
                "camera: expected a lens that can see the markers from somewhere, got one"
                " that does not fit the picture"
            )
        )
    return np.asarray(rvec, float).reshape(3), np.asarray(tvec, float).reshape(3)


def rays(pixels: Array, camera: Camera, lens: Lens) -> Array:
    """Directions (n, 3) in the table frame of the rays of pixels (n, 2).

    The third component is -1 for a camera that looks down.
    """
    flat = undistort(pixels, lens)
    directions: Array = np.column_stack([flat, np.ones(len(flat))]) @ camera.rotation
    return directions


def on_plane(pixels: Array, camera: Camera, lens: Lens, z_mm: float | Array = 0.0) -> Array:
    """Intersections (n, 2) mm of the rays of pixels (n, 2) with the plane z = `z_mm`.

    `z_mm` is a number, or (n,) with one for each.
    """
    directions = rays(pixels, camera, lens)
    eye = camera.eye_mm
    points: Array = eye[:2] + directions[:, :2] * ((z_mm - eye[2]) / directions[:, 2])[:, None]
    return points


def perturbed_lens(lens: Lens, by: Array) -> Lens:
    """The lens with its first parameters (fx, fy, cx, cy, k1, k2 ...) changed by `by` (p,)."""
    fx, fy, cx, cy = (lens.matrix[0][0], lens.matrix[1][1], lens.matrix[0][2], lens.matrix[1][2])
    moved = np.array([fx, fy, cx, cy, *lens.distortion])
    moved[: len(by)] += by
    fx, fy, cx, cy, *distortion = moved.tolist()
    return msgspec.structs.replace(
        lens, matrix=((fx, 0.0, cx), (0.0, fy, cy), (0.0, 0.0, 1.0)), distortion=tuple(distortion)
    )


def place_covariance(point_mm: Array, camera: Camera, lens: Lens) -> Array:
    """Covariance (2, 2) mm2 of a seen table point (3,), at its height, from pose and lens."""
    return np.asarray(place_covariances(point_mm[None], camera, lens)[0])


def place_covariances(points_mm: Array, camera: Camera, lens: Lens) -> Array:
    """`place_covariance` of many points (n, 3): (n, 2, 2) mm2."""
    shifts = place_shifts(points_mm[:, :2], points_mm[:, 2], camera, lens)
    return np.asarray(shifts @ shifts.transpose(0, 2, 1))


def place_shifts(points_mm: Array, z_mm: float | Array, camera: Camera, lens: Lens) -> Array:
    """Shifts (n, 2, k) mm of table points (n, 2) by each independent cause, 1 sigma.

    The causes are the principal axes of the joint covariance of camera pose and lens. `z_mm` is the
    points' height, a number or (n,).
    """
    pixels = project(
        np.column_stack([points_mm, np.broadcast_to(z_mm, len(points_mm))]), camera, lens
    )
    return np.stack(
        [
            on_plane(pixels, there, other, z_mm) - points_mm
            for there, other in _sigma_perturbations(camera, lens)
        ],
        axis=2,
    )


def _sigma_perturbations(camera: Camera, lens: Lens) -> Iterator[tuple[Camera, Lens]]:
    """Camera and lens moved by one sigma along each principal axis of their joint uncertainty."""
    sigmas = np.sqrt(np.diag(camera.covariance))
    scale = np.where(sigmas > 0, sigmas, 1.0)  # an exact parameter has no variance
    variances, axes = np.linalg.eigh(camera.covariance / np.outer(scale, scale))
    turn = np.asarray(cv2.Rodrigues(camera.rotation)[0], float).reshape(3)
    for step in (scale[:, None] * axes * np.sqrt(np.clip(variances, 0, None))).T:
        rotation = np.asarray(cv2.Rodrigues(turn + step[:3])[0], float)
        moved = replace(camera, rotation=rotation, translation_mm=camera.translation_mm + step[3:6])
        yield moved, perturbed_lens(lens, step[6:]) if len(step) > 6 else lens


def mm_per_pixel(camera: Camera, lens: Lens, at_mm: Array) -> float:
    """Length of table per pixel near the table point (2,): geometric mean of both directions."""
    x, y = at_mm
    corners = project(np.array([[x, y, 0.0], [x + 1, y, 0.0], [x, y + 1, 0.0]]), camera, lens)
    area = abs(np.linalg.det(corners[1:] - corners[0]))
    return float(1 / np.sqrt(area))


def refocused(focus_dpt: float | None, lens: Lens) -> str:
    """Warning that the camera's focus differs from the calibration's.

    Empty if it does not, or either is not known.
    """
    if (
        focus_dpt is None
        or lens.focus_dpt is None
        or abs(focus_dpt - lens.focus_dpt) <= FOCUS_STEP_DPT
    ):
        return ""
    return phrase(
        "the camera is focused at {n} dioptres, but the lens was calibrated at {n2}; lock the"
        " focus there, or calibrate the lens again",
        n=f"{focus_dpt:.2f}",
        n2=f"{lens.focus_dpt:.2f}",
    )


def outline_px(camera: Camera, setup: Setup) -> Array:
    """The corners of the play area in the image, (n, 2) pixels."""
    outline = setup.outline_mm()
    return project(np.column_stack([outline, np.zeros(len(outline))]), camera, setup.camera)


def shift_over_board(camera: Camera, before: Camera, setup: Setup) -> tuple[float, float]:
    """Largest apparent shift, mm, of the play area between two camera poses, and its sigma.

    Taken at the corner where it is largest.
    """
    outline = setup.outline_mm()
    away = np.linalg.norm(
        on_plane(outline_px(before, setup), camera, setup.camera) - outline, axis=1
    )
    most = int(away.argmax())
    place = np.array([*outline[most], 0.0])
    variance = sum(
        float(np.trace(place_covariance(place, one, setup.camera))) for one in (camera, before)
    )
    return float(away[most]), float(np.sqrt(variance))
