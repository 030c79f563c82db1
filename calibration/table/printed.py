"""A printed board as its printer made it: all of it a little longer or shorter than drawn."""

from __future__ import annotations

import msgspec
import numpy as np

from table.boards import Board
from table.table_config import Setup


def scaled(setup: Setup, scale: float) -> Setup:
    """The table with printed places and lengths multiplied by `scale`.

    Tiles and thicknesses are not printed, and stay.
    """
    markers = tuple(
        msgspec.structs.replace(
            marker, corners_mm=tuple((scale * x, scale * y) for x, y in marker.corners_mm)
        )
        for marker in setup.fiducials.markers
    )
    board = msgspec.to_builtins(setup.board)
    board |= {
        name: (scale * np.array(value)).tolist()
        for name, value in board.items()
        if name.endswith("_mm") and name != "tile_mm"
    }
    fiducials = msgspec.structs.replace(setup.fiducials, markers=markers)
    return msgspec.structs.replace(setup, fiducials=fiducials, board=msgspec.convert(board, Board))
