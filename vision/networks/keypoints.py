"""Estimate keypoints of each detection from a crop, rotated and scaled to a standard.

A second small network (`data/keypoints.onnx`) is trained like the detector, see `training`. It
estimates the probability of each pose, colours, the width of the base, and the five vertices with
their uncertainties. `vision.pose.initial_poses` fits solids to them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import cv2
import numpy as np

from table.pieces import COLOURS
from table.solids import POSES, REPEATS_DEG, Array, Pose
from vision.cameras.frame import Image
from vision.geometry.rectified_view import FlatView
from vision.networks.detector import Detection
from vision.networks.runtime import as_pictures, run_network
from vision.probability import softmax

CROP_PX, BASE_PX = 64, 20.0
"""Side of a crop, and pixels in it per width of the base as detected."""
THERE, POSE, COLOUR = 0, slice(1, 4), slice(4, 4 + len(COLOURS))
BASE, BASE_DOUBT = COLOUR.stop, COLOUR.stop + 1
VERTICES, VERTEX_DOUBT = (
    slice(BASE_DOUBT + 1, BASE_DOUBT + 11),
    slice(BASE_DOUBT + 11, BASE_DOUBT + 16),
)
ANSWERS = VERTEX_DOUBT.stop
"""Layout of the output: logit of a piece; logits of POSES and COLOURS; logarithm of its base in
bases of the detector, and the logarithm of that figure's uncertainty; vertices (5, 2) from the
middle of the crop in BASE_PX, and the logarithms of their uncertainties. Uncertainties are scales
of a Laplace distribution.
"""
IN_A_MIRROR = [3, 2, 1, 0, 4]
"""Order of the vertices of a piece that lies along the columns in its mirror image."""
TURNED = [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]]
"""Orders of the corners of a standing piece's base, one for each first corner."""
QUARTERS = (0.0, 90.0, 180.0, 270.0)
"""Crop rotations, in degrees, for an object of unknown heading."""
FAR_OFF = 0.1
"""Error of a crop from which it is taken again: of its middle as a share of the base, of its
rotation in radians, of its scale in natural logarithms.
"""
BLURRED = 0.15
"""Uncertainty of vertices, in bases, above which other poses are considered."""
UNCLEAR = 0.06
"""Uncertainty of vertices, in bases, above which the object is examined from all sides."""
WORTH_ANOTHER = 0.05
"""Least probability of a piece for which a second crop is taken."""


class Crop(NamedTuple):
    """Placement of a crop in the view.

    Middle (2,) px, direction of its columns in degrees, clockwise, and view pixels per crop pixel.
    """

    middle_px: Array
    turn_deg: float
    zoom: float

    @property
    def affine(self) -> Array:
        """Affine map (2, 3) from crop pixels to view pixels."""
        c, s = (self.zoom * f(np.radians(self.turn_deg)) for f in (np.cos, np.sin))
        turned = np.array([[c, -s], [s, c]])
        shift = self.middle_px - turned @ np.full(2, (CROP_PX - 1) / 2)
        return np.column_stack([turned, shift])

    def of(self, code: Image) -> Image:
        """Extract the crop from a view."""
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        return np.asarray(
            cv2.warpAffine(
                code, self.affine, (CROP_PX, CROP_PX), flags=flags, borderMode=cv2.BORDER_REPLICATE
            ),
            np.uint8,
        )


def crop_of(found: Detection, view: FlatView) -> Crop:
    """The crop of a detection: a lying or leaning piece points right, a standing base is level."""
    middle = view.pixels(found.middle_mm[None])[0]
    turn = (
        found.turn_deg
        if found.chances[0] > found.chances[1 : len(POSES)].max()
        else np.degrees(np.arctan2(*found.axis_mm[::-1]))
    )
    return Crop(middle, -float(turn), found.base_mm / view.step_mm / BASE_PX)


@dataclass(frozen=True, slots=True, eq=False)
class KeypointEstimate:
    """Keypoints of one crop.

    `presence` is the probability of a piece; `poses` (3,) are those of POSES given a piece;
    `colours` (c,) those of the table's.  `log_base` is the logarithm of its base in mm, with its
    sigma; `vertices_mm` (5, 2) are projected to z = 0, with their sigmas (5,).
    """

    presence: float
    poses: Array
    colours: Array
    log_base: float
    log_base_sigma: float
    vertices_mm: Array
    sigma_mm: Array

    @property
    def blur(self) -> float:
        """Uncertainty of the vertices, 1 sigma in bases."""
        return float(self.sigma_mm.mean() / np.exp(self.log_base))


def estimate_keypoints(
    cuts: list[Crop], view: FlatView, colours: tuple[str, ...]
) -> list[KeypointEstimate]:
    """Keypoints of each crop, averaged with those of its mirror image to reduce errors.

    A pyramid's mirror image is a pyramid too. The view's light is relative to white paper;
    `colours` are those of the table.
    """
    if not cuts:
        return []
    crops = np.stack([cut.of(view.code) for cut in cuts])
    outputs = (
        run_network("keypoints", as_pictures(np.concatenate([crops, crops[:, ::-1]])))
        .astype(float)
        .reshape(2, len(cuts), ANSWERS)
    )
    return [
        _estimate_from_output((plain + _mirrored(other, plain)) / 2, cut, view, colours)
        for plain, other, cut in zip(*outputs, cuts, strict=True)
    ]


def _mirrored(answer: Array, like: Array) -> Array:
    """Convert the output (ANSWERS,) for a crop's mirror image to the crop.

    Corners of a standing piece are ordered as in `like`.
    """
    answer = answer.copy()
    vertices, doubts = (
        answer[VERTICES].reshape(5, 2)[IN_A_MIRROR] * [1, -1],
        answer[VERTEX_DOUBT][IN_A_MIRROR],
    )
    if POSES[int(like[POSE].argmax())] == "upright":
        corners = like[VERTICES].reshape(5, 2)[:4]
        turned = min(TURNED, key=lambda order: float(np.abs(vertices[order] - corners).sum()))
        vertices[:4], doubts[:4] = vertices[turned], doubts[turned]
    answer[VERTICES], answer[VERTEX_DOUBT] = vertices.ravel(), doubts
    return answer


def estimate_keypoints_twice(
    cuts: list[Crop], view: FlatView, colours: tuple[str, ...]
) -> list[KeypointEstimate]:
    """Keypoints of each crop, repeated from a better crop if the first was far off.

    The probability of a piece is the geometric mean of both, because the second crop was chosen by
    the first.
    """
    keypoints = estimate_keypoints(cuts, view, colours)
    better = {
        k: cut
        for k, one in enumerate(keypoints)
        if one.presence > WORTH_ANOTHER
        for cut in _recentred_crops(cuts[k], one, view)
    }
    for k, one in zip(
        better, estimate_keypoints(list(better.values()), view, colours), strict=True
    ):
        keypoints[k] = replace(one, presence=float(np.sqrt(keypoints[k].presence * one.presence)))
    return keypoints


def estimate_from_all_sides(
    keypoints: KeypointEstimate, view: FlatView, colours: tuple[str, ...]
) -> KeypointEstimate:
    """The most certain keypoints of crops as if the object lay in any direction or stood.

    The probability of a piece is the geometric mean with the first.
    """
    cuts = [cut for pose in POSES[:2] for cut in crops_for_pose(pose, keypoints, view)]
    best = min(estimate_keypoints_twice(cuts, view, colours), key=lambda one: one.blur)
    return (
        replace(best, presence=float(np.sqrt(keypoints.presence * best.presence)))
        if best.blur < keypoints.blur
        else keypoints
    )


def _recentred_crops(cut: Crop, keypoints: KeypointEstimate, view: FlatView) -> list[Crop]:
    """A crop centred on the piece, at the standard scale and rotation; empty if it nearly was."""
    better = crop_along(keypoints.vertices_mm, float(np.exp(keypoints.log_base)), view)
    pose = POSES[int(keypoints.poses.argmax())]
    stands = pose == "upright"
    if stands:
        across = np.subtract(*view.pixels(keypoints.vertices_mm[[1, 0]]))
        better = better._replace(turn_deg=float(np.degrees(np.arctan2(*across[::-1]))))
    turn_deg, period_deg = better.turn_deg - cut.turn_deg, REPEATS_DEG[pose]
    turn = np.radians(turn_deg - period_deg * round(turn_deg / period_deg))
    if stands:
        better = better._replace(turn_deg=cut.turn_deg + float(np.degrees(turn)))
    shift = np.hypot(*(better.middle_px - cut.middle_px)) / (BASE_PX * cut.zoom)
    return [better] if max(shift, abs(turn), abs(np.log(better.zoom / cut.zoom))) > FAR_OFF else []


def crop_along(vertices_mm: Array, base_mm: float, view: FlatView) -> Crop:
    """The crop of a lying piece with vertices (5, 2) mm, projected to z = 0.

    It is centred, at the standard scale, its tip to the right.
    """
    corners = view.pixels(vertices_mm)
    base, tip = corners[:4].mean(axis=0), corners[4]
    return Crop(
        (base + tip) / 2,
        float(np.degrees(np.arctan2(*(tip - base)[::-1]))),
        base_mm / view.step_mm / BASE_PX,
    )


def crops_for_pose(pose: Pose, keypoints: KeypointEstimate, view: FlatView) -> list[Crop]:
    """Crops of an object as if it stood on its estimated base, or lay in any quarter turn."""
    corners = view.pixels(keypoints.vertices_mm)
    base, zoom = (
        corners[:4].mean(axis=0),
        float(np.exp(keypoints.log_base)) / view.step_mm / BASE_PX,
    )
    along = float(np.degrees(np.arctan2(*(corners[2] - corners[1])[::-1])))
    if pose == "upright":
        return [Crop(base, along, zoom)]
    return [Crop((base + corners[4]) / 2, along + quarter, zoom) for quarter in QUARTERS]


def _estimate_from_output(
    answer: Array, cut: Crop, view: FlatView, colours: tuple[str, ...]
) -> KeypointEstimate:
    crop = answer[VERTICES].reshape(5, 2) * BASE_PX + (CROP_PX - 1) / 2
    pixels = crop @ cut.affine[:, :2].T + cut.affine[:, 2]
    base_mm, spread = (
        cut.zoom * BASE_PX * view.step_mm,
        np.sqrt(2.0),
    )  # of a Laplace distribution of scale 1
    return KeypointEstimate(
        float(1 / (1 + np.exp(-answer[THERE]))),
        softmax(answer[POSE]),
        softmax(answer[COLOUR][[COLOURS.index(name) for name in colours]]),
        float(np.log(base_mm) + answer[BASE]),
        float(spread * np.exp(answer[BASE_DOUBT])),
        view.millimetres(pixels),
        spread * np.exp(answer[VERTEX_DOUBT]) * base_mm,
    )
