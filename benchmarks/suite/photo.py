"""What measuring a photograph costs without a calibrated lens, and whether copies measure the same.

All photographs of Ice Boule beside the benchmark, the harder ones too, with their lens taken away.
Their tables are not the printed mat, so fiducials and board are those of their table.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np

from benchmarks.harness import BENCH, Benchmark, NoOptions, Pairs
from benchmarks.photographs import Scored, Scores, folders, needs, score, scores
from calibration.photo_table import InPlay, PhotoTable, photo_table, printed_mat, read_photo
from cli.photo import load_photo_table, read_calibrated
from table.errors import InputError
from table.games import measuring
from table.observation import Observation, observation_document
from table.table_config import Setup
from vision.cameras.image_files import encode_jpeg
from vision.cameras.photographs import Photograph, decode_photograph

GIVEN, OWN, UNNAMED = "lens given", "lens taken away", "colours and sizes taken away too"
COPIES = {"enlarged twice": 2.0, "enlarged five times": 5.0, "soft (2 px)": 1.0}
"""Copies, and how many times they are enlarged; all without a lens."""
SOFT_PX = 2.0
Z95, NEAR_MM = 1.96, 15.0
"""Gaps are those of one piece if it is read this near to where it was."""


class Gap(msgspec.Struct, frozen=True):
    base_mm: tuple[float, float]
    gap_mm: float
    sigma_mm: float


class Result(msgspec.Struct, frozen=True):
    """What was read; no score where it was refused, for the reason `refusal`."""

    scored: Scored | None
    gaps: tuple[Gap, ...] = ()
    refusal: str = ""


class Copy(msgspec.Struct, frozen=True):
    """How a copy's gaps compare with those of its photograph."""

    title: str
    gaps: int
    same: float
    """Share within the ± of either."""
    calls: tuple[int, int, int]
    """Right, abstained and wrong."""


class Summary(msgspec.Struct, frozen=True):
    photographs: int
    rows: tuple[Scores, ...]
    refused: dict[str, tuple[str, ...]]
    gap_times: tuple[float, float]
    """How many times as large the gap error is without a lens, in the median and at 95 %."""
    copies: tuple[Copy, ...]


def cases(_options: NoOptions) -> Iterator[tuple[str, str]]:
    """Photographs, as folders of BENCH, and how they are read."""
    harder = sorted(needs(BENCH / "hard").glob("boule-*"))
    for how in (GIVEN, OWN, UNNAMED, *COPIES):
        for folder in (*folders("boule"), *harder):
            yield str(folder.relative_to(BENCH)), how


def run(case: tuple[str, str]) -> Result:
    name, how = case
    folder = BENCH / name
    try:
        setup, seen = _read(folder, how)
    except InputError as error:
        return Result(None, refusal=str(error).replace(f"{BENCH}/", ""))
    document = _document(setup, seen)
    gaps = tuple(
        Gap(tuple(gap["base_mm"]), gap["gap_mm"], gap["sigma_mm"]) for gap in document["gaps"]
    )
    return Result(Scored(score(folder, document)), gaps)


def _read(folder: Path, how: str) -> tuple[Setup, Observation]:
    setup, _ = load_photo_table(folder / "table.json")
    if how == GIVEN:
        reading = read_calibrated(folder / "image.jpg", setup)
        return reading.setup, reading.seen
    data = (folder / "image.jpg").read_bytes()
    photograph = decode_photograph(data, folder.name)
    if how in COPIES:
        photograph = _copy(photograph, how)
    game, named = setup.game, InPlay()
    if how != UNNAMED:
        named = InPlay(game.colours, game.target, game.sizes)
    table = photo_table(photograph, setup)
    if how == UNNAMED:
        any_piece = msgspec.structs.replace(table.setup, game=printed_mat().game)
        table = PhotoTable(table.image, any_piece)
    return read_photo(table, named, measuring()[1])


def _copy(photograph: Photograph, how: str) -> Photograph:
    """The photograph saved anew, enlarged or made soft."""
    image, times = photograph.image, COPIES[how]
    if times == 1:
        image = np.asarray(cv2.GaussianBlur(image, (0, 0), SOFT_PX), np.uint8)
    else:
        # Never over the limit of what is read.
        times = min(times, (63e6 / (image.shape[0] * image.shape[1])) ** 0.5)
        enlarged = cv2.resize(image, None, fx=times, fy=times, interpolation=cv2.INTER_CUBIC)
        image = np.asarray(enlarged, np.uint8)
    return decode_photograph(encode_jpeg(image, 92), how)


def _document(setup: Setup, seen: Observation) -> dict[str, Any]:
    _, ruler = measuring()
    document = observation_document(seen)
    document |= ruler.document(ruler.measure(seen, str(setup.game.target)))
    plain: dict[str, Any] = json.loads(json.dumps(document))
    return plain


def summarise(_options: NoOptions, pairs: Pairs) -> Summary:
    results: dict[str, dict[str, Result]] = {}
    for (name, how), one in pairs:
        results.setdefault(how, {})[name] = one
    rows = {
        how: scores(how, found)
        for how, of in results.items()
        if (found := [one.scored for one in of.values() if one.scored is not None])
    }
    refused = {
        how: lines
        for how, of in results.items()
        if (lines := tuple(f"{name}: {one.refusal}" for name, one in of.items() if one.refusal))
    }
    given, own = rows[GIVEN].gap_mm or (0.0,), rows[OWN].gap_mm or (0.0,)
    return Summary(
        len(results[OWN]),
        tuple(rows[how] for how in (GIVEN, OWN, UNNAMED) if how in rows),
        refused,
        (own[0] / given[0], own[1] / given[1]),
        tuple(_compare_copy(how, results[how], results[OWN], rows[how]) for how in COPIES),
    )


def _compare_copy(how: str, of: dict[str, Result], plain: dict[str, Result], row: Scores) -> Copy:
    same = [
        abs(gap.gap_mm - twin.gap_mm) <= Z95 * max(gap.sigma_mm, twin.sigma_mm)
        for name, one in of.items()
        for gap in one.gaps
        if (twin := _twin(gap, plain[name].gaps)) is not None
    ]
    return Copy(how, len(same), sum(same) / max(1, len(same)), row.calls or (0, 0, 0))


def _twin(gap: Gap, gaps: tuple[Gap, ...]) -> Gap | None:
    """The gap of the same piece."""
    away = [float(np.hypot(*np.subtract(gap.base_mm, one.base_mm))) for one in gaps]
    return gaps[int(np.argmin(away))] if away and min(away) < NEAR_MM else None


BENCHMARK = Benchmark("PHOTO.md", cases, run, summarise)
