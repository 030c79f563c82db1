"""The camera as geometry: table millimetres to pixels and back."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from table.observation import Camera
from table.setup import Lens, Setup
from table.solids import Array


def project(points_mm: Array, camera: Camera, lens: Lens) -> Array:
    """Pixels (n, 2) of table points (n, 3), lens distortion included."""
    return project_with(camera.rotation, camera.translation_mm, points_mm, lens)


def project_with(rotation: Array, translation_mm: Array, points_mm: Array, lens: Lens) -> Array:
    """As `project`, for a pose that is not yet a Camera."""
    rvec, _ = cv2.Rodrigues(np.asarray(rotation, float))
    points = np.ascontiguousarray(points_mm, float).reshape(-1, 1, 3)
    pixels, _ = cv2.projectPoints(points, rvec, np.asarray(translation_mm, float), np.array(lens.matrix), np.array(lens.distortion))
    return np.asarray(pixels, float).reshape(-1, 2)


def rays(pixels: Array, camera: Camera, lens: Lens) -> Array:
    """Directions (n, 3) in the table frame, third component -1 for a camera that looks down, of pixels (n, 2)."""
    raw = np.ascontiguousarray(pixels, float).reshape(-1, 1, 2)
    flat = np.asarray(cv2.undistortPoints(raw, np.array(lens.matrix), np.array(lens.distortion)), float).reshape(-1, 2)
    directions: Array = np.column_stack([flat, np.ones(len(flat))]) @ camera.rotation
    return directions


def on_plane(pixels: Array, camera: Camera, lens: Lens, z_mm: float = 0.0) -> Array:
    """Table points (n, 2) in mm where the rays of pixels (n, 2) meet the plane z = `z_mm`."""
    directions = rays(pixels, camera, lens)
    eye = camera.eye_mm
    points: Array = eye[:2] + directions[:, :2] * ((z_mm - eye[2]) / directions[:, 2])[:, None]
    return points


def mm_per_pixel(camera: Camera, lens: Lens, at_mm: Array) -> float:
    """Length of table that one pixel shows near the table point (2,): the geometric mean of both directions."""
    x, y = at_mm
    corners = project(np.array([[x, y, 0.0], [x + 1, y, 0.0], [x, y + 1, 0.0]]), camera, lens)
    area = abs(np.linalg.det(corners[1:] - corners[0]))
    return float(1 / np.sqrt(area))


def outline_px(camera: Camera, setup: Setup) -> Array:
    """Where the corners of the play area are seen, (n, 2) pixels."""
    outline = setup.outline_mm()
    return project(np.column_stack([outline, np.zeros(len(outline))]), camera, setup.camera)


def shifts_by_pose(points_mm: Array, z_mm: float, camera: Camera, lens: Lens) -> Array:
    """How far table points (n, 2) at height `z_mm` are read elsewhere where the camera's pose is off: (n, 2, 6), mm a unit of
    each of what `Camera.covariance` is of."""
    pixels = project(np.column_stack([points_mm, np.full(len(points_mm), z_mm)]), camera, lens)
    columns = []
    for k, step in enumerate(np.sqrt(np.diag(camera.covariance))):
        turn, shift = np.zeros(3), np.zeros(3)
        (turn if k < 3 else shift)[k % 3] = step
        rvec, _ = cv2.Rodrigues(camera.rotation)
        rotation, _ = cv2.Rodrigues(rvec.reshape(3) + turn)
        moved = replace(camera, rotation=np.asarray(rotation, float), translation_mm=camera.translation_mm + shift)
        columns.append((on_plane(pixels, moved, lens, z_mm) - points_mm) / step)
    return np.stack(columns, axis=2)
