"""Boards of the five games to print, each with its four fiducials, where `table.boards` says its
lines are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping

import numpy as np

from calibration.sheets.canvas import GREY, INK, Pen, Rgb, rectangle
from calibration.sheets.sheet import DICTIONARY, MARKER_MM, QUIET_MM, Sheet, corner_markers
from simulation.render.board_art import SUITS, TILES_AT_START
from table.boards import Board, Chessboard, Coasters, Hex, Open, Point, Tiles

Arrows = Mapping[tuple[int, int], Collection[str]]
"""By file and row of a space, both from 0 at the near left: the ways (N, E, S, W) in which a piece
may leave it.
"""

BESIDE_MM = MARKER_MM + 2 * QUIET_MM
"""What the fiducials take to the left and right of a board."""
BORDER_MM = 4.0
TILE_THICK_MM = 6.35
GROUND_MM: Point = (440.0, 360.0)

DARK: Rgb = (0.27, 0.31, 0.36)
ICE: Rgb = (0.93, 0.96, 0.98)
TINTS: dict[str, tuple[Rgb, Rgb]] = {
    "yellow": ((0.99, 0.94, 0.72), (0.72, 0.55, 0.02)),
    "red": ((0.98, 0.84, 0.82), (0.72, 0.13, 0.12)),
    "green": ((0.84, 0.94, 0.84), (0.10, 0.45, 0.20)),
    "blue": ((0.83, 0.89, 0.97), (0.12, 0.28, 0.62)),
    "black": ((0.90, 0.90, 0.91), (0.15, 0.15, 0.17)),
}
"""Light and dark ink of a colour's name."""
SUIT_NAMES = {"S": "suns", "M": "moons", "C": "crowns", "A": "arms"}
STEPS = {"N": (0.0, 1.0), "E": (1.0, 0.0), "S": (0.0, -1.0), "W": (-1.0, 0.0)}


def chessboard(square_mm: float = 45.0) -> Sheet:
    """Ice Storm's board, 8 x 8; a1, the dark corner at the near left, is at the origin."""
    board = Chessboard(square_mm=square_mm)

    def draw(pen: Pen) -> None:
        cells = [
            (file, rank)
            for file in range(board.files)
            for rank in range(board.ranks)
            if (file + rank) % 2 == 0
        ]
        pen.fill_all(
            [
                rectangle(
                    (f * square_mm, r * square_mm), ((f + 1) * square_mm, (r + 1) * square_mm)
                )
                for f, r in cells
            ],
            DARK,
        )
        pen.line(board.outline(), 0.3, DARK, closed=True)
        for file in range(board.files):
            pen.write(((file + 0.5) * square_mm, -3.0), "abcdefgh"[file], 2.8, GREY, "middle")
        for rank in range(board.ranks):
            pen.write((-1.0, (rank + 0.5) * square_mm - 1), str(rank + 1), 2.8, GREY, "right")

    purpose = (
        "Ice Storm is thrown on this board. Its squares should be a little longer than a lying"
        " piece."
    )
    return _sheet(
        ("chessboard", "Ice Storm: chessboard", purpose, f"8 x 8 squares of {square_mm:g} mm"),
        board,
        draw,
        _beside(board),
    )


def hexes(cell_mm: float = 28.0) -> Sheet:
    """Icebreaker's board, five cells a side; the middle of the centre cell is the origin."""
    board = Hex(size=5, cell_mm=cell_mm)
    turns = np.radians(30 + 60 * np.arange(6))
    corners = cell_mm / math.sqrt(3) * np.column_stack([np.cos(turns), np.sin(turns)])

    def draw(pen: Pen) -> None:
        middles = board.middles()
        pen.fill_all([middle + corners for middle in middles.values()], ICE)
        for (q, r), (x, y) in middles.items():
            pen.line(corners + np.array([x, y]), 0.4, DARK, closed=True)
            pen.write((x, y - 0.42 * cell_mm), hex_label(q, r, board.size), 2.6, GREY, "middle")

    # The corners of the sheet are outside the hexagon, so that the fiducials need no room of their
    # own beside it.
    half = board.outline().max(axis=0) + np.array([9.5, 3.0])
    low, high = (-float(half[0]), -float(half[1])), (float(half[0]), float(half[1]))
    purpose = (
        "Icebreaker is played on this board: ships start on the corners in turn, an iceberg on"
        " every other cell."
    )
    return _sheet(
        (
            "hex",
            "Icebreaker: 61 cells",
            purpose,
            f"cells of {cell_mm:g} mm from flat to flat, five a side",
        ),
        board,
        draw,
        (low, high),
    )


def hex_label(q: int, r: int, size: int) -> str:
    """What players call a cell of `Hex.middles`: `A1` is the near left corner, rows are numbered
    from the near side.
    """
    return f"{chr(ord('A') + q + r + size - 1)}{r + size}"


def coasters(arrows: Arrows, layout: tuple[tuple[str, ...], ...]) -> Sheet:
    """Zamboni Wars' four coasters in one, drawn anew: their arrows are facts, their looks are our
    own.
    """
    board = Coasters(cell_mm=2 * 101.6 / 6, layout=layout)
    cell, side = board.cell_mm, board.coaster_mm

    def draw(pen: Pen) -> None:
        for row, names in enumerate(layout):
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
        for (file, rank), ways in arrows.items():
            _space(pen, board, (file, rank), ways)
        pen.line([(side, 0), (side, 2 * side)], 0.3, INK)
        pen.line([(0, side), (2 * side, side)], 0.3, INK)
        pen.line(board.outline(), 0.3, INK, closed=True)

    purpose = (
        "Zamboni Wars is driven on this board: a space may be left only where an arrow leads out"
        " of it."
    )
    sizes = f"four coasters of {side:g} mm, spaces {cell:.2f} mm apart"
    return _sheet(
        ("coasters", "Zamboni Wars: four coasters", purpose, sizes), board, draw, _beside(board)
    )


def _space(pen: Pen, board: Coasters, place: tuple[int, int], ways: Collection[str]) -> None:
    """One space: its frame, and an arrowhead on each side by which it may be left."""
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


def tiles(cell_mm: float = 51.0) -> Sheet:
    """IceFloe's 25 places, for tiles of a piecepack to be laid on."""
    board = Tiles(cell_mm=cell_mm)

    def draw(pen: Pen) -> None:
        pen.fill(board.outline(), ICE)
        for row, names in enumerate(TILES_AT_START):
            for column, name in enumerate(names):
                low = column * cell_mm, (4 - row) * cell_mm
                edge = (cell_mm - board.tile_mm) / 2
                pen.line(
                    rectangle(
                        (low[0] + edge, low[1] + edge),
                        (low[0] + cell_mm - edge, low[1] + cell_mm - edge),
                    ),
                    0.3,
                    GREY,
                    closed=True,
                )
                middle = low[0] + cell_mm / 2, low[1] + cell_mm / 2
                _tile(pen, middle, name)
                pen.write((low[0] + 2.2, low[1] + 2.2), f"{'abcde'[column]}{5 - row}", 2.6, GREY)

    purpose = (
        "IceFloe is played on these places: lay a piecepack's tiles as named here, none in the"
        " middle."
    )
    sizes = (
        f"5 x 5 places {cell_mm:g} mm apart, for tiles of {board.tile_mm:g} x {board.tile_mm:g} x"
        f" {TILE_THICK_MM:g} mm"
    )
    return _sheet(
        ("tiles", "IceFloe: places for 24 tiles", purpose, sizes),
        board,
        draw,
        _beside(board, 2.5),
        z_mm=-TILE_THICK_MM,
    )


def _tile(pen: Pen, middle: Point, name: str) -> None:
    if not name:
        pen.write((middle[0], middle[1] - 1.2), "no tile here", 3.4, GREY, "middle")
        return
    light, dark = TINTS[SUITS[name[0]]]
    value = {"n": "null", "a": "ace"}.get(name[1], name[1])
    pen.disc(middle, 14.0, light)
    pen.write(
        (middle[0], middle[1] - (1.0 if len(value) > 1 else 2.0)),
        value,
        7.0 if len(value) > 1 else 11.0,
        dark,
        "middle",
        bold=True,
    )
    pen.write((middle[0], middle[1] - 8.5), SUIT_NAMES[name[0]], 3.4, dark, "middle")


def mat() -> Sheet:
    """Open ground for Ice Boule, with a tick every 100 mm."""
    width, depth = GROUND_MM
    board = Open(outline_mm=((0.0, 0.0), (width, 0.0), (width, depth), (0.0, depth)))

    def draw(pen: Pen) -> None:
        pen.line(board.outline(), 0.8, DARK, closed=True)
        for at in range(100, int(width), 100):
            for y, way in ((0.0, 1), (depth, -1)):
                pen.line([(at, y), (at, y + 4 * way)], 0.4, DARK)
        for at in range(100, int(depth), 100):
            for x, way in ((0.0, 1), (width, -1)):
                pen.line([(x, at), (x + 4 * way, at)], 0.4, DARK)
        pen.write((width / 8, -3.2), "near side", 2.8, GREY, "middle")

    purpose = "Ice Boule is thrown on this ground; what leaves the outline is out."
    return _sheet(
        ("mat", "Ice Boule: open ground", purpose, f"play area {width:g} x {depth:g} mm"),
        board,
        draw,
        _beside(board),
    )


def _beside(board: Board, border_mm: float = BORDER_MM) -> tuple[Point, Point]:
    """Corners of the sheet of a board whose fiducials are to its left and right."""
    outline = board.outline()
    (x0, y0), (x1, y1) = outline.min(axis=0).tolist(), outline.max(axis=0).tolist()
    return (x0 - BESIDE_MM, y0 - border_mm), (x1 + BESIDE_MM, y1 + border_mm)


def _sheet(
    words: tuple[str, str, str, str],
    board: Board,
    draw: Callable[[Pen], None],
    corners: tuple[Point, Point],
    z_mm: float = 0.0,
) -> Sheet:
    """`words`: name, title, purpose and the board's sizes."""
    name, title, purpose, sizes = words
    sizes = f"{sizes[0].upper()}{sizes[1:]}; fiducials 0 to 3 of {MARKER_MM:g} mm ({DICTIONARY})"
    return Sheet(name, title, purpose, sizes, *corners, draw, corner_markers(*corners), board, z_mm)
