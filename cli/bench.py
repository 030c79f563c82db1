"""`rinkside bench`: anybody's pictures with their truth, read and scored."""

from __future__ import annotations

import json
from pathlib import Path

import click
import msgspec
from rich.markup import escape
from rich.table import Table

from calibration.quality.scoring import Mistake, Score, Total, score, total
from cli.corpus import MOST_BYTES, Case, read_corpus
from cli.log import json_option
from cli.options import complain, max_mb_option
from cli.photo import read_frame
from cli.terminal import console, in_language, new_table, progress, say, say_json
from table.errors import InputError
from table.json_data import JsonObject
from table.messages import msg
from table.observation_document import ObservationDocument, to_document
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
                scores[case.name] = score(case.truth, _case_document(case, source))
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
            say(f"{name}: {in_language(_sentence(mistake))}")
    if without_truth:
        say(msg("Left out, because they have no truth.json: {n} pictures", n=without_truth))


def _case_document(case: Case, source: Path) -> ObservationDocument:
    where = f"{source}: {case.name}"
    return to_document(read_frame(Frame(0, 0, case.image), case.setup, where).seen)


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
    table = new_table(msg("what"), msg("result"), right=(1,))
    found = together.found
    far_mm = together.base_mm
    rows = (
        (msg("pictures without a mistake"), _share_text(together.all_right, together.pictures)),
        (msg("pieces found"), _share_text(found, together.pieces)),
        (msg("pieces invented"), str(together.invented)),
        (msg("colour right"), _share_text(together.colour, found)),
        (msg("size right"), _share_text(together.size, found)),
        (msg("pose right"), _share_text(together.pose, found)),
        (msg("confident mistakes"), str(together.confident_mistakes)),
        (
            msg("place off, median and 95 %"),
            msg("not measured")
            if far_mm is None
            else msg("{mm} and {mm2} mm", mm=f"{far_mm[0]:.2f}", mm2=f"{far_mm[1]:.2f}"),
        ),
    )
    for row in rows:
        table.add_row(*(escape(in_language(cell)) for cell in row))
    return table


def _share_text(count: int, every: int) -> str:
    share = f" ({100 * count / every:.1f} %)" if every else ""
    return in_language(msg("{n} of {n2}", n=count, n2=every)) + share


def _sentence(mistake: Mistake) -> str:
    at = ", ".join(f"{value:.0f}" for value in mistake.at_mm)
    true, said = (" ".join(words or ()) for words in (mistake.true, mistake.said))
    words = {
        "missed": msg("missed {raw} at ({raw2}) mm", raw=true, raw2=at),
        "invented": msg("invented {raw} at ({raw2}) mm", raw=said, raw2=at),
        "misread": msg("read {raw} as {raw3} at ({raw2}) mm", raw=true, raw2=at, raw3=said),
    }
    found = words[mistake.what]
    return msg("{text}, without a doubt", text=found) if mistake.confident else found
