"""Printable boards, each with its four fiducials and with lines at the places in `table.boards`.

The text on them comes from their games. A template with `{mm}` in it is looked up in the catalogues
like any other sentence.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import assert_never

import numpy as np

from calibration.sheets.canvas import GREY, INK, Pen, Rgb, rectangle
from calibration.sheets.sheet import Sheet
from table.boards import Board, Chessboard, Coasters, Hex, Open, Point, Tiles
from table.cells import FILES, cell_side_mm, cells_mm
from table.game_facts import BoardPrint, CellPrint
from table.messages import Message, Number, Template, as_message, msg, phrase, phrases
from table.printed_boards import DICTIONARY, MARKER_MM, corner_markers, sheet_corners

DARK: Rgb = (0.27, 0.31, 0.36)
ICE: Rgb = (0.93, 0.96, 0.98)
DISC_MM = 14.0
"""Radius of the disc behind a figure and a word."""
TINTS: dict[str, tuple[Rgb, Rgb]] = {
    "yellow": ((0.99, 0.94, 0.72), (0.72, 0.55, 0.02)),
    "red": ((0.98, 0.84, 0.82), (0.72, 0.13, 0.12)),
    "green": ((0.84, 0.94, 0.84), (0.10, 0.45, 0.20)),
    "blue": ((0.83, 0.89, 0.97), (0.12, 0.28, 0.62)),
    "black": ((0.90, 0.90, 0.91), (0.15, 0.15, 0.17)),
}
"""Light and dark ink of a colour's name."""
STEPS = {"N": (0.0, 1.0), "E": (1.0, 0.0), "S": (0.0, -1.0), "W": (-1.0, 0.0)}


def board_sheet(printed: BoardPrint, board: Board) -> Sheet:
    """The sheet of a board for a game."""
    sizes = Message(Template(printed.sizes, {"mm": Number(f"{cell_side_mm(board):g}")}))
    markers = phrase("markers 0 to 3 of {mm} mm ({raw})", mm=f"{MARKER_MM:g}", raw=DICTIONARY)
    low, high = sheet_corners(board)
    return Sheet(
        printed.name,
        as_message(printed.title),
        as_message(printed.purpose),
        phrases(sizes, markers),
        low,
        high,
        lambda pen: _draw(pen, printed, board),
        corner_markers(low, high),
        board,
        printed.z_mm,
    )


def _draw(pen: Pen, printed: BoardPrint, board: Board) -> None:
    match board:
        case Open():
            _ground(pen, board)
        case Chessboard():
            _squares(pen, board)
        case Hex():
            _hexagons(pen, board)
        case Coasters():
            _coasters(pen, printed, board)
        case Tiles():
            _places(pen, printed, board)
        case _:
            assert_never(board)


def _squares(pen: Pen, board: Chessboard) -> None:
    """Draw the squares; a1, the near left corner, is dark."""
    side = board.square_mm
    pen.fill_all(
        [
            rectangle((f * side, r * side), ((f + 1) * side, (r + 1) * side))
            for f in range(board.files)
            for r in range(board.ranks)
            if (f + r) % 2 == 0
        ],
        DARK,
    )
    pen.line(board.outline(), 0.3, DARK, closed=True)
    for file in range(board.files):
        pen.write(((file + 0.5) * side, -3.0), FILES[file], 2.8, GREY, "middle")
    for rank in range(board.ranks):
        pen.write((-1.0, (rank + 0.5) * side - 1), str(rank + 1), 2.8, GREY, "right")


def _hexagons(pen: Pen, board: Hex) -> None:
    cells = cells_mm(board)
    pen.fill_all(list(cells.values()), ICE)
    for name, corners in cells.items():
        x, y = corners.mean(axis=0).tolist()
        pen.line(corners, 0.4, DARK, closed=True)
        pen.write((x, y - 0.42 * board.cell_mm), name, 2.6, GREY, "middle")


def _coasters(pen: Pen, printed: BoardPrint, board: Coasters) -> None:
    """Draw four coasters in one. The arrows' positions are facts; their design is our own."""
    cell, side = board.cell_mm, board.coaster_mm
    for row, names in enumerate(board.layout):
        for column, colour in enumerate(names):
            low = column * side, (1 - row) * side
            light, dark = TINTS[colour]
            pen.fill(rectangle(low, (low[0] + side, low[1] + side)), light)
            pen.ring((low[0] + side / 2, low[1] + side / 2), 0.30 * cell, 1.2, dark)
            pen.ring((low[0] + side / 2, low[1] + side / 2), 0.17 * cell, 1.2, dark)
            pen.disc(
                (
                    low[0] + (side - 3.2 if column == 0 else 3.2),
                    low[1] + (3.2 if row == 0 else side - 3.2),
                ),
                1.3,
                dark,
            )
    for name, ways in printed.exits.items():
        _space(pen, board, (FILES.index(name[0]), int(name[1:]) - 1), ways)
    pen.line([(side, 0), (side, 2 * side)], 0.3, INK)
    pen.line([(0, side), (2 * side, side)], 0.3, INK)
    pen.line(board.outline(), 0.3, INK, closed=True)


def _space(pen: Pen, board: Coasters, place: tuple[int, int], ways: Collection[str]) -> None:
    """Draw one space: its frame, and an arrowhead on each side by which it may be left."""
    file, rank = place
    cell, reach = board.cell_mm, 0.39 * board.cell_mm
    dark = TINTS[board.layout[1 - rank // 3][file // 3]][1]
    middle = np.array([(file + 0.5) * cell, (rank + 0.5) * cell])
    pen.line(middle + rectangle((-reach, -reach), (reach, reach)), 0.7, dark, closed=True)
    for way in ways:
        ahead = np.array(STEPS[way])
        along = np.array([-ahead[1], ahead[0]])
        foot, tip = middle + (reach - 1.2) * ahead, middle + (0.5 * cell - 0.5) * ahead
        pen.fill([tuple(foot + 3.6 * along), tuple(foot - 3.6 * along), tuple(tip)], dark)


def _places(pen: Pen, printed: BoardPrint, board: Tiles) -> None:
    pen.fill(board.outline(), ICE)
    edge = (board.cell_mm - board.tile_mm) / 2
    for name, corners in cells_mm(board).items():
        (x0, y0), (x1, y1) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
        frame = rectangle((x0 + edge, y0 + edge), (x1 - edge, y1 - edge))
        pen.line(frame, 0.3, GREY, closed=True)
        if name in printed.cells:
            _place(pen, ((x0 + x1) / 2, (y0 + y1) / 2), printed.cells[name])
        pen.write((x0 + 2.2, y0 + 2.2), name, 2.6, GREY)


def _place(pen: Pen, middle: Point, printed: CellPrint | None) -> None:
    if printed is None:
        pen.write((middle[0], middle[1] - 1.2), msg("no tile here"), 3.4, GREY, "middle")
        return
    light, dark = TINTS[printed.colour]
    pen.disc(middle, DISC_MM, light)
    lower_mm, size_mm = (1.0, 7.0) if len(printed.figure) > 1 else (2.0, 11.0)
    figure, word = as_message(printed.figure), as_message(printed.word)
    at, most_mm = (middle[0], middle[1] - lower_mm), 2 * DISC_MM - 4.0
    pen.write(at, figure, size_mm, dark, "middle", bold=True, most_mm=most_mm)
    pen.write((middle[0], middle[1] - 8.5), word, 3.4, dark, "middle", most_mm=most_mm)


def _ground(pen: Pen, board: Open) -> None:
    """Draw an outline with a tick every 100 mm."""
    outline = board.outline()
    width, depth = outline.max(axis=0).tolist()
    pen.line(outline, 0.8, DARK, closed=True)
    for at in range(100, int(width), 100):
        for y, way in ((0.0, 1), (depth, -1)):
            pen.line([(at, y), (at, y + 4 * way)], 0.4, DARK)
    for at in range(100, int(depth), 100):
        for x, way in ((0.0, 1), (width, -1)):
            pen.line([(x, at), (x + 4 * way, at)], 0.4, DARK)
    pen.write((width / 8, -3.2), msg("near side"), 2.8, GREY, "middle")
