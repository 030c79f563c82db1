"""The cells of every board by their names, in mm, table frame."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from table.boards import Board, Chessboard, Hex, Open, within
from table.solids import Array

FILES = "abcdefghijklmnopqrstuvwxyz"


def cell_side_mm(board: Board) -> float:
    """Distance between neighbouring cells in mm; 0 on open ground, which has none."""
    match board:
        case Open():
            return 0.0
        case Chessboard():
            return board.square_mm
        case _:
            return board.cell_mm


@lru_cache(maxsize=16)
def cells_mm(board: Board) -> Mapping[str, Array]:
    """Corners (n, 2) of the cells by name.

    `b4` by file and rank from the near left; on a hexagon `E5` by column and row.
    """
    if isinstance(board, Open):
        return MappingProxyType({})
    side = cell_side_mm(board)
    if isinstance(board, Hex):
        turns = np.radians(60 * np.arange(6) + (30 if board.orientation == "pointy" else 0))
        corners = side / math.sqrt(3) * np.column_stack([np.cos(turns), np.sin(turns)])
        last = board.size - 1
        middles = board.middles().items()
        return MappingProxyType(
            {
                f"{FILES[q + r + last].upper()}{r + last + 1}": middle + corners
                for (q, r), middle in middles
            }
        )
    files, ranks = (
        (board.files, board.ranks) if isinstance(board, Chessboard) else (board.cols, board.rows)
    )
    square = side * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    near_left = np.asarray(board.origin_mm)
    places = [(file, rank) for rank in range(ranks) for file in range(files)]
    return MappingProxyType(
        {
            f"{FILES[file]}{rank + 1}": near_left + side * np.array([file, rank]) + square
            for file, rank in places
        }
    )


def cell_middle_mm(board: Board, name: str) -> tuple[float, float] | None:
    """Middle of a named cell, (2,); None if the board has no such cell."""
    corners_mm = cells_mm(board).get(name)
    if corners_mm is None:
        return None
    x, y = corners_mm.mean(axis=0).tolist()
    return x, y


def cell_at(board: Board, point_mm: Array) -> str:
    """Name of the cell under a point (2,); empty beside the board, and on open ground."""
    cells = cells_mm(board).items()
    return next((name for name, corners_mm in cells if within(corners_mm, point_mm)), "")
