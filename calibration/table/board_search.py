"""Coarse search for a board of known kind: its lines are matched with the table's top view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.table.board_edges import BoardEdges
from calibration.table.bundle_adjustment import place_points
from table.boards import Board, Chessboard, Coasters, Hex, Open, Tiles
from table.errors import InputError
from table.messages import msg
from table.solids import Array
from vision.cameras.frame import Image

LEAST_LIKE = 0.25
"""Least correlation between the lines of a found board and the edges in the image."""
STAGES = ((2.0, 1.5, None), (1.0, 0.25, 1.5))
"""Stages from coarse to fine: mm per pixel, degrees per step, and search range of the heading in
degrees to either side. None: all headings that look different.
"""
NEAR_CELLS, NEAR_DEG = 0.45, 6.0
"""Search range about a board's earlier place."""
BLUR_MM, MARGIN_MM, BEYOND_MM = 2.0, 12.0, 60.0
"""Width of a line, 1 sigma; margin around a board without lines; largest distance of the board
beyond the cards.
"""
BRIGHTEST = 99.5
"""Percentile at which edge strength is clipped."""
CARD_TIMES = 1.9
"""Side of a card's paper relative to its fiducial."""


@dataclass(frozen=True, slots=True, eq=False)
class Face:
    """The plane of a board's face in a photograph.

    `to_px` maps its points (n, 2) mm to pixels; `cards_mm` (4, 4, 2) are the cards' corners.
    """

    image: Image
    to_px: Callable[[Array], Array]
    cards_mm: Array


def find_board(face: Face, board: Board, lines: BoardEdges, near: Array | None = None) -> Array:
    """Find the board's place [x, y, heading in rad].

    Of all headings with the same appearance, it is the one nearest to the direction from card 3 to
    card 2. With `near`, the search is limited to less than half a cell and a few degrees around
    that place. Pieces can make a board match itself a cell away. Raises InputError if the board is
    not found.
    """
    along = face.cards_mm[2].mean(axis=0) - face.cards_mm[3].mean(axis=0)
    like, place = (
        -1.0,
        np.array([0.0, 0.0, np.arctan2(along[1], along[0])]) if near is None else near,
    )
    for step_mm, step_deg, reach_deg in STAGES:
        view, low = _from_above(face, step_mm)
        reach = reach_deg or (
            NEAR_DEG if near is not None else 30.0 if isinstance(board, Hex) else 45.0
        )
        around = None if near is None else _SearchArea(near, NEAR_CELLS * _cell_mm(board))
        tried = [
            (*_match(view, low, lines, angle, step_mm, around), angle)
            for angle in place[2] + np.radians(np.arange(-reach, reach + 0.01, step_deg))
        ]
        like, at, angle = max(tried, key=lambda one: one[0])
        place = np.array([*at, angle])
    if like < LEAST_LIKE:
        kind = str(board.__struct_config__.tag)
        raise InputError(
            msg(
                "expected a board ({kind}) between the corner cards, but its lines are not"
                " visible; check --board and --cell-mm, or give --corners-px",
                kind=kind,
            )
        )
    return place


def _from_above(face: Face, step_mm: float) -> tuple[NDArray[np.float32], Array]:
    """Edge strength (h, w) in the top view, rows from the near side.

    Also the corner (2,) mm of the first pixel.
    """
    every = face.cards_mm.reshape(-1, 2)
    low, high = every.min(axis=0) - BEYOND_MM, every.max(axis=0) + BEYOND_MM
    w, h = np.ceil((high - low) / step_mm).astype(int)
    x, y = np.meshgrid(low[0] + step_mm * np.arange(w), low[1] + step_mm * np.arange(h))
    at = face.to_px(np.column_stack([x.ravel(), y.ravel()])).astype(np.float32).reshape(h, w, 2)
    px_a_step = float(np.median(np.linalg.norm(np.diff(at, axis=1), axis=2)))
    grey = cv2.GaussianBlur(
        cv2.cvtColor(face.image, cv2.COLOR_RGB2GRAY), (0, 0), max(0.5, 0.5 * px_a_step)
    )
    seen = cv2.remap(
        grey, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    ).astype(np.float32)
    strength = np.hypot(cv2.Sobel(seen, cv2.CV_32F, 1, 0), cv2.Sobel(seen, cv2.CV_32F, 0, 1))
    middles = face.cards_mm.mean(axis=1, keepdims=True)
    papers = middles + CARD_TIMES * (face.cards_mm - middles)
    cv2.fillPoly(strength, list(np.rint((papers - low) / step_mm).astype(np.int32)), 0.0)
    strength = np.minimum(strength, np.percentile(strength, BRIGHTEST))
    return np.asarray(cv2.GaussianBlur(strength, (0, 0), BLUR_MM / step_mm), np.float32), low


@dataclass(frozen=True, slots=True, eq=False)
class _SearchArea:
    """A place, and the largest distance, mm, of the lines' middle from it."""

    place: Array
    reach_mm: float

    def allows(
        self,
        shape: tuple[int, ...],
        first_mm: Array,
        lines: BoardEdges,
        turn: Array,
        step_mm: float,
    ) -> NDArray[np.bool_]:
        """Mask of origins, on a grid that starts at (2,), with the lines' middle in reach."""
        middle = lines.points_mm.mean(axis=0)
        wanted = place_points(self.place, middle[None])[0] - middle @ turn
        y, x = np.indices(shape)
        return np.asarray(
            np.hypot(first_mm[0] + step_mm * x - wanted[0], first_mm[1] + step_mm * y - wanted[1])
            < self.reach_mm
        )


def _cell_mm(board: Board) -> float:
    """Period of a board's pattern."""
    match board:
        case Chessboard():
            return board.square_mm
        case Coasters():
            return board.coaster_mm
        case Hex() | Tiles():
            return board.cell_mm
        case Open():
            raise ValueError("open ground has no cells")


def _match(
    view: NDArray[np.float32],
    low: Array,
    lines: BoardEdges,
    angle: float,
    step_mm: float,
    around: _SearchArea | None,
) -> tuple[float, Array]:
    """Best correlation of the lines at a heading, and the board's origin (2,) mm there."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, s], [-s, c]])
    points, ways = lines.points_mm @ turn, lines.normals @ turn
    half = lines.spacing_mm / 2 * np.column_stack([-ways[:, 1], ways[:, 0]])
    corner = points.min(axis=0) - MARGIN_MM
    w, h = np.ceil((points.max(axis=0) + MARGIN_MM - corner) / step_mm).astype(int)
    drawn = np.zeros((h, w), np.float32)
    ends = np.rint(
        np.stack([points - half - corner, points + half - corner], axis=1) / step_mm
    ).astype(np.int32)
    cv2.polylines(drawn, list(ends), isClosed=False, color=1.0)
    if (np.array(drawn.shape) > view.shape).any():
        return -1.0, low
    asked = np.ones_like(drawn)
    if lines.look == "rim":  # the print inside is unknown
        inside = cv2.convexHull(np.rint((points - corner) / step_mm).astype(np.int32))
        cv2.fillConvexPoly(asked, inside, 0.0)
        asked = cv2.dilate(asked, np.ones((3, 3), np.uint8), iterations=round(MARGIN_MM / step_mm))
    like = cv2.matchTemplate(
        view, cv2.GaussianBlur(drawn, (0, 0), BLUR_MM / step_mm), cv2.TM_CCOEFF_NORMED, mask=asked
    )
    allowed = np.isfinite(like)
    if around is not None:
        allowed &= around.allows(like.shape, low - corner, lines, turn, step_mm)
    _, best, _, at = cv2.minMaxLoc(np.where(allowed, like, -1.0))
    return float(best), low + step_mm * np.array(at) - corner
