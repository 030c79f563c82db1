"""What is in the picture beside the pieces that were read: hands, and what nobody could read."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from table.boards import within
from table.solids import Array
from table.table_config import Setup
from vision.geometry.piece_pose import Hypothesis, cast_down, silhouette
from vision.geometry.rectified_view import SUB_BITS, Photo
from vision.networks.detector import STRIDE, Sight

HAND_BASES2 = 1.5
"""An arm that shows over more of the board than this, in squares of the smallest base, is over
it.
"""
UNREAD_SHARE = 0.35
"""A patch left over is something unread if it is this share of the smallest piece's face."""
RIM_CELLS = 1
"""What is left over in strips no wider than this is the rim of a piece, or of its shadow: worth
another look, but nothing unread.
"""


def hand_over(sight: Sight, setup: Setup) -> bool:
    """Is a hand or an arm over the board?"""
    board = np.zeros(sight.arms.shape, np.uint8)
    _fill(board, setup.outline_mm(), sight, 1)
    cell_mm = STRIDE * sight.view.step_mm
    least = HAND_BASES2 * min(size.base_mm for size in setup.sizes) ** 2
    return bool(np.count_nonzero(sight.arms & (board > 0)) * cell_mm**2 > least)


def left_over(sight: Sight, pieces: list[Hypothesis], photo: Photo, rim_cells: int = 0) -> Array:
    """Middles (n, 2) mm of what looks like pieces and is explained by none of those told, nor by a
    disc; strips no wider than `rim_cells` are left out.
    """
    eye = photo.camera.eye_mm
    left = sight.pieces.astype(np.uint8)
    for piece in pieces:
        _fill(left, silhouette(piece.solid, eye), sight, 0)
    for one in sight.found:
        if one.is_disc:
            turns = np.linspace(0, 2 * np.pi, 24)
            _fill(
                left,
                one.middle_mm + 0.5 * one.base_mm * np.column_stack([np.cos(turns), np.sin(turns)]),
                sight,
                0,
            )
    left = np.asarray(
        cv2.morphologyEx(left, cv2.MORPH_OPEN, np.ones((rim_cells + 1, rim_cells + 1))), np.uint8
    )
    cell_mm = STRIDE * sight.view.step_mm
    count, _, stats, middles = cv2.connectedComponentsWithStats(left, connectivity=4)
    areas = stats[1:count, cv2.CC_STAT_AREA] * cell_mm**2
    return sight.places_mm(
        np.asarray(middles, float)[1:count][areas > least_patch_mm2(photo.setup)]
    )


def least_patch_mm2(setup: Setup) -> float:
    """What is smaller is too small to be a piece of which nothing else is seen."""
    return UNREAD_SHARE * min(size.base_mm * size.slant_mm for size in setup.sizes) / 2


def unread(
    left: Array, doubtful: list[Hypothesis], pieces: list[Hypothesis], photo: Photo
) -> tuple[Array, ...]:
    """Places (2,) on the board where something like a piece lies that is not told: what is left
    over (n, 2), and pieces of which it is in doubt whether they are there.
    """
    told = [
        cast_down(piece.solid.vertices_mm, photo.camera.eye_mm).mean(axis=0) for piece in pieces
    ]
    nearest_mm = min(size.base_mm for size in photo.setup.sizes)
    maybe = [cast_down(one.solid.vertices_mm, photo.camera.eye_mm).mean(axis=0) for one in doubtful]
    # A doubtful place within a piece is a doubt about that piece, not another one.
    maybe = [
        place for place in maybe if all(np.hypot(*(place - middle)) > nearest_mm for middle in told)
    ]
    return tuple(place for place in (*left, *maybe) if within(photo.setup.outline_mm(), place))


def _fill(mask: NDArray[np.uint8], outline_mm: Array, sight: Sight, value: int) -> None:
    """Set the cells inside a polygon (n, 2), and those that it cuts."""
    cv2.fillPoly(mask, [sight.polygon(outline_mm)], value, shift=SUB_BITS)
    cv2.polylines(mask, [sight.polygon(outline_mm)], True, value, 1, shift=SUB_BITS)
