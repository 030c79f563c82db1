"""Score photographs with things that are no pieces, and in lights and cameras that falsify colours.

What counts is what is wrong and not doubted: a piece that is not there, or is misread, with
confidence, and a missing piece at whose place nothing is reported as unread.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator

import msgspec
import numpy as np

from benchmarks.harness import BENCH, Benchmark, NoOptions, Pairs
from benchmarks.photographs import Scored, confident_mistakes, score
from benchmarks.strange_things import STRESSES, disc
from benchmarks.suite.camera_places import photograph
from table.json_data import JsonObject
from table.observation import SURE, Observation, observation_document
from table.solids import Array
from vision.cameras.frame import Frame
from vision.observe import observe

TABLES = (
    "boule-0002",
    "boule-0005",
    "boule-0022",
    "storm-0001",
    "storm-0004",
    "storm-0010",
    "zamboni-0002",
    "zamboni-0006",
    "icebreaker-0001",
    "icebreaker-0004",
    "icebreaker-0007",
    "icefloe-0003",
    "icefloe-0006",
)
"""Photographs of all games; each is read without a mistake as it is."""
AS_IT_IS = "as it is"


class Row(msgspec.Struct, frozen=True):
    """What photographs with one change come to."""

    change: str
    photographs: int
    given_up: int
    without_mistake: int
    mistakes: int
    silent: int
    """Mistakes that nothing expresses doubt about."""


class Summary(msgspec.Struct, frozen=True):
    rows: tuple[Row, ...]
    sure_percent: float
    silent: tuple[str, ...]
    """The tables with mistakes that are not doubted, and how many, by change."""


def cases(_options: NoOptions) -> Iterator[tuple[str, str]]:
    """Changes, and photographs."""
    return ((change, name) for change in (AS_IT_IS, *STRESSES) for name in TABLES)


def run(case: tuple[str, str]) -> Scored:
    change, name = case
    folder = BENCH / "cases" / name
    taken = photograph(folder)
    if change != AS_IT_IS:
        truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
        chance = np.random.default_rng(zlib.crc32(f"{change} {name}".encode()))
        taken = STRESSES[change](bodies_mm(truth))(taken, chance)
    seen = observe(Frame(0, 0, taken.image), taken.setup)
    if not isinstance(seen, Observation):
        return Scored(score(folder, "given up"))
    document = observation_document(seen)
    found = score(folder, document)
    return Scored(found, confident_mistakes=confident_mistakes(found, document))


def bodies_mm(truth: JsonObject) -> list[Array]:
    """Points (n, 3) of all pieces and counters of a table's truth."""
    pieces = [*truth["pieces"], *truth["off_board"]]
    return [
        *(np.array(piece["vertices_mm"], float) for piece in pieces),
        *(
            np.column_stack(
                [disc(one["diameter_mm"]) + np.array([one["x_mm"], one["y_mm"]]), np.zeros(40)]
            )
            for one in truth["counters"]
        ),
    ]


def summarise(_options: NoOptions, pairs: Pairs) -> Summary:
    by_change: dict[str, list[Scored]] = {}
    for (change, _), one in pairs:
        by_change.setdefault(change, []).append(one)
    silent = [
        f"{change}: {one.score['case']} {one.confident_mistakes}"
        for change, found in by_change.items()
        for one in found
        if one.confident_mistakes
    ]
    rows = [row(change, found) for change, found in by_change.items()]
    stressed = [one for change, found in by_change.items() if change != AS_IT_IS for one in found]
    return Summary(
        (*rows, row("all together, but for the first row", stressed)), 100 * SURE, tuple(silent)
    )


def row(change: str, found: list[Scored]) -> Row:
    read = [one for one in found if not one.failed]
    return Row(
        change,
        len(found),
        len(found) - len(read),
        sum(not one.score["wrong"] for one in read),
        sum(len(one.score["wrong"]) for one in read),
        sum(one.confident_mistakes or 0 for one in read),
    )


BENCHMARK = Benchmark("ROBUSTNESS.md", cases, run, summarise, section=True)
