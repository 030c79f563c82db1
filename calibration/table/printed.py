"""Scale a printed board: printers make all of it slightly longer or shorter than drawn."""

from __future__ import annotations

import msgspec
import numpy as np

from calibration.sheets.pdf import BAR_MM
from table.boards import Board
from table.errors import InputError
from table.messages import msg
from table.table_config import Lens, Setup

LEAST_BAR_MM, MOST_BAR_MM = 0.95 * BAR_MM, 1.05 * BAR_MM
"""Range of a check bar's length. Outside it the printer was set to fit pages."""


def scale_printed(setup: Setup, scale: float) -> Setup:
    """The table with printed places and lengths multiplied by `scale`.

    Tiles and thicknesses are not printed, and stay unchanged.
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


def unknown_lens(width: int, height: int) -> Lens:
    """A placeholder lens that only gives the size of its pictures."""
    matrix = (
        (float(width), 0.0, (width - 1) / 2),
        (0.0, float(width), (height - 1) / 2),
        (0.0, 0.0, 1.0),
    )
    return Lens(width=width, height=height, matrix=matrix, distortion=(0.0,) * 5)


def printed_scale(bar_mm: float) -> float:
    """Scale of a sheet with a check bar of this length; raises InputError."""
    if LEAST_BAR_MM <= bar_mm <= MOST_BAR_MM:
        return bar_mm / BAR_MM
    raise InputError(
        msg(
            "--bar-mm: expected {mm} to {mm2} mm, got {mm3}; print at 100 % (actual size)",
            mm=f"{LEAST_BAR_MM:g}",
            mm2=f"{MOST_BAR_MM:g}",
            mm3=f"{bar_mm:g}",
        )
    )
