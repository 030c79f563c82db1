"""Recorded names of observed pieces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from referee.presentation.shown_games import NamedPiece
from table.boards import Board, within
from table.cells import cells_mm
from table.observation_document import Piece
from table.solids import Array


def names_of(board: Board, known: Sequence[NamedPiece], pieces: Sequence[Piece]) -> dict[int, str]:
    """Recorded short names of observed pieces, such as `5` or `E`, by index.

    A piece has a name only if the record has exactly one piece of its colour in that place.
    """
    cells = cells_mm(board)
    places = [
        (one.colour, one.name, [cells[cell] for cell in one.cells if cell in cells])
        for one in known
    ]
    found = {}
    for index, piece in enumerate(pieces):
        middle = np.array(piece.vertices_mm, float)[:, :2].mean(axis=0)
        here = [
            name
            for colour, name, corners in places
            if colour == piece.colour and _is_on_cells(middle, corners)
        ]
        if len(here) == 1:
            found[index] = here[0]
    return found


def _is_on_cells(middle: Array, cells: Sequence[Array]) -> bool:
    return any(within(corners, middle) for corners in cells)
