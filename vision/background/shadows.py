"""Predict the shadows of pieces; the lamp is estimated from where the ground has darkened."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from table.solids import Array, Solid
from vision.geometry.rectified_view import SUB_BITS
from vision.networks.detector import STEPS_A_BASE, STRIDE, Detections

BEARINGS_DEG = np.arange(0.0, 360.0, 15.0)
"""Candidate directions of the lamp."""
SLOPES = (0.2, 0.35, 0.5, 0.7, 1.0, 1.4)
"""Candidate lengths of a shadow in the middle of the table, in heights of the casting piece."""
NEARNESS_A_MM = (0.0, 1 / 1500, 1 / 700)
"""Candidate inverse heights of the lamp."""
REFINED = 0.15
"""Relative step by which the best length is refined."""
LIGHT_LEVEL = 90
"""Level of the ground, of 255 for white paper, below which it hardly shows a shadow."""
LEAST_CELLS = (STEPS_A_BASE // STRIDE) ** 2
"""Least net evidence for a lamp: darkened cells that its shadows explain, minus those that should
have darkened but did not.
"""
LEAST_SHARE = 0.4
"""Least share of that net evidence in both kinds of cells together."""
SOFT_PX = 7
"""Width of the penumbra."""


def cast_shadow_mask(
    pieces: Sequence[Solid], board_mm: Array, here: NDArray[np.bool_], detections: Detections
) -> NDArray[np.bool_]:
    """Mask (h, w) of the view where pieces on a board (n, 2) cast their shadows.

    The lamp is the one whose shadows best explain the darkening since the empty table. Pixels in
    `here` (h, w) are ignored for that. The mask is empty if no lamp fits.
    """
    mask = np.zeros(detections.view.code.shape[:2], np.uint8)
    vertices_mm = np.array([piece.vertices_mm for piece in pieces]).reshape(-1, 5, 3)
    if pieces and (lamp := _lamp(vertices_mm, board_mm, here, detections)) is not None:
        _fill(mask, detections.view.pixels(_shadows(vertices_mm, lamp)))
    return np.asarray(cv2.dilate(mask, np.ones((SOFT_PX, SOFT_PX), np.uint8)) > 0)


def _lamp(
    vertices_mm: Array, board_mm: Array, here: NDArray[np.bool_], detections: Detections
) -> Array | None:
    """Shadow model: its length at the table's origin, (x, y) in heights, and its change per mm.

    None if no lamp fits.
    """
    assert detections.changed is not None
    assert detections.shaded is not None
    ground = detections.view.inside(board_mm) & (detections.view.code.max(axis=2) > LIGHT_LEVEL)
    darker = np.where(
        here, 0.0, np.where(detections.changed, detections.shaded, -1.0 * ground)
    ).astype(np.float32)
    cells = cv2.resize(darker, detections.pieces.shape[::-1], interpolation=cv2.INTER_AREA)
    middle_mm = board_mm.mean(axis=0)

    def explained(lamp: Array) -> tuple[float, float]:
        """Net number of darkened cells in the lamp's shadows, and their share."""
        mask = np.zeros(cells.shape, np.uint8)
        _fill(mask, (detections.view.pixels(_shadows(vertices_mm, lamp)) + 0.5) / STRIDE - 0.5)
        under = cells[mask > 0]
        return float(under.sum()), float(under.sum() / max(np.abs(under).sum(), 1.0))

    turns = np.radians(BEARINGS_DEG)
    ways = [slope * np.array([np.cos(turn), np.sin(turn)]) for turn in turns for slope in SLOPES]
    coarse = max((np.array([*way, 0.0]) for way in ways), key=explained)
    finer = [
        coarse[:2] + REFINED * np.linalg.norm(coarse[:2]) * np.array([x, y])
        for x in (-1, 0, 1)
        for y in (-1, 0, 1)
    ]
    best = max(
        (np.array([*(way - near * middle_mm), near]) for way in finer for near in NEARNESS_A_MM),
        key=explained,
    )
    most, share = explained(best)
    return best if most > LEAST_CELLS and share > LEAST_SHARE else None


def _shadows(vertices_mm: Array, lamp: Array) -> Array:
    """Points (10 n, 2) mm on the table; the hull of each ten is what a piece covers and shades.

    From the pieces' vertices (n, 5, 3).
    """
    x_y, heights = vertices_mm[..., :2], vertices_mm[..., 2:]
    return np.concatenate([x_y, x_y + heights * (lamp[:2] + x_y * lamp[2])], axis=1).reshape(-1, 2)


def _fill(mask: NDArray[np.uint8], points: Array) -> None:
    """Fill the hull of every ten points (10 n, 2), as (column, row)."""
    for some in np.rint(points * (1 << SUB_BITS)).astype(np.int32).reshape(-1, 10, 2):
        cv2.fillConvexPoly(mask, cv2.convexHull(some), 1, shift=SUB_BITS)
