"""Printed lines of a board in mm, and their measured edges in a photograph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from table.boards import Board, Chessboard, Coasters, Hex, Tiles
from table.solids import Array
from vision.cameras.frame import Image
from vision.geometry.srgb import sample_light
from vision.localization.fiducial_edges import LUMA, edge_offsets

SHARES = np.linspace(0.14, 0.86, 7)
"""Positions along a side of a cell at which edges are measured."""
SHARE_STEP = 0.14
"""Spacing of SHARES."""
REACH_PX = 5.0
"""Search range of a step, in either direction; half of it for a line."""
STEP_PX = 0.25
BESIDE_PX = 3.0
"""Distance from an edge at which the light on both sides is compared."""
RIM_POINTS = 60
HALF_PX = 5.0
"""Length of the profile on either side of a line."""
UNLIKE = 0.25
"""Largest difference between the two halves of a line's profile, as a share of its variance."""
FAINT = 0.004
"""Least variance of linear light across a line, relative to the squared mean."""


@dataclass(frozen=True, slots=True, eq=False)
class BoardEdges:
    """Points (n, 2) mm on the edges of a board, and unit normals (n, 2).

    Neighbours on an edge are `spacing_mm` apart. `look` is "step" from dark to light along the
    normal, "line" with equal sides, or "rim", a step of the same unknown sign all around.
    """

    points_mm: Array
    normals: Array
    look: Literal["step", "line", "rim"]
    spacing_mm: float

    def share(self, seen: NDArray[np.intp] | NDArray[np.bool_]) -> float:
        """Share of visible edges (index or mask), in the direction with the weakest constraint.

        Parallel lines alone do not determine a place.
        """
        some, every = (
            np.linalg.eigvalsh(normals.T @ normals)[0]
            for normals in (self.normals[seen], self.normals)
        )
        return float(some / every)

    def measure(
        self, image: Image, edges_px: Array, normals_px: Array
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Offset (n,) px of each edge along its normal, and a validity mask.

        From the predicted places (n, 2) px.
        """
        match self.look:
            case "line":
                return _line_offsets(image, edges_px, normals_px)
            case "step":
                return _step_offsets(image, edges_px, normals_px)
            case "rim":
                way = 1.0 if is_lighter_along(image, edges_px, normals_px) else -1.0
                offset, good = _step_offsets(image, edges_px, way * normals_px)
                return way * offset, good


def is_lighter_along(image: Image, edges_px: Array, normals_px: Array) -> bool:
    """True if the image is mostly lighter on the side that normals (n, 2) point to."""
    sides = edges_px[:, None] + np.array([-BESIDE_PX, BESIDE_PX])[:, None] * normals_px[:, None]
    behind, ahead = (np.asarray(sample_light(image, sides), float) @ LUMA).T
    return bool(np.median(ahead - behind) > 0)


def _step_offsets(
    image: Image, edges_px: Array, normals_px: Array
) -> tuple[Array, NDArray[np.bool_]]:
    offset, _, good = edge_offsets(image, edges_px, normals_px, REACH_PX, np.zeros(len(edges_px)))
    return offset, good


def printed_edges(board: Board) -> BoardEdges | None:
    """Edges of boards printed in one piece: between squares of a chessboard, or hex cells.

    None for open ground, and for coasters and tiles, which are laid down one by one.
    """
    match board:
        case Chessboard():
            return _chessboard(board)
        case Hex():
            return _hex(board)
        case _:
            return None


def board_edges(board: Board) -> BoardEdges | None:
    """Edges that locate a board: `printed_edges`, or the rim of all coasters or tiles.

    None for open ground.
    """
    match board:
        case Coasters():
            half = np.full(2, board.coaster_mm + board.gap_mm / 2)
            return _rim(np.asarray(board.origin_mm) + half, half)
        case Tiles():
            margin = (board.cell_mm - board.tile_mm) / 2
            half = np.array([board.cols, board.rows]) * board.cell_mm / 2
            return _rim(np.asarray(board.origin_mm) + half, half - margin)
        case _:
            return printed_edges(board)


def _rim(middle: Array, half: Array) -> BoardEdges:
    """Sides of a rectangle, with outward normals."""
    along = np.linspace(-0.97, 0.97, RIM_POINTS)[:, None]
    points, normals = [], []
    for way in (
        np.array([1.0, 0.0]),
        np.array([0.0, 1.0]),
        np.array([-1.0, 0.0]),
        np.array([0.0, -1.0]),
    ):
        beside = np.array([-way[1], way[0]])
        points.append(middle + (way + along * beside) * half)
        normals.append(np.tile(way, (RIM_POINTS, 1)))
    return BoardEdges(
        np.concatenate(points), np.concatenate(normals), "rim", 2 * float(half.max()) / RIM_POINTS
    )


def _chessboard(board: Chessboard) -> BoardEdges:
    points, normals = [], []
    for axis, (across, along) in enumerate(
        ((board.files, board.ranks), (board.ranks, board.files))
    ):
        for line in range(1, across):
            for cell in range(along):
                # The square beyond the line. Squares with an even sum of their numbers are dark,
                # such as a1 (0, 0).
                sign = 1.0 if (line + cell) % 2 else -1.0
                places = np.column_stack([np.full(len(SHARES), float(line)), cell + SHARES])
                points.append(places if axis == 0 else places[:, ::-1])
                normals.append(np.tile((sign, 0.0) if axis == 0 else (0.0, sign), (len(SHARES), 1)))
    return BoardEdges(
        np.asarray(board.origin_mm) + board.square_mm * np.concatenate(points),
        np.concatenate(normals),
        "step",
        board.square_mm * SHARE_STEP,
    )


def _hex(board: Hex) -> BoardEdges:
    middles = np.array(list(board.middles().values()))
    points, normals = [], []
    for one in range(len(middles)):
        apart = middles[one + 1 :] - middles[one]
        for way in apart[np.hypot(*apart.T) < 1.01 * board.cell_mm]:
            normal = way / np.hypot(*way)
            beside = np.array([-normal[1], normal[0]]) * board.cell_mm / np.sqrt(3)
            points.append(middles[one] + way / 2 + (SHARES[:, None] - 0.5) * beside)
            normals.append(np.tile(normal, (len(SHARES), 1)))
    return BoardEdges(
        np.concatenate(points),
        np.concatenate(normals),
        "line",
        board.cell_mm / np.sqrt(3) * SHARE_STEP,
    )


def _line_offsets(
    image: Image, edges_px: Array, normals_px: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """Offset of each line (n, 2) along its normal, at the most symmetric place of its profile.

    Searched within half of REACH_PX.
    """
    shifts = np.arange(-REACH_PX / 2, REACH_PX / 2 + STEP_PX / 2, STEP_PX)
    half = np.arange(STEP_PX / 2, HALF_PX, STEP_PX)
    steps = np.arange(shifts[0] - half[-1], shifts[-1] + half[-1] + STEP_PX / 2, STEP_PX / 2)
    places = edges_px[:, None] + steps[:, None] * normals_px[:, None]
    inside = ((places >= 0) & (places <= np.array(image.shape[1::-1]) - 1)).all(axis=(1, 2))
    profile = np.asarray(sample_light(image, places), float) @ LUMA
    middle = np.rint((shifts - steps[0]) / (STEP_PX / 2)).astype(int)
    reach = np.rint(half / (STEP_PX / 2)).astype(int)
    ahead, behind = (profile[:, middle[:, None] + sign * reach] for sign in (1, -1))
    variance = np.concatenate([ahead, behind], axis=2).var(axis=2)
    unlike = ((ahead - behind) ** 2).mean(axis=2) / (2 * variance + 1e-9)
    best = unlike.argmin(axis=1)
    rows = np.arange(len(profile))
    centre = np.clip(best, 1, len(shifts) - 2)
    left, there, right = (unlike[rows, centre + k] for k in (-1, 0, 1))
    bend = left - 2 * there + right
    offset = (
        shifts[centre]
        + np.where(bend > 0, 0.5 * (left - right) / np.maximum(bend, 1e-12), 0.0) * STEP_PX
    )
    seen = variance[rows, best] > FAINT * profile.mean(axis=1) ** 2
    good = inside & seen & (best > 0) & (best < len(shifts) - 1) & (unlike[rows, best] < UNLIKE)
    return offset, good
