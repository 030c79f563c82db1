"""`rinkside print`: sheets as PDF, in true size."""

from __future__ import annotations

import json
from pathlib import Path

import click
import msgspec

from calibration.sheets.catalogue import make_sheet
from calibration.sheets.layout import PAPERS, Layout, lay_out
from calibration.sheets.pdf import preview, write_pdf
from calibration.sheets.sheet import Sheet
from cli.terminal import language, say, say_json
from table.errors import InputError
from table.files import check_output, write_whole
from table.messages import Message, as_sentence, msg, sentences
from vision.annotate.photo import check_picture_path, write_picture


@click.command("print")
@click.argument("name", metavar="SHEET")
@click.option(
    "--paper",
    "paper_name",
    metavar="A4|A3|Letter",
    default="A4",
    show_default=True,
    help="Paper to print on.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="The file to write: OUT.pdf."
)
@click.option(
    "--cell-mm",
    type=float,
    help="Side of a square, hexagon or place, for chessboard, hex and tiles.",
)
@click.option(
    "--preview",
    "picture",
    type=click.Path(path_type=Path),
    help="Write a picture of all pages too: OUT.png.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON document: fiducials and board as table.json has them.",
)
def print(
    name: str,
    paper_name: str,
    out: Path,
    cell_mm: float | None,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Make a sheet to print: charuco, fiducials, colours, or a board with its markers.

    The boards are chessboard, hex, tiles, coasters, mat.
    """
    if out.suffix.lower() != ".pdf":
        raise InputError(
            msg(
                "{path}: expected a name that ends in {raw}, got {raw2}",
                path=out,
                raw=".pdf",
                raw2=repr(out.name),
            )
        )
    check_output(out)
    if picture:
        check_picture_path(picture)
        check_output(picture, out)
    paper = PAPERS.get(paper_name.title())
    if paper is None:
        raise InputError(
            msg("--paper: expected {raw}, got {raw2}", raw=", ".join(PAPERS), raw2=repr(paper_name))
        )
    sheet = make_sheet(name, paper, cell_mm)
    layout = lay_out(sheet, paper)
    pdf = write_pdf(sheet, layout, language())
    write_whole(out, pdf)
    if picture:
        write_picture(picture, preview(pdf, layout))
    if as_json:
        say_json(json.dumps(_document(sheet, layout)))
    else:
        written = msg("{path}: {text}", path=out, text=layout.description)
        say(sentences(written, _markers_said(sheet)))


def _markers_said(sheet: Sheet) -> Message:
    if sheet.board is None:
        return as_sentence(sheet.sizes)
    tops = ", ".join(
        f"{marker.id} ({marker.corners_mm[0][0]:.1f}, {marker.corners_mm[0][1]:.1f})"
        for marker in sheet.markers
    )
    side = sheet.markers[0].corners_mm[1][0] - sheet.markers[0].corners_mm[0][0]
    return sentences(
        msg(
            "Its markers are {mm} mm a side, their left tops at (x, y) mm: {raw}.",
            mm=f"{side:g}",
            raw=tops,
        ),
        msg("--json prints them and the board as table.json has them."),
    )


def _document(sheet: Sheet, layout: Layout) -> dict[str, object]:
    """`rinkside-sheet/1`; fiducials and board only where they have places on a table."""
    document: dict[str, object] = {
        "format": "rinkside-sheet/1",
        "sheet": sheet.name,
        "paper": layout.paper.name,
        "pages": len(layout.pages),
    }
    if sheet.board is not None:
        document |= {
            "fiducials": msgspec.to_builtins(sheet.fiducials),
            "board": msgspec.to_builtins(sheet.board),
        }
    return document
