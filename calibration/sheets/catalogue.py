"""Sheets to print, by their names: targets, corner cards, boards."""

from __future__ import annotations

from collections.abc import Callable

from calibration.sheets.boards import chessboard, coasters, hexes, mat, tiles
from calibration.sheets.cards import charuco, colours, fiducials
from calibration.sheets.layout import PAPERS, Paper, lay_out
from calibration.sheets.pdf import write_pdf
from calibration.sheets.sheet import Sheet
from engines.zamboni_wars.board import USUAL
from table.errors import InputError


def _coasters() -> Sheet:
    colours = USUAL.colours
    layout = (colours["NW"], colours["NE"]), (colours["SW"], colours["SE"])
    return coasters({(space.file, space.row): ways for space, ways in USUAL.arrows.items()}, layout)


FOR_ANY_TABLE: dict[str, Callable[[Paper], Sheet]] = {
    "charuco": charuco,
    "fiducials": fiducials,
    "colours": colours,
}
FIXED: dict[str, Callable[[], Sheet]] = {"coasters": _coasters, "mat": mat}
WITH_CELLS: dict[str, tuple[Callable[..., Sheet], float, float]] = {
    "chessboard": (chessboard, 20.0, 100.0),
    "hex": (hexes, 20.0, 60.0),
    "tiles": (tiles, 50.8, 60.0),
}
"""Boards whose cells may be of another size, with the least and the most mm."""
PAPER_NAMES = tuple(PAPERS)
SHEETS = (*FOR_ANY_TABLE, *WITH_CELLS, *FIXED)


def sheet_pdf(name: str, paper_name: str) -> bytes:
    """A sheet as a PDF in true size; raises InputError for a sheet or paper that is not there, and
    where they do not fit.
    """
    if paper_name not in PAPERS:
        raise InputError(
            f"expected paper of a size that is known ({', '.join(PAPERS)}), got {paper_name!r}"
        )
    sheet = make_sheet(name, PAPERS[paper_name])
    return write_pdf(sheet, lay_out(sheet, PAPERS[paper_name]))


def make_sheet(name: str, paper: Paper, cell_mm: float | None = None) -> Sheet:
    """The sheet of a name; raises InputError for one that is not there, and for cells that it
    cannot have.
    """
    if name not in SHEETS:
        raise InputError(f"expected a sheet ({', '.join(SHEETS)}), got {name!r}")
    if name in WITH_CELLS:
        builder, least, most = WITH_CELLS[name]
        if cell_mm is None:
            return builder()
        if not least <= cell_mm <= most:
            raise InputError(
                f"--cell-mm: expected {least:g} to {most:g} mm for {name}, got {cell_mm:g}"
            )
        return builder(cell_mm)
    if cell_mm is not None:
        raise InputError(
            f"--cell-mm: expected with {', '.join(WITH_CELLS)} only, got it with {name}, whose"
            " sizes are fixed"
        )
    return FOR_ANY_TABLE[name](paper) if name in FOR_ANY_TABLE else FIXED[name]()
