"""Training examples for the dice classifier: rendered rolls on random tables.

Dice have all colours, and are flat, cocked, two or none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import cv2
import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from simulation.generate.cases import random_case, resized
from simulation.generate.tables import Kind
from simulation.render.dice import die_at
from simulation.render.ground import table_z_mm
from simulation.render.renderer import Renderer
from simulation.render.scene import Rgb, Scene, SceneDie
from table.table_config import DiceCorner, Setup
from vision.cameras.frame import swapped
from vision.cameras.image_files import decode_image
from vision.dice.classifier import crop
from vision.dice.cube_fit import Cube
from vision.dice.reader import flat_candidates
from vision.dice.top_view import TopView
from vision.geometry.rectified_view import Photo

ROLLS = 24
"""Number of rolls on one table."""
TABLES: tuple[Kind, ...] = ("zamboni", "storm", "icebreaker", "boule")
WIDTHS_PX = (1000, 2000)
SIDE_MM, EDGES_MM = (40.0, 80.0), (11.0, 20.0)
CORNERS = 4
"""Number of successive places of the dice corner on one table."""
FLAT, COCKED, TWO = 0.55, 0.35, 0.05
"""Shares of rolls that lie flat, that are cocked, and with two flat dice; in the rest there is
none.
"""
COCKED_DEG = (5.0, 45.0)
SHADES = (0.02, 0.85)
"""Range of the linear light of dice and of their pips. The logarithms of the two differ by at least
LEAST_APART in one channel.
"""
LEAST_APART = 0.9
GREY = 0.5
"""Share of dice, and of pips, without a hue."""
RIGHT, WRONG, TURNED_DEG = 0.16, 0.4, 14.0
"""A place is a flat die up to the first distance, in edges, and the third rotation. Beyond the
second distance it is not.
"""
AROUND = 1.7
"""Half the side of the stored picture, in edges of the die."""
OFF, OFF_DEG, TIMES = 0.03, 2.5, 4
"""Errors of crops, 1 sigma, in edges and degrees, and number of crops of a place."""


DiceExamples = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""Inputs (n, 4, CROP_PX, CROP_PX), and their pips (n,), as in `Roll`."""


@dataclass(frozen=True, slots=True, eq=False)
class Roll:
    """A candidate place of a flat die, and the picture around it (h, w, 3).

    `pips` are those on top; 0 if no die lies flat there.
    """

    view: TopView
    shown: NDArray[np.uint8]
    cube: Cube
    pips: int


def rolls(seed: int) -> Iterator[Roll]:
    """All candidate dice in rolls on one random table."""
    rng = np.random.default_rng([seed, 31])
    case = random_case(TABLES[seed % len(TABLES)], seed)
    setup = resized(case.setup, int(rng.integers(*WIDTHS_PX)))
    camera = replace(
        case.camera, fiducials_seen=tuple(marker.id for marker in setup.fiducials.markers)
    )
    renderer = Renderer(setup, camera)
    for k in range(ROLLS):
        if k % (ROLLS // CORNERS) == 0:
            setup = msgspec.structs.replace(setup, dice_corner=_corner(setup, rng))
        assert setup.dice_corner is not None
        dice, flat = _throw_dice(setup, setup.dice_corner, rng)
        _, packed = cv2.imencode(
            ".jpg",
            renderer.picture(Scene(case.stage, dice=dice), rng),
            [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(80, 97))],
        )
        photo = Photo(swapped(decode_image(packed.tobytes(), "a drawn picture")), camera, setup)
        cubes, _, view = flat_candidates(photo, setup.dice_corner)
        for cube in cubes:
            if (pips := _pips_at(cube, flat)) is not None:
                yield _cut_roll(cube, view, pips)


def _corner(setup: Setup, rng: np.random.Generator) -> DiceCorner:
    """A random dice corner on or beside the board."""
    low, high = setup.outline_mm().min(axis=0), setup.outline_mm().max(axis=0)
    side = float(rng.uniform(*SIDE_MM))
    x, y = (float(value) for value in low - side + (high - low + side) * rng.random(2))
    outline = ((x, y), (x + side, y), (x + side, y + side), (x, y + side))
    return DiceCorner(outline_mm=outline, edge_mm=float(rng.uniform(*EDGES_MM)))


def _throw_dice(
    setup: Setup, corner: DiceCorner, rng: np.random.Generator
) -> tuple[tuple[SceneDie, ...], list[tuple[SceneDie, int, float]]]:
    """Dice in the corner, and the flat ones with their pips and rotation in degrees."""
    kind = rng.random()
    count = 1 if kind < FLAT + COCKED else 2 if kind < FLAT + COCKED + TWO else 0
    low = np.array(corner.outline_mm).min(axis=0)
    side = float(np.array(corner.outline_mm).max(axis=0)[0] - low[0])
    rgb, ink = _shades(rng)
    pip_share, spread_share = float(rng.uniform(0.075, 0.13)), float(rng.uniform(0.21, 0.29))
    worded = bool(rng.random() < 0.03)
    thrown, flat = [], []
    for _ in range(count):
        top, turn_deg = int(rng.integers(1, 7)), float(rng.uniform(0, 90))
        tilt_deg = float(rng.uniform(*COCKED_DEG)) if FLAT <= kind < FLAT + COCKED else 0.0
        x, y = (float(value) for value in low + side * rng.uniform(0.15, 0.85, 2))
        at, rotation = die_at(
            top,
            (x, y),
            turn_deg,
            corner.edge_mm,
            table_z_mm(setup),
            tilt_deg,
            float(rng.uniform(0, 360)),
        )
        die = SceneDie(
            at,
            rotation,
            corner.edge_mm,
            rgb,
            ink,
            pip_share,
            spread_share,
            float(rng.choice([0.0, 0.2, 0.6])),
            worded,
        )
        thrown.append(die)
        if not tilt_deg and not worded:
            flat.append((die, top, turn_deg))
    return tuple(thrown), flat


def _shades(rng: np.random.Generator) -> tuple[Rgb, Rgb]:
    """Linear light of a die and of its pips."""
    while True:
        die, pips = (_shade(rng) for _ in range(2))
        if np.abs(np.log(np.array(die) / np.array(pips))).max() > LEAST_APART:
            return die, pips


def _shade(rng: np.random.Generator) -> Rgb:
    low, high = np.log(SHADES)
    level = np.full(3, np.exp(rng.uniform(low, high)))
    shade = level if rng.random() < GREY else np.exp(rng.uniform(low, high, 3))
    r, g, b = (float(value) for value in shade)
    return r, g, b


def _pips_at(cube: Cube, flat: list[tuple[SceneDie, int, float]]) -> int | None:
    """Pips of the flat die at a place; 0 if there is none, None if it is ambiguous."""
    for die, pips, turn_deg in flat:
        away = float(np.hypot(*(cube.middle_mm - die.middle_mm[:2]))) / die.edge_mm
        turned_deg = abs((cube.turn_deg - turn_deg + 45) % 90 - 45)
        if away < WRONG:
            return pips if away < RIGHT and turned_deg < TURNED_DEG else None
    return 0


def _cut_roll(cube: Cube, view: TopView, pips: int) -> Roll:
    middle, reach = view.pixels(cube.middle_mm[None])[0], AROUND * cube.edge_mm / view.step_mm
    left, top = (max(0, int(value)) for value in np.floor(middle - reach))
    shown = view.shown[top : int(middle[1] + reach) + 2, left : int(middle[0] + reach) + 2]
    nothing = np.zeros((0, 0, 3), np.float32)
    start_mm = view.start_mm + view.step_mm * np.array([left, -top])
    return Roll(
        TopView(nothing, nothing, nothing, start_mm, view.step_mm),
        np.rint(255 * shown).astype(np.uint8),
        cube,
        pips,
    )


def examples(seed: int) -> Iterator[DiceExamples]:
    """Training examples from rolls on one random table, if there are any."""
    rng = np.random.default_rng([seed, 32])
    all_examples = [example(roll, rng) for roll in rolls(seed) for _ in range(TIMES)]
    if all_examples:
        seen, pips = zip(*all_examples, strict=True)
        yield np.stack(seen), np.array(pips)


def example(roll: Roll, rng: np.random.Generator) -> tuple[NDArray[np.uint8], int]:
    """Input (4, CROP_PX, CROP_PX) with a random error of the place by edges, and its pips."""
    by = rng.normal(0, [OFF * roll.cube.edge_mm, OFF * roll.cube.edge_mm, OFF_DEG])
    seen = crop(
        roll.cube.moved(by),
        replace(roll.view, shown=np.asarray(roll.shown / np.float32(255), np.float32)),
    )
    return np.rint(255 * seen).astype(np.uint8), roll.pips


def from_all_sides(seen: Tensor) -> Tensor:
    """Crops (n, 4, h, w), each eighth of them turned or mirrored in a different way.

    The class of a die is invariant to these.
    """
    turned = [part.rot90(k, (2, 3)) for k, part in enumerate(seen.chunk(8))]
    return torch.cat([part.flip(3) if k >= 4 else part for k, part in enumerate(turned)])


def loss(output: Tensor, pips: Tensor) -> tuple[Tensor, dict[str, float]]:
    """Cross-entropy of pips (n,), and the share of wrong ones."""
    total = cross_entropy(output, pips)
    wrong = float((output.detach().argmax(dim=1) != pips).float().mean())
    return total, {"loss": float(total.detach()), "wrong": wrong}
