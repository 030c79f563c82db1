"""Describe sheets to print, in mm.

`calibration.sheets.layout` lays them out on paper, `calibration.sheets.pdf` prints them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from calibration.sheets.canvas import Pen
from table.boards import Board, Point
from table.table_config import Fiducials, Marker

DICTIONARY = "DICT_4X4_50"
"""Default dictionary of `table.table_config.Fiducials`."""
MARKER_MM, QUIET_MM = 40.0, 7.0
"""Side of a board's fiducials, and the quiet zone around them: at least one module, a sixth of the
side.
"""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A printable sheet, perhaps over several pages.

    `low_mm` and `high_mm` are the corners of the drawing.  With a `board` the frame is the table's:
    markers and lines then lie as in `table.json`; else x right and y up from the sheet's lower left
    corner.
    """

    name: str
    title: str
    purpose: str
    sizes: str
    low_mm: Point
    high_mm: Point
    draw: Callable[[Pen], None]
    markers: tuple[Marker, ...] = ()
    board: Board | None = None
    z_mm: float = 0.0
    """Height of the printed paper above the surface that pieces stand on; negative if tiles are
    laid on it.
    """
    dictionary: str = DICTIONARY

    @property
    def size_mm(self) -> Point:
        """Width and depth."""
        return self.high_mm[0] - self.low_mm[0], self.high_mm[1] - self.low_mm[1]

    @property
    def fiducials(self) -> Fiducials:
        """The markers in the form of `table.json`; only for sheets that have some."""
        return Fiducials(markers=self.markers, dictionary=self.dictionary, z_mm=self.z_mm)


def square_marker(number: int, left_mm: float, top_mm: float, side_mm: float = MARKER_MM) -> Marker:
    """A fiducial that is read upright; corners clockwise from its top left."""
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
