"""Sheets for any table: the ChArUco target, corner cards and the colour card."""

from __future__ import annotations

import math

import cv2
import numpy as np

from calibration.sheets.canvas import (
    BLACK,
    GREY,
    INK,
    PALE,
    Pen,
    Rgb,
    rectangle,
    two_lines,
    words_mm,
)
from calibration.sheets.layout import Paper, area_mm
from calibration.sheets.sheet import Sheet
from table.boards import Point
from table.messages import as_message, msg, sentences
from table.pieces import COLOURS
from table.printed_boards import DICTIONARY, square_marker
from table.table_config import Marker
from vision.assignment.colour import PALETTE

TARGET_COLUMNS, TARGET_ROWS = 9, 13
TARGET_DICTIONARY = "DICT_5X5_100"
"""Differs from the table's, so that markers of the target are not taken for fiducials."""
TARGET_MARKER_SHARE = 0.75
"""Side of the target's markers, in squares."""
CARD_MARKER_MM = 60.0
CARD_MM: Point = (84.0, 100.0)
"""Width and depth of a corner card."""
PATCH_MM, PATCH_GAP_MM = 38.0, 6.0
CARD_CORNER_MM = 24.0
"""Side of the colour card's markers."""


def target_board(square_mm: float) -> cv2.aruco.CharucoBoard:
    """The ChArUco target as an OpenCV board.

    Odd by odd squares, because there OpenCV's old and new layouts are the same.
    """
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, TARGET_DICTIONARY))
    return cv2.aruco.CharucoBoard(
        (TARGET_COLUMNS, TARGET_ROWS), square_mm, TARGET_MARKER_SHARE * square_mm, dictionary
    )


def target_square_mm(paper: Paper) -> float:
    """Side of the target's squares on a paper: the largest that fits, in steps of 0.5 mm."""
    width, depth = area_mm(paper)
    return math.floor(2 * min(width / TARGET_COLUMNS, depth / TARGET_ROWS)) / 2


def charuco(paper: Paper) -> Sheet:
    """The calibration target for the lens.

    It differs between papers only in size, which does not matter for a lens.
    """
    square = target_square_mm(paper)
    board = target_board(square)
    width, depth = TARGET_COLUMNS * square, TARGET_ROWS * square
    corners = np.asarray(board.getObjPoints(), float).reshape(-1, 4, 3)[:, :, :2] * (1, -1) + (
        0,
        depth,
    )
    points = [[(float(x), float(y)) for x, y in quad] for quad in corners]
    markers = [
        Marker(id=int(i), corners_mm=(a, b, c, d))
        for i, (a, b, c, d) in zip(np.asarray(board.getIds()).reshape(-1), points, strict=True)
    ]

    def draw(pen: Pen) -> None:
        dark = [
            (column, row)
            for column in range(TARGET_COLUMNS)
            for row in range(TARGET_ROWS)
            if (column + row) % 2 == 0
        ]
        squares = [
            rectangle(
                (c * square, depth - (r + 1) * square), ((c + 1) * square, depth - r * square)
            )
            for c, r in dark
        ]
        pen.fill_all(squares, BLACK)

    marker_mm = TARGET_MARKER_SHARE * square
    sizes = msg(
        "{n} x {n2} squares of {mm} mm, markers of {mm2} mm ({raw})",
        n=TARGET_COLUMNS,
        n2=TARGET_ROWS,
        mm=f"{square:g}",
        mm2=f"{marker_mm:g}",
        raw=TARGET_DICTIONARY,
    )
    purpose = sentences(
        msg("Take photos of it from 15 or more sides to calibrate a lens."),
        msg("Keep it flat: glue it to a board or lay it on glass."),
    )
    return Sheet(
        "charuco",
        msg("ChArUco target for the lens"),
        purpose,
        sizes,
        (0.0, 0.0),
        (width, depth),
        draw,
        tuple(markers),
        None,
        0.0,
        TARGET_DICTIONARY,
    )


def fiducials(paper: Paper) -> Sheet:  # noqa: ARG001 - the same four on every paper
    """Four corner cards, to be cut out and laid around a table of any kind."""
    width, depth = CARD_MM
    lows = [(column * width, row * depth) for row in (1, 0) for column in (0, 1)]
    order = (0, 1, 3, 2)
    markers = [
        square_marker(number, x + (width - CARD_MARKER_MM) / 2, y + depth - 12.0, CARD_MARKER_MM)
        for number, (x, y) in zip(order, lows, strict=True)
    ]

    def draw(pen: Pen) -> None:
        for number, (x, y) in zip(order, lows, strict=True):
            _card(pen, number, (x, y))
        for at in (0.0, width, 2 * width):
            for y, way in ((0.0, -1), (2 * depth, 1)):
                pen.line([(at, y + way), (at, y + 4 * way)], 0.2, INK)
        for at in (0.0, depth, 2 * depth):
            for x, way in ((0.0, -1), (2 * width, 1)):
                pen.line([(x + way, at), (x + 4 * way, at)], 0.2, INK)

    sizes = msg(
        "Markers 0 to 3 of {mm} mm ({raw}) on cards of {mm2} x {mm3} mm",
        mm=f"{CARD_MARKER_MM:g}",
        raw=DICTIONARY,
        mm2=f"{width:g}",
        mm3=f"{depth:g}",
    )
    purpose = sentences(
        msg("Cut out, and lay one at each corner of the table, arrow away from the players."),
        msg("The camera must see all four."),
    )
    return Sheet(
        "fiducials",
        msg("Corner cards"),
        purpose,
        sizes,
        (-4.0, -4.0),
        (2 * width + 4, 2 * depth + 4),
        draw,
        tuple(markers),
    )


def _card(pen: Pen, number: int, low: Point) -> None:
    """Draw a card's cutting line, arrow and text, clear of the marker's white margin."""
    (x, y), (width, depth) = low, CARD_MM
    pen.line(rectangle((x, y), (x + width, y + depth)), 0.15, PALE, closed=True)
    middle, base = x + width / 2, y + 6.0
    pen.write((x + 12, base + 3.0), f"{number}", 9.0, INK, bold=True)
    away = two_lines(pen.translate(msg("away from the players")))
    room_mm = (middle + 12 - max(words_mm(line, 2.6) for line in away)) - (x + 19)
    corners = msg("far left"), msg("far right"), msg("near right"), msg("near left")
    widest_mm = max(words_mm(pen.translate(corner), 3.6) for corner in corners)
    pen.write((x + 19, base + 5.6), corners[number], min(1.0, room_mm / widest_mm) * 3.6, INK)
    pen.write((x + 19, base + 1.6), f"{CARD_MARKER_MM:g} mm", 3.0, GREY)
    arrow = middle + 20, base
    pen.fill(
        [(arrow[0] - 4, arrow[1] + 6), (arrow[0] + 4, arrow[1] + 6), (arrow[0], arrow[1] + 12)], INK
    )
    pen.fill(rectangle((arrow[0] - 1.3, arrow[1]), (arrow[0] + 1.3, arrow[1] + 6.5)), INK)
    for line, up in zip(away, (5.6, 2.4), strict=True):
        pen.write((arrow[0] - 6, base + up), line, 2.6, GREY, "right")


def colours(paper: Paper) -> Sheet:  # noqa: ARG001 - the same on every paper
    """A patch of every colour in which pieces are sold, between four markers that locate them."""
    columns, rows, step = 4, 3, PATCH_MM + PATCH_GAP_MM
    width, depth = columns * step - PATCH_GAP_MM, rows * (step + 4.0) - PATCH_GAP_MM
    band = CARD_CORNER_MM + 10.0
    far = depth + 2 * band
    lefts = (4.0, width - 4.0 - CARD_CORNER_MM)
    between_mm = lefts[1] - lefts[0] - CARD_CORNER_MM - 8.0
    tops = (far - 4.0, 4.0 + CARD_CORNER_MM)
    places = ((lefts[0], tops[0]), (lefts[1], tops[0]), (lefts[1], tops[1]), (lefts[0], tops[1]))
    markers = tuple(
        square_marker(number, x, y, CARD_CORNER_MM) for number, (x, y) in enumerate(places)
    )

    def draw(pen: Pen) -> None:
        for index, name in enumerate(COLOURS):
            row, column = divmod(index, columns)
            low = column * step, band + (rows - 1 - row) * (step + 4.0) + 4.0
            high = low[0] + PATCH_MM, low[1] + PATCH_MM - 2.0
            pen.rounded(low, high, 2.0, patch_rgb(name))
            label = as_message(name)
            pen.write((low[0] + PATCH_MM / 2, low[1] - 3.8), label, 3.4, INK, "middle")
        for step_at in range(5):
            level = step_at / 4
            low = width / 2 - 25 + 10 * step_at, far - 4.0 - 16.0
            pen.fill(rectangle(low, (low[0] + 10, low[1] + 10)), (level, level, level))
        pen.line(
            rectangle((width / 2 - 25, far - 20), (width / 2 + 25, far - 10)),
            0.15,
            PALE,
            closed=True,
        )
        below = msg("Lay a piece on the patch of its name.")
        pen.write((width / 2, 14.0), below, 3.4, GREY, "middle", most_mm=between_mm)

    sizes = msg(
        "Patches of {mm} x {mm2} mm, markers 0 to 3 of {mm3} mm ({raw})",
        mm=f"{PATCH_MM:g}",
        mm2=f"{PATCH_MM - 2:g}",
        mm3=f"{CARD_CORNER_MM:g}",
        raw=DICTIONARY,
    )
    purpose = sentences(
        msg("Shows how a camera and this light see each colour's name."),
        msg("Inks are not plastic: pieces on the table decide."),
    )
    title = msg("Colour card")
    return Sheet("colours", title, purpose, sizes, (0.0, 0.0), (width, far), draw, markers)


def patch_rgb(colour: str) -> Rgb:
    """Ink of a colour's patch: its linear body colour (`vision.assignment.colour`) as sRGB."""
    light = np.array(PALETTE[colour])
    r, g, b = np.where(
        light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055
    ).tolist()
    return r, g, b
