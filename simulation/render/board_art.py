"""Printed boards, tiles and counters in random styles.

Colours, lines, fills, arrows and emblems are determined by a seed.
"""

from __future__ import annotations

import colorsys
import math
from collections.abc import Sequence

import numpy as np

from simulation.render.scene import ALBEDO, Print, Rgb, Slab
from simulation.render.textures import Sheet
from table.boards import Coasters, Hex, Tiles
from table.solids import Array

TEXEL_MM = 0.2
SHEET_MARGIN_MM = 12.0
"""Largest distance of a printed sheet's edge beyond the board's outline."""
SUITS = {"S": "red", "M": "black", "C": "yellow", "A": "blue"}
"""Suits of the piecepack, suns, moons, crowns and arms, with their colours."""

COUNTER_POINTS = 24


def hex_board(board: Hex, low_mm: float, rng: np.random.Generator) -> list[Slab]:
    """The sheet with all cells drawn on it."""
    margin = float(rng.uniform(3, SHEET_MARGIN_MM))
    outline, origin = board.outline(), np.asarray(board.origin_mm)
    half = np.abs(outline - origin).max(axis=0) + margin
    hexagonal = rng.random() < 0.25
    edge = (
        origin + (outline - origin) * (1 + margin / half[0])
        if hexagonal
        else origin + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    )
    ground = _paint(rng)
    sheet = Sheet(float(2 * half[0]), float(2 * half[1]), ground, TEXEL_MM)
    fills = [
        _vary_shade(ground, rng) if rng.random() < 0.75 else ground
        for _ in range(1 if rng.random() < 0.65 else 3)
    ]
    line, width = _contrasting_ink(fills[0], rng), float(rng.uniform(0.4, 2.6))
    apart = float(rng.choice([0.0, rng.uniform(0.5, 4.0)]))
    turn = math.radians(30 if board.orientation == "pointy" else 0)
    corners = np.array(
        [[math.cos(turn + k * math.pi / 3), math.sin(turn + k * math.pi / 3)] for k in range(6)]
    )
    for (q, r), middle in board.middles().items():
        cell = middle - origin + (board.cell_mm - apart) / math.sqrt(3) * corners
        sheet.fill(cell, fills[(q - r) % len(fills)])
        sheet.line(cell, width, line, closed=True)
    if rng.random() < 0.3:
        dot = float(rng.uniform(0.6, 4.0))
        for middle in board.middles().values():
            place = middle - origin
            sheet.disc((float(place[0]), float(place[1])), dot, line)
    return [
        Slab(
            edge,
            low_mm,
            0.0,
            ground,
            sheet.print((float(origin[0]), float(origin[1]))),
            float(rng.choice([0.0, 0.03, 0.08])),
        )
    ]


def coasters_board(board: Coasters, low_mm: float, rng: np.random.Generator) -> list[Slab]:
    """The four coasters.

    Each has nine spaces with arrows, a bull's-eye in the middle and a dotted corner.
    """
    style = _CoasterStyle(board, rng)
    slabs = []
    for index in range(4):
        row, column = divmod(index, 2)
        middle = (
            np.asarray(board.origin_mm)
            + board.coaster_mm / 2
            + np.array([column, 1 - row]) * (board.coaster_mm + board.gap_mm)
        )
        colour = (
            board.layout[row][column] if board.layout else ("yellow", "red", "green", "blue")[index]
        )
        turn = float(rng.normal(0, 0.15))
        place = float(middle[0]), float(middle[1])
        printed = style.coaster(colour, (1 - 2 * column, 2 * row - 1)).print(place, turn)
        slabs.append(
            Slab(
                middle + _turned(_square(board.coaster_mm / 2), turn),
                low_mm,
                0.0,
                style.ground,
                printed,
                style.gloss,
            )
        )
    return slabs


class _CoasterStyle:
    """Print style of one edition of the coasters."""

    def __init__(self, board: Coasters, rng: np.random.Generator) -> None:
        self.rng, self.board = rng, board
        light = rng.random() < 0.75
        self.ground = _greyish_colour(rng, 0.6, 0.85) if light else _greyish_colour(rng, 0.02, 0.12)
        self.ink = _greyish_colour(rng, 0.01, 0.06) if light else _greyish_colour(rng, 0.5, 0.8)
        self.pitch_mm = float(rng.uniform(0.91, 1.0)) * board.cell_mm
        self.space_mm = float(rng.uniform(0.68, 0.92)) * self.pitch_mm
        self.line_mm = float(rng.uniform(0.3, 1.3))
        self.filled = bool(rng.random() < 0.75)
        self.arrow_mm = float(rng.uniform(2.5, 6.5))
        self.arrow_out = float(rng.uniform(-0.5, 0.6))
        self.rings, self.round_rings = int(rng.integers(1, 4)), bool(rng.random() < 0.4)
        self.gloss = float(rng.choice([0.0, 0.04, 0.1]))

    def coaster(self, colour: str, dotted: tuple[int, int]) -> Sheet:
        """One coaster of a colour; `dotted` (x, y), -1 or 1 each, is the corner with the dot."""
        sheet = Sheet(self.board.coaster_mm, self.board.coaster_mm, self.ground, TEXEL_MM)
        tone, arrow = (
            _shade_of(colour, self.rng),
            _contrasting_ink(_shade_of(colour, self.rng), self.rng),
        )
        for column in (-1, 0, 1):
            for row in (-1, 0, 1):
                middle = self.pitch_mm * np.array([column, row])
                square = middle + _square(self.space_mm / 2)
                if self.filled:
                    sheet.fill(square, tone)
                sheet.line(square, self.line_mm, self.ink if self.filled else tone, closed=True)
                self._arrows(sheet, middle, arrow)
        for ring in range(self.rings):
            reach = self.space_mm * (0.36 - 0.11 * ring)
            turns = (
                np.linspace(0, 2 * np.pi, 40 if self.round_rings else 4, endpoint=False) + np.pi / 4
            )
            shape = (
                reach
                * (1.0 if self.round_rings else math.sqrt(2))
                * np.column_stack([np.cos(turns), np.sin(turns)])
            )
            sheet.line(shape, max(0.5, self.line_mm), arrow, closed=True)
        corner = 0.5 * self.board.coaster_mm - 2.6
        sheet.disc((corner * dotted[0], corner * dotted[1]), 1.3, tone if self.filled else self.ink)
        return sheet

    def _arrows(self, sheet: Sheet, middle: Array, rgb: Rgb) -> None:
        """Arrows on some sides of a space, at least one."""
        sides = self.rng.random(4) < 0.7
        sides[int(self.rng.integers(4))] = True
        for side in np.flatnonzero(sides):
            ahead = np.array([math.cos(side * math.pi / 2), math.sin(side * math.pi / 2)])
            along = np.array([-ahead[1], ahead[0]])
            foot = (
                middle
                + (self.space_mm / 2 + self.arrow_out * self.arrow_mm - 0.4 * self.arrow_mm) * ahead
            )
            shape = np.array(
                [
                    foot + 0.5 * self.arrow_mm * along,
                    foot - 0.5 * self.arrow_mm * along,
                    foot + 0.8 * self.arrow_mm * ahead,
                ]
            )
            sheet.fill(shape, rgb)
            if self.line_mm > 0.5:
                sheet.line(shape, 0.35, self.ink, closed=True)


class TileStyle:
    """Style of one piecepack edition's tiles: card or wood, colour, places of value and suit."""

    def __init__(self, board: Tiles, suits: dict[str, str], rng: np.random.Generator) -> None:
        self.rng, self.board, self.suits = rng, board, suits
        self.ground = _greyish_colour(rng, 0.55, 0.85) if rng.random() < 0.5 else _warm_colour(rng)
        self.side = _scale_rgb(self.ground, float(rng.uniform(0.25, 0.9)))
        self.height_mm, self.pen_mm = float(rng.uniform(10, 28)), float(rng.uniform(1.6, 7.0))
        self.slant = float(rng.choice([0.0, 0.0, rng.uniform(0.05, 0.25)]))
        self.value_mm = (
            (0.0, 0.0)
            if rng.random() < 0.6
            else (float(rng.uniform(-10, 10)), float(rng.uniform(-10, 10)))
        )
        self.emblem_mm = float(rng.uniform(3.0, 10.0))
        self.dots = bool(rng.random() < 0.5)
        self.frame_mm = float(rng.choice([0.0, rng.uniform(0.4, 1.6)]))
        self.cross = bool(rng.random() < 0.25)
        self.gloss = float(rng.choice([0.0, 0.04, 0.1]))

    def tile(self, name: str, middle: Array, turn_deg: float, low_mm: float) -> Slab:
        """The tile of a name such as S2, at a place (2,) on the table, turned."""
        sheet = Sheet(self.board.tile_mm, self.board.tile_mm, self.ground, TEXEL_MM)
        rgb, half = _shade_of(self.suits[name[0]], self.rng), self.board.tile_mm / 2
        if self.cross:
            sheet.line([(-half, 0.0), (half, 0.0)], 0.4, _scale_rgb(self.ground, 0.5))
            sheet.line([(0.0, -half), (0.0, half)], 0.4, _scale_rgb(self.ground, 0.5))
        if self.frame_mm:
            sheet.line(
                _square(half - 1.5),
                self.frame_mm,
                rgb if self.dots else _scale_rgb(self.ground, 0.3),
                closed=True,
            )
        sheet.glyph(name[1], self.value_mm, self.height_mm, self.pen_mm, rgb, self.slant)
        corner = half - self.emblem_mm / 2 - 2.5
        if self.dots:
            sheet.disc((-corner, corner), self.emblem_mm / 2, rgb)
        else:
            self._emblem(sheet, name[0], np.array([-corner, corner]), rgb)
        place = float(middle[0]), float(middle[1])
        return Slab(
            middle + _turned(_square(half), turn_deg),
            low_mm,
            0.0,
            self.side,
            sheet.print(place, turn_deg),
            self.gloss,
        )

    def _emblem(self, sheet: Sheet, suit: str, middle: Array, rgb: Rgb) -> None:
        """A sun, a moon, a crown or a coat of arms."""
        r, at = self.emblem_mm / 2, (float(middle[0]), float(middle[1]))
        match suit:
            case "S":
                sheet.disc(at, 0.5 * r, rgb)
                for turn in np.arange(8) * np.pi / 4:
                    ray = np.array([math.cos(turn), math.sin(turn)])
                    sheet.line(np.array([middle + 0.6 * r * ray, middle + r * ray]), 0.5, rgb)
            case "M":
                sheet.disc(at, r, rgb)
                sheet.disc((at[0] + 0.45 * r, at[1] + 0.15 * r), 0.8 * r, self.ground)
            case "C":
                for point in (-1.0, 0.0, 1.0):
                    sheet.fill(
                        middle + r * np.array([(-1.0, -0.8), (1.0, -0.8), (point, 0.8)]), rgb
                    )
            case _:
                sheet.fill(
                    middle
                    + r * np.array([(0, -1), (0.8, -0.2), (0.8, 1), (-0.8, 1), (-0.8, -0.2)]),
                    rgb,
                )


def counter(
    middle: Array,
    diameter_mm: float,
    thickness_mm: float,
    rgb: Rgb,
    face: Print | None = None,
    gloss: float = 0.0,
    z_mm: float = 0.0,
) -> Slab:
    """A round counter that lies at a place (2,) on the plane z."""
    turns = np.linspace(0, 2 * np.pi, COUNTER_POINTS, endpoint=False)
    even = (
        diameter_mm
        / 2
        * math.sqrt(2 * math.pi / COUNTER_POINTS / math.sin(2 * math.pi / COUNTER_POINTS))
    )
    return Slab(
        middle + even * np.column_stack([np.cos(turns), np.sin(turns)]),
        z_mm,
        z_mm + thickness_mm,
        rgb,
        face,
        gloss,
    )


def ringed_counter(diameter_mm: float, rgb: Rgb, rng: np.random.Generator) -> Sheet:
    """The face of a counter with rings pressed or printed into it."""
    sheet = Sheet(diameter_mm + 2, diameter_mm + 2, rgb, TEXEL_MM)
    turns = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    for share in rng.uniform(0.3, 0.9, int(rng.integers(1, 3))):
        ring = share * diameter_mm / 2 * np.column_stack([np.cos(turns), np.sin(turns)])
        sheet.line(
            ring,
            float(rng.uniform(0.3, 1.2)),
            _scale_rgb(rgb, float(rng.uniform(0.4, 0.9))),
            closed=True,
        )
    return sheet


def _square(half: float) -> Array:
    return half * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def _turned(points: Array, degrees: float) -> Array:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    turned: Array = points @ np.array([[c, s], [-s, c]])
    return turned


def _rgb(values: Sequence[float] | Array) -> Rgb:
    r, g, b = (float(min(max(value, 0.01), 0.9)) for value in values)
    return r, g, b


def _scale_rgb(rgb: Rgb, factor: float) -> Rgb:
    return _rgb([factor * value for value in rgb])


def _paint(rng: np.random.Generator) -> Rgb:
    """Any colour that a board may have: half of them pale or dark greys, half of them coloured."""
    if rng.random() < 0.45:
        return _greyish_colour(rng, 0.015, 0.8)
    hue, saturation = float(rng.random()), float(rng.uniform(0.2, 0.85))
    return _rgb(
        colorsys.hsv_to_rgb(
            hue, saturation, float(np.exp(rng.uniform(math.log(0.05), math.log(0.7))))
        )
    )


def _greyish_colour(rng: np.random.Generator, low: float, high: float) -> Rgb:
    level = float(np.exp(rng.uniform(math.log(low), math.log(high))))
    return _rgb(level * rng.uniform(0.92, 1.0, 3))


def _warm_colour(rng: np.random.Generator) -> Rgb:
    """A colour of wood or card."""
    level = float(rng.uniform(0.2, 0.75))
    return _rgb(
        [level, level * float(rng.uniform(0.66, 0.92)), level * float(rng.uniform(0.3, 0.72))]
    )


def _vary_shade(rgb: Rgb, rng: np.random.Generator) -> Rgb:
    """The same hue, lighter or darker."""
    return _scale_rgb(rgb, float(np.exp(rng.uniform(-0.9, 0.9))))


def _contrasting_ink(rgb: Rgb, rng: np.random.Generator) -> Rgb:
    """An ink that contrasts with the colour below."""
    level = sum(rgb) / 3
    if rng.random() < 0.3:
        hue = float(rng.random())
        return _rgb(colorsys.hsv_to_rgb(hue, 0.75, 0.08 if level > 0.25 else 0.75))
    return _greyish_colour(rng, 0.01, 0.06) if level > 0.18 else _greyish_colour(rng, 0.35, 0.85)


def _shade_of(colour: str, rng: np.random.Generator) -> Rgb:
    """Printing ink of a colour's name."""
    tint = rng.uniform(0.8, 1.2, 3)
    return _rgb(np.array(ALBEDO[colour]) * tint + rng.uniform(0, 0.05))
