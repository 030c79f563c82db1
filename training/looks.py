"""Training examples for the second look.

Crops around what the finder finds on practice sheets, a little off, and the truth there.
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
from training.sheets import SHEET_PX, Sheet
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
"""A find nearer to a piece than this, in bases, is of that piece; farther than that from all, of
none.
"""
PLACE_PX, TURN_DEG, SCALE = 1.0, 3.0, 0.05
"""How much further off than the finder was on its own sheets it is taken to be, 1 sigma."""
FLIPPED, SWAPPED = 0.03, 0.06
"""Share of crops turned by half, and of those turned by chance."""
ASTRAY, ASTRAY_PX, ASTRAY_SCALE = 0.2, 4.0, 0.45
"""Share of crops that are far off, by how much in place, 1 sigma, and in the logarithm of the
scale, at most.
"""
LEAST_DOUBT, MOST_DOUBT = -5.0, 1.0
LEAST_CELLS = 4
"""A patch of fewer cells that the finder takes for part of a piece is nothing."""
TURNS = torch.tensor([[(k + turn) % 4 for k in range(4)] + [4] for turn in range(4)])
"""The vertices of a piece that stands may be counted from any corner."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A place to look at: the sheet, where to cut it, and the number of the piece there, or -1."""

    sheet: Sheet
    cut: Crop
    piece: int


def looks(sheet: Sheet) -> list[Look]:
    """Where the finder sees something on a sheet, and the pieces that it misses."""
    view = FlatView(sheet.image, 0.0, 0.0, 1.0)
    middles = (sheet.vertices[:, :4].mean(axis=1) + sheet.vertices[:, 4]) / 2
    out: list[Look] = []
    sight = search(view, COLOURS)
    cuts = [*(crop_of(found, view) for found in sight.found), *_wrongly_shown(sheet, sight)]
    for cut in cuts:
        if not ((cut.middle_px > 4) & (cut.middle_px < SHEET_PX - 5)).all():
            continue
        apart = (
            np.hypot(*(middles - cut.middle_px).T) / sheet.base
            if len(middles)
            else np.full(1, np.inf)
        )
        if apart.min() < SAME_BASES:
            out.append(Look(sheet, cut, int(apart.argmin())))
        elif apart.min() > OTHER_BASES and not _under_arm(sheet, cut):
            out.append(Look(sheet, cut, -1))
    seen = {look.piece for look in out}
    missed = [k for k in range(len(middles)) if k not in seen]
    return [*out, *(Look(sheet, _true_cut(sheet, k), k) for k in missed)]


def _wrongly_shown(sheet: Sheet, sight: Detections) -> list[Crop]:
    """Where the finder sees something of a piece and there is none."""
    there = cv2.dilate(
        cv2.resize(sheet.masks[0], sight.pieces.shape[::-1], interpolation=cv2.INTER_AREA),
        np.ones((3, 3), np.uint8),
    )
    wrong = (sight.pieces & (there == 0)).astype(np.uint8)
    count, _, stats, middles = cv2.connectedComponentsWithStats(wrong, connectivity=4)
    places = middles[1:count][stats[1:count, cv2.CC_STAT_AREA] >= LEAST_CELLS]
    return [Crop((place + 0.5) * STRIDE - 0.5, 0.0, STEPS_A_BASE / BASE_PX) for place in places]


def _under_arm(sheet: Sheet, cut: Crop) -> bool:
    """Pieces half under an arm are not in the sheet's list."""
    x, y = np.rint(cut.middle_px).astype(int)
    return bool(sheet.masks[1, max(0, y - 20) : y + 21, max(0, x - 20) : x + 21].any())


def _true_cut(sheet: Sheet, piece: int) -> Crop:
    corners = sheet.vertices[piece]
    way = (
        corners[1] - corners[0]
        if POSES[sheet.pose[piece]] == "upright"
        else corners[4] - corners[:4].mean(axis=0)
    )
    return Crop(
        (corners[:4].mean(axis=0) + corners[4]) / 2,
        float(np.degrees(np.arctan2(*way[::-1]))),
        sheet.base[piece] / BASE_PX,
    )


def crop(look: Look, rng: np.random.Generator) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Crop (3, CROP_PX, CROP_PX) and answer (16,).

    The answer: whether a piece is there, its pose and colour, the logarithm of its base, vertices,
    and 1 if it stands; -1 for what is not asked.
    """
    cut = look.cut
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
    answer[0] = look.piece >= 0
    if look.piece >= 0:
        sheet, k = look.sheet, look.piece
        corners = (sheet.vertices[k] - cut.affine[:, 2]) @ np.linalg.inv(cut.affine[:, :2]).T
        answer[1:4] = sheet.pose[k], sheet.colour[k], np.log(sheet.base[k] / BASE_PX / cut.zoom)
        answer[4:14] = ((corners - (CROP_PX - 1) / 2) / BASE_PX).ravel()
        answer[14] = POSES[sheet.pose[k]] == "upright"
    return np.ascontiguousarray(cut.of(look.sheet.image).transpose(2, 0, 1)), answer


def loss(said: Tensor, answer: Tensor) -> tuple[Tensor, dict[str, float]]:
    """Loss: negative log-likelihoods, with Laplace distributions for continuous values."""
    there = binary_cross_entropy_with_logits(said[:, THERE], answer[:, 0])
    of = answer[:, 0] > 0.5
    said, answer = said[of], answer[of]
    pose = cross_entropy(said[:, POSE], answer[:, 1].long())
    colour = cross_entropy(said[:, COLOUR], answer[:, 2].long())
    base = _laplace((said[:, BASE] - answer[:, 3]).abs(), said[:, BASE_DOUBT], 1).mean()
    corners, asked = said[:, VERTICES].reshape(-1, 5, 2), answer[:, 4:14].reshape(-1, 5, 2)
    with torch.no_grad():
        ways = (corners[:, None] - asked[:, TURNS]).abs().sum(dim=(2, 3))
        turn = torch.where(answer[:, 14] > 0.5, ways.argmin(dim=1), 0)
    asked = asked.gather(1, TURNS.to(turn.device)[turn][..., None].expand(-1, -1, 2))
    off = (corners - asked).abs().sum(dim=2)
    vertices = _laplace(off, said[:, VERTEX_DOUBT], 2).sum(dim=1).mean()
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
