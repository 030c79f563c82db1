"""`rinkside calibrate`: what vision needs to know about a camera."""

from __future__ import annotations

import math
import re
from pathlib import Path

import click
import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from calibration.cards import place_cards, read_frames
from calibration.lens_file import LensFile, keep_last, lens_file, load_lens, save_lens
from calibration.lens_fit import PARAMETERS, calibrate_lens
from calibration.lens_target import Charuco, ChessTarget, Target
from calibration.lens_views import read_views
from calibration.sheets_cards import CARD_MARKER_MM
from referee.commands_calibrate_check import check
from referee.commands_calibrate_colours import colours
from referee.shown import Z_95
from table.boards import Open
from table.errors import InputError
from table.setup import FORMAT, Game, parse_table, save_table

SQUARE_MM = {"charuco": 20.0, "chessboard": 25.0}
"""Squares of the target, where nothing else is said: a lens does not depend on them, only how far away the views are told to be."""


@click.group()
def calibrate() -> None:
    """Find out what vision needs to know about a camera."""


calibrate.add_command(colours)
calibrate.add_command(check)

@calibrate.command()
@click.option("--from", "folder", type=click.Path(path_type=Path), required=True, help="Folder of photographs of the target, 12 or more.")
@click.option("--target", "target_name", metavar="charuco|chessboard", default="charuco", show_default=True, help="What was photographed.")
@click.option("--corners", metavar="WxH", help="Inner corners of the chessboard, such as 9x6.")
@click.option("--square-mm", type=float, help="Side of the target's squares; only the views' distances depend on it.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file to write; what was there is kept as OUT.bak.")
@click.option("--json", "as_json", is_flag=True, help="Print the document that is written.")
def lens(folder: Path, target_name: str, corners: str | None, square_mm: float | None, out: Path, as_json: bool) -> None:
    """Calibrate a lens from photographs of a target."""
    target = _target(target_name, corners, square_mm)
    if out.is_dir() or not out.parent.is_dir():
        raise InputError(f"{out}: expected the name of a file in a folder that exists")
    views = read_views(folder, target)
    try:
        calibrated = calibrate_lens(views.views, views.size_px)
    except InputError as error:
        raise InputError(f"{folder}: {error}") from error
    file = lens_file(calibrated, views.left_out, target.said, target.square_mm)
    kept = save_lens(file, out)
    if as_json:
        click.echo(msgspec.json.encode(file))
    else:
        _print(file)
        click.echo(f"{out}: written." + (f" The lens before is {kept}." if kept else ""))


@calibrate.command("table")
@click.option("--lens", "lens_path", type=click.Path(path_type=Path), required=True, help="lens.json of the camera.")
@click.option("--from", "folder", type=click.Path(path_type=Path), required=True, help="Folder of photographs of the cards, from several sides.")
@click.option("--card-mm", type=float, default=CARD_MARKER_MM, show_default=True, help="Side of the cards' fiducials, as measured.")
@click.option("--ground-mm", type=float, default=0.0, show_default=True, help="How much higher than the cards pieces stand.")
@click.option("--colours", default="red,blue", show_default=True, help="The players' colours, in turn order.")
@click.option("--target", "target_colour", default="green", show_default=True, help="Colour of the target.")
@click.option("--sizes", default="medium", show_default=True, help="Sizes in play.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file to write; what was there is kept as OUT.bak.")
def cards_table(lens_path: Path, folder: Path, card_mm: float, ground_mm: float, colours: str, target_colour: str, sizes: str, out: Path) -> None:
    """Find where four corner cards lie, and write a table.json for Ice Boule on the ground between them."""
    if not 5 <= card_mm <= 1000:
        raise InputError(f"--card-mm: expected 5 to 1000 mm, got {card_mm:g}")
    camera = load_lens(lens_path).camera
    frames = read_frames(folder, camera)
    placed = place_cards(frames, camera, card_mm)
    document = {
        "format": FORMAT,
        "camera": camera,
        "fiducials": msgspec.structs.replace(placed.fiducials, z_mm=0.0 - ground_mm),
        "board": Open(outline_mm=placed.ground_mm),
        "game": Game(name="ice_boule", colours=tuple(colours.split(",")), sizes=tuple(sizes.split(",")), target=target_colour),
    }
    setup = parse_table(msgspec.to_builtins(document), out.name)
    kept = keep_last(out)
    save_table(setup, out)
    for (one, other), apart in placed.apart_mm.items():
        click.echo(f"cards {one} and {other}: {_with_margin(apart, placed.sigma_mm[one, other])} mm from middle to middle")
    click.echo(f"{placed.frames} of {len(frames)} photographs show all four cards; edges are {max(placed.rms_px):.2f} px off on the worst card.")
    click.echo(f"± holds 95 % of true values if the cards' fiducials are {card_mm:g} mm: measure one, and one of the distances.")
    click.echo(f"{out}: written." + (f" The table before is {kept}." if kept else ""))


def _target(name: str, corners: str | None, square_mm: float | None) -> Target:
    if name not in SQUARE_MM:
        raise InputError(f"--target: expected charuco or chessboard, got {name!r}")
    side = SQUARE_MM[name] if square_mm is None else square_mm
    if not 1 <= side <= 500:
        raise InputError(f"--square-mm: expected 1 to 500 mm, got {side:g}")
    if name == "charuco":
        if corners is not None:
            raise InputError("--corners: expected with --target chessboard only; the ChArUco target has its own")
        return Charuco(side)
    counts = re.fullmatch(r"(\d{1,2})x(\d{1,2})", corners or "")
    if not counts or not all(3 <= int(count) <= 40 for count in counts.groups()):
        raise InputError(f"--corners: expected the chessboard's inner corners, 3x3 to 40x40, such as 9x6, got {corners or 'none'}")
    return ChessTarget(int(counts[1]), int(counts[2]), side)


def _with_margin(value: float, sigma: float) -> str:
    """`1640.3 ± 1.2`, `-0.0486 ± 0.0031`: two digits of the 95 % interval, whatever its size."""
    margin = Z_95 * sigma
    decimals = max(0, 1 - math.floor(math.log10(margin))) if margin > 0 else 6
    return f"{value:.{decimals}f} ± {margin:.{decimals}f}"


def _print(file: LensFile) -> None:
    console = Console()
    table = Table(box=SIMPLE_HEAD, caption="RMS: how far corners are from where the lens puts them", caption_justify="left")
    for heading in ("view", "corners", "tilt, °", "away, mm", "RMS, px", "worst, px"):
        table.add_column(heading, justify="left" if heading == "view" else "right")
    for view in file.views:
        numbers = f"{view.tilt_deg:.0f}", f"{view.away_mm:.0f}", f"{view.rms_px:.2f}", f"{view.worst_px:.2f}"
        table.add_row(escape(view.name), str(view.corners), *numbers)
    console.print(table)
    for out in file.left_out:
        console.print(f"left out {escape(out.name)}: {escape(out.reason)}", highlight=False)
    (fx, _, cx), (_, fy, cy), _ = file.camera.matrix
    values = dict(zip(PARAMETERS, (fx, fy, cx, cy, *file.camera.distortion), strict=False))
    table = Table(box=SIMPLE_HEAD, caption="± holds 95 % of true values", caption_justify="left")
    for heading in ("parameter", "value", "unit"):
        table.add_column(heading, justify="right" if heading == "value" else "left")
    for name, sigma in file.sigma.items():
        table.add_row(name, _with_margin(values[name], sigma), "px" if name in PARAMETERS[:4] else "")
    console.print(table)
    for sentence in file.advice:
        console.print(escape(sentence), highlight=False)
    unseen = file.held_out_px[file.model]
    said = f"{len(file.views)} views, model {file.model}: RMS {file.rms_px:.3f} px, on views it had not seen {unseen:.3f} px."
    console.print(f"{said} Corners cover {100 * file.coverage:.0f} % of the picture.", highlight=False)
