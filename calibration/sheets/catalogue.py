"""Sheets to print, by their names: targets, corner cards, boards."""

from __future__ import annotations

from collections.abc import Callable

from calibration.sheets.boards import board_sheet
from calibration.sheets.cards import charuco, colours, fiducials
from calibration.sheets.layout import PAPERS, Paper, lay_out
from calibration.sheets.pdf import write_pdf
from calibration.sheets.sheet import Sheet
from table.errors import InputError
from table.game_facts import DefaultTable
from table.games import all_table_facts
from table.languages import Language
from table.messages import msg

FOR_ANY_TABLE: dict[str, Callable[[Paper], Sheet]] = {
    "charuco": charuco,
    "fiducials": fiducials,
    "colours": colours,
}


def _boards() -> dict[str, DefaultTable]:
    """Tables of games with a sheet, by the sheet's name; the first of several with the same one."""
    tables = [facts.default for facts in all_table_facts().values() if facts.default]
    return {one.sheet.name: one for one in reversed(tables) if one.sheet}


_BOARDS = _boards()
WITH_CELLS = tuple(sorted(name for name, one in _BOARDS.items() if one.cells_mm))
"""Boards whose cell size can be chosen."""
FIXED = tuple(sorted(_BOARDS.keys() - set(WITH_CELLS)))
PAPER_NAMES = tuple(PAPERS)
SHEETS = (*FOR_ANY_TABLE, *WITH_CELLS, *FIXED)


def sheet_pdf(name: str, paper_name: str, language: Language) -> bytes:
    """A sheet as a PDF in true size, in a language.

    Raises InputError for an unknown sheet or paper, and if the sheet does not fit.
    """
    if paper_name not in PAPERS:
        raise InputError(
            msg(
                "expected a known paper size ({raw}), got {raw2}",
                raw=", ".join(PAPERS),
                raw2=repr(paper_name),
            )
        )
    sheet = make_sheet(name, PAPERS[paper_name])
    return write_pdf(sheet, lay_out(sheet, PAPERS[paper_name]), language)


def make_sheet(name: str, paper: Paper, cell_mm: float | None = None) -> Sheet:
    """The sheet with a name.

    Raises InputError for an unknown name, and for an impossible cell size.
    """
    if name not in SHEETS:
        raise InputError(
            msg("expected a sheet ({raw}), got {raw2}", raw=", ".join(SHEETS), raw2=repr(name))
        )
    if name in FOR_ANY_TABLE and cell_mm is None:
        return FOR_ANY_TABLE[name](paper)
    if name not in WITH_CELLS and cell_mm is not None:
        raise InputError(
            msg(
                "--cell-mm: expected only with {raw}, got it with {name}, which has fixed sizes",
                raw=", ".join(WITH_CELLS),
                name=name,
            )
        )
    table = _BOARDS[name]
    assert table.sheet is not None, "tables without a sheet are not among them"
    if table.cells_mm and cell_mm is not None:
        least, most = table.cells_mm
        if not least <= cell_mm <= most:
            raise InputError(
                msg(
                    "--cell-mm: expected {mm} to {mm2} mm for {name}, got {mm3}",
                    mm=f"{least:g}",
                    mm2=f"{most:g}",
                    name=name,
                    mm3=f"{cell_mm:g}",
                )
            )
    return board_sheet(table.sheet, table.board(table.cell_mm if cell_mm is None else cell_mm))
