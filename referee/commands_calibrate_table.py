"""`rinkside calibrate table` and `frame`: where fiducials and board lie, and a first lens from one photograph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec
import numpy as np

from calibration.cards import place_cards, read_frames
from calibration.lens_file import keep_last, load_lens
from calibration.one_frame import FirstLens, first_lens
from calibration.sheets_cards import CARD_MARKER_MM
from referee.shown import Z_95, fine_margin
from table.boards import Board
from table.documents import read_json
from table.errors import InputError
from table.observation import Camera
from table.setup import FORMAT, Counters, Game, Lens, Setup, parse_table, save_table
from vision.camera import place_covariance
from vision.cameras.files import read_image
from vision.fiducials import locate

PLAYED = {
    "open": ("ice_boule", "looney", "medium"),
    "chessboard": ("ice_storm", "looney", "medium"),
    "hex": ("icebreaker", "looney", "medium"),
    "coasters": ("zamboni_wars", "looney", "small,medium,large"),
    "tiles": ("icefloe", "piecepack", "A,B,C,D,E,F"),
}
"""What is played on each kind of board, with which pieces, and their usual sizes."""
COUNTER = Counters(colour="white", diameter_mm=22.0)
HIGH_MM = 30.0
"""Height at which the doubt about what stands on the table is told: that of most pyramids."""
Options = Callable[..., Any]


def _game_options(command: Options) -> Options:
    for option in (
        click.option("--sizes", help="Sizes in play; those that are usual on such a board without it."),
        click.option("--target", default="green", show_default=True, help="Colour of the target, in Ice Boule."),
        click.option("--colours", default="red,blue", show_default=True, help="The players' colours, in turn order."),
    ):
        command = option(command)
    return command


def _game(board: Board, colours: str, target: str, sizes: str | None) -> Game:
    """What is played on a board."""
    kind = str(board.__struct_config__.tag)
    name, pieces, usual = PLAYED[kind]
    return Game(
        name=name,
        colours=tuple(colours.split(",")),
        sizes=tuple((sizes or usual).split(",")),
        pieces=pieces,
        target=target if kind == "open" else None,
        counters=COUNTER if kind == "hex" else None,
    )


@click.command()
@click.option("--lens", "lens_path", type=click.Path(path_type=Path), required=True, help="lens.json of the camera.")
@click.option("--from", "folder", type=click.Path(path_type=Path), required=True, help="Folder of photographs of the cards, from several sides.")
@click.option("--card-mm", type=float, default=CARD_MARKER_MM, show_default=True, help="Side of the cards' fiducials, as measured.")
@click.option("--ground-mm", type=float, default=0.0, show_default=True, help="How much higher than the cards pieces stand.")
@_game_options
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file to write; what was there is kept as OUT.bak.")
def table(lens_path: Path, folder: Path, card_mm: float, ground_mm: float, colours: str, target: str, sizes: str | None, out: Path) -> None:
    """Find where four corner cards lie, and write a table.json for Ice Boule on the ground between them."""
    if not 5 <= card_mm <= 1000:
        raise InputError(f"--card-mm: expected 5 to 1000 mm, got {card_mm:g}")
    camera = load_lens(lens_path).camera
    frames = read_frames(folder, camera)
    placed = place_cards(frames, camera, card_mm, height_mm=ground_mm)
    document = {
        "format": FORMAT,
        "camera": camera,
        "fiducials": placed.fiducials,
        "board": placed.board,
        "game": _game(placed.board, colours, target, sizes),
    }
    setup = parse_table(msgspec.to_builtins(document), out.name)
    kept = keep_last(out)
    save_table(setup, out)
    for (one, other), apart in placed.apart_mm.items():
        click.echo(f"cards {one} and {other}: {fine_margin(apart, placed.sigma_mm[one, other])} mm from middle to middle")
    click.echo(f"{placed.frames} of {len(frames)} photographs show all four cards; edges are {max(placed.rms_px):.2f} px off on the worst card.")
    click.echo(f"± holds 95 % of true values if the cards' fiducials are {card_mm:g} mm: measure one, and one of the distances.")
    click.echo(_written(out, kept))


def _written(out: Path, kept: Path | None) -> str:
    return f"{out}: written." + (f" The table before is {kept}." if kept else "")


@click.command()
@click.argument("photo", type=click.Path(path_type=Path))
@click.option("--table", "draft_path", type=click.Path(path_type=Path), required=True, help="table.json, with or without a camera; or print --json.")
@_game_options
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file to write; what was there is kept as OUT.bak.")
def frame(photo: Path, draft_path: Path, colours: str, target: str, sizes: str | None, out: Path) -> None:
    """Estimate the lens from PHOTO alone, which shows the fiducials of a table: a first table.json without a calibrated lens."""
    image = read_image(photo).image
    draft = _draft(draft_path, image.shape[1::-1], (colours, target, sizes))
    try:
        first = first_lens(image, draft.fiducials, draft.board)
    except InputError as error:
        raise InputError(f"{photo}: {error}") from error
    setup = msgspec.structs.replace(draft, camera=first.lens)
    camera = locate(image, setup)
    if not isinstance(camera, Camera):
        raise InputError(f"{photo}: {camera.reason}")
    kept = keep_last(out)
    save_table(setup, out)
    _say_first(first, setup, camera)
    click.echo(_written(out, kept))


def _draft(path: Path, size: tuple[int, ...], words: tuple[str, str, str | None]) -> Setup:
    """The table of a file that may lack camera and game, with a camera of the picture's size in its place."""
    raw = read_json(path)
    if not isinstance(raw, dict) or not {"fiducials", "board"} <= raw.keys():
        raise InputError(f"{path}: expected a table with fiducials and board, as table.json and rinkside print --json have them")
    width, height = size
    matrix = ((float(width), 0.0, (width - 1) / 2), (0.0, float(width), (height - 1) / 2), (0.0, 0.0, 1.0))
    lens = Lens(width=width, height=height, matrix=matrix, distortion=(0.0,) * 5)
    document = {"format": FORMAT, "camera": msgspec.to_builtins(lens), "fiducials": raw["fiducials"], "board": raw["board"]}
    if "game" in raw:
        return parse_table(document | {"game": raw["game"]}, path.name, beside=path.parent)
    boule = Game(name="ice_boule", colours=("red",), sizes=("medium",))
    board = parse_table(document | {"game": msgspec.to_builtins(boule)}, path.name).board
    return parse_table(document | {"game": msgspec.to_builtins(_game(board, *words))}, path.name)


def _say_first(first: FirstLens, setup: Setup, camera: Camera) -> None:
    """How good the lens is, in pixels and on the table."""
    (fx, _, cx), (_, _, cy), _ = first.lens.matrix
    for name, value, unit in (("fx", fx, " px"), ("cx", cx, " px"), ("cy", cy, " px"), ("k1", first.lens.distortion[0], "")):
        click.echo(f"{name}: {fine_margin(value, first.sigma[name])}{unit}")
    marks, lines = first.edges
    said = f"{marks} edges of fiducials" + (f" and {lines} of the board" if lines else "")
    click.echo(f"From {said}; the camera looks {first.tilt_deg:.0f}° from straight down, {camera.eye_mm[2]:.0f} mm above the table.")
    low, high = (Z_95 * _worst_sigma_mm(setup, camera, height_mm) for height_mm in (0.0, HIGH_MM))
    click.echo(f"On the table places are known to ± {low:.1f} mm, {HIGH_MM:g} mm above it to ± {high:.1f} mm, at the worst corner of the board.")
    click.echo("± holds 95 % of true values. This is a first estimate: a calibrated lens is better (rinkside calibrate lens).")


def _worst_sigma_mm(setup: Setup, camera: Camera, height_mm: float) -> float:
    """The largest uncertainty, 1 sigma, of a place over the board's corners, in any direction."""
    places = [np.array([*corner, height_mm]) for corner in setup.outline_mm()]
    return max(float(np.sqrt(np.linalg.eigvalsh(place_covariance(place, camera, setup.camera)).max())) for place in places)
