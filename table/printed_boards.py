"""Printed boards: the places of their fiducials, and their games."""

from __future__ import annotations

import numpy as np

from table.boards import Board, Hex, Point, Tiles
from table.errors import InputError
from table.game_facts import DefaultTable
from table.games import all_table_facts
from table.messages import msg
from table.pieces import load_piece_set
from table.table_config import Fiducials, Game, Lens, Marker, Setup

DICTIONARY = "DICT_4X4_50"
"""Default dictionary of `table.table_config.Fiducials`."""
MARKER_MM, QUIET_MM = 40.0, 7.0
"""Side of a board's fiducials, and their quiet zone: at least one module, a sixth of the side."""
BESIDE_MM = MARKER_MM + 2 * QUIET_MM
"""Width of the fiducials to the left and right of a board."""
BORDER_MM, TILES_BORDER_MM = 4.0, 2.5
USUAL_TARGET = "green"
"""Default colour of the target; no default colour of a player."""


def printed_tables() -> dict[str, tuple[str, DefaultTable]]:
    """Games with a printable board and their tables, by the name of the sheet.

    The first of several games with one sheet counts.
    """
    found: dict[str, tuple[str, DefaultTable]] = {}
    for game, facts in all_table_facts().items():
        if facts.default and facts.default.sheet:
            found.setdefault(facts.default.sheet.name, (game, facts.default))
    return found


def printed_table(sheet: str) -> tuple[str, DefaultTable]:
    """Game and table of a sheet; raises InputError for an unknown one."""
    known = printed_tables()
    if sheet not in known:
        raise InputError(
            msg(
                "expected a printed board ({raw}), got {raw2}",
                raw=", ".join(known),
                raw2=repr(sheet),
            )
        )
    return known[sheet]


def printed_fiducials(usual: DefaultTable) -> Fiducials:
    """Fiducials on the sheet of a table."""
    assert usual.sheet is not None, "it is printed"
    markers = corner_markers(*sheet_corners(usual.board(usual.cell_mm)))
    return Fiducials(markers=markers, dictionary=DICTIONARY, z_mm=usual.sheet.z_mm)


def printed_setup(usual: DefaultTable, game: Game, lens: Lens) -> Setup:
    """Setup of a printed board with nominal dimensions, for a camera with this lens."""
    return Setup(
        camera=lens,
        fiducials=printed_fiducials(usual),
        board=usual.board(usual.cell_mm),
        game=game,
        pieces=load_piece_set(game.pieces),
    )


def default_game(game: str, usual: DefaultTable) -> Game:
    """Default game entry for a game's table, with its default pieces and colours."""
    return Game(
        name=game,
        colours=usual.colours,
        sizes=usual.sizes,
        pieces=usual.pieces,
        target=USUAL_TARGET if usual.target else None,
        counters=usual.counters,
    )


def sheet_corners(board: Board) -> tuple[Point, Point]:
    """Corners of a board's sheet.

    Fiducials are to the left and right, or in the corners that a hexagon leaves free.
    """
    outline = board.outline()
    if isinstance(board, Hex):
        half = outline.max(axis=0) + np.array([9.5, 3.0])
        return (-float(half[0]), -float(half[1])), (float(half[0]), float(half[1]))
    border_mm = TILES_BORDER_MM if isinstance(board, Tiles) else BORDER_MM
    (x0, y0), (x1, y1) = outline.min(axis=0).tolist(), outline.max(axis=0).tolist()
    return (x0 - BESIDE_MM, y0 - border_mm), (x1 + BESIDE_MM, y1 + border_mm)


def square_marker(number: int, left_mm: float, top_mm: float, side_mm: float = MARKER_MM) -> Marker:
    """An upright fiducial; corners clockwise from its top left."""
    right, low = left_mm + side_mm, top_mm - side_mm
    return Marker(
        id=number, corners_mm=((left_mm, top_mm), (right, top_mm), (right, low), (left_mm, low))
    )


def corner_markers(low_mm: Point, high_mm: Point) -> tuple[Marker, ...]:
    """Fiducials 0 to 3 in the corners of a sheet, clockwise from the far left.

    Their white margin is inside the sheet.
    """
    left, right = low_mm[0] + QUIET_MM, high_mm[0] - QUIET_MM - MARKER_MM
    far, near = high_mm[1] - QUIET_MM, low_mm[1] + QUIET_MM + MARKER_MM
    return tuple(
        square_marker(number, x, y)
        for number, (x, y) in enumerate(((left, far), (right, far), (right, near), (left, near)))
    )
