"""Read drawn dice with known numbers and write docs/DICE.md (`make bench-dice`)."""

from __future__ import annotations

import datetime
import sys
import time
from collections import Counter
from pathlib import Path

import click
import msgspec
import numpy as np

from benchmarks.accuracy import ROOT, commit
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


def rolled(
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


def read_table(seed: int, count: int) -> tuple[Counter[tuple[str, str]], list[str], list[float]]:
    """So many rolls on the table of a seed: how each kind was read, a line for each that was not as
    it should be, and seconds a reading.
    """
    table, rng = game_table("zamboni_wars", seed), np.random.default_rng([seed, 9])
    setup = msgspec.structs.replace(table.setup, dice_corner=corner_beside(table.setup, rng))
    renderer, corner = Renderer(setup, table.place), setup.dice_corner
    assert corner is not None
    tally: Counter[tuple[str, str]] = Counter()
    amiss, seconds = [], []
    for index in range(count):
        kind = str(rng.choice([*KINDS], p=[*KINDS.values()]))
        dice, top = rolled(kind, corner, table_z_mm(setup), rng)
        image = renderer.picture(Scene(table.stage, dice=dice), rng)
        camera = locate(image, setup)
        if not isinstance(camera, Camera):
            continue
        start = time.process_time()
        read = read_dice(Photo(image, camera, setup))
        seconds.append(time.process_time() - start)
        said = _said(read, top)
        tally[kind, said] += 1
        if said != {"lies flat": "right number", "none": "nothing"}.get(kind, "refused"):
            told = read.pips if isinstance(read, Die) else read.reason or "nothing"
            amiss.append(
                f"- table {seed}, roll {index}: {kind}, {top} up, edge {corner.edge_mm:g} mm:"
                f" {told}"
            )
    return tally, amiss, seconds


def read_board(seed: int, count: int) -> tuple[Counter[str], list[float]]:
    """Cover dice after so many drives on the board of a seed: how many lay there, were found and
    seen where none lay; errors in mm.
    """
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
    return tally, errors


def _said(read: Die | NoDie, top: int) -> str:
    """One of SAID."""
    if isinstance(read, NoDie):
        return "refused" if read.reason else "nothing"
    return "right number" if read.pips == top else "other number"


TEXT = """# Dice read by the camera

Measured {date} (commit {commit}); `make bench-dice` writes this page. **Nothing here is a photograph**: `simulation/render/dice.py` draws dice of
nine colours, with edges of 12 to 19 mm, rounded, more or less glossy, with small and large pips near and far from the middle, on {tables} tables
under other lamps, before a camera of {width} pixels a row, tilted by up to 35°. One that is cocked leans by 10 to 45°. Real dice have not been
tried: until they have, look at what the panel says of every roll.

| {rolls} rolls | times | right number | other number | not read, with a reason | nothing seen |
|---|---|---|---|---|---|
{rows}

Of dice that lie flat {right:.1%} are read, {wrong:.1%} wrongly; the rest are refused, and people roll again or type the number in. Of those that
are cocked {cocked:.1%} pass for lying flat. A reading takes {ms:.0f} ms of a processor in the middle, once a roll.

A die is heard as an electronic one is, once a roll: while the game waits for a number, everything is at rest, and the die lies elsewhere than it
did. Where it shows the same and lies within 8 mm and 20° of where it lay, the corner must have been empty meanwhile: else it may only have been
nudged, and the panel asks for another roll. What lies there when play begins, and a die that is moved while nobody is to roll, is no roll.
Whoever might fire and does not says so before the next player rolls; else the roll counts as the shot. Where the die cannot be read, the
panel says why.

What a dice corner is, and how to tell Rinkside where it is: [FORMATS.md](FORMATS.md), `dice_corner`. The die's edge is to be measured to half
a millimetre. The surface should be of another colour than the die, without print, and level.

## Cover dice

In Zamboni Wars with the ruling `cover=on`, dice of which `table.json` tells (`cover_dice`) are looked for on the board, whatever is on
their faces, where a picture of the empty board is given (`--empty`). Of {cover_lay} that lay between nests on {cover_tables} boards, in
{cover_pictures} pictures, {cover_found} were found, half of them to {cover_mm:.1f} mm and all to {cover_most_mm:.1f} mm; {cover_strange} times one
was seen where none lay. Of more than the game has the likeliest count; one that is not seen is taken to lie where it lay, and the panel says so.

## What was not as it should be

{amiss}
"""


@click.command()
@click.option(
    "--tables",
    default=50,
    show_default=True,
    help="Tables, each with a camera and light of its own.",
)
@click.option("--rolls", default=12, show_default=True, help="Rolls on each.")
@click.option(
    "--covered",
    default=15,
    show_default=True,
    help="Boards with cover dice, each after four drives.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=ROOT / "docs" / "DICE.md",
    help="The page to write.",
)
def main(tables: int, rolls: int, covered: int, out: Path) -> None:
    """Read the dice and write the page."""
    measured = commit()
    tally: Counter[tuple[str, str]] = Counter()
    amiss, seconds, done = [], [], 0
    try:
        for seed in range(tables):
            more, wrong, took = read_table(seed, rolls)
            tally, amiss, seconds, done = tally + more, amiss + wrong, seconds + took, seed + 1
            print(f"table {seed}: {dict(more)}", file=sys.stderr)
    finally:
        if done:
            boards = [read_board(seed, DRIVES) for seed in range(covered)]
            out.write_text(
                page(measured, done, tally, amiss, float(np.median(seconds)), boards),
                encoding="utf-8",
            )
            print(f"wrote {out}", file=sys.stderr)


def page(
    measured: str,
    tables: int,
    tally: Counter[tuple[str, str]],
    amiss: list[str],
    median_s: float,
    boards: list[tuple[Counter[str], list[float]]],
) -> str:
    """docs/DICE.md of what was read on so many tables, and on boards with cover dice."""
    covered, errors = (
        sum((board for board, _ in boards), Counter[str]()),
        [mm for _, found in boards for mm in found] or [0.0],
    )
    flat = sum(tally["lies flat", said] for said in SAID)
    rows = []
    for kind in KINDS:
        counts = [tally[kind, said] for said in SAID]
        rows.append(f"| {' | '.join(map(str, [kind, sum(counts), *counts]))} |")
    return TEXT.format(
        date=datetime.date.today().isoformat(),
        commit=measured,
        tables=tables,
        width=WIDTH_PX,
        rolls=tally.total(),
        rows="\n".join(rows),
        right=tally["lies flat", "right number"] / max(1, flat),
        wrong=tally["lies flat", "other number"] / max(1, flat),
        cocked=(tally["is cocked", "right number"] + tally["is cocked", "other number"])
        / max(1, sum(tally["is cocked", said] for said in SAID)),
        ms=1000 * median_s,
        cover_tables=len(boards),
        cover_pictures=covered["pictures"],
        cover_lay=covered["lay"],
        cover_found=covered["found"],
        cover_strange=covered["strange"],
        cover_mm=float(np.median(errors)),
        cover_most_mm=max(errors),
        amiss="\n".join(amiss) or "- nothing",
    )


if __name__ == "__main__":
    main()
