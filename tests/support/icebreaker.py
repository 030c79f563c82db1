"""Tables of Icebreaker as a camera reads them: where hands put things, with what the camera errs
added.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from engines.icebreaker.board import label, members
from table.boards import Hex
from table.observation import Camera, Observation, SeenCounter, SeenPiece
from table.pieces import load_piece_set
from table.solids import lying, upright

CAMERA = Camera(np.eye(3), -np.array([30.0, -50.0, 620.0]), np.eye(6) * 1e-6, 0.1, (0, 1, 2, 3))
MEDIUM = load_piece_set("looney")["medium"]
SLOPPY_MM = 5.0
"""Hands put ships and icebergs so far from the middle of a cell, at most."""
SHIP_MM, COUNTER_MM = 0.3, 0.64
"""What a reading errs, 1 sigma."""


class Table:
    """A real table: `ships` (player, (x, y)) by the cell they belong in, `ice` (x, y) by cell.
    Things lie where hands left them.
    """

    def __init__(self, state, rng, board=None):
        self.rng = rng
        self.board = board or Hex(size=state.setting.board.size, cell_mm=32.0)
        last = self.board.size - 1
        self.middles = {
            f"{chr(65 + q + r + last)}{r + last + 1}": middle
            for (q, r), middle in self.board.middles().items()
        }
        self.ships = {
            label(cell): (player, self.put(label(cell)))
            for player, cells in zip(state.players, state.ships, strict=True)
            for cell in members(cells)
        }
        self.ice = {label(cell): self.put(label(cell)) for cell in members(state.ice)}

    def put(self, cell):
        """Somewhere in a cell."""
        turn, away_mm = self.rng.uniform(0, 2 * np.pi), SLOPPY_MM * np.sqrt(self.rng.random())
        return self.middles[cell] + away_mm * np.array([np.cos(turn), np.sin(turn)])

    def move(self, here, there, take=True):
        """A hand moves a ship, and takes the iceberg that is there."""
        player, _ = self.ships.pop(here)
        self.ships[there] = (player, self.put(there))
        if take:
            self.ice.pop(there, None)

    def copy(self):
        """A table that may be spoilt."""
        other = object.__new__(Table)
        other.__dict__.update(self.__dict__, ships=dict(self.ships), ice=dict(self.ice))
        return other

    def seen(self, doubt=0.0, **more):
        """What a camera reads; with `doubt` it is, so often, unsure of a ship's colour."""
        pieces = [self._ship(player, at, doubt) for player, at in self.ships.values()]
        counters = [
            SeenCounter("white", *(at + self.rng.normal(0, COUNTER_MM, 2)).tolist(), COUNTER_MM)
            for at in self.ice.values()
        ]
        self.rng.shuffle(pieces)
        self.rng.shuffle(counters)
        return Observation(0, 0, CAMERA, tuple(pieces), counters=tuple(counters), **more)

    def _ship(self, player, at, doubt, pose="upright"):
        read = at + self.rng.normal(0, SHIP_MM, 2)
        sure = self.rng.random() >= doubt
        heading_deg = self.rng.uniform(0, 90)
        solid = {"upright": upright, "lying": lying}[pose](MEDIUM, *read, heading_deg)
        covariance = np.diag([SHIP_MM**2, SHIP_MM**2, 1.5**2])
        return SeenPiece(
            player,
            "medium",
            pose,
            read,
            heading_deg,
            solid,
            covariance,
            colour_probability=0.9999 if sure else 0.93,
        )

    def fallen(self, cell):
        """What a camera reads when the ship of a cell lies on its side."""
        player, at = self.ships[cell]
        seen = self.copy()
        del seen.ships[cell]
        rest = seen.seen()
        return Observation(
            0,
            0,
            CAMERA,
            (*rest.pieces, self._ship(player, at, 0.0, "lying")),
            counters=rest.counters,
        )


@pytest.fixture(scope="session")
def tables():
    """`tables.Table(state, rng)`, and the camera that looks at it."""
    return SimpleNamespace(Table=Table, CAMERA=CAMERA)
