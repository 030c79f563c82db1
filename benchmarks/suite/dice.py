"""Read drawn dice with known numbers, and cover dice on boards."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Annotated

import msgspec
import numpy as np

from benchmarks.harness import Benchmark, Pairs, median
from simulation.players.zamboni_wars import ZamboniPlay
from simulation.render.dice import die_at
from simulation.render.ground import table_z_mm
from simulation.render.renderer import Renderer
from simulation.render.scene import Rgb, Scene, SceneDie, ScenePiece
from simulation.tables import WIDTH_PX, game_table
from table.observation import Camera, Observation
from table.table_config import DiceCorner, Setup
from vision.cameras.frame import Frame
from vision.dice.reader import Die, NoDie, read_dice
from vision.geometry.rectified_view import Photo
from vision.localization.fiducials import locate
from vision.observe import observe

DICE: tuple[tuple[Rgb, Rgb], ...] = (
    ((0.75, 0.74, 0.70), (0.02, 0.02, 0.02)),
    ((0.75, 0.74, 0.70), (0.03, 0.08, 0.40)),
    ((0.80, 0.78, 0.74), (0.50, 0.03, 0.03)),
    ((0.50, 0.04, 0.03), (0.80, 0.80, 0.80)),
    ((0.02, 0.02, 0.025), (0.80, 0.80, 0.78)),
    ((0.03, 0.08, 0.40), (0.80, 0.80, 0.80)),
    ((0.05, 0.30, 0.08), (0.80, 0.80, 0.80)),
    ((0.70, 0.50, 0.05), (0.03, 0.03, 0.03)),
    ((0.50, 0.33, 0.18), (0.03, 0.02, 0.02)),
)
"""Light that comes back from dice and from their pips: ivory, white, red, black, blue, green,
yellow, wooden.
"""
EDGES_MM = (12.0, 14.0, 16.0, 16.0, 19.0)
CORNER_MM, BESIDE_MM = 70.0, 12.0
"""Side of the dice corner, and how far it is from the board."""
DRIVES = 4
"""Drives on each board with cover dice."""
KINDS = {"lies flat": 0.72, "is cocked": 0.2, "two dice": 0.03, "none": 0.05}
TILT_DEG = (10.0, 45.0)
COVER_MM = 4.0
"""A cover die that is seen so near to where it lies is found."""
SAID = ("right number", "other number", "refused", "nothing")


class Options(msgspec.Struct, frozen=True):
    tables: Annotated[int, "Tables, each with a camera and light of its own."] = 50
    rolls: Annotated[int, "Rolls on each."] = 12
    covered: Annotated[int, "Boards with cover dice, each after four drives."] = 15


class Table(msgspec.Struct, frozen=True, tag=True):
    seed: int
    rolls: int


class Board(msgspec.Struct, frozen=True, tag=True):
    seed: int
    drives: int


class Rolls(msgspec.Struct, frozen=True, tag=True):
    """Readings of rolls: counts by kind and result, lines for wrong ones, seconds per reading."""

    counts: dict[str, dict[str, int]]
    amiss: tuple[str, ...]
    seconds: tuple[float, ...]


class Cover(msgspec.Struct, frozen=True, tag=True):
    """Cover dice: in so many pictures they lay there, were found, and were seen where none lay."""

    pictures: int
    lay: int
    found: int
    strange: int
    errors_mm: tuple[float, ...]


class Summary(msgspec.Struct, frozen=True):
    tables: int
    width_px: int
    counts: dict[str, dict[str, int]]
    reading_ms: float | None
    boards: int
    pictures: int
    lay: int
    found: int
    strange: int
    error_mm: float | None
    most_error_mm: float | None
    amiss: tuple[str, ...]


def corner_beside(setup: Setup, rng: np.random.Generator) -> DiceCorner:
    """A dice corner at one of the four sides of the board."""
    low, high = setup.outline_mm().min(axis=0), setup.outline_mm().max(axis=0)
    x, y = (low + high - CORNER_MM) / 2
    beside = [
        (high[0] + BESIDE_MM, y),
        (low[0] - BESIDE_MM - CORNER_MM, y),
        (x, high[1] + BESIDE_MM),
        (x, low[1] - BESIDE_MM - CORNER_MM),
    ]
    x, y = beside[int(rng.integers(4))]
    outline = tuple(
        (float(x + dx), float(y + dy))
        for dx, dy in ((0, 0), (CORNER_MM, 0), (CORNER_MM, CORNER_MM), (0, CORNER_MM))
    )
    return DiceCorner(outline_mm=outline, edge_mm=float(rng.choice(EDGES_MM)))


def roll_in_corner(
    kind: str, corner: DiceCorner, z_mm: float, rng: np.random.Generator
) -> tuple[tuple[SceneDie, ...], int]:
    """Dice in the corner, and what the first one shows."""
    top, outline = int(rng.integers(1, 7)), np.array(corner.outline_mm)
    middle, way = (
        outline.min(axis=0) + rng.uniform(0.2, 0.8, 2) * CORNER_MM,
        float(rng.uniform(0, 360)),
    )
    places = [middle] if kind != "two dice" else [middle, outline.sum(axis=0) / 2 - middle]
    tilt_deg = float(rng.uniform(*TILT_DEG)) if kind == "is cocked" else 0.0
    rgb, ink = DICE[int(rng.integers(len(DICE)))]
    pip_share, spread_share, gloss = (
        float(rng.uniform(0.08, 0.125)),
        float(rng.uniform(0.22, 0.28)),
        float(rng.choice([0.0, 0.2, 0.6])),
    )
    dice = []
    for x, y in places if kind != "none" else ():
        at, rotation = die_at(
            top,
            (float(x), float(y)),
            float(rng.uniform(0, 90)),
            corner.edge_mm,
            z_mm,
            tilt_deg,
            way,
        )
        dice.append(
            SceneDie(at, rotation, corner.edge_mm, rgb, ink, pip_share, spread_share, gloss)
        )
    return tuple(dice), top


def read_table(seed: int, count: int) -> Rolls:
    """So many rolls on the table of a seed."""
    table, rng = game_table("zamboni_wars", seed), np.random.default_rng([seed, 9])
    setup = msgspec.structs.replace(table.setup, dice_corner=corner_beside(table.setup, rng))
    renderer, corner = Renderer(setup, table.place), setup.dice_corner
    assert corner is not None
    tally: dict[str, Counter[str]] = {}
    amiss, seconds = [], []
    for index in range(count):
        kind = str(rng.choice([*KINDS], p=[*KINDS.values()]))
        dice, top = roll_in_corner(kind, corner, table_z_mm(setup), rng)
        image = renderer.picture(Scene(table.stage, dice=dice), rng)
        camera = locate(image, setup)
        if not isinstance(camera, Camera):
            continue
        start = time.process_time()
        read = read_dice(Photo(image, camera, setup))
        seconds.append(time.process_time() - start)
        outcome = _said(read, top)
        tally.setdefault(kind, Counter())[outcome] += 1
        if outcome != {"lies flat": "right number", "none": "nothing"}.get(kind, "refused"):
            answer = read.pips if isinstance(read, Die) else read.reason or "nothing"
            roll = f"table {seed}, roll {index}: {kind}, {top} up, edge {corner.edge_mm:g} mm"
            amiss.append(f"{roll}: {answer}")
    counts = {kind: dict(found) for kind, found in tally.items()}
    return Rolls(counts, tuple(amiss), tuple(seconds))


def read_board(seed: int, count: int) -> Cover:
    """Cover dice after so many drives on the board of a seed."""
    table, rng = game_table("zamboni_wars", 2 * seed + 1), np.random.default_rng([seed, 10])
    play, game = ZamboniPlay(table.setup, rng), ZamboniPlay.engine
    state, renderer = (
        game.set_up(table.setup.game.colours, table.rulings, table.setup.board),
        Renderer(table.setup, table.place),
    )
    tally: Counter[str] = Counter()
    errors: list[float] = []
    act = play.begin(state)
    while tally["pictures"] < count and game.outcome(state) is None:
        for move in act.moves:
            state = game.play(state, game.parse_move(move))
        bodies = act.bodies.values()
        if act.name == "drive":
            scene = Scene(
                table.stage,
                tuple(b for b in bodies if isinstance(b, ScenePiece)),
                dice=tuple(b for b in bodies if isinstance(b, SceneDie)),
            )
            seen = observe(Frame(0, 0, renderer.picture(scene, rng)), table.setup, table.empty)
            found = (
                [np.array([die.x_mm, die.y_mm]) for die in seen.dice or ()]
                if isinstance(seen, Observation)
                else []
            )
            lie = [
                body.vertices_mm[:, :2].mean(axis=0)
                for name, body in act.bodies.items()
                if name.startswith("cover ")
            ]
            away = [
                min((float(np.hypot(*(place - other))) for other in found), default=np.inf)
                for place in lie
            ]
            near = [mm for mm in away if mm < COVER_MM]
            tally += Counter(
                {
                    "pictures": 1,
                    "lay": len(lie),
                    "found": len(near),
                    "strange": max(0, len(found) - len(near)),
                }
            )
            errors += near
        act = play.turn(state, act.bodies)
    names = ("pictures", "lay", "found", "strange")
    return Cover(*(tally[name] for name in names), tuple(errors))


def _said(read: Die | NoDie, top: int) -> str:
    """One of SAID."""
    if isinstance(read, NoDie):
        return "refused" if read.reason else "nothing"
    return "right number" if read.pips == top else "other number"


def cases(options: Options) -> Iterator[Table | Board]:
    yield from (Table(seed, options.rolls) for seed in range(options.tables))
    yield from (Board(seed, DRIVES) for seed in range(options.covered))


def run(case: Table | Board) -> Rolls | Cover:
    if isinstance(case, Board):
        return read_board(case.seed, case.drives)
    return read_table(case.seed, case.rolls)


def summarise(_options: Options, pairs: Pairs) -> Summary:
    rolls = [one for _, one in pairs if isinstance(one, Rolls)]
    cover = [one for _, one in pairs if isinstance(one, Cover)]
    errors = [mm for one in cover for mm in one.errors_mm]
    seconds = median(took for one in rolls for took in one.seconds)
    return Summary(
        tables=len(rolls),
        width_px=WIDTH_PX,
        counts={
            kind: {
                outcome: sum(one.counts.get(kind, {}).get(outcome, 0) for one in rolls)
                for outcome in SAID
            }
            for kind in KINDS
        },
        reading_ms=None if seconds is None else 1000 * seconds,
        boards=len(cover),
        **{
            name: sum(getattr(one, name) for one in cover)
            for name in ("pictures", "lay", "found", "strange")
        },
        error_mm=median(errors),
        most_error_mm=max(errors, default=None),
        amiss=tuple(line for one in rolls for line in one.amiss),
    )


BENCHMARK = Benchmark("DICE.md", cases, run, summarise, Options)
