"""`rinkside calibrate table`, `frame`, `recheck`, `restore`: where the fiducials and the board lie.

Also a first lens, and whether lens and table still agree with a photograph.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec
import numpy as np

from calibration.lens.file import load_lens
from calibration.lens.presets import lens_for
from calibration.progress import CornersGuide
from calibration.sheets.cards import CARD_MARKER_MM
from calibration.sheets.pdf import BAR_MM
from calibration.table.drift import recheck as recheck_table
from calibration.table.ground_colours import colour_warnings
from calibration.table.placement import (
    CardPlacement,
    check_size,
    detect_cards,
    place_cards,
    read_frames,
)
from calibration.table.printed import printed_scale, scale_printed, unknown_lens
from calibration.table.single_image import HIGH_MM, FirstLens, first_lens, worst_sigma_mm
from cli.options import GameName, table_option
from cli.serve_options import page_options, served
from cli.terminal import progress, say
from table.boards import WORDS, Board
from table.errors import InputError
from table.files import MOST_TEXT_BYTES, check_output, read_bytes, read_json, write_whole
from table.game_facts import DefaultTable
from table.games import all_table_facts, default_game_on, titles_with_target
from table.measured_text import Z_95, fine_margin
from table.messages import NONE, NOTHING, Message, Number, msg, phrase, sentences
from table.observation import Camera
from table.solids import Array
from table.table_config import FORMAT, Game, Lens, Setup, load_table, parse_table
from table.table_file import replace_table
from vision.cameras.frame import Image
from vision.cameras.image_files import read_image
from vision.cameras.reconnect import take_pictures
from vision.localization.fiducials import locate
from webui import create_corners_app

KINDS = WORDS["kind"]
CELLS: dict[str, tuple[float, float]] = {
    "chessboard": (20.0, 100.0),
    "hex": (20.0, 60.0),
    "tiles": (50.0, 60.0),
}
"""Kinds of boards whose cells are measured, with minimum and maximum cell size in mm."""
MOST_THICK_MM = 60.0
PICTURES = 4
"""Number of pictures taken with a camera."""
Options = Callable[..., Any]


class GameChoice(NamedTuple):
    """The game to be played on the table, as the options of `_game_options` give it."""

    colours: str
    target: str
    sizes: str | None = None
    game: str | None = None


def _game_options(command: Options) -> Options:
    for option in (
        click.option("--sizes", help="Sizes in play [default: the usual ones for this board]."),
        click.option(
            "--target",
            default="green",
            show_default=True,
            help=f"Colour of the target, in {titles_with_target()}.",
        ),
        click.option(
            "--colours",
            default="red,blue",
            show_default=True,
            help="The players' colours, in turn order.",
        ),
        click.option(
            "--game",
            type=GameName(),
            help="The game that is played [default: the usual one for this board].",
        ),
    ):
        command = option(command)
    return command


def _game(board: Board, wanted: GameChoice) -> Game:
    """The game of a board with its usual pieces; raises InputError if there is none."""
    name, usual = _game_and_table(str(board.__struct_config__.tag), wanted.game)
    return Game(
        name=name,
        colours=tuple(wanted.colours.split(",")),
        sizes=tuple(wanted.sizes.split(",")) if wanted.sizes else usual.sizes,
        pieces=usual.pieces,
        target=wanted.target if usual.target else None,
        counters=usual.counters,
    )


def _game_and_table(kind: str, game: str | None) -> tuple[str, DefaultTable]:
    """The named game, or the usual one of a kind of board, and its table."""
    if game is None:
        played = default_game_on(kind)
        if played is None:
            raise InputError(
                msg("--board: expected a board that a game is played on, got {raw}", raw=repr(kind))
            )
        return played
    tables = {name: facts.default for name, facts in all_table_facts().items()}
    usual = tables.get(game)
    if usual is None or usual.kind != kind:
        fitting = ", ".join(name for name, one in tables.items() if one and one.kind == kind)
        raise InputError(
            msg(
                "--game: expected a game for this board ({raw}), got {raw2}",
                raw=fitting,
                raw2=repr(game),
            )
        )
    return game, usual


_lens_option = click.option(
    "--lens",
    "lens_said",
    required=True,
    help="lens.json of the camera, or the name of a camera, such as camera-module-3.",
)
_size_option = click.option(
    "--size", help="With the name of a camera: the size of its pictures, such as 2304x1296."
)


@click.command()
@_lens_option
@_size_option
@click.option(
    "--from",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder of photos of the corner cards, from several sides.",
)
@click.option(
    "--camera",
    "spec",
    metavar="SPEC",
    help=(
        f"Take {PICTURES} pictures with this camera instead, such as rpicam:0, as soon as all"
        " corner cards show."
    ),
)
@click.option(
    "--card-mm",
    type=float,
    default=CARD_MARKER_MM,
    show_default=True,
    help="Side of the corner cards' markers, as measured.",
)
@click.option(
    "--board",
    "kind",
    metavar="|".join(KINDS),
    default="open",
    show_default=True,
    help="What lies between the corner cards.",
)
@click.option(
    "--cell-mm",
    type=float,
    help="Measured side of a square or place; of a hexagon, from flat to flat.",
)
@click.option(
    "--thickness-mm",
    type=float,
    default=0.0,
    show_default=True,
    help="Height of the playing surface above the corner cards.",
)
@click.option(
    "--corners-px",
    nargs=4,
    metavar="X,Y X,Y X,Y X,Y",
    help="The board's corners in the first photo, clockwise from the far left.",
)
@page_options("Drag the board's corners to their places in the first picture, on a page.")
@_game_options
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The file to write; what was there is kept as OUT.bak.",
)
def table(
    lens_said: str, size: str | None, card_mm: float, thickness_mm: float, out: Path, **words: Any
) -> None:
    """Find where four corner cards lie, and the board between them, and write a table.json."""
    if not 5 <= card_mm <= 1000:
        raise InputError(msg("--card-mm: expected 5 to 1000 mm, got {mm}", mm=f"{card_mm:g}"))
    if not 0 <= thickness_mm <= MOST_THICK_MM:
        raise InputError(
            msg(
                "--thickness-mm: expected 0 to {mm} mm, got {mm2}",
                mm=f"{MOST_THICK_MM:g}",
                mm2=f"{thickness_mm:g}",
            )
        )
    folder: Path | None = words["folder"]
    check_output(out, Path(lens_said), *(folder.iterdir() if folder and folder.is_dir() else ()))
    wanted = GameChoice(words["colours"], words["target"], words["sizes"], words["game"])
    board = _board(words["kind"], words["cell_mm"], words["game"])
    corners = _corners_px(words["corners_px"]) if words["corners_px"] else None
    if corners is not None and words["panel"]:
        raise InputError(
            msg("--corners-px: expected either this or --panel, which asks for the corners")
        )
    camera = lens_for(lens_said, size)
    frames = _frames(words["folder"], words["spec"], camera)
    guide = _corners_guide(frames) if words["panel"] else None
    with (
        served(guide, create_corners_app, words["host"], words["port"], words["public_names"])
        if guide
        else nullcontext()
    ):
        if guide:
            placed = _place_by_hand(
                guide,
                lambda corners: place_cards(frames, camera, card_mm, board, thickness_mm, corners),
            )
        else:
            with progress(msg("Measuring the table")):
                placed = place_cards(frames, camera, card_mm, board, thickness_mm, corners)
        document = {
            "format": FORMAT,
            "camera": camera,
            "fiducials": placed.fiducials,
            "board": placed.board,
            "game": _game(placed.board, wanted),
        }
        setup = parse_table(msgspec.to_builtins(document), out.name)
        kept = replace_table(setup, out)
        report = [
            *_report_lines(placed, len(frames), words["kind"], card_mm),
            _written_text(out, kept),
        ]
        if guide:
            guide.finish(report[::-1])
    for sentence in report:
        say(sentence)


def _frames(folder: Path | None, spec: str | None, lens: Lens) -> Mapping[str, Image]:
    """Photographs of a folder, or camera pictures taken once all four cards are visible.

    Raises InputError.
    """
    if (folder is None) == (spec is None):
        raise InputError(
            msg("expected photos of the corner cards: either --from FOLDER or --camera SPEC")
        )
    if folder is not None:
        return read_frames(folder, lens)
    if lens.orientation == "upright" and str(spec).startswith(("video:", "folder:")):
        raise InputError(
            msg(
                "--camera: expected --from FOLDER, because the lens is for upright"
                " pictures, got {spec}, which is read as the sensor recorded it",
                spec=spec,
            )
        )
    lacking = NOTHING

    def shows_all(image: Image) -> bool:
        nonlocal lacking
        check_size(str(spec), (image.shape[1], image.shape[0]), lens)
        try:
            return bool(detect_cards({str(spec): image}))
        except InputError as error:
            if str(error) != lacking:
                lacking = error.message
                say(msg("waiting: {text}", text=lacking), err=True)
            return False

    images = take_pictures(str(spec), None, PICTURES, shows_all)
    if not images:
        raise InputError(msg("{spec}: {text}", spec=spec, text=lacking))
    return {f"picture {number}": image for number, image in enumerate(images, 1)}


def _corners_guide(frames: Mapping[str, Image]) -> CornersGuide:
    """Guide for placing corners in the first photograph that shows all cards."""
    name, cards_px = detect_cards(frames)[0]
    return CornersGuide(frames[name], cards_px)


def _place_by_hand(guide: CornersGuide, place: Callable[[Array], CardPlacement]) -> CardPlacement:
    """Calibrate from manually placed corners; repeated until that succeeds."""
    while True:
        try:
            return place(guide.corners())
        except InputError as error:
            guide.refuse(error.message)


def _report_lines(
    placed: CardPlacement, photographs: int, kind: str, card_mm: float
) -> list[Message]:
    """Sentences on the quality of the calibration."""
    report = [
        msg(
            "corner cards {n} and {n2}: {mm} mm from centre to centre",
            n=one,
            n2=other,
            mm=fine_margin(apart, placed.sigma_mm[one, other]),
        )
        for (one, other), apart in placed.apart_mm.items()
    ]
    report.append(
        msg(
            (
                "{n} of {n2} picture shows all four corner cards; edges are {mm} px off on the"
                " worst card."
            )
            if photographs == 1
            else "{n} of {n2} pictures show all four corner cards; edges are {mm} px off on the"
            " worst card.",
            n=placed.frames,
            n2=photographs,
            mm=f"{max(placed.rms_px):.2f}",
        )
    )
    if placed.lines_seen:
        report.append(
            msg(
                "{share} of the lines of the board ({kind}) are visible; the table uses the"
                " board's origin and axes.",
                kind=kind,
                share=f"{100 * placed.lines_seen:.0f} %",
            )
        )
    report.append(
        msg(
            "The ± holds {share} of true values if the markers on the corner cards are {mm}"
            " mm wide: measure one marker and one of the distances.",
            share="95 %",
            mm=f"{card_mm:g}",
        )
    )
    return report


def _board(kind: str, cell_mm: float | None, game: str | None) -> Board | None:
    """A board of this kind with the measured cell size; None for open ground."""
    if kind not in KINDS:
        raise InputError(
            msg("--board: expected {raw}, got {raw2}", raw=", ".join(KINDS), raw2=repr(kind))
        )
    _, usual = _game_and_table(kind, game)
    if kind in CELLS:
        least, most = CELLS[kind]
        if cell_mm is None or not least <= cell_mm <= most:
            raise InputError(
                msg(
                    "--cell-mm: expected {mm} to {mm2} mm for {kind}, got {text}",
                    mm=f"{least:g}",
                    mm2=f"{most:g}",
                    kind=kind,
                    text=NONE if cell_mm is None else Number(f"{cell_mm:g}"),
                )
            )
        return usual.board(cell_mm)
    if cell_mm is not None:
        raise InputError(
            msg(
                "--cell-mm: expected only with {raw}, got it with {kind}",
                raw=", ".join(CELLS),
                kind=kind,
            )
        )
    return None if kind == "open" else usual.board(usual.cell_mm)


def _corners_px(words: tuple[str, ...]) -> Array:
    """Parse four corners (4, 2) in pixels from words such as `412,96.5`."""
    try:
        corners = np.array([[float(number) for number in word.split(",")] for word in words])
    except ValueError:
        corners = np.empty(0)
    if corners.shape != (4, 2) or not np.isfinite(corners).all():
        raise InputError(
            msg(
                "--corners-px: expected four corners such as 412,96.5, got {raw}",
                raw=" ".join(words),
            )
        )
    return corners


def _written_text(out: Path, kept: Path | None) -> Message:
    return sentences(
        msg("{path}: written.", path=out),
        msg("The previous table is in {path}.", path=kept) if kept else "",
    )


@click.command()
@click.argument("photo", type=click.Path(path_type=Path))
@click.option(
    "--table",
    "draft_path",
    type=click.Path(path_type=Path),
    required=True,
    help="table.json, with or without a camera; or print --json.",
)
@_game_options
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The file to write; what was there is kept as OUT.bak.",
)
def frame(photo: Path, draft_path: Path, out: Path, **wanted: Any) -> None:
    """Estimate the lens from PHOTO alone, which shows the markers of a table.

    This makes a first table.json without a calibrated lens.
    """
    check_output(out, photo)
    image = read_image(photo).image
    height, width = image.shape[:2]
    draft = read_draft(draft_path, unknown_lens(width, height), GameChoice(**wanted))
    try:
        with progress(msg("Calculating the lens")):
            first = first_lens(image, draft.fiducials, draft.board)
    except InputError as error:
        raise InputError(msg("{photo}: {text}", photo=photo, text=error.message)) from error
    setup = msgspec.structs.replace(draft, camera=first.lens)
    camera = locate(image, setup)
    if not isinstance(camera, Camera):
        raise InputError(msg("{photo}: {text}", photo=photo, text=camera.reason))
    kept = replace_table(setup, out)
    _say_first(first, setup, camera)
    say(*colour_warnings(image, camera, setup))
    say(_written_text(out, kept))


def read_draft(path: Path, lens: Lens, wanted: GameChoice, scale: float = 1.0) -> Setup:
    """Read the table of a file that may lack camera and game, and give it this lens.

    All printed lengths are `scale` times those in the file.
    """
    raw = read_json(path)
    if not isinstance(raw, dict) or not {"fiducials", "board"} <= raw.keys():
        raise InputError(
            msg(
                "{path}: expected a table with fiducials and board, as in table.json or"
                " from rinkside print --json",
                path=path,
            )
        )
    document = {
        "format": FORMAT,
        "camera": msgspec.to_builtins(lens),
        "fiducials": raw["fiducials"],
        "board": raw["board"],
    }
    if "game" in raw:
        return scale_printed(
            parse_table(document | {"game": raw["game"]}, path.name, beside=path.parent), scale
        )
    any_game = Game(name="any", colours=("red",), sizes=("medium",))
    board = parse_table(document | {"game": msgspec.to_builtins(any_game)}, path.name).board
    return scale_printed(
        parse_table(document | {"game": msgspec.to_builtins(_game(board, wanted))}, path.name),
        scale,
    )


@click.command()
@click.argument("board_path", metavar="BOARD.json", type=click.Path(path_type=Path))
@_lens_option
@_size_option
@click.option(
    "--bar-mm",
    type=float,
    default=BAR_MM,
    show_default=True,
    help="What the check bar at the foot of the pages measures.",
)
@_game_options
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The file to write; what was there is kept as OUT.bak.",
)
def printed(
    board_path: Path, lens_said: str, size: str | None, bar_mm: float, out: Path, **wanted: Any
) -> None:
    """Make a table.json of a board that was printed with its markers.

    BOARD.json is what rinkside print --json printed.
    """
    scale = printed_scale(bar_mm)
    check_output(out, board_path, Path(lens_said))
    setup = read_draft(board_path, lens_for(lens_said, size), GameChoice(**wanted), scale)
    kept = replace_table(setup, out)
    if bar_mm != BAR_MM:
        longer = f"{100 * (bar_mm / BAR_MM - 1):+.1f} %"
        say(msg("The print is off in size: {raw}. That is taken into account.", raw=longer))
    say(_written_text(out, kept))


def _say_first(first: FirstLens, setup: Setup, camera: Camera) -> None:
    """Print the quality of the lens, in pixels and in mm on the table."""
    (fx, _, cx), (_, _, cy), _ = first.lens.matrix
    for name, value, unit in (
        ("fx", fx, " px"),
        ("cx", cx, " px"),
        ("cy", cy, " px"),
        ("k1", first.lens.distortion[0], ""),
    ):
        say(f"{name}: {fine_margin(value, first.sigma[name])}{unit}")
    marks, lines = first.edges
    say(
        msg("Edges that were measured: {n} of markers, {n2} of the board.", n=marks, n2=lines),
        msg(
            "The camera looks {raw}° from straight down, {mm} mm above the table.",
            raw=f"{first.tilt_deg:.0f}",
            mm=f"{camera.eye_mm[2]:.0f}",
        ),
    )
    low, high = (Z_95 * worst_sigma_mm(setup, camera, height_mm) for height_mm in (0.0, HIGH_MM))
    say(
        msg(
            "On the table places are known to ± {mm} mm, {mm2} mm above it to ± {mm3} mm, at the"
            " worst corner of the board.",
            mm=f"{low:.1f}",
            mm2=f"{HIGH_MM:g}",
            mm3=f"{high:.1f}",
        ),
        msg(
            "± holds 95 of 100 true values. This is a first estimate: a calibrated lens is better"
            " (rinkside calibrate lens)."
        ),
    )


@click.command()
@click.argument("photo", type=click.Path(path_type=Path))
@table_option
@click.option(
    "--before",
    type=click.Path(path_type=Path),
    help="A picture of the same table from before: has the camera moved since?",
)
@click.pass_context
def recheck(ctx: click.Context, photo: Path, table_path: Path, before: Path | None) -> None:
    """Say whether corner cards, board and camera in PHOTO are still where table.json says.

    Exit code 1 where they are not.
    """
    setup = load_table(table_path)
    there = locate(read_image(before, setup).image, setup) if before else None
    moved = recheck_table(
        read_image(photo, setup).image, setup, there if isinstance(there, Camera) else None
    ).message
    for sentence in moved:
        say(sentence)
    if moved:
        ctx.exit(1)
    say(
        msg("The corner cards and the board are where table.json says.")
        if before is None
        else msg("Nothing has moved: corner cards, board and camera are where they were.")
    )


@click.command()
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
def restore(path: Path) -> None:
    """Bring back the table or lens that was in FILE before; what is there now becomes FILE.bak."""
    kept = path.with_name(f"{path.name}.bak")
    raw = read_json(kept)
    if isinstance(raw, dict) and raw.get("format") == FORMAT:
        parse_table(raw, kept.name, beside=path.parent)
    else:
        load_lens(kept)
    now = (
        read_bytes(path, phrase("a file that can be replaced"), MOST_TEXT_BYTES)
        if path.exists()
        else None
    )
    aside = path.with_name(f".{path.name}.restored")
    os.replace(kept, aside)
    if now is not None:
        write_whole(kept, now)
    os.replace(aside, path)
    say(msg("{path}: restored.", path=path))
    if now is not None:
        say(msg("What was there is {path}", path=kept))
