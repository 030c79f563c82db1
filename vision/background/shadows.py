"""Where pieces throw shadows, in the light of a lamp that is learned from what they take of the
ground's.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from table.solids import Array, Solid
from vision.geometry.rectified_view import SUB_BITS
from vision.networks.detector import STEPS_A_BASE, STRIDE, Sight

BEARINGS_DEG = np.arange(0.0, 360.0, 15.0)
SLOPES = (0.2, 0.35, 0.5, 0.7, 1.0, 1.4)
"""How far a shadow may reach in the middle of the table, in heights of what throws it."""
NEARNESS_A_MM = (0.0, 1 / 1500, 1 / 700)
"""One over how high the lamp may hang."""
REFINED = 0.15
"""The likeliest reach is moved by this share of itself, to make it finer."""
LIGHT_LEVEL = 90
"""Ground that is darker than this, of 255 for white paper, hardly shows a shadow."""
LEAST_CELLS = (STEPS_A_BASE // STRIDE) ** 2
"""A lamp is believed if its shadows explain this much more ground than they should have darkened
and did not: the base of the smallest piece.
"""
LEAST_SHARE = 0.4
"""And if that is such a share of both."""
SOFT_PX = 7
"""Edges of shadows are so wide."""


def in_shadow(
    pieces: Sequence[Solid], board_mm: Array, here: NDArray[np.bool_], sight: Sight
) -> NDArray[np.bool_]:
    """Where, (h, w) of the view, pieces on a board (n, 2) throw their shadows; nowhere if no lamp
    is told by them.

    The lamp is the one whose shadows explain best where there is less light than on the empty
    table; what is so `here` (h, w) has no say in it.
    """
    mask = np.zeros(sight.view.code.shape[:2], np.uint8)
    vertices_mm = np.array([piece.vertices_mm for piece in pieces]).reshape(-1, 5, 3)
    if pieces and (lamp := _lamp(vertices_mm, board_mm, here, sight)) is not None:
        _fill(mask, sight.view.pixels(_shadows(vertices_mm, lamp)))
    return np.asarray(cv2.dilate(mask, np.ones((SOFT_PX, SOFT_PX), np.uint8)) > 0)


def _lamp(
    vertices_mm: Array, board_mm: Array, here: NDArray[np.bool_], sight: Sight
) -> Array | None:
    """How far a shadow reaches at the table's origin, (x, y) in heights of what throws it, and by
    how much farther for a mm of way from there.
    """
    assert sight.changed is not None
    assert sight.shaded is not None
    ground = sight.view.inside(board_mm) & (sight.view.code.max(axis=2) > LIGHT_LEVEL)
    darker = np.where(here, 0.0, np.where(sight.changed, sight.shaded, -1.0 * ground)).astype(
        np.float32
    )
    cells = cv2.resize(darker, sight.pieces.shape[::-1], interpolation=cv2.INTER_AREA)
    middle_mm = board_mm.mean(axis=0)

    def explained(lamp: Array) -> tuple[float, float]:
        """By how much more, in cells, its shadows fall on darker ground than on other, and what
        share that is of both.
        """
        mask = np.zeros(cells.shape, np.uint8)
        _fill(mask, (sight.view.pixels(_shadows(vertices_mm, lamp)) + 0.5) / STRIDE - 0.5)
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
    """What pieces with vertices (n, 5, 3) cover and shade: points (10 n, 2) in mm on the table, the
    hull of every ten of which that is.
    """
    x_y, heights = vertices_mm[..., :2], vertices_mm[..., 2:]
    return np.concatenate([x_y, x_y + heights * (lamp[:2] + x_y * lamp[2])], axis=1).reshape(-1, 2)


def _fill(mask: NDArray[np.uint8], points: Array) -> None:
    """Set what the hulls of every ten points (10 n, 2), as (column, row), cover."""
    for some in np.rint(points * (1 << SUB_BITS)).astype(np.int32).reshape(-1, 10, 2):
        cv2.fillConvexPoly(mask, cv2.convexHull(some), 1, shift=SUB_BITS)
