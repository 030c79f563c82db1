"""`rinkside calibrate pieces`: measure sizes and colours of one's own pieces in two photographs."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import get_args

import click
import msgspec
import numpy as np
from rich.markup import escape

from calibration.colours import SimilarColours, close_pairs
from calibration.own_pieces import (
    CheckedPiece,
    MeasuredSize,
    NamedPiece,
    Shown,
    check_reading,
    measure_size,
    named_pieces,
    read_own_pieces,
    with_own_pieces,
)
from cli.options import table_option
from cli.terminal import console, in_language, new_table, number, progress, say_written
from table.errors import InputError
from table.files import check_output
from table.messages import Message, as_sentence, msg, sentences
from table.pieces import PieceSet, save_piece_set
from table.table_config import Setup, load_table
from table.table_file import replace_table
from vision.cameras.frame import Image
from vision.cameras.image_files import read_image
from vision.cameras.reconnect import take_pictures

SHOWN: tuple[Shown, ...] = get_args(Shown)


@click.command()
@table_option
@click.option(
    "--standing",
    type=click.Path(path_type=Path),
    metavar="PHOTO",
    help="All pieces standing, apart: one of each size and colour.",
)
@click.option(
    "--lying",
    type=click.Path(path_type=Path),
    metavar="PHOTO",
    help="The same pieces lying, apart.",
)
@click.option(
    "--camera", "spec", metavar="SPEC", help="Take both photos with this camera, such as rpicam:0."
)
@click.option(
    "--sizes",
    metavar="NAMES",
    help="Names of the sizes, the smallest first: small,medium,large."
    "  [default: those of the table's game]",
)
@click.option("--name", default="my set", show_default=True, help="What the set is called.")
@click.option(
    "--wall",
    "wall_mm",
    type=click.FloatRange(0, 20),
    default=1.5,
    show_default=True,
    help="Thickness of the shell in mm, by a calliper; 0 for solid pieces.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write, beside TABLE.  [default: pieces.toml]",
)
def pieces(
    table_path: Path,
    standing: Path | None,
    lying: Path | None,
    spec: str | None,
    sizes: str | None,
    name: str,
    wall_mm: float,
    out: Path | None,
) -> None:
    """Measure your own pieces: sizes and colours of a set, from two photos on a calibrated table.

    Put one piece of each size and colour on a plain board, apart. Take a photo of them standing,
    then one of them lying. The sizes are written to a file beside TABLE, and TABLE uses them.
    """
    setup, out = load_table(table_path), out or table_path.with_name("pieces.toml")
    names = setup.game.sizes if sizes is None else tuple(one.strip() for one in sizes.split(","))
    _check_options(setup, names, out, table_path)
    check_output(out, *(path for path in (standing, lying) if path is not None))
    photos = _photos(standing, lying, spec, setup)
    named = _name_pieces(photos, setup, names)
    measured = _measure_sizes(named, names)
    learned = with_own_pieces(
        setup, named, PieceSet(name, tuple(one.size(wall_mm) for one in measured))
    )
    pairs = close_pairs(learned, np.median([one.piece.looks.ground for one in named], axis=0))
    with progress(msg("Reading the photos again")):
        checked = list(check_reading(named, learned, [image for _, image in photos]))
    kept = [save_piece_set(learned.pieces, out)]
    kept.append(
        replace_table(
            msgspec.structs.replace(
                learned, game=msgspec.structs.replace(setup.game, pieces=out.name)
            ),
            table_path,
        )
    )
    _print(measured, pairs, checked)
    for path, before in zip((out, table_path), kept, strict=True):
        say_written(path, before)


def _check_options(setup: Setup, names: tuple[str, ...], out: Path, table_path: Path) -> None:
    """Raise InputError for unusable names and files."""
    if out.suffix != ".toml" or out.resolve().parent != table_path.resolve().parent:
        raise InputError(
            msg(
                "--out: expected a .toml file in the folder of {path}, got {raw}",
                path=table_path,
                raw=str(out),
            )
        )
    if len(set(names)) < len(names) or not all(names):
        raise InputError(
            msg(
                "--sizes: expected different names, the smallest first, got {raw}",
                raw=", ".join(map(repr, names)),
            )
        )
    for size in setup.game.sizes:
        if size not in names:
            raise InputError(
                msg(
                    "--sizes: expected {raw} among them, as in the game of the table, got {raw2}",
                    raw=repr(size),
                    raw2=", ".join(names),
                )
            )


def _photos(
    standing: Path | None, lying: Path | None, spec: str | None, setup: Setup
) -> list[tuple[str, Image]]:
    """The photos of standing and of lying pieces, each with its source."""
    if spec is None and standing is not None and lying is not None:
        return [(str(path), read_image(path, setup).image) for path in (standing, lying)]
    if spec is None or standing is not None or lying is not None:
        raise InputError(
            msg("expected two photos: either --standing FILE and --lying FILE, or --camera SPEC")
        )
    photos = []
    for said in (
        msg("Stand one piece of each size and colour on the board, apart."),
        msg("Lay the same pieces down, apart."),
    ):
        hands = msg("Take your hands away, then press any key.")
        click.pause(in_language(sentences(said, hands)), err=True)
        photos.append((spec, take_pictures(spec, setup, 1)[0]))
    return photos


def _name_pieces(
    photos: list[tuple[str, Image]], setup: Setup, names: tuple[str, ...]
) -> list[NamedPiece]:
    """Match the pieces of both photos to their names."""
    named: list[NamedPiece] = []
    with progress(msg("Reading the photos")) as count:
        for shown, (where, image) in zip(SHOWN, photos, strict=True):
            try:
                named += named_pieces(read_own_pieces(image, setup, shown), setup, names)
            except InputError as error:
                raise InputError(msg("{where}: {text}", where=where, text=error.message)) from error
            count()
    return named


def _measure_sizes(named: list[NamedPiece], names: tuple[str, ...]) -> list[MeasuredSize]:
    measured = []
    with progress(msg("Measuring the sizes")) as count:
        for size in names:
            measured.append(measure_size(size, [one.piece for one in named if one.size == size]))
            count()
    _check_order(measured)
    return measured


def _check_order(measured: list[MeasuredSize]) -> None:
    """Raise InputError unless sizes increase strictly."""
    for smaller, larger in pairwise(measured):
        if larger.base_mm - smaller.base_mm < smaller.base_error_mm + larger.base_error_mm:
            raise InputError(
                msg(
                    "expected sizes that differ, but {raw} and {raw2} have bases of {mm} and"
                    " {mm2}; check that one of each size and colour is there",
                    raw=smaller.name,
                    raw2=larger.name,
                    mm=f"{smaller.base_mm:.1f} ± {smaller.base_error_mm:.1f} mm",
                    mm2=f"{larger.base_mm:.1f} ± {larger.base_error_mm:.1f} mm",
                )
            )


def _print(
    measured: list[MeasuredSize], pairs: list[SimilarColours], checked: list[CheckedPiece]
) -> None:
    output = console()
    table = new_table(
        msg("size"),
        msg("base, mm"),
        msg("height, mm"),
        msg("pieces"),
        right=(1, 2, 3),
        whole=range(4),
    )
    for one in measured:
        table.add_row(
            escape(in_language(one.name)),
            number(f"{one.base_mm:.1f} ± {one.base_error_mm:.1f}"),
            number(f"{one.height_mm:.1f} ± {one.height_error_mm:.1f}"),
            str(one.pieces),
        )
    output.print(table)
    right = sum(one.right for one in checked)
    for sentence in (
        *(as_sentence(pair.message) for pair in pairs),
        msg("Read again: {n} of {n2} pieces right.", n=right, n2=len(checked)),
    ):
        output.print(escape(in_language(sentence)), highlight=False)
    for piece in checked:
        if not piece.right:
            output.print(f"- {escape(in_language(_misread_text(piece)))}", highlight=False)


def _misread_text(piece: CheckedPiece) -> Message:
    named = piece.named
    shown = {
        "colour": named.colour,
        "size": named.size,
        "pose": named.piece.pose.pose,
        "raw": named.piece.looks,
    }
    if piece.read is None:
        return msg("{colour} {size} piece at {raw}, {pose}: nothing is read there.", **shown)
    colour, size, pose = piece.read
    return msg(
        "{colour} {size} piece at {raw}, {pose}: read as {colour2} {size2}, {pose2}.",
        **shown,
        colour2=colour,
        size2=size,
        pose2=pose,
    )
