"""Read one photograph of a calibrated table or a printed mat, and measure its gaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import msgspec
import numpy as np

from calibration.photo_table import InPlay, observed, photo_table, printed_mat, read_photo
from calibration.table.printed import unknown_lens
from cli.terminal import in_language
from table.errors import InputError
from table.files import read_json
from table.game_facts import Measuring, RankedGaps
from table.measured_text import with_margin
from table.messages import Message, msg, sentences
from table.observation import SURE, Observation
from table.pieces import COLOURS
from table.table_config import Setup, load_table, parse_table
from vision.annotate.debug_stages import write_stages
from vision.annotate.photo import Note, Tone, annotate
from vision.cameras.frame import Frame, Image
from vision.cameras.image_files import read_image
from vision.cameras.photographs import Photograph
from vision.geometry.rectified_view import Photo
from vision.observe import burnt_out_percent
from vision.observe import observe as observe_frame
from vision.resolution import resized, scale_to_detail, scaled_setup

SAMPLE = "mat.jpg"
"""File name of the package's sample photograph, rendered by this project."""


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """Observation of a photograph: `image` as read, `setup` with its lens and pieces."""

    image: Image
    setup: Setup
    seen: Observation


def photo_warnings(reading: Reading) -> Message:
    """Reasons why pieces may be hidden: a hand, glare; empty for none."""
    seen, warnings = reading.seen, []
    if seen.hand:
        warnings.append(
            msg("What looks like a hand is in the photo; pieces under it may be missing.")
        )
    if percent := burnt_out_percent(Photo(reading.image, seen.camera, reading.setup)):
        warnings.append(
            msg(
                "{n} percent of the play area is too bright to show anything; pieces there may be"
                " missing.",
                n=percent,
            )
        )
    return sentences(*warnings)


def sample_photo() -> bytes:
    """The package's sample photograph of the mat, a JPEG."""
    return (resources.files("calibration") / "data" / SAMPLE).read_bytes()


def load_photo_table(path: Path) -> tuple[Setup, bool]:
    """Read a table.json; returns it, and True if it has a lens, else with a placeholder lens."""
    raw = read_json(path)
    if isinstance(raw, dict) and "camera" not in raw and "fiducials" in raw:
        camera = msgspec.to_builtins(unknown_lens(1640, 1232))
        return parse_table(raw | {"camera": camera}, path.name, beside=path.parent), False
    return load_table(path), True


def parse_colours(words: str, option: str) -> tuple[str, ...]:
    """Parse comma-separated colours; raises InputError for an unknown one."""
    return _known_words(
        words,
        COLOURS,
        lambda known, got: msg(
            "{option}: expected colours ({raw}), got {raw2}", option=option, raw=known, raw2=got
        ),
    )


def parse_sizes(words: str, option: str) -> tuple[str, ...]:
    """Parse comma-separated sizes of the mat's pieces; raises InputError for an unknown one."""
    return _known_words(
        words,
        printed_mat().game.sizes,
        lambda known, got: msg(
            "{option}: expected sizes ({raw}), got {raw2}", option=option, raw=known, raw2=got
        ),
    )


def _known_words(
    words: str, known: Sequence[str], wrong: Callable[[str, str], Message]
) -> tuple[str, ...]:
    """Parse one or more comma-separated known words; `wrong` makes the error message."""
    listed = tuple(word.strip() for word in words.split(",") if word.strip())
    for word in listed or ("",):
        if word not in known:
            raise InputError(wrong(", ".join(known), repr(word)))
    return listed


def read_calibrated(
    photo: Path, setup: Setup, empty: Path | None = None, debug: Path | None = None
) -> Reading:
    """Read a photograph of a calibrated camera; raises InputError."""
    reference = read_image(empty, setup) if empty else None
    return read_frame(read_image(photo, setup), setup, str(photo), reference, debug)


def read_frame(
    whole: Frame,
    setup: Setup,
    where: str,
    reference: Frame | None = None,
    debug: Path | None = None,
) -> Reading:
    """As `read_calibrated`, for a decoded picture; `where` names it in errors."""
    shown = scale_to_detail(whole.image, setup.fiducials)
    if shown.shrink != 1:
        setup = scaled_setup(setup, shown.image)
        reference = reference and Frame(0, 0, resized(reference.image, shown.image))
    frame = Frame(whole.seq, whole.at_ms, shown.image)
    if debug:
        write_stages(debug, frame, setup, reference)
    seen = observe_frame(frame, setup, reference)
    if isinstance(seen, Observation):
        return Reading(frame.image, setup, seen)
    raise InputError(msg("{photo}: {text}", photo=where, text=seen.reason))


def read_table(
    photograph: Photograph, where: str, draft: Setup, debug: Path | None = None
) -> Reading:
    """Read a photograph with an unknown lens; raises InputError.

    `draft` is the table with a placeholder lens; `where` names the photograph in errors.
    """
    with _name_in_errors(where):
        table = photo_table(photograph, draft)
        seen = observed(table.image, table.setup)
    return _with_stages(Reading(table.image, table.setup, seen), debug)


def read_mat(
    photograph: Photograph,
    where: str,
    mat: Setup,
    named: InPlay,
    ruler: Measuring,
    debug: Path | None = None,
) -> Reading:
    """Read a photograph of a printed mat by any camera; raises InputError.

    `where` names the photograph in errors; pieces that are not `named` are detected.
    """
    with _name_in_errors(where):
        table = photo_table(photograph, mat)
        setup, seen = read_photo(table, named, ruler)
    return _with_stages(Reading(table.image, setup, seen), debug)


@contextmanager
def _name_in_errors(where: str) -> Iterator[None]:
    """Prefix errors with the photograph's name."""
    try:
        yield
    except InputError as error:
        raise InputError(msg("{photo}: {text}", photo=where, text=error.message)) from error


def _with_stages(reading: Reading, debug: Path | None) -> Reading:
    if debug:
        write_stages(debug, Frame(0, 0, reading.image), reading.setup)
    return reading


def measured_gaps(reading: Reading, where: str, ruler: Measuring) -> RankedGaps:
    """Measure the gaps of a reading; raises InputError if that is not possible."""
    measured = ruler.measure(reading.seen, str(reading.setup.game.target))
    if isinstance(measured, str):
        raise InputError(msg("{photo}: {raw}", photo=where, raw=in_language(measured).rstrip(".")))
    return measured


def drawn_gaps(reading: Reading, measured: RankedGaps, ruler: Measuring) -> Image:
    """The photograph with pieces, gaps and ranking drawn in."""
    notes = gap_notes(measured, reading.seen)
    return annotate(
        reading.image, reading.seen, reading.setup.camera, notes, ruler.sentence(measured)
    )


def gap_notes(measured: RankedGaps, seen: Observation) -> list[Note]:
    """Notes for the picture: every gap, nearest first.

    Gaps that count, or may count, have a different tone.
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
