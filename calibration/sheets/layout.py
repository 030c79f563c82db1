"""Lay out a sheet on paper: on one page, or on several to be joined."""

from __future__ import annotations

import math
from dataclasses import dataclass

from calibration.sheets.sheet import Sheet
from table.boards import Point
from table.errors import InputError
from table.messages import Message, any_of, msg, phrase

MARGIN_MM, HEAD_MM, FOOT_MM = 6.4, 14.0, 10.0
"""Unprintable margin of printers, and heights of the strips for text above and for the check bar
below.
"""
BLEED_MM = 4.0
"""Width of a joined page's print beyond the seam."""
MOST_PAGES = 12


@dataclass(frozen=True, slots=True)
class Paper:
    """A size of paper; `width_mm` is the shorter side."""

    name: str
    width_mm: float
    depth_mm: float


PAPERS = {
    paper.name: paper
    for paper in (
        Paper("A4", 210.0, 297.0),
        Paper("A3", 297.0, 420.0),
        Paper("Letter", 215.9, 279.4),
    )
}


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its part of the sheet, from `low_mm` to `high_mm`, and the place of that part.

    `origin_mm` is the place of the sheet's (0, 0) on the paper, from its lower left corner. Rows
    count from the far side.
    """

    width_mm: float
    depth_mm: float
    row: int
    column: int
    low_mm: Point
    high_mm: Point
    origin_mm: Point


@dataclass(frozen=True, slots=True)
class Layout:
    """All pages of a sheet, row by row from the far left."""

    paper: Paper
    rows: int
    columns: int
    pages: tuple[Page, ...]

    @property
    def description(self) -> Message:
        """A sentence: `2 pages of A3, side by side.`."""
        name, n = self.paper.name, len(self.pages)
        if n == 1:
            return msg("1 page of {name}.", name=name)
        if self.rows == 1:
            return msg("{n} pages of {name}, side by side.", n=n, name=name)
        if self.columns == 1:
            return msg("{n} pages of {name}, one above the other.", n=n, name=name)
        return msg(
            "{n} pages of {name}, {n2} rows of {n3}.", n=n, name=name, n2=self.rows, n3=self.columns
        )


def area_mm(paper: Paper, across: bool = False) -> Point:
    """Printable width and depth, upright or across."""
    width, depth = (paper.depth_mm, paper.width_mm) if across else (paper.width_mm, paper.depth_mm)
    return width - 2 * MARGIN_MM, depth - 2 * MARGIN_MM - HEAD_MM - FOOT_MM


def lay_out(sheet: Sheet, paper: Paper) -> Layout:
    """Lay out a sheet on the smallest number of pages.

    Raises InputError, naming a suitable paper, if there would be more than MOST_PAGES.
    """
    across, columns, rows = _fewest(sheet, paper)
    if columns * rows > MOST_PAGES:
        others = [
            name
            for name, other in PAPERS.items()
            if math.prod(_fewest(sheet, other)[1:]) <= MOST_PAGES
        ]
        advice = (
            phrase("print it on {text}", text=any_of(others))
            if others
            else phrase("choose a smaller --cell-mm")
        )
        width, depth = sheet.size_mm
        got = phrase(
            "{n} for {width} x {height} mm",
            n=columns * rows,
            width=f"{width:.0f}",
            height=f"{depth:.0f}",
        )
        raise InputError(
            msg(
                "{name}: {name2} is too small: expected a sheet of at most {n} pages,"
                " got {text}; {text2}",
                name=sheet.name,
                name2=paper.name,
                n=MOST_PAGES,
                text=got,
                text2=advice,
            )
        )
    pages = (
        _page(sheet, paper, across, (row, column), (rows, columns))
        for row in range(rows)
        for column in range(columns)
    )
    return Layout(paper, rows, columns, tuple(pages))


def _fewest(sheet: Sheet, paper: Paper) -> tuple[bool, int, int]:
    """Whether the paper is laid across, and the columns and rows of pages."""
    ways = []
    for across in (False, True):
        columns, rows = (
            _count(length, area)
            for length, area in zip(sheet.size_mm, area_mm(paper, across), strict=True)
        )
        ways.append((columns * rows, across, columns, rows))
    return min(ways)[1:]


def _count(length_mm: float, area_mm: float) -> int:
    return 1 if length_mm <= area_mm else math.ceil(length_mm / (area_mm - 2 * BLEED_MM))


def _page(
    sheet: Sheet, paper: Paper, across: bool, place: tuple[int, int], counts: tuple[int, int]
) -> Page:
    (row, column), (rows, columns) = place, counts
    width, depth = (paper.depth_mm, paper.width_mm) if across else (paper.width_mm, paper.depth_mm)
    step = sheet.size_mm[0] / columns, sheet.size_mm[1] / rows
    low = sheet.low_mm[0] + column * step[0], sheet.high_mm[1] - (row + 1) * step[1]
    middle = width / 2, MARGIN_MM + FOOT_MM + area_mm(paper, across)[1] / 2
    origin = middle[0] - low[0] - step[0] / 2, middle[1] - low[1] - step[1] / 2
    return Page(width, depth, row, column, low, (low[0] + step[0], low[1] + step[1]), origin)
