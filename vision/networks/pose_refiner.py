"""Refine the pose of a piece: estimate the error of its hypothesis.

The photograph around it is cropped at full resolution, rectified, scaled to a standard and rotated
as the piece lies. The outline and the edges of the hypothesis are further channels. A small network
of its own (`data/pose_refiner.onnx`, see `training.refiner_examples`) estimates the error and its
uncertainty. Unlike votes of single edges it is trained on gloss, sparkle and tinted shadows of
transparent plastic. Source of the idea: Li et al., DeepIM: Deep Iterative Matching for 6D Pose
Estimation, ECCV 2018.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from table.solids import EDGES, Array, Pose, Solid
from vision.cameras.frame import Image
from vision.geometry.piece_pose import Hypothesis, project_to_table, visible_faces
from vision.geometry.rectified_view import SUB_BITS, Photo
from vision.networks.detector import encode_light
from vision.networks.runtime import Pictures, as_pictures, run_network

CROP_PX, BASE_PX = 96, 32.0
"""Side of a crop, and pixels in it per width of the base."""
MIDDLE_PX = (CROP_PX - 1) / 2
OFF = 0.05
"""Unit of the output: share of the base for shifts, radians for rotations."""
IN_A_MIRROR = np.array([1.0, -1.0, -1.0])
"""Signs of the error in a mirror image: along the rows, up the columns, and rotation."""
HIDDEN_EDGE = 110
"""Grey value of edges on the far side, which transparent pieces show."""
TOGETHER = 1.25
"""Factor on the network's covariance, for photographs."""
SHIFT, TURN = slice(0, 2), 2
LOG_SCALES, SLANTS = slice(3, 6), slice(6, 9)
ANSWERS = SLANTS.stop
"""Layout of the output: the shift along the rows of the crop and up its columns, and the
counter-clockwise rotation about its middle, in OFF; and W, lower triangular, by the logarithms of
its diagonal and its other entries by rows: W times an error has the unit matrix as covariance.
"""
Look = tuple[Hypothesis, Array]
"""A refined piece, and the covariance (3, 3) of its parameters."""
ToPixels = Callable[[Array], Array]
"""Maps points (n, 2) of a plane to pixels (n, 2) of an image."""


class StraightCrop(NamedTuple):
    """Placement of a crop on the plane z = 0.

    Its middle (2,) mm, the direction of its rows in radians, counter-clockwise, and mm per pixel.
    """

    middle_mm: Array
    turn_rad: float
    step_mm: float

    @property
    def turned(self) -> Array:
        """Rotation (2, 2) from vectors along the crop's rows and up its columns to the table."""
        return rotation(self.turn_rad)

    def pixels(self, points_mm: Array) -> Array:
        """Pixels (n, 2) of the crop as (column, row) of table points (n, 2)."""
        return (points_mm - self.middle_mm) @ self.turned / self.step_mm * [1, -1] + MIDDLE_PX

    def millimetres(self, pixels: Array) -> Array:
        """Table points (n, 2) of pixels (n, 2) of the crop."""
        return (pixels - MIDDLE_PX) * [1, -1] * self.step_mm @ self.turned.T + self.middle_mm

    def of(self, image: Image, pixels: ToPixels) -> Image:
        """Extract the crop from an image."""
        return rectify(
            image, CROP_PX, lambda corners: pixels(self.millimetres(corners)), cv2.INTER_LINEAR
        )


def rotation(turn_rad: float) -> Array:
    """Rotation matrix (2, 2), counter-clockwise."""
    c, s = np.cos(turn_rad), np.sin(turn_rad)
    return np.array([[c, -s], [s, c]])


def rectify(image: Image, side_px: int, there: ToPixels, interpolation: int) -> Image:
    """Rectify a square part of a plane, (side_px, side_px, 3).

    `there` maps its pixels (n, 2) to the image.
    """
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * (side_px - 1.0)
    warp = cv2.getPerspectiveTransform(
        corners.astype(np.float32), there(corners).astype(np.float32)
    )
    flags = interpolation | cv2.WARP_INVERSE_MAP
    return np.asarray(
        cv2.warpPerspective(
            image, warp, (side_px, side_px), flags=flags, borderMode=cv2.BORDER_REPLICATE
        ),
        np.uint8,
    )


def straight_crop(solid: Solid, pose: Pose, eye_mm: Array) -> StraightCrop:
    """The crop centred on a piece, which points right, or stands on a level base."""
    corners = solid.vertices_mm
    flat = project_to_table(corners, eye_mm)
    way = (
        corners[1] - corners[0] if pose == "upright" else corners[4] - (corners[1] + corners[2]) / 2
    )
    base_mm = float(np.linalg.norm(corners[1] - corners[0]))
    return StraightCrop(
        (flat[:4].mean(axis=0) + flat[4]) / 2, float(np.arctan2(way[1], way[0])), base_mm / BASE_PX
    )


def draw_solid(solid: Solid, where: StraightCrop, eye_mm: Array) -> NDArray[np.uint8]:
    """Mask of a solid in a crop, and its edges, (2, CROP_PX, CROP_PX)."""
    outline, edges = (np.zeros((CROP_PX, CROP_PX), np.uint8) for _ in range(2))
    corners = np.rint(
        where.pixels(project_to_table(solid.vertices_mm, eye_mm)) * (1 << SUB_BITS)
    ).astype(np.int32)
    cv2.fillConvexPoly(outline, cv2.convexHull(corners), 255, cv2.LINE_AA, SUB_BITS)
    faces = visible_faces(solid, eye_mm)
    shown = [any(i in face and j in face for face in faces) for i, j in EDGES]
    for (i, j), shows in sorted(zip(EDGES, shown, strict=True), key=lambda one: one[1]):
        ends = (corners[i].tolist(), corners[j].tolist())
        cv2.line(edges, *ends, 255 if shows else HIDDEN_EDGE, 1, cv2.LINE_AA, SUB_BITS)
    return np.stack([outline, edges])


def crops(guesses: Sequence[Hypothesis], photo: Photo) -> tuple[list[StraightCrop], Pictures]:
    """Placements of the pieces' crops, and network inputs (n, 5, CROP_PX, CROP_PX) in 0..1.

    Channels are the image, the outline and the edges.
    """
    eye = photo.camera.eye_mm
    cuts = [straight_crop(one.solid, one.pose, eye) for one in guesses]
    pictures = [
        cut.of(photo.image, lambda flat: photo.pixels(np.column_stack([flat, np.zeros(len(flat))])))
        for cut in cuts
    ]
    in_light = encode_light(np.concatenate(pictures), photo.paper).reshape(-1, CROP_PX, CROP_PX, 3)
    solids = np.stack(
        [draw_solid(one.solid, cut, eye) for one, cut in zip(guesses, cuts, strict=True)]
    )
    return cuts, as_pictures(np.concatenate([in_light, solids.transpose(0, 2, 3, 1)], axis=3))


def refine_poses(guesses: Sequence[Hypothesis], photo: Photo) -> list[Look]:
    """Refine standing or lying pieces, and estimate their covariances (3, 3), with one pass each.

    Each crop is averaged with its mirror image.
    """
    if not guesses:
        return []
    cuts, shown = crops(guesses, photo)
    plain, mirrored = (
        run_network("pose_refiner", np.concatenate([shown, shown[:, :, ::-1]]))
        .astype(float)
        .reshape(2, len(guesses), ANSWERS)
    )
    return [
        _refine_from_output(*answered)
        for answered in zip(guesses, cuts, plain, mirrored, strict=True)
    ]


def _refine_from_output(
    guess: Hypothesis, cut: StraightCrop, plain: Array, mirrored: Array
) -> tuple[Hypothesis, Array]:
    """Combine the outputs for a crop and its mirror image into the refined piece."""
    trust, other = (
        _information_matrix(plain),
        IN_A_MIRROR[:, None] * _information_matrix(mirrored) * IN_A_MIRROR,
    )
    off = OFF * np.linalg.solve(
        trust + other, trust @ plain[:3] + other @ (IN_A_MIRROR * mirrored[:3])
    )
    base_mm = cut.step_mm * BASE_PX
    arm = rotation(float(off[TURN])) @ ([guess.x_mm, guess.y_mm] - cut.middle_mm)
    place = cut.middle_mm + arm + base_mm * cut.turned @ off[SHIFT]
    jacobian = np.zeros((3, 3))
    jacobian[:2, :2], jacobian[:2, 2], jacobian[2, 2] = (
        base_mm * cut.turned,
        (-arm[1], arm[0]),
        np.degrees(1.0),
    )
    spread = TOGETHER * OFF**2 * jacobian @ np.linalg.inv((trust + other) / 2) @ jacobian.T
    return guess.at(np.array([*place, guess.heading_deg + np.degrees(off[TURN])])), spread


def _information_matrix(answer: Array) -> Array:
    """Information matrix (3, 3), the inverse covariance, of an output."""
    whiten = np.diag(np.exp(answer[LOG_SCALES]))
    whiten[[1, 2, 2], [0, 0, 1]] = answer[SLANTS]
    return np.asarray(whiten.T @ whiten)
