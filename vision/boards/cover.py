"""Mask of the parts of a board that pieces hide."""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import numpy as np
from numpy.typing import NDArray

from table.solids import Array
from vision.geometry.piece_pose import Hypothesis, silhouette
from vision.geometry.rectified_view import SUB_BITS, FlatView


def occlusion_mask(
    pieces: Iterable[Hypothesis], view: FlatView, eye_mm: Array
) -> NDArray[np.bool_]:
    """Mask (h, w) of the view's pixels that pieces hide, with a margin of two pixels."""
    hidden = np.zeros(view.code.shape[:2], np.uint8)
    for piece in pieces:
        cv2.fillConvexPoly(hidden, view.polygon(silhouette(piece.solid, eye_mm)), 1, shift=SUB_BITS)
    return np.asarray(cv2.dilate(hidden, np.ones((5, 5), np.uint8)), bool)
