"""Where on the plane of its face a board of known kind lies, roughly: its lines laid over the table as it is seen from above."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.board_edges import BoardEdges
from table.boards import Board, Hex
from table.errors import InputError
from table.solids import Array
from vision.frame import Image

LEAST_LIKE = 0.25
"""Correlation of a board's lines with the edges in the picture below which it is not there."""
STAGES = ((2.0, 1.5, None), (1.0, 0.25, 1.5))
"""Millimetres a pixel, degrees a step, and how many degrees either way: first all that look different."""
BLUR_MM, MARGIN_MM, BEYOND_MM = 2.0, 12.0, 60.0
"""Width of a line, 1 sigma; what has to be free of lines around a board; how far beyond the cards it may reach."""
BRIGHTEST = 99.5
"""Edges stronger than so many in a hundred count no more than those."""
CARD_TIMES = 1.9
"""A card's paper is so many times as large as its fiducial."""


@dataclass(frozen=True, slots=True, eq=False)
class Face:
    """The plane of a board's face in a photograph: what maps its points (n, 2) mm to pixels, and where the cards (4, 4, 2) are."""

    image: Image
    to_px: Callable[[Array], Array]
    cards_mm: Array


def find_board(face: Face, board: Board, lines: BoardEdges) -> Array:
    """The place [x, y, heading in rad] of the board; raises InputError where it is not seen.

    Of all headings at which it looks the same, the one nearest to that of the cards 3 and 2.
    """
    along = face.cards_mm[2].mean(axis=0) - face.cards_mm[3].mean(axis=0)
    like, place = -1.0, np.array([0.0, 0.0, np.arctan2(along[1], along[0])])
    for step_mm, step_deg, reach_deg in STAGES:
        view, low = _from_above(face, step_mm)
        reach = reach_deg or (30.0 if isinstance(board, Hex) else 45.0)
        tried = [(*_match(view, low, lines, angle, step_mm), angle) for angle in place[2] + np.radians(np.arange(-reach, reach + 0.01, step_deg))]
        like, at, angle = max(tried, key=lambda one: one[0])
        place = np.array([*at, angle])
    if like < LEAST_LIKE:
        kind = str(board.__struct_config__.tag)
        raise InputError(
            f"expected a board ({kind}) between the cards, but its lines are not seen; check --board and --cell-mm, or give --corners-px"
        )
    return place


def _from_above(face: Face, step_mm: float) -> tuple[NDArray[np.float32], Array]:
    """Strength of edges (h, w) as seen from above, y up in rows from the near side, and the corner (2,) mm of the first pixel."""
    every = face.cards_mm.reshape(-1, 2)
    low, high = every.min(axis=0) - BEYOND_MM, every.max(axis=0) + BEYOND_MM
    w, h = np.ceil((high - low) / step_mm).astype(int)
    x, y = np.meshgrid(low[0] + step_mm * np.arange(w), low[1] + step_mm * np.arange(h))
    at = face.to_px(np.column_stack([x.ravel(), y.ravel()])).astype(np.float32).reshape(h, w, 2)
    px_a_step = float(np.median(np.linalg.norm(np.diff(at, axis=1), axis=2)))
    grey = cv2.GaussianBlur(cv2.cvtColor(face.image, cv2.COLOR_RGB2GRAY), (0, 0), max(0.5, 0.5 * px_a_step))
    seen = cv2.remap(grey, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE).astype(np.float32)
    strength = np.hypot(cv2.Sobel(seen, cv2.CV_32F, 1, 0), cv2.Sobel(seen, cv2.CV_32F, 0, 1))
    middles = face.cards_mm.mean(axis=1, keepdims=True)
    papers = middles + CARD_TIMES * (face.cards_mm - middles)
    cv2.fillPoly(strength, list(np.rint((papers - low) / step_mm).astype(np.int32)), 0.0)
    strength = np.minimum(strength, np.percentile(strength, BRIGHTEST))
    return np.asarray(cv2.GaussianBlur(strength, (0, 0), BLUR_MM / step_mm), np.float32), low


def _match(view: NDArray[np.float32], low: Array, lines: BoardEdges, angle: float, step_mm: float) -> tuple[float, Array]:
    """How well the lines at a heading fit at best (correlation), and where the board's origin (2,) mm is then."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, s], [-s, c]])
    points, ways = lines.points_mm @ turn, lines.normals @ turn
    half = lines.spacing_mm / 2 * np.column_stack([-ways[:, 1], ways[:, 0]])
    corner = points.min(axis=0) - MARGIN_MM
    w, h = np.ceil((points.max(axis=0) + MARGIN_MM - corner) / step_mm).astype(int)
    drawn = np.zeros((h, w), np.float32)
    ends = np.rint(np.stack([points - half - corner, points + half - corner], axis=1) / step_mm).astype(np.int32)
    cv2.polylines(drawn, list(ends), isClosed=False, color=1.0)
    if (np.array(drawn.shape) > view.shape).any():
        return -1.0, low
    asked = np.ones_like(drawn)
    if lines.look == "rim":  # what is printed inside is not known
        inside = cv2.convexHull(np.rint((points - corner) / step_mm).astype(np.int32))
        cv2.fillConvexPoly(asked, inside, 0.0)
        asked = cv2.dilate(asked, np.ones((3, 3), np.uint8), iterations=round(MARGIN_MM / step_mm))
    like = cv2.matchTemplate(view, cv2.GaussianBlur(drawn, (0, 0), BLUR_MM / step_mm), cv2.TM_CCOEFF_NORMED, mask=asked)
    _, best, _, at = cv2.minMaxLoc(np.where(np.isfinite(like), like, -1.0))
    return float(best), low + step_mm * np.array(at) - corner
