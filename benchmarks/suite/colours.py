"""Learn colours on made-up tables, and read them with and without what was learned.

Each table is drawn twice: with one piece of each colour, from which they are learned, and as a game
throws them.  Dyes are those of another maker, or far off; lamps are coloured.  Colours of the game
are read with and without what was learned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import msgspec
import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.harness import Benchmark, Pairs
from calibration.colours import (
    assign_by_order,
    assign_by_palette,
    close_pairs,
    learn,
    learned_setup,
    measure_pieces,
)
from simulation.generate.cases import random_case
from simulation.generate.layouts import random_layout
from simulation.generate.tables import COLOURS_IN_PLAY
from simulation.render.renderer import Renderer
from simulation.render.scene import ALBEDO, Scene, ScenePiece, Stage
from table.errors import InputError
from table.observation import SURE, Camera, Observation
from table.solids import Array, lying, upright
from table.table_config import Setup
from vision.cameras.frame import Frame, Image
from vision.observe import observe

FIRST_SEED = 71000
OFF = {"as sold": 0.0, "far off": 0.35}
"""How far dyes are from those that are drawn otherwise: sigma of the natural logarithm of each of
red, green and blue.
"""
LAMP_SIGMA = 0.2
NEAR_MM = 10.0
REFUSED = {
    "pieces not seen": "saw",
    "order doubted": "--order",
    "too alike": "cannot be told apart",
}
"""Reasons for which learning was refused, and words of each."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A made-up table with one piece of each colour, and the pieces of a game.

    The former stand in `order` from left to right.
    """

    setup: Setup
    camera: Camera
    stage: Stage
    order: tuple[str, ...]
    one_of_each: tuple[ScenePiece, ...]
    game: tuple[ScenePiece, ...]


class Options(msgspec.Struct, frozen=True):
    tables: Annotated[int, "How many tables of each kind."] = 32


class ColourResult(msgspec.Struct):
    """Result of a table, or of all with dyes of one kind.

    Pieces are counted `without` and `with` learned colours.
    """

    tables: int = 0
    refused: dict[str, int] = {}
    identified: int = 0
    """Tables whose colours were told by their looks."""
    identified_wrong: int = 0
    pieces: int = 0
    right: dict[str, int] = {}
    sure: dict[str, int] = {}
    sure_wrong: dict[str, int] = {}


def make_table(seed: int, dye_sigma: float) -> Table:
    """A table for Ice Boule or Ice Storm with four to six colours in play."""
    rng = np.random.default_rng([seed, 5])
    case = random_case("boule" if seed % 2 else "storm", seed)
    names = [str(name) for name in rng.permutation(COLOURS_IN_PLAY)][: int(rng.integers(4, 7))]
    target = names.pop() if case.setup.game.target else None
    setup = msgspec.structs.replace(
        case.setup,
        game=msgspec.structs.replace(case.setup.game, colours=tuple(names), target=target),
    )
    factor = {name: np.exp(rng.normal(0, dye_sigma, 3)) for name in setup.colours}
    lamps = tuple(
        replace(lamp, rgb=rgb(np.array(lamp.rgb) * np.exp(rng.normal(0, LAMP_SIGMA, 3))))
        for lamp in case.stage.lamps
    )
    thrown = tuple(
        replace(
            place.piece,
            dye=rgb(np.clip(np.array(place.piece.rgb) * factor[place.piece.colour], 0.01, 0.9)),
        )
        for place in random_layout(setup, rng).placed
    )
    low, high = setup.outline_mm().min(axis=0), setup.outline_mm().max(axis=0)
    order = tuple(str(name) for name in rng.permutation(setup.colours))
    places = zip(order, np.linspace(low[0] + 60, high[0] - 60, len(order)), strict=True)
    row = tuple(
        _one(
            name,
            x,
            rng.uniform(*(low[1] + (high[1] - low[1]) * np.array([0.25, 0.75]))),
            thrown,
            factor,
            setup,
            rng,
        )
        for name, x in places
    )
    return Table(setup, case.camera, replace(case.stage, lamps=lamps), order, row, thrown)


def rgb(values: Array) -> tuple[float, float, float]:
    red, green, blue = (float(value) for value in values)
    return red, green, blue


def _one(
    name: str,
    x_mm: float,
    y_mm: float,
    thrown: tuple[ScenePiece, ...],
    factor: dict[str, Array],
    setup: Setup,
    rng: np.random.Generator,
) -> ScenePiece:
    """A piece of a colour as those that are thrown are."""
    solid = (lying if rng.random() < 0.6 else upright)(
        setup.sizes[0], x_mm, y_mm, float(rng.uniform(0, 360))
    )
    like = next((piece for piece in thrown if piece.colour == name), None)
    like = like or replace(
        thrown[0], colour=name, dye=rgb(np.clip(np.array(ALBEDO[name]) * factor[name], 0.01, 0.9))
    )
    return replace(like, solid=solid)


def cases(options: Options) -> Iterator[tuple[str, int]]:
    seeds = range(FIRST_SEED, FIRST_SEED + options.tables)
    return ((dyes, seed) for dyes in OFF for seed in seeds)


def run(case: tuple[str, int]) -> ColourResult:
    """Learn the colours of a table, read its game with and without them."""
    dyes, seed = case
    table = make_table(seed, OFF[dyes])
    renderer, rng = Renderer(table.setup, table.camera), np.random.default_rng(seed)
    one_of_each, game = (
        renderer.picture(Scene(table.stage, pieces), rng)
        for pieces in (table.one_of_each, table.game)
    )
    counts = ColourResult(1)
    try:
        shown = measure_pieces(one_of_each, table.setup)
        given = assign_by_order(shown, table.order, table.setup)
        learned = learned_setup(table.setup, [learn(name, [one]) for name, one in given.items()])
        close_pairs(learned, np.median([one.ground for one in shown], axis=0))
    except InputError as error:
        reasons = (why for why, words in REFUSED.items() if words in str(error))
        counts.refused = {next(reasons, "fiducials covered"): 1}
        return counts
    try:
        counts.identified_wrong += assign_by_palette(shown, table.setup) != given
        counts.identified += 1
    except InputError:
        pass
    for key, setup in (("without", table.setup), ("with", learned)):
        rows = read(game, setup, table.game)
        counts.right[key] = sum(true == read_as for true, read_as, _ in rows)
        counts.sure[key] = sum(chance >= SURE for _, _, chance in rows)
        counts.sure_wrong[key] = sum(
            true != read_as and chance >= SURE for true, read_as, chance in rows
        )
        counts.pieces = len(rows)
    return counts


def read(image: Image, setup: Setup, truth: tuple[ScenePiece, ...]) -> list[tuple[str, str, float]]:
    """True colour, colour as read and its chance, of each piece that was found."""
    seen = observe(Frame(0, 0, image), setup)
    if not isinstance(seen, Observation) or not seen.pieces:
        return []
    apart = np.array(
        [
            [
                float(np.linalg.norm((a.vertices_mm - b.solid.vertices_mm).mean(axis=0)))
                for b in seen.pieces
            ]
            for a in truth
        ]
    )
    pairs = [
        (i, j) for i, j in zip(*linear_sum_assignment(apart), strict=True) if apart[i, j] < NEAR_MM
    ]
    return [
        (truth[i].colour, seen.pieces[j].colour, seen.pieces[j].colour_probability)
        for i, j in pairs
    ]


def summarise(_options: Options, pairs: Pairs) -> dict[str, ColourResult]:
    """By dyes."""
    names = dict.fromkeys(dyes for (dyes, _), _ in pairs)
    return {
        name: merge_results([one for (dyes, _), one in pairs if dyes == name]) for name in names
    }


def merge_results(found: list[ColourResult]) -> ColourResult:
    """Several tables as one."""
    numbers = {
        name: sum(getattr(one, name) for one in found)
        for name in ("tables", "told", "told_wrong", "pieces")
    }
    counts = {
        name: dict(sum((Counter(getattr(one, name)) for one in found), Counter()))
        for name in ("refused", "right", "sure", "sure_wrong")
    }
    return ColourResult(**numbers, **counts)


BENCHMARK = Benchmark("CALIBRATION.md", cases, run, summarise, Options, section=True)
