"""Marks of possible and past moves on the cells of a board: `engines.board_marks` as SVG paths."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from referee.presentation.session_view import Mark, Option
from table.boards import Board
from table.cells import cell_side_mm, cells_mm
from table.solids import Array

Sheet = Callable[[Array], Array]
"""A projection for drawing: maps table points (n, 3) in mm to SVG points (n, 2)."""

POINTS = {"N": 90, "NE": 45, "E": 0, "SE": -45, "S": -90, "SW": -135, "W": 180, "NW": 135}
"""Headings of compass points in degrees, north away from the players."""
DOT, LOOK, RETICLE, HEAD = 0.15, (0.22, 0.38), (0.34, 0.46), 0.17
"""Sizes of parts of marks, as fractions of a cell's side."""


MOST_ENDS = 30


@dataclass(frozen=True, slots=True)
class DrawnMark:
    """One mark as an SVG path.

    `kind` is as in `engines.board_marks`; `sure` is False if it depends on a gap that is too close
    to call.
    """

    kind: str
    path: str
    sure: bool


@dataclass(frozen=True, slots=True)
class DrawnOption:
    """One possible action with its marks."""

    who: str | None
    label: str
    marks: tuple[DrawnMark, ...]


def plan(points_mm: Array) -> Array:
    """The `Sheet` of a plan: top view, one unit is 1 mm, y down."""
    flat: Array = np.asarray(points_mm, float)[:, :2] * (1, -1)
    return flat


def draw_options(
    board: Board, options: Sequence[Option], sheet: Sheet = plan
) -> tuple[DrawnOption, ...]:
    """A view's `options` on a board."""
    return tuple(
        DrawnOption(one.who, one.label, draw_marks(board, one.marks, sheet)) for one in options
    )


def are_too_many(options: Sequence[Option]) -> bool:
    """True if drawing all moves at once would hide the pieces.

    Each move is then drawn only when it is selected.
    """
    ends = [mark for one in options for mark in one.marks if mark.kind in ("goal", "take")]
    return sum(len(mark.cells) for mark in ends) > MOST_ENDS


def draw_marks(board: Board, marks: Sequence[Mark], sheet: Sheet = plan) -> tuple[DrawnMark, ...]:
    """A view's marks on a board; cells outside the board are left out."""
    cells, side = cells_mm(board), cell_side_mm(board)
    drawn = []
    for mark in marks:
        corners = [cells[name] for name in mark.cells if name in cells]
        if corners:
            lines = _lines(mark.kind, corners, mark.looks, side)
            drawn.append(
                DrawnMark(
                    mark.kind,
                    " ".join(path(line, sheet, closed) for line, closed in lines),
                    mark.sure,
                )
            )
    return tuple(drawn)


def path(line_mm: Array, sheet: Sheet, closed: bool = False) -> str:
    """An SVG path along points (n, 2) on the table, or (n, 3) above it."""
    points = (
        line_mm if line_mm.shape[1] == 3 else np.column_stack([line_mm, np.zeros(len(line_mm))])
    )
    return "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in sheet(points)) + ("Z" if closed else "")


def circle(middle_mm: Array, radius_mm: float, corners: int = 24) -> Array:
    """A circle on the table as a polygon, (corners, 2)."""
    turns = 2 * math.pi * np.arange(corners) / corners
    ring: Array = middle_mm + radius_mm * np.column_stack([np.cos(turns), np.sin(turns)])
    return ring


def _lines(
    kind: str, cells: list[Array], looks: Sequence[str], side: float
) -> list[tuple[Array, bool]]:
    """A mark as lines (n, 2), each with a flag for closed ones."""
    middles = np.array([corners.mean(axis=0) for corners in cells])
    match kind:
        case "goal":
            return [
                line
                for middle in middles
                for line in [(circle(middle, DOT * side), True), *_look_ticks(middle, looks, side)]
            ]
        case "take":
            return [line for middle in middles for line in _reticle(middle, side)]
        case "here":
            framed = [
                (corners.mean(axis=0) + 0.9 * (corners - corners.mean(axis=0)), True)
                for corners in cells
            ]
            return [
                *framed,
                *(line for middle in middles for line in _look_ticks(middle, looks, side)),
            ]
        case _:
            return _arrow(middles, side)


def _look_ticks(middle: Array, looks: Sequence[str], side: float) -> list[tuple[Array, bool]]:
    """Ticks along a piece's possible headings."""
    ways = [
        np.array([math.cos(math.radians(POINTS[look])), math.sin(math.radians(POINTS[look]))])
        for look in looks
    ]
    return [
        (np.array([middle + LOOK[0] * side * way, middle + LOOK[1] * side * way]), False)
        for way in ways
    ]


def _reticle(middle: Array, side: float) -> list[tuple[Array, bool]]:
    """A ring with four ticks across it, which leaves its content visible."""
    inner, outer = (side * share for share in RETICLE)
    ticks = [
        (np.array([middle + inner * way, middle + outer * way]), False)
        for way in np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    ]
    return [(circle(middle, (inner + outer) / 2), True), *ticks]


def _arrow(middles: Array, side: float) -> list[tuple[Array, bool]]:
    """An arrow through the middles of cells; nothing for a single cell."""
    if len(middles) < 2:
        return []
    ahead = middles[-1] - middles[-2]
    ahead = ahead / np.hypot(*ahead)
    across, tip = np.array([-ahead[1], ahead[0]]), middles[-1] + 0.18 * side * ahead
    head = np.array(
        [
            tip - HEAD * side * (ahead + 0.7 * across),
            tip,
            tip - HEAD * side * (ahead - 0.7 * across),
        ]
    )
    return [(np.vstack([middles[:-1], tip]), False), (head, False)]
