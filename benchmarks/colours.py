"""Learn colours on made-up tables and write what that brings into docs/CALIBRATION.md (`make
bench-calibration`).

Each table is drawn twice: with one piece of each colour, from which they are learned, and as a game
throws them.  Dyes are those of another maker, or far off; lamps are coloured.  Colours of the game
are read with and without what was learned.
"""

from __future__ import annotations

import datetime
import platform
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import click
import cv2
import msgspec
import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.accuracy import ROOT, commit
from calibration.colours import (
    by_palette,
    close_pairs,
    in_order,
    learn,
    learned_setup,
    shown_pieces,
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

BEGIN, END = (
    "<!-- colours: `make bench-calibration` writes what follows -->\n",
    "<!-- colours end -->\n",
)
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
    """A made-up table, one piece of each colour in `order` from left to right, and the pieces of a
    game.
    """

    setup: Setup
    camera: Camera
    stage: Stage
    order: tuple[str, ...]
    one_of_each: tuple[ScenePiece, ...]
    game: tuple[ScenePiece, ...]


@dataclass(slots=True)
class Counts:
    """What came of all tables with dyes of one kind."""

    tables: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    told: int = 0
    told_wrong: int = 0
    pieces: int = 0
    right: dict[str, int] = field(default_factory=lambda: {"without": 0, "with": 0})
    sure_wrong: dict[str, int] = field(default_factory=lambda: {"without": 0, "with": 0})
    sure: dict[str, int] = field(default_factory=lambda: {"without": 0, "with": 0})


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


def count(table: Table, seed: int, counts: Counts) -> None:
    """Learn the colours of a table, read its game with and without them."""
    renderer, rng = Renderer(table.setup, table.camera), np.random.default_rng(seed)
    one_of_each, game = (
        renderer.picture(Scene(table.stage, pieces), rng)
        for pieces in (table.one_of_each, table.game)
    )
    counts.tables += 1
    try:
        shown = shown_pieces(one_of_each, table.setup)
        given = in_order(shown, table.order, table.setup)
        learned = learned_setup(table.setup, [learn(name, [one]) for name, one in given.items()])
        close_pairs(learned, np.median([one.ground for one in shown], axis=0))
    except InputError as error:
        print(f"table {seed}: {error}", file=sys.stderr)
        counts.refused[
            next(
                (why for why, words in REFUSED.items() if words in str(error)), "fiducials covered"
            )
        ] += 1
        return
    try:
        counts.told_wrong += by_palette(shown, table.setup) != given
        counts.told += 1
    except InputError:
        pass
    for key, setup in (("without", table.setup), ("with", learned)):
        rows = read(game, setup, table.game)
        counts.right[key] += sum(true == said for true, said, _ in rows)
        counts.sure[key] += sum(chance >= SURE for _, _, chance in rows)
        counts.sure_wrong[key] += sum(
            true != said and chance >= SURE for true, said, chance in rows
        )
    counts.pieces += len(rows)


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


TEXT = """### What learning colours brings

Measured {date} (commit {commit}), Python {python}, OpenCV {opencv}: made-up tables for Ice Boule and Ice Storm with four to six
colours each, drawn by this project, under lamps of different colours. Dyes are as another maker's ("as sold"), or red, green and blue of
each are off by a further 42 % (1 sigma, "far off"). Colours are learned from one picture with one piece of each, by `--order`; the shares are
of pieces thrown, in another picture.

| | as sold | far off |
|---|---|---|
{rows}
"""


def table_rows(counted: dict[str, Counts]) -> str:
    both = list(counted.values())
    shares = [
        ("tables", [f"{one.tables}" for one in both]),
        (
            "learning refused",
            [
                ", ".join(f"{why} {many}" for why, many in one.refused.items()) or "0"
                for one in both
            ],
        ),
        ("pieces read", [f"{one.pieces}" for one in both]),
        *(
            (
                f"colour right, {key} learned colours",
                [f"{100 * one.right[key] / one.pieces:.1f} %" for one in both],
            )
            for key in ("without", "with")
        ),
        *(
            (f"told as sure, {key}", [f"{100 * one.sure[key] / one.pieces:.1f} %" for one in both])
            for key in ("without", "with")
        ),
        *(
            (f"wrong of those told as sure, {key}", [f"{one.sure_wrong[key]}" for one in both])
            for key in ("without", "with")
        ),
        (
            "told by their looks, without `--order`",
            [f"{one.told} tables, {one.told_wrong} wrong" for one in both],
        ),
    ]
    return "\n".join(f"| {name} | {' | '.join(values)} |" for name, values in shares)


@click.command()
@click.option("--tables", default=32, show_default=True, help="How many tables of each kind.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=ROOT / "docs" / "CALIBRATION.md",
    help="The page to write.",
)
def main(tables: int, out: Path) -> None:
    """Learn colours on made-up tables and write that part of the page."""
    counted = {}
    for name, sigma in OFF.items():
        counted[name] = Counts()
        for seed in range(FIRST_SEED, FIRST_SEED + tables):
            count(make_table(seed, sigma), seed, counted[name])
        print(name, counted[name], file=sys.stderr)
    versions = {
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "python": platform.python_version(),
        "opencv": cv2.__version__,
    }
    before, _, rest = out.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    out.write_text(
        before
        + BEGIN
        + "\n"
        + TEXT.format(rows=table_rows(counted), **versions)
        + "\n"
        + END
        + after,
        encoding="utf-8",
    )
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
