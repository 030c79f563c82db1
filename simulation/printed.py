"""A simulated table with a printed board, before a game and during it.

`simulated:mat` is a camera for a newcomer's whole way. The set-up, which does not know the table,
sees it empty; once a game has begun, simulated players play on it.
"""

from __future__ import annotations

import math
import time
from typing import Any

import msgspec
import numpy as np

from referee.sessions.events import SessionStarted
from simulation.camera import SimulatedCamera, real_time
from simulation.generate.tables import nearest_view_mm, random_stage
from simulation.players.driver import BoardPlayers, Players, SeatedPlayers
from simulation.render.scene import Scene, Stage, look_at
from simulation.tables import installed_players, well_exposed_stage
from table.observation import Camera
from table.printed_boards import default_game, printed_setup, printed_table
from table.table_config import Lens, Setup

LENS = Lens(
    width=1280,
    height=960,
    matrix=((1052.0, 0.0, 641.5), (0.0, 1052.4, 478.0), (0.0, 0.0, 1.0)),
    distortion=(-0.045, 0.012, 0.0003, -0.0002, 0.0),
)
"""The true lens, which is unknown to the set-up."""
TILT_DEG, ROLL_DEG = 24.0, 1.5
STEP_MM, MARGIN_PX = 10.0, 25.0


class PrintedTable:
    """The contents of the table: empty before a game, then those of its players."""

    def __init__(self, sheet: str, known: Setup | None, seed: int) -> None:
        """`known` is the table as it was set up; its game is used, its lens is not.

        Raises InputError for an unknown sheet.
        """
        game, usual = printed_table(sheet)
        played = known.game if known is not None else default_game(game, usual)
        self.setup = printed_setup(usual, played, LENS)
        rng = np.random.default_rng([seed, 11])
        self._rng, self._seed = rng, seed
        players = installed_players()[played.name]
        self.stage: Stage = (
            well_exposed_stage(random_stage(self.setup, rng))
            if isinstance(players, BoardPlayers)
            else players(seed).stage
        )
        self._players: SeatedPlayers | None = None

    def scene_at(self, at_ms: int) -> Scene:
        """The scene at a time; times must not go back."""
        return self._players.scene_at(at_ms) if self._players else Scene(self.stage)

    def seat(self, session: Any, started: SessionStarted) -> None:
        """Seat simulated players for a session, in its game and its colours."""
        game = msgspec.structs.replace(
            self.setup.game, name=started.game, colours=tuple(started.players)
        )
        setup = msgspec.structs.replace(self.setup, game=game)
        players = installed_players()[started.game]
        self._players = (
            Players(session, setup, self.stage, players.play(setup, self._rng), self._rng)
            if isinstance(players, BoardPlayers)
            else players(self._seed).seated(session, setup)
        )


class PrintedTableCamera(SimulatedCamera):
    """A camera over a `PrintedTable`, in real time."""

    def __init__(self, table: PrintedTable, seed: int) -> None:
        start_ms = round(1000 * time.time())
        super().__init__(
            table.setup,
            _place(table.setup),
            table.scene_at,
            seed,
            start_ms=start_ms,
            pace=real_time(start_ms),
        )
        self.seat = table.seat


def _place(setup: Setup) -> Camera:
    """Pose over the near edge, as close as all fiducials allow."""
    corners = np.array([marker.corners_mm for marker in setup.fiducials.markers]).reshape(-1, 2)
    middle = np.array([*corners.mean(axis=0), 0.0])
    points = np.column_stack([corners, np.zeros(len(corners))])
    tilt = math.radians(TILT_DEG)
    back = np.array([0.03, -math.sin(tilt), math.cos(tilt)])
    distance_mm = nearest_view_mm(
        setup.camera, points, middle, back, ROLL_DEG, MARGIN_PX, np.arange(300.0, 5000.0, STEP_MM)
    )
    return look_at(middle + distance_mm * back, middle, ROLL_DEG)
