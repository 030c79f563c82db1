"""`rinkside calibrate lens`: calibrate a camera's lens."""

from __future__ import annotations

import re
from contextlib import closing, nullcontext
from pathlib import Path

import click
import msgspec
from rich.markup import escape

from calibration.lens.capture import Terminal, take_views
from calibration.lens.file import LensFile, lens_file, save_lens
from calibration.lens.fit import calibrate_lens
from calibration.lens.models import parameters_of
from calibration.lens.overlay import coverage_picture
from calibration.lens.presets import known_lens
from calibration.lens.target import Charuco, ChessTarget, Target
from calibration.lens.views import Views, read_views
from calibration.progress import LensGuide
from cli.calibrate.check import check
from cli.calibrate.colours import colours
from cli.calibrate.pieces import pieces
from cli.calibrate.table import frame, printed, recheck, restore, table
from cli.options import complain
from cli.serve_options import page_options, served
from cli.terminal import console, in_language, language, new_table, number, progress, say, say_json
from table.errors import InputError
from table.files import check_output
from table.measured_text import fine_margin
from table.messages import NONE, Message, msg, sentences
from vision.annotate.photo import check_picture_path, write_picture
from vision.cameras.base import open_camera
from vision.cameras.reconnect import AnnouncedCamera
from webui import create_lens_app

SQUARE_MM = {"charuco": 20.0, "chessboard": 25.0}
"""Default size of a target's squares in mm; it scales the views' distances, not the lens."""


@click.group()
def calibrate() -> None:
    """Measure the lens, the table and the colours of the pieces."""


for command in (table, printed, frame, recheck, restore, colours, pieces, check):
    calibrate.add_command(command)


@calibrate.command()
@click.option(
    "--from",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder of photos of the target, 12 or more.",
)
@click.option("--camera", "spec", help="Take them now, guided: rpicam:0, v4l2:0, ...")
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    help="Folder for the photos that --camera takes; --from can use them again.",
)
@click.option(
    "--lens",
    "known",
    help=(
        "With --camera: which camera it is, such as camera-module-3; guidance is better from the"
        " start."
    ),
)
@click.option(
    "--target",
    "target_name",
    metavar="charuco|chessboard",
    default="charuco",
    show_default=True,
    help="The kind of target.",
)
@click.option("--corners", metavar="WxH", help="Inner corners of the chessboard, such as 9x6.")
@click.option(
    "--square-mm",
    type=float,
    help="Side of the target's squares; only the views' distances depend on it.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The file to write; what was there is kept as OUT.bak.",
)
@click.option(
    "--picture",
    type=click.Path(path_type=Path),
    help="Draw where in the picture the target's corners were.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the document that is written.")
@page_options("With --camera: guidance on a page, with the live picture, instead of the terminal.")
def lens(
    folder: Path | None,
    spec: str | None,
    keep: Path | None,
    known: str | None,
    target_name: str,
    corners: str | None,
    square_mm: float | None,
    out: Path,
    picture: Path | None,
    as_json: bool,
    panel: bool,
    host: str,
    port: int,
    public_names: tuple[str, ...],
) -> None:
    """Calibrate a lens from photos of a target, or live with a camera."""
    target = _target(target_name, corners, square_mm)
    taken = list(folder.iterdir()) if folder and folder.is_dir() else []
    check_output(out, *taken)
    if picture is not None:
        check_picture_path(picture)
        check_output(picture, out, *taken)
    _check_source(folder, spec, keep, known, panel)
    guide = LensGuide() if panel else None
    with served(guide, create_lens_app, host, port, public_names) if guide else nullcontext():
        if folder:
            with progress(msg("Reading the photos")):
                views = read_views(folder, target)
        else:
            views = _take_views(str(spec), keep, known, target, guide)
        try:
            with progress(msg("Calculating the lens")):
                calibrated = calibrate_lens(views.views, views.size_px)
        except InputError as error:
            raise InputError(
                msg("{raw}: {text}", raw=folder or spec, text=error.message)
            ) from error
        file = lens_file(calibrated, views, target.description, target.square_mm)
        if picture is not None:
            write_picture(picture, coverage_picture(calibrated, language()))
        kept = save_lens(file, out)
        written = sentences(
            msg("{path}: written.", path=out),
            msg("The previous lens is in {path}.", path=kept) if kept else "",
        )
        if guide:
            guide.finish((_summary(file), *file.advice, written))
    if as_json:
        say_json(msgspec.json.encode(file, enc_hook=str).decode())
    else:
        _print(file)
        say(written)


def _check_source(
    folder: Path | None, spec: str | None, keep: Path | None, known: str | None, panel: bool
) -> None:
    """Raise InputError unless the source is a folder, or a camera with its own options."""
    with_camera = spec is not None or keep is not None or known is not None or panel
    if (folder is not None and with_camera) or (folder is None and spec is None):
        raise InputError(
            msg(
                "calibrate lens: expected either --from FOLDER or --camera; --keep, --lens"
                " and --panel go only with --camera"
            )
        )
    if keep is not None and not keep.is_dir():
        raise InputError(msg("--keep: expected a folder that exists, got {raw}", raw=keep))


def _take_views(
    spec: str, keep: Path | None, known: str | None, target: Target, guide: LensGuide | None
) -> Views:
    """Take views with guidance on a page or in the terminal."""
    first_lens = (lambda size: known_lens(known, size)) if known else None
    with closing(AnnouncedCamera(open_camera(spec, None), complain)) as camera:
        if guide:
            return take_views(camera, target, guide, first_lens, keep)
        with Terminal(console(err=True), in_language) as terminal:
            return take_views(camera, target, terminal, first_lens, keep)


def _target(name: str, corners: str | None, square_mm: float | None) -> Target:
    if name not in SQUARE_MM:
        raise InputError(msg("--target: expected charuco or chessboard, got {raw}", raw=repr(name)))
    side = SQUARE_MM[name] if square_mm is None else square_mm
    if not 1 <= side <= 500:
        raise InputError(msg("--square-mm: expected 1 to 500 mm, got {mm}", mm=f"{side:g}"))
    if name == "charuco":
        if corners is not None:
            raise InputError(
                msg(
                    "--corners: expected only with --target chessboard; the ChArUco target"
                    " has its own corners"
                )
            )
        return Charuco(side)
    counts = re.fullmatch(r"(\d{1,2})x(\d{1,2})", corners or "")
    if not counts or not all(3 <= int(count) <= 40 for count in counts.groups()):
        raise InputError(
            msg(
                "--corners: expected the chessboard's inner corners, 3x3 to 40x40, such"
                " as 9x6, got {text}",
                text=corners or NONE,
            )
        )
    return ChessTarget(int(counts[1]), int(counts[2]), side)


def _print(file: LensFile) -> None:
    output = console()
    rows = new_table(
        msg("view"),
        msg("corners"),
        msg("tilt, °"),
        msg("away, mm"),
        msg("RMS, px"),
        msg("worst, px"),
        right=range(1, 6),
        caption=msg("RMS: how far corners are from where the lens puts them"),
    )
    for view in file.views:
        numbers = (
            f"{view.tilt_deg:.0f}",
            f"{view.away_mm:.0f}",
            number(f"{view.rms_px:.2f}"),
            number(f"{view.worst_px:.2f}"),
        )
        rows.add_row(escape(view.name), str(view.corners), *numbers)
    output.print(rows)
    for out in file.left_out:
        message = msg("skipped {name}: {text}", name=out.name, text=out.reason)
        output.print(escape(in_language(message)), highlight=False)
    values = parameters_of(file.camera)
    rows = new_table(
        msg("parameter"),
        msg("value with ±"),
        msg("unit"),
        right=(1,),
        caption=msg("± holds {share} of true values", share="95 %"),
    )
    for name, sigma in file.sigma.items():
        value = number(fine_margin(values[name], sigma))
        rows.add_row(name, value, "px" if name in ("fx", "fy", "cx", "cy") else "")
    output.print(rows)
    for sentence in file.advice:
        output.print(escape(in_language(sentence)), highlight=False)
    output.print(in_language(_summary(file)), highlight=False)


def _summary(file: LensFile) -> Message:
    """Summary of a lens's quality."""
    return sentences(
        msg(
            "{n} views, model {kind}: RMS {mm} px, on held-out views {mm2} px.",
            n=len(file.views),
            kind=file.model,
            mm=f"{file.rms_px:.3f}",
            mm2=f"{file.held_out_px[file.model]:.3f}",
        ),
        msg("Corners cover {share} of the picture.", share=f"{100 * file.coverage:.0f} %"),
    )
