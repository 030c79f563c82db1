"""`rinkside measure` and `rinkside observe`: one photograph read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import msgspec
import numpy as np
from rich.markup import escape

from calibration.photo_table import InPlay, printed_mat
from calibration.table.printed import printed_scale
from cli.options import address_options, complain, empty_option, table_option
from cli.photo import (
    SAMPLE,
    Reading,
    drawn_gaps,
    load_photo_table,
    measured_gaps,
    parse_colours,
    parse_sizes,
    photo_warnings,
    read_calibrated,
    read_mat,
    read_table,
    sample_photo,
)
from cli.terminal import console, in_language, new_table, number, progress, say, say_json
from table.errors import InputError
from table.files import check_output
from table.game_facts import Measuring, RankedGaps
from table.games import measuring, table_facts
from table.json_data import JsonObject
from table.measured_text import with_margin
from table.messages import Message, msg, phrase
from table.observation import SURE, Observation, SeenPiece, observation_document
from table.pieces import COLOURS
from table.solids import REPEATS_DEG
from table.table_config import Setup
from vision.annotate.photo import Note, Tone, annotate, check_picture_path, write_picture
from vision.cameras.photographs import decode_photograph, read_photograph

_picture_option = click.option(
    "--picture",
    type=click.Path(path_type=Path),
    help="Write the photo with the results drawn in: OUT.png or OUT.jpg.",
)
_debug_option = click.option(
    "--debug",
    type=click.Path(path_type=Path),
    help="A folder for pictures of every stage of reading: send them with a report.",
)
_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@dataclass(frozen=True, slots=True)
class _Files:
    """Input and output files of a measurement."""

    table: Path | None
    empty: Path | None
    picture: Path | None
    debug: Path | None

    def check(self, photo: Path | None) -> None:
        """Raise InputError if the output picture could not be written."""
        if self.picture:
            check_picture_path(self.picture)
            check_output(self.picture, photo, self.empty, self.table)


@click.command()
@click.argument("photo", type=click.Path(path_type=Path), required=False)
@click.option(
    "--table",
    "table_path",
    type=click.Path(path_type=Path),
    help="table.json of a calibrated table; without it, the photo shows the printed mat.",
)
@empty_option
@_json_option
@_debug_option
@_picture_option
@click.option(
    "--target",
    metavar="COLOUR",
    help="Colour of the target, if it differs from table.json or is not clear.",
)
@click.option("--colours", help="The players' colours on the mat; without it, read from the photo.")
@click.option("--sizes", help="Sizes of the pieces on the mat; without it, read from the photo.")
@click.option(
    "--bar-mm", type=float, help="What the check bar at the foot of the mat's pages measures."
)
@click.option("--sample", is_flag=True, help="Measure the sample photo.")
@click.option("--serve", is_flag=True, help="Serve a page that measures photos of the mat.")
@address_options
def measure(
    photo: Path | None,
    table_path: Path | None,
    empty: Path | None,
    as_json: bool,
    debug: Path | None,
    picture: Path | None,
    target: str | None,
    colours: str | None,
    sizes: str | None,
    bar_mm: float | None,
    sample: bool,
    serve: bool,
    **address: Any,
) -> None:
    """Rank the pieces in PHOTO by their gap to the target, and say who leads.

    PHOTO shows the mat of "rinkside print mat", taken with any camera: JPEG, PNG or HEIC. With
    --table it shows a table of your own.
    """
    if (photo is not None) + sample + serve != 1:
        raise InputError(msg("expected a photo, --sample or --serve"))
    scale = 1.0 if bar_mm is None else printed_scale(bar_mm)
    if serve:
        # Flask loads slowly on a small board.
        from cli.photo_page import serve_measuring

        serve_measuring(scale, **address)
        return
    files = _Files(table_path, empty, picture, debug)
    files.check(photo)
    named = _in_play(target, colours, sizes)
    _, ruler = measuring()
    if table_path is None:
        if empty:
            raise InputError(msg("--empty: expected only with --table"))
        where = str(photo) if photo else SAMPLE
        data = read_photograph(photo) if photo else sample_photo()
        photograph = decode_photograph(data, where)
        reading = read_mat(photograph, where, printed_mat(scale), named, ruler, debug)
    else:
        if photo is None or colours or sizes or bar_mm is not None:
            raise InputError(
                msg("--table: expected without --sample, --colours, --sizes and --bar-mm")
            )
        setup, calibrated = load_photo_table(table_path)
        where, reading = str(photo), _look(photo, retarget(setup, target), calibrated, files)
    measured = measured_gaps(reading, where, ruler)
    if warning := photo_warnings(reading):
        complain(warning)
    if picture:
        write_picture(picture, drawn_gaps(reading, measured, ruler))
    if as_json:
        say_json(json.dumps({"target": reading.setup.game.target} | ruler.document(measured)))
    else:
        _print_ranking(measured, ruler)
        if table_path is None:
            _print_named(reading, named)


def _in_play(target: str | None, colours: str | None, sizes: str | None) -> InPlay:
    """The pieces on the mat given by the options; raises InputError."""
    if target is not None:
        parse_colours(target, "--target")
    return InPlay(
        parse_colours(colours, "--colours") if colours is not None else (),
        target,
        parse_sizes(sizes, "--sizes") if sizes is not None else (),
    )


def retarget(setup: Setup, target: str | None) -> Setup:
    """The setup with the requested target colour.

    Raises InputError if its game has no target.
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


def _look(photo: Path, setup: Setup, calibrated: bool, files: _Files) -> Reading:
    """Read a photograph of a table, with its lens if it has one.

    Raises InputError.
    """
    if files.empty and not calibrated:
        raise InputError(msg("--empty: expected only with a table.json that has a camera"))
    with progress(msg("Reading the photo")):
        if calibrated:
            return read_calibrated(photo, setup, files.empty, files.debug)
        where = str(photo)
        photograph = decode_photograph(read_photograph(photo), where)
        return read_table(photograph, where, setup, files.debug)


def _print_named(reading: Reading, named: InPlay) -> None:
    """Print properties read off the photograph as the options that would set them."""
    game = reading.setup.game
    options = [
        (named.target, f"--target {game.target}"),
        (named.colours, f"--colours {','.join(game.colours)}"),
        (named.sizes, f"--sizes {','.join(game.sizes)}"),
    ]
    found = " ".join(option for given, option in options if not given)
    if found:
        text = msg(
            "Read from the photo: {raw}. Name them yourself for a more reliable result.", raw=found
        )
        console().print(escape(in_language(text)), highlight=False)


def _print_ranking(measured: RankedGaps, ruler: Measuring) -> None:
    table = new_table(
        "",
        msg("piece"),
        msg("pose"),
        msg("gap, mm"),
        msg("remarks"),
        right=(0, 3),
        caption=msg("± holds {share} of true gaps", share="95 %"),
    )
    for place, gap in enumerate(measured.gaps):
        rivals = [f"#{i + j - place + 1}" for i, j in measured.pairs if place in (i, j)]
        remarks = [phrase("on the target")] if gap.on_target else []
        remarks += [phrase("touching")] if gap.touching and not gap.on_target else []
        if rivals:
            remarks.append(phrase("too close to call with {raw}", raw=", ".join(rivals)))
        remarks += _doubts(gap.piece)
        margin = "" if gap.on_target else number(with_margin(gap.mm, gap.sigma_mm))
        table.add_row(f"#{place + 1}", *_names(gap.piece), margin, _join(remarks))
    if measured.gaps:
        console().print(table)
    say(ruler.sentence(measured))


def _names(piece: SeenPiece) -> tuple[str, str]:
    """Colour and size of a piece, and its pose, in the language of the terminal."""
    name = phrase("{colour} {size}", colour=piece.colour, size=piece.size)
    pose = phrase("{pose}", pose=piece.pose)
    return escape(in_language(name)), in_language(pose)


def _join(remarks: Iterable[str]) -> str:
    return "; ".join(escape(in_language(remark)) for remark in remarks)


@click.command()
@click.argument("photo", type=click.Path(path_type=Path))
@table_option
@empty_option
@_json_option
@_debug_option
@_picture_option
def observe(
    photo: Path,
    table_path: Path,
    empty: Path | None,
    as_json: bool,
    debug: Path | None,
    picture: Path | None,
) -> None:
    """List the pieces in PHOTO and where they are."""
    files = _Files(table_path, empty, picture, debug)
    files.check(photo)
    reading = _look(photo, *load_photo_table(table_path), files)
    seen, setup = reading.seen, reading.setup
    if picture:
        notes = _name_notes(seen, setup)
        write_picture(picture, annotate(reading.image, seen, setup.camera, notes))
    if as_json:
        say_json(json.dumps(_document(seen, setup)))
    else:
        _print_pieces(seen)


def _document(seen: Observation, setup: Setup) -> JsonObject:
    """`rinkside-observation/1`, with gaps and call if the table's game measures."""
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
    table = new_table(
        msg("piece"),
        msg("pose"),
        "x, mm",
        "y, mm",
        msg("heading, °"),
        msg("remarks"),
        right=(2, 3, 4),
        whole=range(5),
        caption=msg("± holds {share} of true values", share="95 %"),
    )
    for piece, off_board in [(piece, False) for piece in seen.pieces] + [
        (piece, True) for piece in seen.off_board
    ]:
        sigmas = np.sqrt(np.diag(piece.covariance))
        values = (*piece.base_mm, piece.heading_deg % REPEATS_DEG[piece.pose])
        numbers = [
            number(with_margin(float(value), float(sigma)))
            for value, sigma in zip(values, sigmas, strict=True)
        ]
        table.add_row(*_names(piece), *numbers, _join(_remarks(piece, seen, off_board)))
    for counter in seen.counters:
        x, y = (
            number(with_margin(value, counter.sigma_mm)) for value in (counter.x_mm, counter.y_mm)
        )
        name = in_language(phrase("{colour} counter", colour=counter.colour))
        table.add_row(escape(name), in_language(phrase("flat")), x, y, "", "")
    console().print(table)
    say(
        msg(
            "The camera is {mm} mm above the table and sees the markers {raw}.",
            mm=f"{seen.camera.eye_mm[2]:.0f}",
            raw=", ".join(map(str, seen.camera.fiducials_seen)),
        ),
        *seen.notes,
    )


def _remarks(piece: SeenPiece, seen: Observation, off_board: bool) -> list[Message]:
    remarks = [phrase("off the board")] if off_board else []
    if piece.on is not None:
        below = seen.pieces[piece.on]
        remarks.append(phrase("on {colour} {size}", colour=below.colour, size=below.size))
    return remarks + _doubts(piece)


def _doubts(piece: SeenPiece) -> list[Message]:
    """Reasons why a piece's reading is in doubt."""
    colour, size, pose = (
        f"{100 * probability:.0f} %" if probability < SURE else ""
        for probability in (
            piece.colour_probability,
            piece.size_probability,
            piece.pose_probability,
        )
    )
    return [
        *([phrase("colour {share} sure", share=colour)] if colour else []),
        *([phrase("size {share} sure", share=size)] if size else []),
        *([phrase("pose {share} sure", share=pose)] if pose else []),
    ]
