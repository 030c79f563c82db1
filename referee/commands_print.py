"""`rinkside print`: sheets as PDF, in true size."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click
import msgspec

from calibration.sheets import Sheet
from calibration.sheets_boards import chessboard, coasters, hexes, mat, tiles
from calibration.sheets_cards import charuco, colours, fiducials
from calibration.sheets_pages import PAPERS, Layout, Paper, lay_out
from calibration.sheets_pdf import preview, write_pdf
from engines.zamboni_wars.board import USUAL
from table.documents import write_whole
from table.errors import InputError
from vision.pictures import check_picture_path, write_picture


def _coasters() -> Sheet:
    colours = USUAL.colours
    layout = (colours["NW"], colours["NE"]), (colours["SW"], colours["SE"])
    return coasters({(space.file, space.row): ways for space, ways in USUAL.arrows.items()}, layout)


FOR_ANY_TABLE: dict[str, Callable[[Paper], Sheet]] = {"charuco": charuco, "fiducials": fiducials, "colours": colours}
FIXED: dict[str, Callable[[], Sheet]] = {"coasters": _coasters, "mat": mat}
WITH_CELLS: dict[str, tuple[Callable[..., Sheet], float, float]] = {
    "chessboard": (chessboard, 20.0, 100.0),
    "hex": (hexes, 20.0, 60.0),
    "tiles": (tiles, 50.8, 60.0),
}
"""Boards whose cells may be of another size, with the least and the most mm."""
SHEETS = (*FOR_ANY_TABLE, *WITH_CELLS, *FIXED)


@click.command("print")
@click.argument("name", metavar="SHEET")
@click.option("--paper", "paper_name", metavar="A4|A3|Letter", default="A4", show_default=True, help="Paper to print on.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file to write: OUT.pdf.")
@click.option("--cell-mm", type=float, help="Side of a square, hexagon or place, for chessboard, hex and tiles.")
@click.option("--preview", "picture", type=click.Path(path_type=Path), help="Write a picture of all pages too: OUT.png.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document: fiducials and board as table.json has them.")
def print(name: str, paper_name: str, out: Path, cell_mm: float | None, picture: Path | None, as_json: bool) -> None:
    """Make a sheet to print: charuco, fiducials, colours, or a board with its fiducials: chessboard, hex, tiles, coasters, mat."""
    if out.suffix.lower() != ".pdf":
        raise InputError(f"{out}: expected a name that ends in .pdf, got {out.name!r}")
    if picture:
        check_picture_path(picture)
    paper = PAPERS.get(paper_name.title())
    if paper is None:
        raise InputError(f"--paper: expected {', '.join(PAPERS)}, got {paper_name!r}")
    sheet = make_sheet(name, paper, cell_mm)
    layout = lay_out(sheet, paper)
    pdf = write_pdf(sheet, layout)
    write_whole(out, pdf)
    if picture:
        write_picture(picture, preview(pdf, layout))
    click.echo(json.dumps(_document(sheet, layout)) if as_json else f"{out}: {layout.said}. {_markers_said(sheet)}")


def make_sheet(name: str, paper: Paper, cell_mm: float | None = None) -> Sheet:
    """The sheet of a name; raises InputError for one that is not there, and for cells that it cannot have."""
    if name not in SHEETS:
        raise InputError(f"expected a sheet ({', '.join(SHEETS)}), got {name!r}")
    if name in WITH_CELLS:
        builder, least, most = WITH_CELLS[name]
        if cell_mm is None:
            return builder()
        if not least <= cell_mm <= most:
            raise InputError(f"--cell-mm: expected {least:g} to {most:g} mm for {name}, got {cell_mm:g}")
        return builder(cell_mm)
    if cell_mm is not None:
        raise InputError(f"--cell-mm: expected with {', '.join(WITH_CELLS)} only, got it with {name}, whose sizes are fixed")
    return FOR_ANY_TABLE[name](paper) if name in FOR_ANY_TABLE else FIXED[name]()


def _markers_said(sheet: Sheet) -> str:
    if sheet.board is None:
        return f"{sheet.sizes}."
    tops = ", ".join(f"{marker.id} ({marker.corners_mm[0][0]:.1f}, {marker.corners_mm[0][1]:.1f})" for marker in sheet.markers)
    side = sheet.markers[0].corners_mm[1][0] - sheet.markers[0].corners_mm[0][0]
    return f"Its fiducials are {side:g} mm a side, their left tops at (x, y) mm: {tops}. --json prints them and the board as table.json has them."


def _document(sheet: Sheet, layout: Layout) -> dict[str, object]:
    """`rinkside-sheet/1`; fiducials and board only where they have places on a table."""
    document: dict[str, object] = {"format": "rinkside-sheet/1", "sheet": sheet.name, "paper": layout.paper.name, "pages": len(layout.pages)}
    if sheet.board is not None:
        document |= {"fiducials": msgspec.to_builtins(sheet.fiducials), "board": msgspec.to_builtins(sheet.board)}
    return document
