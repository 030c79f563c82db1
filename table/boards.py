"""Boards that games are played on: open ground, chessboard, hex cells, coasters, tiles.

All lengths in mm, table frame.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal, get_args

import msgspec
import numpy as np

from table.messages import Message, phrase
from table.solids import Array

Coordinate = Annotated[float, msgspec.Meta(ge=-100_000, le=100_000)]
Point = tuple[Coordinate, Coordinate]
MOST_CORNERS = 1000
"""Most corners of an outline."""
Orientation = Literal["pointy", "flat"]
Length = Annotated[float, msgspec.Meta(gt=0, le=5000)]
Count = Annotated[int, msgspec.Meta(ge=1, le=100)]


class Open(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="kind",
    tag="open",
):
    """Open ground inside an outline."""

    outline_mm: Annotated[tuple[Point, ...], msgspec.Meta(min_length=3, max_length=MOST_CORNERS)]

    def outline(self) -> Array:
        """Outline of the play area, (n, 2)."""
        return np.array(self.outline_mm, float)


class Chessboard(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="kind",
    tag="chessboard",
):
    """Square cells; a1 at the origin corner is dark, as on every chessboard."""

    square_mm: Annotated[float, msgspec.Meta(ge=5, le=200)]
    files: Annotated[int, msgspec.Meta(ge=1, le=26)] = 8
    ranks: Annotated[int, msgspec.Meta(ge=1, le=99)] = 8
    origin_mm: Point = (0.0, 0.0)

    def outline(self) -> Array:
        """Outline of the squares, (4, 2); the frame around them is off the board."""
        return _rectangle(self.origin_mm, self.files * self.square_mm, self.ranks * self.square_mm)


class Hex(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="kind",
    tag="hex",
):
    """A hexagon of hexagons, `size` cells a side, `cell_mm` flat to flat.

    The origin is the middle of the centre cell.
    """

    size: Annotated[int, msgspec.Meta(ge=2, le=12)]
    cell_mm: Length
    orientation: Orientation = "pointy"
    origin_mm: Point = (0.0, 0.0)

    def outline(self) -> Array:
        """A hexagon around all cells, (6, 2)."""
        radius = self.cell_mm * (self.size - 0.5) * 2 / math.sqrt(3)
        turns = np.radians(60 * np.arange(6) + (0 if self.orientation == "pointy" else 30))
        return np.asarray(self.origin_mm) + radius * np.column_stack([np.cos(turns), np.sin(turns)])

    def middles(self) -> dict[tuple[int, int], Array]:
        """Middles (2,) of the cells by (q, r).

        q counts to the right, r up and to the right (pointy) or up (flat).
        """
        c, s, reach = 0.5, math.sqrt(3) / 2, self.size - 1
        right, up = (
            (np.array([1.0, 0.0]), np.array([c, s]))
            if self.orientation == "pointy"
            else (np.array([s, c]), np.array([0.0, 1.0]))
        )
        cells = [
            (q, r)
            for r in range(-reach, reach + 1)
            for q in range(-reach, reach + 1)
            if abs(q + r) <= reach
        ]
        return {
            (q, r): np.asarray(self.origin_mm) + self.cell_mm * (q * right + r * up)
            for q, r in cells
        }


class Coasters(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="kind",
    tag="coasters",
):
    """Four Martian Coasters, `layout` rows from the far side."""

    rows: Count = 6
    cols: Count = 6
    cell_mm: Length
    coaster_mm: Length = 101.6
    gap_mm: Annotated[float, msgspec.Meta(ge=0, le=100)] = 0.0
    layout: Annotated[tuple[tuple[str, ...], ...], msgspec.Meta(max_length=100)] = ()
    origin_mm: Point = (0.0, 0.0)

    def outline(self) -> Array:
        """Outline of the spaces, (4, 2)."""
        return _rectangle(self.origin_mm, self.cols * self.cell_mm, self.rows * self.cell_mm)


class Tiles(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="kind",
    tag="tiles",
):
    """Piecepack tiles on a grid of places, some of them gone."""

    rows: Count = 5
    cols: Count = 5
    cell_mm: Length
    tile_mm: Length = 50.8
    origin_mm: Point = (0.0, 0.0)

    def outline(self) -> Array:
        """Outline of the places, (4, 2)."""
        return _rectangle(self.origin_mm, self.cols * self.cell_mm, self.rows * self.cell_mm)


Board = Open | Chessboard | Hex | Coasters | Tiles
WORDS = {
    "kind": tuple(board.__struct_config__.tag for board in get_args(Board)),
    "orientation": get_args(Orientation),
}
"""Allowed values of a board's text fields."""
_KINDS = {
    Open: phrase("open ground"),
    Chessboard: phrase("a chessboard"),
    Hex: phrase("a hex board"),
    Coasters: phrase("a board of coasters"),
    Tiles: phrase("a board of tiles"),
}


def kind_in_words(board: Board) -> Message:
    """Kind of a board, as a phrase for the middle of a sentence."""
    return _KINDS[type(board)]


def _rectangle(origin: Point, width: float, depth: float) -> Array:
    x, y = origin
    return np.array([[x, y], [x + width, y], [x + width, y + depth], [x, y + depth]])


def within(outline: Array, point: Array) -> bool:
    """True if `point` (2,) is inside the polygon (n, 2), by its crossing number.

    For points on the edge either result is possible.
    """
    x, y = point
    x0, y0 = outline.T
    x1, y1 = np.concatenate([outline[1:], outline[:1]]).T
    spans = (y0 > y) != (y1 > y)
    left = (x1 - x0) * (y - y0) > (x - x0) * (y1 - y0)
    return bool(np.count_nonzero(spans & (left == (y1 > y0))) % 2)
