"""`rinkside calibrate colours`: measure the pieces' colours on this table, in its light."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
from rich.markup import escape
from rich.text import Text

from calibration.colours import (
    MeasuredPiece,
    SimilarColours,
    assign_by_order,
    assign_by_palette,
    close_pairs,
    learn,
    learned_setup,
    measure_pieces,
)
from cli.options import table_option
from cli.terminal import console, in_language, new_table, progress, say_written
from table.errors import InputError
from table.files import check_output
from table.messages import as_sentence, msg, sentences
from table.table_config import LearnedColour, Setup, load_table
from table.table_file import replace_table
from vision.cameras.frame import Image
from vision.cameras.image_files import read_image
from vision.cameras.reconnect import take_pictures


@click.command()
@table_option
@click.option(
    "--picture",
    "pictures",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A picture of one piece of each colour; more may follow.",
)
@click.option(
    "--camera", "spec", metavar="SPEC", help="Take the picture with this camera, such as rpicam:0."
)
@click.option(
    "--order", metavar="COLOURS", help="Which piece is which, from left to right: red,blue,green."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write, instead of TABLE; what was there is kept as .bak.",
)
def colours(
    table_path: Path,
    pictures: tuple[Path, ...],
    spec: str | None,
    order: str | None,
    out: Path | None,
) -> None:
    """Learn the colours of pieces on a table: put one of each on it, apart, standing or lying."""
    setup, out = load_table(table_path), out or table_path
    check_output(out, *pictures)
    names = None if order is None else _order(order, setup)
    looks: dict[str, list[MeasuredPiece]] = {}
    images = _images(pictures, spec, setup)
    with progress(msg("Reading the photos")) as count:
        for where, image in images:
            try:
                shown = measure_pieces(image, setup)
                given = (
                    assign_by_palette(shown, setup)
                    if names is None
                    else assign_by_order(shown, names, setup)
                )
            except InputError as error:
                raise InputError(msg("{where}: {text}", where=where, text=error.message)) from error
            for name, one in given.items():
                looks.setdefault(name, []).append(one)
            count()
    learned = {name: learn(name, seen) for name, seen in looks.items()}
    setup = learned_setup(setup, tuple(learned.values()))
    pairs = close_pairs(
        setup, np.median([one.ground for seen in looks.values() for one in seen], axis=0)
    )
    kept = replace_table(setup, out)
    _print(learned, looks, pairs, names is None)
    say_written(out, kept)


def _order(order: str, setup: Setup) -> tuple[str, ...]:
    names = tuple(name.strip() for name in order.split(","))
    for index, name in enumerate(names):
        if name not in setup.colours:
            raise InputError(
                msg(
                    "--order: expected colours of this table ({raw}), got {raw2}",
                    raw=", ".join(setup.colours),
                    raw2=repr(name),
                )
            )
        if name in names[:index]:
            raise InputError(
                msg(
                    "--order: expected each colour once, for one piece of each, got {raw} again",
                    raw=repr(name),
                )
            )
    return names


def _images(pictures: tuple[Path, ...], spec: str | None, setup: Setup) -> list[tuple[str, Image]]:
    """The pictures, each with its source."""
    if bool(pictures) == (spec is not None):
        raise InputError(
            msg(
                "expected a picture with one piece of each colour: either --picture FILE"
                " or --camera SPEC"
            )
        )
    if spec is None:
        return [(str(path), read_image(path, setup).image) for path in pictures]
    return [(spec, image) for image in take_pictures(spec, setup, 1)]


def _print(
    learned: dict[str, LearnedColour],
    looks: dict[str, list[MeasuredPiece]],
    pairs: list[SimilarColours],
    by_itself: bool,
) -> None:
    table = new_table(
        msg("colour"),
        "",
        msg("light, %"),
        msg("piece at"),
        right=(2,),
        whole=range(4),
        caption=msg(
            "light: red, green, blue of the plastic, of 100 that white paper gives back here"
        ),
    )
    for name, one in learned.items():
        red, green, blue = (round(255 * min(level, 1.0) ** (1 / 2.2)) for level in one.light)
        swatch = Text("      ", style=f"on rgb({red},{green},{blue})")
        light = "  ".join(f"{100 * level:3.0f}" for level in one.light)
        places = "; ".join(map(str, looks[name]))
        table.add_row(escape(in_language(name)), swatch, light, places)
    said = [as_sentence(pair.message) for pair in pairs]
    if by_itself:
        said.insert(
            0,
            sentences(
                msg("Which piece is which was told by their looks, each colour once."),
                msg("If that is wrong, say it with --order."),
            ),
        )
    if not pairs:
        said.append(
            msg(
                "No two colours look alike here: fewer than 1 of 100 pieces would be mistaken for"
                " another."
            )
        )
    output = console()
    output.print(table)
    for sentence in said:
        output.print(escape(in_language(sentence)), highlight=False)
