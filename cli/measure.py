"""`rinkside measure` and `rinkside observe`: one photograph read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec
import numpy as np
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from cli.options import empty_option, table_option
from cli.terminal import console, in_language, progress, say_json
from table.errors import InputError
from table.files import check_output
from table.game_facts import Measuring, RankedGaps
from table.games import measuring, table_facts
from table.json_data import JsonObject
from table.measured_text import with_margin
from table.messages import msg
from table.observation import SURE, Observation, SeenPiece, observation_document
from table.pieces import COLOURS
from table.solids import REPEATS_DEG
from table.table_config import Setup, load_table
from vision.annotate.debug_stages import write_stages
from vision.annotate.photo import Note, Tone, annotate, check_picture_path, write_picture
from vision.cameras.frame import Image
from vision.cameras.image_files import read_image
from vision.observe import observe as observe_frame

Options = Callable[..., Any]


def _photograph_options(command: Options) -> Options:
    for option in (
        click.option(
            "--picture",
            type=click.Path(path_type=Path),
            help="Write the photograph with what was read drawn in: OUT.png or OUT.jpg.",
        ),
        click.option(
            "--debug",
            type=click.Path(path_type=Path),
            help="A folder for pictures of every stage of reading: send them with a report.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
        empty_option,
        table_option,
        click.argument("photo", type=click.Path(path_type=Path)),
    ):
        command = option(command)
    return command


@click.command()
@_photograph_options
@click.option(
    "--target",
    metavar="COLOUR",
    help="Colour of the target, where it is not the one in table.json.",
)
def measure(
    photo: Path,
    table_path: Path,
    empty: Path | None,
    as_json: bool,
    debug: Path | None,
    picture: Path | None,
    target: str | None,
) -> None:
    """Rank the pieces in PHOTO by their gap to the target, and say who leads."""
    setup = aimed(load_table(table_path), target)
    image, seen = _look(photo, table_path, setup, empty, picture, debug)
    _, ruler = measuring()
    measured = ruler.measure(seen, str(setup.game.target))
    if isinstance(measured, str):
        raise InputError(msg("{photo}: {raw}", photo=photo, raw=in_language(measured).rstrip(".")))
    if picture:
        write_picture(
            picture,
            annotate(
                image, seen, setup.camera, _gap_notes(measured, seen), ruler.sentence(measured)
            ),
        )
    if as_json:
        say_json(json.dumps(ruler.document(measured)))
    else:
        _print_ranking(measured, ruler)


def aimed(setup: Setup, target: str | None) -> Setup:
    """The setup with the target's colour as asked for.

    Raises InputError where there is none.
    """
    if target is None:
        if setup.game.target is None:
            raise InputError(
                msg(
                    "table.json: game.target: expected the colour of the target, got none;"
                    " name it with --target"
                )
            )
        return setup
    if target not in COLOURS:
        raise InputError(
            msg(
                "--target: expected a colour ({raw}), got {raw2}",
                raw=", ".join(COLOURS),
                raw2=repr(target),
            )
        )
    others = tuple(colour for colour in setup.game.colours if colour != target)
    return msgspec.structs.replace(
        setup, game=msgspec.structs.replace(setup.game, colours=others, target=target)
    )


def _look(
    photo: Path,
    table_path: Path,
    setup: Setup,
    empty: Path | None,
    picture: Path | None,
    debug: Path | None,
) -> tuple[Image, Observation]:
    """The photograph and what is observed in it.

    Raises InputError, also where the picture that is to be made could not be written.
    """
    if picture:
        check_picture_path(picture)
        check_output(picture, photo, empty, table_path)
    frame = read_image(photo, setup)
    reference = read_image(empty, setup) if empty else None
    with progress(msg("Reading the photograph")):
        if debug:
            write_stages(debug, frame, setup, reference)
        seen = observe_frame(frame, setup, reference)
    if isinstance(seen, Observation):
        return frame.image, seen
    raise InputError(msg("{photo}: {text}", photo=photo, text=seen.reason))


def _gap_notes(measured: RankedGaps, seen: Observation) -> list[Note]:
    """Notes for the picture: every gap, nearest first.

    Gaps that count, or may count, have a tone of their own.
    """
    doubted = {place for pair in measured.pairs for place in pair}
    if measured.doubts:
        doubted |= {
            place for place, gap in enumerate(measured.gaps) if gap.piece.colour_probability < SURE
        }
    others = [
        place for place, gap in enumerate(measured.gaps) if gap.piece.colour != measured.leading
    ]
    notes = []
    for place, gap in enumerate(measured.gaps):
        tone: Tone = (
            "doubtful"
            if place in doubted
            else "leading"
            if place < min(others, default=len(measured.gaps))
            else "plain"
        )
        text = (
            "on the target"
            if gap.on_target
            else "touching"
            if gap.touching
            else f"{with_margin(gap.mm, gap.sigma_mm)} mm"
        )
        nearest = None if gap.on_target or gap.touching else np.array(gap.points_mm)
        notes.append(Note(gap.index, f"#{place + 1}  {text}", tone, nearest))
    target = next(index for index, piece in enumerate(seen.pieces) if piece is measured.target)
    return [*notes, Note(target, "target", "target")]


def _print_ranking(measured: RankedGaps, ruler: Measuring) -> None:
    table = Table(box=SIMPLE_HEAD, caption="± holds 95 % of true gaps", caption_justify="left")
    for heading in ("", "piece", "pose", "gap, mm", "remarks"):
        table.add_column(heading, justify="right" if heading in ("", "gap, mm") else "left")
    for place, gap in enumerate(measured.gaps):
        rivals = [f"#{i + j - place + 1}" for i, j in measured.pairs if place in (i, j)]
        remarks = ["on the target"] if gap.on_target else ["touching"] if gap.touching else []
        remarks += [f"too close to call with {', '.join(rivals)}"] if rivals else []
        remarks += _doubts(gap.piece)
        margin = "" if gap.on_target else with_margin(gap.mm, gap.sigma_mm)
        table.add_row(
            f"#{place + 1}",
            f"{gap.piece.colour} {gap.piece.size}",
            gap.piece.pose,
            margin,
            "; ".join(remarks),
        )
    output = console()
    if measured.gaps:
        output.print(table)
    output.print(escape(ruler.sentence(measured)), highlight=False)


@click.command()
@_photograph_options
def observe(
    photo: Path,
    table_path: Path,
    empty: Path | None,
    as_json: bool,
    debug: Path | None,
    picture: Path | None,
) -> None:
    """Say which pieces lie where in PHOTO."""
    setup = load_table(table_path)
    image, seen = _look(photo, table_path, setup, empty, picture, debug)
    if picture:
        write_picture(picture, annotate(image, seen, setup.camera, _name_notes(seen, setup)))
    if as_json:
        say_json(json.dumps(_document(seen, setup)))
    else:
        _print_pieces(seen)


def _document(seen: Observation, setup: Setup) -> JsonObject:
    """`rinkside-observation/1`, with gaps and call where the table's game measures."""
    document = observation_document(seen)
    ruler = table_facts(setup.game.name).measuring
    if ruler and setup.game.target:
        document |= ruler.document(ruler.measure(seen, setup.game.target))
    return document


def _name_notes(seen: Observation, setup: Setup) -> list[Note]:
    tones: dict[bool, Tone] = {True: "target", False: "plain"}
    return [
        Note(index, f"{piece.colour} {piece.size}", tones[piece.colour == setup.game.target])
        for index, piece in enumerate(seen.pieces)
    ]


def _print_pieces(seen: Observation) -> None:
    table = Table(box=SIMPLE_HEAD, caption="± holds 95 % of true values", caption_justify="left")
    for heading in ("piece", "pose", "x, mm", "y, mm", "heading, °", "remarks"):
        table.add_column(
            heading, justify="right" if "," in heading else "left", no_wrap=heading != "remarks"
        )
    for piece, off_board in [(piece, False) for piece in seen.pieces] + [
        (piece, True) for piece in seen.off_board
    ]:
        sigmas = np.sqrt(np.diag(piece.covariance))
        values = (*piece.base_mm, piece.heading_deg % REPEATS_DEG[piece.pose])
        numbers = [
            with_margin(float(value), float(sigma))
            for value, sigma in zip(values, sigmas, strict=True)
        ]
        table.add_row(
            f"{piece.colour} {piece.size}",
            piece.pose,
            *numbers,
            ", ".join(_remarks(piece, seen, off_board)),
        )
    for counter in seen.counters:
        x, y = (with_margin(value, counter.sigma_mm) for value in (counter.x_mm, counter.y_mm))
        table.add_row(f"{counter.colour} counter", "flat", x, y, "", "")
    output = console()
    output.print(table)
    fiducials = ", ".join(map(str, seen.camera.fiducials_seen))
    output.print(
        f"Camera {seen.camera.eye_mm[2]:.0f} mm above the table; fiducials seen: {fiducials}."
    )
    for note in seen.notes:
        output.print(escape(in_language(note)))


def _remarks(piece: SeenPiece, seen: Observation, off_board: bool) -> list[str]:
    remarks = ["off board"] if off_board else []
    if piece.on is not None:
        below = seen.pieces[piece.on]
        remarks.append(f"on {below.colour} {below.size}")
    return remarks + _doubts(piece)


def _doubts(piece: SeenPiece) -> list[str]:
    """Why a piece's reading is in doubt."""
    doubts = (
        ("colour", piece.colour_probability),
        ("size", piece.size_probability),
        ("pose", piece.pose_probability),
    )
    return [
        f"{what} {100 * probability:.0f} % sure"
        for what, probability in doubts
        if probability < SURE
    ]
