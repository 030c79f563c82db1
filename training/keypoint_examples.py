"""Training examples for the keypoint network.

Crops around the detections on labelled views, with small errors, and their truth.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from table.pieces import COLOURS
from table.solids import POSES
from training.labelled_views import VIEW_PX, LabelledView
from vision.geometry.rectified_view import FlatView
from vision.networks.detector import STEPS_A_BASE, STRIDE, Detections, search
from vision.networks.keypoints import (
    BASE,
    BASE_DOUBT,
    BASE_PX,
    COLOUR,
    CROP_PX,
    POSE,
    THERE,
    VERTEX_DOUBT,
    VERTICES,
    Crop,
    crop_of,
)

SAME_BASES, OTHER_BASES = 0.5, 0.9
"""Distance, in bases, up to which a detection is of a piece, and that from all pieces beyond which
it is of none.
"""
PLACE_PX, TURN_DEG, SCALE = 1.0, 3.0, 0.05
"""Errors, 1 sigma, that are added to those of the detector on its own training views."""
FLIPPED, SWAPPED = 0.03, 0.06
"""Shares of crops that are turned by 180 degrees, and that have a random rotation."""
ASTRAY, ASTRAY_PX, ASTRAY_SCALE = 0.2, 4.0, 0.45
"""Share of crops with a large error; error of place in px, 1 sigma; largest error of the scale in
natural logarithms.
"""
LEAST_DOUBT, MOST_DOUBT = -5.0, 1.0
LEAST_CELLS = 4
"""Least number of cells of a patch of the detector's piece mask that is used."""
TURNS = torch.tensor([[(k + turn) % 4 for k in range(4)] + [4] for turn in range(4)])
"""Orders of a standing piece's vertices, one for each first corner."""


@dataclass(frozen=True, slots=True, eq=False)
class CropPlace:
    """A place of a crop: the view, its placement, and the index of the piece there, or -1."""

    labelled: LabelledView
    cut: Crop
    piece: int


def crop_places(labelled: LabelledView) -> list[CropPlace]:
    """Detections on a view, patches of the mask without a piece, and missed pieces."""
    flat = FlatView(labelled.image, 0.0, 0.0, 1.0)
    middles = (labelled.vertices[:, :4].mean(axis=1) + labelled.vertices[:, 4]) / 2
    out: list[CropPlace] = []
    detections = search(flat, COLOURS)
    cuts = [
        *(crop_of(found, flat) for found in detections.objects),
        *_masked_without_piece(labelled, detections),
    ]
    for cut in cuts:
        if not ((cut.middle_px > 4) & (cut.middle_px < VIEW_PX - 5)).all():
            continue
        apart = (
            np.hypot(*(middles - cut.middle_px).T) / labelled.base
            if len(middles)
            else np.full(1, np.inf)
        )
        if apart.min() < SAME_BASES:
            out.append(CropPlace(labelled, cut, int(apart.argmin())))
        elif apart.min() > OTHER_BASES and not _under_arm(labelled, cut):
            out.append(CropPlace(labelled, cut, -1))
    seen = {place.piece for place in out}
    missed = [k for k in range(len(middles)) if k not in seen]
    return [*out, *(CropPlace(labelled, _true_cut(labelled, k), k) for k in missed)]


def _masked_without_piece(labelled: LabelledView, detections: Detections) -> list[Crop]:
    """Patches of the piece mask without a piece."""
    there = cv2.dilate(
        cv2.resize(labelled.masks[0], detections.pieces.shape[::-1], interpolation=cv2.INTER_AREA),
        np.ones((3, 3), np.uint8),
    )
    wrong = (detections.pieces & (there == 0)).astype(np.uint8)
    count, _, stats, middles = cv2.connectedComponentsWithStats(wrong, connectivity=4)
    places = middles[1:count][stats[1:count, cv2.CC_STAT_AREA] >= LEAST_CELLS]
    return [Crop((place + 0.5) * STRIDE - 0.5, 0.0, STEPS_A_BASE / BASE_PX) for place in places]


def _under_arm(labelled: LabelledView, cut: Crop) -> bool:
    """True if the crop may show a piece half under an arm, which is not in the view's list."""
    x, y = np.rint(cut.middle_px).astype(int)
    return bool(labelled.masks[1, max(0, y - 20) : y + 21, max(0, x - 20) : x + 21].any())


def _true_cut(labelled: LabelledView, piece: int) -> Crop:
    corners = labelled.vertices[piece]
    way = (
        corners[1] - corners[0]
        if POSES[labelled.pose[piece]] == "upright"
        else corners[4] - corners[:4].mean(axis=0)
    )
    return Crop(
        (corners[:4].mean(axis=0) + corners[4]) / 2,
        float(np.degrees(np.arctan2(*way[::-1]))),
        labelled.base[piece] / BASE_PX,
    )


def crop(
    place: CropPlace, rng: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Crop (3, CROP_PX, CROP_PX) and target (16,).

    The target: whether a piece is there, its pose and colour, the logarithm of its base, vertices,
    and 1 if it stands; -1 for missing values.
    """
    cut = place.cut
    turn = cut.turn_deg + rng.normal(0, TURN_DEG) + (180.0 if rng.random() < FLIPPED else 0.0)
    turn = float(rng.uniform(0, 360)) if rng.random() < SWAPPED else float(turn)
    astray = rng.random() < ASTRAY
    scale = rng.uniform(-ASTRAY_SCALE, ASTRAY_SCALE) if astray else rng.normal(0, SCALE)
    cut = Crop(
        cut.middle_px + rng.normal(0, ASTRAY_PX if astray else PLACE_PX, 2),
        turn,
        cut.zoom * float(np.exp(scale)),
    )
    answer = np.full(15, -1.0, np.float32)
    answer[0] = place.piece >= 0
    if place.piece >= 0:
        labelled, k = place.labelled, place.piece
        corners = (labelled.vertices[k] - cut.affine[:, 2]) @ np.linalg.inv(cut.affine[:, :2]).T
        answer[1:4] = (
            labelled.pose[k],
            labelled.colour[k],
            np.log(labelled.base[k] / BASE_PX / cut.zoom),
        )
        answer[4:14] = ((corners - (CROP_PX - 1) / 2) / BASE_PX).ravel()
        answer[14] = POSES[labelled.pose[k]] == "upright"
    return np.ascontiguousarray(cut.of(place.labelled.image).transpose(2, 0, 1)), answer


def loss(output: Tensor, answer: Tensor) -> tuple[Tensor, dict[str, float]]:
    """Loss: negative log-likelihoods, with Laplace distributions for continuous values."""
    there = binary_cross_entropy_with_logits(output[:, THERE], answer[:, 0])
    of = answer[:, 0] > 0.5
    output, answer = output[of], answer[of]
    pose = cross_entropy(output[:, POSE], answer[:, 1].long())
    colour = cross_entropy(output[:, COLOUR], answer[:, 2].long())
    base = _laplace((output[:, BASE] - answer[:, 3]).abs(), output[:, BASE_DOUBT], 1).mean()
    corners, target = output[:, VERTICES].reshape(-1, 5, 2), answer[:, 4:14].reshape(-1, 5, 2)
    with torch.no_grad():
        ways = (corners[:, None] - target[:, TURNS]).abs().sum(dim=(2, 3))
        turn = torch.where(answer[:, 14] > 0.5, ways.argmin(dim=1), 0)
    target = target.gather(1, TURNS.to(turn.device)[turn][..., None].expand(-1, -1, 2))
    off = (corners - target).abs().sum(dim=2)
    vertices = _laplace(off, output[:, VERTEX_DOUBT], 2).sum(dim=1).mean()
    apart = {
        "there": there,
        "pose": pose,
        "colour": colour,
        "base": base,
        "vertices": vertices,
        "off": off.mean() * BASE_PX / 2,
    }
    total = 2 * there + 2 * pose + 0.5 * colour + 0.5 * base + 0.3 * vertices
    return total, {name: float(value.detach()) for name, value in apart.items()}


def _laplace(off: Tensor, doubt: Tensor, figures: int) -> Tensor:
    doubt = doubt.clamp(LEAST_DOUBT, MOST_DOUBT)
    return off * torch.exp(-doubt) + figures * doubt
