"""Tables for the simulated players of every game on a board, and a camera over each; no two seeds
lay the same one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from engines.zamboni_wars.board import Board as Arrows
from simulation.camera import PERIOD_MS, Pace, SimulatedCamera, as_fast_as_asked
from simulation.generate.cases import resized
from simulation.generate.tables import (
    Kind,
    random_camera,
    random_setup,
    random_stage,
    square_marker,
)
from simulation.players.driver import MISTAKES, Play, Players, Watched
from simulation.players.ice_storm import StormPlay
from simulation.players.icebreaker import IcebreakerPlay
from simulation.players.icefloe import IcefloePlay
from simulation.players.zamboni_wars import ZamboniPlay
from simulation.render.board_art import SHEET_MARGIN_MM
from simulation.render.renderer import PicturesOf, Renderer
from simulation.render.scene import Scene, Sensor, Stage
from table.boards import Chessboard, Coasters, Tiles
from table.errors import InputError
from table.observation import Camera
from table.table_config import CoverDice, DiceCorner, Setup
from vision.cameras.frame import Frame

WIDTH_PX = 1640
"""Of the camera's pictures, if nobody says otherwise."""

CARD_MARGIN_MM = 7.0
"""White round a fiducial, and a little room."""
DICE_BESIDE_MM, DICE_CORNER_MM = 8.0, 50.0
"""How far the dice corner is from the board, and its sides."""

KINDS: dict[str, tuple[Kind, Callable[[Setup, np.random.Generator], Play]]] = {
    "icebreaker": ("icebreaker", IcebreakerPlay),
    "icefloe": ("icefloe", IcefloePlay),
    "zamboni_wars": ("zamboni", ZamboniPlay),
    "ice_storm": ("storm", StormPlay),
}


@dataclass(frozen=True, slots=True, eq=False)
class GameTable:
    """A table as it lies before a game, and what a camera over it sees: `empty` is a picture before
    play, None where tiles are the board.
    """

    game: str
    seed: int
    setup: Setup
    place: Camera
    stage: Stage
    empty: Frame | None

    @property
    def rulings(self) -> dict[str, str]:
        """Options that the game is played with, where they are not the usual ones."""
        return {"cover": "on"} if self.setup.cover_dice is not None else {}


def game_table(
    game: str, seed: int, width_px: int = WIDTH_PX, before: PicturesOf = Renderer
) -> GameTable:
    """The table of a game and seed, before a camera of so many pixels; `before` takes the picture
    of it empty.

    Raises InputError for a game that nobody plays here.
    """
    if game not in KINDS:
        raise InputError(f"demo: game: expected {', '.join(KINDS)}, got {game!r}")
    kind, _ = KINDS[game]
    rng = np.random.default_rng([seed, 5])
    setup = _with_dice(
        _seated(_near_cards(resized(random_setup(kind, rng), width_px)), rng), cover=seed % 2 == 1
    )
    place, stage = random_camera(setup, rng), _well_taken(random_stage(setup, rng))
    empty = (
        None
        if isinstance(setup.board, Tiles)
        else Frame(0, 0, before(setup, place).picture(Scene(stage), rng))
    )
    return GameTable(game, seed, setup, place, stage, empty)


def _near_cards(setup: Setup) -> Setup:
    """The cards straight and close to the board, so that it fills the picture; beside a chessboard
    there is room for its frame and wasted throws.
    """
    if isinstance(setup.board, Chessboard):
        return setup
    low, high = setup.outline_mm().min(axis=0), setup.outline_mm().max(axis=0)
    side_mm = float(np.hypot(*np.subtract(*setup.fiducials.markers[0].corners_mm[:2])))
    out = side_mm / 2 + SHEET_MARGIN_MM + CARD_MARGIN_MM
    middles = [
        (low[0] - out, high[1] + out),
        (high[0] + out, high[1] + out),
        (high[0] + out, low[1] - out),
        (low[0] - out, low[1] - out),
    ]
    markers = tuple(
        square_marker(index, float(x), float(y), side_mm) for index, (x, y) in enumerate(middles)
    )
    return msgspec.structs.replace(
        setup, fiducials=msgspec.structs.replace(setup.fiducials, markers=markers)
    )


def _well_taken(stage: Stage) -> Stage:
    """Before a camera that is in focus and whose exposure suits the light, as one that is set up
    for play.
    """
    light = stage.ambient + sum(lamp.power for lamp in stage.lamps)
    return replace(
        stage, sensor=Sensor(exposure=(0.9 / light, 0.9 / light, 0.9 / light), vignetting=0.12)
    )


def _seated(setup: Setup, rng: np.random.Generator) -> Setup:
    """In Zamboni Wars players are some of the coasters' colours, clockwise, two of them
    opposite.
    """
    if not isinstance(setup.board, Coasters):
        return setup
    colours = tuple(Arrows.usual(setup.board.layout).colours.values()) if setup.board.layout else ()
    count = int(rng.integers(2, 5))
    players = colours[::2] if count == 2 else colours[:count]
    return msgspec.structs.replace(setup, game=msgspec.structs.replace(setup.game, colours=players))


def _with_dice(setup: Setup, cover: bool) -> Setup:
    """In Zamboni Wars a die is rolled to the right of the board, between the cards, and there may
    be cover dice.
    """
    if not isinstance(setup.board, Coasters):
        return setup
    low, high = setup.outline_mm().min(axis=0), setup.outline_mm().max(axis=0)
    x, y = float(high[0]) + DICE_BESIDE_MM, float(low[1] + high[1]) / 2
    half = DICE_CORNER_MM / 2
    outline = ((x, y - half), (x + 2 * half, y - half), (x + 2 * half, y + half), (x, y + half))
    return msgspec.structs.replace(
        setup, dice_corner=DiceCorner(outline_mm=outline), cover_dice=CoverDice() if cover else None
    )


def seat(session: Watched, table: GameTable, mistakes: float = MISTAKES) -> Players:
    """Players at a table."""
    rng = np.random.default_rng([table.seed, 6])
    _, play = KINDS[table.game]
    return Players(session, table.setup, table.stage, play(table.setup, rng), rng, mistakes)


def camera_over(
    table: GameTable,
    players: Players,
    period_ms: int = PERIOD_MS,
    start_ms: int = 0,
    pace: Pace = as_fast_as_asked,
) -> SimulatedCamera:
    """A camera that watches them."""
    return SimulatedCamera(
        table.setup, table.place, players.scene_at, table.seed, period_ms, start_ms, pace
    )
