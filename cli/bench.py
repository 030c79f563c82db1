"""`rinkside bench`: anybody's pictures with their truth, read and scored."""

from __future__ import annotations

import json
from pathlib import Path

import click
import msgspec
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from calibration.quality.scoring import Mistake, Score, Total, score, total
from cli.corpus import MOST_BYTES, Case, read_corpus
from cli.log import json_option
from cli.options import complain, max_mb_option
from cli.photo import read_frame
from cli.terminal import console, progress, say, say_json
from table.errors import InputError
from table.json_data import JsonObject
from table.messages import msg
from table.observation_document import ObservationDocument, documented
from vision.cameras.frame import Frame


@click.command()
@click.argument("source", metavar="FOLDER_OR_ZIP", type=click.Path(path_type=Path))
@max_mb_option(MOST_BYTES)
@json_option
def bench(source: Path, max_mb: int, as_json: bool) -> None:
    """Read pictures whose truth is known, and say what was read rightly.

    Pictures are those of "rinkside share", or your own: folders with image.jpg, table.json and
    truth.json. Nothing is written.
    """
    scores: dict[str, Score] = {}
    without_truth = unreadable = 0
    with progress(msg("Reading the pictures")) as done:
        for case in read_corpus(source, max_mb * 10**6):
            done()
            if case.truth is None:
                without_truth += 1
                continue
            try:
                scores[case.name] = score(case.truth, _read(case, source))
            except InputError as error:
                complain(error.message)
                unreadable += 1
                scores[case.name] = score(case.truth, ObservationDocument())
    if not scores:
        raise InputError(
            msg("{path}: expected a picture with a truth.json beside it, found none", path=source)
        )
    together = total(list(scores.values()))
    if as_json:
        say_json(json.dumps(_document(together, scores, without_truth, unreadable), indent=1))
        return
    console().print(_table(together))
    for name, one in scores.items():
        for mistake in one.mistakes:
            say(f"{name}: {_told(mistake)}")
    if without_truth:
        say(msg("Left out, because they have no truth.json: {n} pictures", n=without_truth))


def _read(case: Case, source: Path) -> ObservationDocument:
    where = f"{source}: {case.name}"
    return documented(read_frame(Frame(0, 0, case.image), case.setup, where).seen)


def _document(
    together: Total, scores: dict[str, Score], without_truth: int, unreadable: int
) -> JsonObject:
    mistakes = [
        {"picture": name, **msgspec.to_builtins(mistake)}
        for name, one in scores.items()
        for mistake in one.mistakes
    ]
    return {
        **msgspec.to_builtins(together),
        "unreadable": unreadable,
        "without_truth": without_truth,
        "mistakes": mistakes,
    }


def _table(together: Total) -> Table:
    table = Table(box=SIMPLE_HEAD)
    table.add_column("what")
    table.add_column("result", justify="right")
    found = together.found
    far_mm = together.base_mm
    rows = (
        ("pictures without a mistake", _of(together.all_right, together.pictures)),
        ("pieces found", _of(found, together.pieces)),
        ("pieces invented", str(together.invented)),
        ("colour right", _of(together.colour, found)),
        ("size right", _of(together.size, found)),
        ("pose right", _of(together.pose, found)),
        ("confident mistakes", str(together.confident_mistakes)),
        (
            "place off, median and 95 %",
            "not measured" if far_mm is None else f"{far_mm[0]:.2f} and {far_mm[1]:.2f} mm",
        ),
    )
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def _of(count: int, every: int) -> str:
    return f"{count} of {every}" + (f" ({100 * count / every:.1f} %)" if every else "")


def _told(mistake: Mistake) -> str:
    at = ", ".join(f"{value:.0f}" for value in mistake.at_mm)
    true, said = (" ".join(words or ()) for words in (mistake.true, mistake.said))
    words = {
        "missed": f"missed {true}",
        "invented": f"invented {said}",
        "misread": f"read {true} as {said}",
    }
    sure = ", without a doubt" if mistake.confident else ""
    return f"{words[mistake.what]} at ({at}) mm{sure}"
