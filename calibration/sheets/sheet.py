"""Describe sheets to print, in mm.

`calibration.sheets.layout` lays them out on paper, `calibration.sheets.pdf` prints them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from calibration.sheets.canvas import Pen
from table.boards import Board, Point
from table.messages import Message
from table.printed_boards import DICTIONARY
from table.table_config import Fiducials, Marker


@dataclass(frozen=True, slots=True)
class Sheet:
    """A printable sheet, on one or several pages.

    `low_mm` and `high_mm` are the corners of the drawing. With a `board` the frame is the table's:
    markers and lines then have the coordinates of `table.json`. Otherwise x is right and y up from
    the sheet's lower left corner.
    """

    name: str
    title: Message
    purpose: Message
    sizes: Message
    low_mm: Point
    high_mm: Point
    draw: Callable[[Pen], None]
    markers: tuple[Marker, ...] = ()
    board: Board | None = None
    z_mm: float = 0.0
    """Height of the printed paper above the surface under the pieces; negative if tiles are laid on
    it.
    """
    dictionary: str = DICTIONARY

    @property
    def size_mm(self) -> Point:
        """Width and depth."""
        return self.high_mm[0] - self.low_mm[0], self.high_mm[1] - self.low_mm[1]

    @property
    def fiducials(self) -> Fiducials:
        """The markers in the form of `table.json`; only for sheets with markers."""
        return Fiducials(markers=self.markers, dictionary=self.dictionary, z_mm=self.z_mm)
