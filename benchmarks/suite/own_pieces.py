"""Measure made-up sets of pieces from two drawn photographs, and read the table with them.

Sets are larger or smaller, steeper or blunter than those that are sold; tables, lamps, dyes and
cameras are those on which colours are learned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, get_args

import msgspec
import numpy as np

from benchmarks.harness import Benchmark, Pairs, percentiles
from benchmarks.suite.colours import make_table, rgb
from calibration.own_pieces import (
    Shown,
    check_reading,
    measure_size,
    named_pieces,
    read_own_pieces,
    with_own_pieces,
)
from simulation.render.renderer import Renderer
from simulation.render.scene import ALBEDO, Scene, ScenePiece
from table.errors import InputError
from table.pieces import PieceSet, PieceSize, load_piece_set
from table.solids import lying, upright
from table.table_config import Setup

FIRST_SEED = 72000
NAMES = ("small", "medium", "large")
COLOURS = 3
DYE_SIGMA = 0.2
SCALE_SIGMA, RATIO_SIGMA, SIZE_SIGMA = 0.1, 0.12, 0.03
"""How a set differs from Looney's, in natural logarithms: all of it, height by base, one size."""
EDGE_MM, JITTER_MM = 45.0, 6.0
"""Free space at the board's edge, and how far pieces are off their rows."""


REFUSED = {
    "a piece not seen": "expected 9 pieces",
    "a pose doubted": "expected all pieces",
    "a colour doubted": "of each colour",
}
"""Reasons for which measuring was refused, and words of each."""


class Options(msgspec.Struct, frozen=True):
    tables: Annotated[int, "How many tables."] = 24


class Measured(msgspec.Struct, frozen=True):
    """Errors of a table's sizes in mm, as measured less true, each with the ± that was printed."""

    base: tuple[tuple[float, float], ...] = ()
    height: tuple[tuple[float, float], ...] = ()
    read: int = 0
    read_right: int = 0
    refused: str = ""


class Summary(msgspec.Struct, frozen=True):
    tables: int
    refused: dict[str, int]
    base_mm: tuple[float, ...] | None
    """Median, 95th percentile and greatest size of the error."""
    height_mm: tuple[float, ...] | None
    inside: float
    """Share of bases and heights whose error is within the printed ±."""
    read: int
    read_right: int


def random_set(seed: int) -> PieceSet:
    """Three sizes about those that are sold, the smallest first."""
    rng = np.random.default_rng([seed, 8])
    scale, ratio = np.exp(rng.normal(0, [SCALE_SIGMA, RATIO_SIGMA]))
    bases = np.array([14.3, 19.8, 25.4]) * scale * np.exp(rng.normal(0, SIZE_SIGMA, len(NAMES)))
    return PieceSet(
        "made up",
        tuple(
            PieceSize(name, float(base), float(1.75 * ratio * base))
            for name, base in zip(NAMES, np.sort(bases), strict=True)
        ),
    )


def lay_out_pieces(
    setup: Setup, own: PieceSet, lies: bool, rng: np.random.Generator
) -> tuple[ScenePiece, ...]:
    """One piece of each size and colour, in rows on the board, in any order and heading."""
    low = setup.outline_mm().min(axis=0) + EDGE_MM
    high = setup.outline_mm().max(axis=0) - EDGE_MM
    places = [
        (x, y)
        for x in np.linspace(low[0], high[0], len(NAMES))
        for y in np.linspace(low[1], high[1], COLOURS)
    ]
    kinds = [(size, colour) for size in own.sizes for colour in setup.colours]
    pieces = []
    for number, (x, y) in zip(rng.permutation(len(kinds)), places, strict=True):
        size, colour = kinds[int(number)]
        off = rng.uniform(-JITTER_MM, JITTER_MM, 2)
        solid = (lying if lies else upright)(
            size, float(x + off[0]), float(y + off[1]), float(rng.uniform(0, 360))
        )
        pieces.append(ScenePiece(solid, colour))
    return tuple(pieces)


def cases(options: Options) -> Iterator[int]:
    return iter(range(FIRST_SEED, FIRST_SEED + options.tables))


def run(seed: int) -> Measured:
    """Measure a set as `rinkside calibrate pieces` does."""
    table, own, rng = make_table(seed, 0.0), random_set(seed), np.random.default_rng(seed)
    dyes = {
        colour: rgb(
            np.clip(np.array(ALBEDO[colour]) * np.exp(rng.normal(0, DYE_SIGMA, 3)), 0.01, 0.9)
        )
        for colour in table.setup.colours[:COLOURS]
    }
    setup = msgspec.structs.replace(
        table.setup,
        pieces=load_piece_set("looney"),
        game=msgspec.structs.replace(
            table.setup.game, colours=tuple(dyes), target=None, sizes=NAMES
        ),
    )
    renderer = Renderer(table.setup, table.camera)
    images, named = [], []
    try:
        for shown in get_args(Shown):
            pieces = lay_out_pieces(setup, own, shown == "lying", rng)
            scene = Scene(table.stage, tuple(replace(one, dye=dyes[one.colour]) for one in pieces))
            images.append(renderer.picture(scene, rng))
            named += named_pieces(read_own_pieces(images[-1], setup, shown), setup, NAMES)
    except InputError as error:
        return Measured(refused=str(error))
    measured = [
        measure_size(name, [one.piece for one in named if one.size == name]) for name in NAMES
    ]
    found = with_own_pieces(
        setup, named, PieceSet("found", tuple(one.size(1.5) for one in measured))
    )
    checked = list(check_reading(named, found, images))
    true = own.sizes
    return Measured(
        tuple(
            (one.base_mm - size.base_mm, one.base_error_mm)
            for one, size in zip(measured, true, strict=True)
        ),
        tuple(
            (one.height_mm - size.height_mm, one.height_error_mm)
            for one, size in zip(measured, true, strict=True)
        ),
        len(checked),
        sum(one.right for one in checked),
    )


def summarise(_options: Options, pairs: Pairs) -> Summary:
    found: list[Measured] = [one for _, one in pairs]
    errors = [error for one in found for error in (*one.base, *one.height)]
    return Summary(
        len(found),
        dict(Counter(_reason(one.refused) for one in found if one.refused)),
        percentiles((abs(off) for one in found for off, _ in one.base), 50, 95, 100),
        percentiles((abs(off) for one in found for off, _ in one.height), 50, 95, 100),
        sum(abs(off) <= error for off, error in errors) / max(len(errors), 1),
        sum(one.read for one in found),
        sum(one.read_right for one in found),
    )


def _reason(refused: str) -> str:
    return next((why for why, words in REFUSED.items() if words in refused), refused)


BENCHMARK = Benchmark("CALIBRATION.md", cases, run, summarise, Options, section=True)
