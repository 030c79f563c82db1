"""Tables for the simulated players of every game on a board, and a camera over each.

Every seed gives a different table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from typing import Any

import msgspec
import numpy as np

from simulation.camera import PERIOD_MS, Pace, SimulatedCamera, no_wait
from simulation.generate.cases import resized
from simulation.generate.tables import random_camera, random_stage, square_marker
from simulation.players.driver import MISTAKES, BoardPlayers, DemoTable, ObservedSession, Players
from simulation.render.board_art import SHEET_MARGIN_MM
from simulation.render.renderer import PicturesOf, Renderer
from simulation.render.scene import Scene, Sensor, Stage
from table.boards import Chessboard, Tiles
from table.errors import InputError
from table.games import found_games
from table.messages import msg
from table.observation import Camera
from table.plugins import Found, Plugin, find
from table.table_config import Setup
from vision.cameras.frame import Frame

WIDTH_PX = 1640
"""Default width of the camera's pictures."""

CARD_MARGIN_MM = 7.0
"""White margin of a fiducial card, with some clearance."""

PLAYERS_GROUP = "rinkside.players"


@cache
def installed_players() -> Mapping[str, BoardPlayers | Callable[[int], DemoTable]]:
    """Simulated players by the name of their game, this project's own first.

    For games on a board they are a `BoardPlayers`, for others a function from a seed to its table.
    Those that fail to load are logged and left out.
    """
    return find_players().logged("the players of").parts


def find_players() -> Found[BoardPlayers | Callable[[int], DemoTable]]:
    """Load the players of every game; a failure does not stop the others."""
    return find(PLAYERS_GROUP, _own_players, _checked)


def _checked(players: Any, _plugin: Plugin) -> BoardPlayers | Callable[[int], DemoTable]:
    if isinstance(players, BoardPlayers):
        return players
    if callable(players):
        made: Callable[[int], DemoTable] = players
        return made
    raise ValueError(f"expected BoardPlayers, got {type(players).__name__}")


def _own_players() -> Iterator[metadata.EntryPoint]:
    for game in found_games().games:
        if find_spec(module := f"simulation.players.{game}"):
            yield metadata.EntryPoint(game, f"{module}:PLAYERS", PLAYERS_GROUP)


def board_players() -> dict[str, BoardPlayers]:
    """Players of games on boards."""
    found = installed_players().items()
    return {game: players for game, players in found if isinstance(players, BoardPlayers)}


def demo_table(game: str, seed: int) -> DemoTable:
    """The table of a game and seed, and its players.

    Raises InputError for a game without simulated players.
    """
    players = installed_players().get(game)
    if players is None or isinstance(players, BoardPlayers):
        return game_table(game, seed)
    return players(seed)


def lessons_table(game: str) -> DemoTable:
    """The table on which lessons of a game are given; raises InputError as `demo_table` does."""
    players = installed_players().get(game)
    return demo_table(game, players.lessons_seed if isinstance(players, BoardPlayers) else 1)


@dataclass(frozen=True, slots=True, eq=False)
class GameTable:
    """A table before a game, and its camera.

    `empty` is a picture before play, None if tiles are the board.
    """

    game: str
    seed: int
    setup: Setup
    place: Camera
    stage: Stage
    empty: Frame | None

    @property
    def rulings(self) -> dict[str, str]:
        """Options of the game that differ from the usual ones."""
        return board_players()[self.game].rulings(self.setup)

    def seated(self, session: ObservedSession, setup: Setup) -> Players:
        """As `DemoTable.seated`."""
        return seat(session, replace(self, setup=setup))


def game_table(
    game: str, seed: int, width_px: int = WIDTH_PX, before: PicturesOf = Renderer
) -> GameTable:
    """The table of a game and seed, before a camera of `width_px` pixels' width.

    `before` makes the renderer of the empty table. Raises InputError for a game without simulated
    players.
    """
    known = board_players()
    if game not in known:
        raise InputError(
            msg("demo: game: expected {raw}, got {raw2}", raw=", ".join(known), raw2=repr(game))
        )
    players = known[game]
    rng = np.random.default_rng([seed, 5])
    setup = players.finish(
        _move_cards_close(resized(players.random_setup(rng), width_px)), rng, seed
    )
    place, stage = random_camera(setup, rng), well_exposed_stage(random_stage(setup, rng))
    empty = (
        None
        if isinstance(setup.board, Tiles)
        else Frame(0, 0, before(setup, place).picture(Scene(stage), rng))
    )
    return GameTable(game, seed, setup, place, stage, empty)


def _move_cards_close(setup: Setup) -> Setup:
    """Cards laid straight and close to the board, so that it fills the picture.

    A chessboard is left unchanged, because its frame and wasted throws need the room.
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


def well_exposed_stage(stage: Stage) -> Stage:
    """The stage before a focused camera with a suitable exposure."""
    light = stage.ambient + sum(lamp.power for lamp in stage.lamps)
    return replace(
        stage, sensor=Sensor(exposure=(0.9 / light, 0.9 / light, 0.9 / light), vignetting=0.12)
    )


def seat(session: ObservedSession, table: GameTable, mistakes: float = MISTAKES) -> Players:
    """Seat players at a table."""
    rng = np.random.default_rng([table.seed, 6])
    play = board_players()[table.game].play(table.setup, rng)
    return Players(session, table.setup, table.stage, play, rng, mistakes)


def camera_over(
    table: GameTable,
    players: Players,
    period_ms: int = PERIOD_MS,
    start_ms: int = 0,
    pace: Pace = no_wait,
) -> SimulatedCamera:
    """A camera over the players' table."""
    return SimulatedCamera(
        table.setup, table.place, players.scene_at, table.seed, period_ms, start_ms, pace
    )
