"""Find objects in the image other than the pieces that were read: hands, and unread objects."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from table.boards import within
from table.solids import Array
from table.table_config import Setup
from vision.geometry.piece_pose import Hypothesis, project_to_table, silhouette
from vision.geometry.rectified_view import SUB_BITS, Photo
from vision.networks.detector import STRIDE, Detections

HAND_BASES2 = 2.5
"""Least area of the board that a connected patch of an arm covers to count as over it, in squares
of the smallest base.
"""
UNREAD_SHARE = 0.35
"""Least area of an unexplained patch that counts as unread, as a share of the smallest piece's
face.
"""
RIM_CELLS = 1
"""Width, in cells, up to which an unexplained strip is the rim or shadow of a piece. It is worth a
second detection, but not unread.
"""


def hand_is_over(detections: Detections, setup: Setup) -> bool:
    """True if a hand or an arm is over the board."""
    board = np.zeros(detections.arms.shape, np.uint8)
    _fill(board, setup.outline_mm(), detections, 1)
    over = (detections.arms & (board > 0)).astype(np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(over, connectivity=8)
    cell_mm = STRIDE * detections.view.step_mm
    largest_mm2 = cell_mm**2 * max(stats[1:, cv2.CC_STAT_AREA], default=0)
    return bool(largest_mm2 > HAND_BASES2 * min(size.base_mm for size in setup.sizes) ** 2)


def unexplained_places(
    detections: Detections, pieces: list[Hypothesis], photo: Photo, rim_cells: int = 0
) -> Array:
    """Middles (n, 2) mm of piece pixels that neither `pieces` nor discs explain.

    Strips no wider than `rim_cells` are left out.
    """
    eye = photo.camera.eye_mm
    left = detections.pieces.astype(np.uint8)
    for piece in pieces:
        _fill(left, silhouette(piece.solid, eye), detections, 0)
    for one in detections.objects:
        if one.is_disc:
            turns = np.linspace(0, 2 * np.pi, 24)
            _fill(
                left,
                one.middle_mm + 0.5 * one.base_mm * np.column_stack([np.cos(turns), np.sin(turns)]),
                detections,
                0,
            )
    left = np.asarray(
        cv2.morphologyEx(left, cv2.MORPH_OPEN, np.ones((rim_cells + 1, rim_cells + 1))), np.uint8
    )
    cell_mm = STRIDE * detections.view.step_mm
    count, _, stats, middles = cv2.connectedComponentsWithStats(left, connectivity=4)
    areas = stats[1:count, cv2.CC_STAT_AREA] * cell_mm**2
    return detections.places_mm(
        np.asarray(middles, float)[1:count][areas > least_patch_mm2(photo.setup)]
    )


def least_patch_mm2(setup: Setup) -> float:
    """Least area of a patch that may be a mostly covered piece."""
    return UNREAD_SHARE * min(size.base_mm * size.slant_mm for size in setup.sizes) / 2


def unread_places(
    left: Array, doubtful: list[Hypothesis], pieces: list[Hypothesis], photo: Photo
) -> tuple[Array, ...]:
    """Places (2,) on the board of possible pieces that are not reported.

    They are unexplained patches `left` (n, 2), and pieces whose existence is in doubt.
    """
    of_pieces = [
        project_to_table(piece.solid.vertices_mm, photo.camera.eye_mm).mean(axis=0)
        for piece in pieces
    ]
    nearest_mm = min(size.base_mm for size in photo.setup.sizes)
    maybe = [
        project_to_table(one.solid.vertices_mm, photo.camera.eye_mm).mean(axis=0)
        for one in doubtful
    ]
    # A doubtful place within a piece is a doubt about that piece, not another one.
    maybe = [
        place
        for place in maybe
        if all(np.hypot(*(place - middle)) > nearest_mm for middle in of_pieces)
    ]
    return tuple(place for place in (*left, *maybe) if within(photo.setup.outline_mm(), place))


def _fill(mask: NDArray[np.uint8], outline_mm: Array, detections: Detections, value: int) -> None:
    """Set the cells inside a polygon (n, 2), and those that its outline crosses."""
    cv2.fillPoly(mask, [detections.polygon(outline_mm)], value, shift=SUB_BITS)
    cv2.polylines(mask, [detections.polygon(outline_mm)], True, value, 1, shift=SUB_BITS)
