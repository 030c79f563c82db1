"""Ponds as a camera reads them: where hands put pyramids on tiles, with what the camera errs
added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from engines.icefloe.board import LETTERS, PLACES
from engines.icefloe.state import PLAYS, State
from table.boards import Tiles
from table.observation import Camera, Observation, SeenPiece
from table.pieces import load_piece_set
from table.solids import lying, upright

CAMERA = Camera(np.eye(3), -np.array([130.0, 100.0, 620.0]), np.eye(6) * 1e-6, 0.1, (0, 1, 2, 3))
BOARD = Tiles(cell_mm=51.3)
PIECEPACK = load_piece_set("piecepack")
COLOURS = {PLAYS[colour]: colour for colour in ("red", "black", "yellow", "blue")}
ERRS_MM = 0.12
"""Reading error, 1 sigma."""
APART_MM = 15.0
"""Minimum distance between the middles of pyramids on one tile."""


@dataclass(frozen=True)
class Stood:
    """A pyramid `off_mm` from the middle of its place, and its reading."""

    name: str
    place: str
    off_mm: tuple[float, float]
    read_as: str
    size_probability: float = 1.0

    def piece(self, error_mm):
        column, row = ord(self.place[0]) - ord("a"), int(self.place[1]) - 1
        base = BOARD.cell_mm * (np.array([column, row]) + 0.5) + self.off_mm + error_mm
        solid = upright(PIECEPACK[self.read_as], *base, 20.0)
        covariance = np.diag([ERRS_MM**2, ERRS_MM**2, 1.0])
        return SeenPiece(
            COLOURS[self.name[1]],
            self.read_as,
            "upright",
            base,
            20.0,
            solid,
            covariance,
            1.0,
            self.size_probability,
        )


class Table:
    """A simulated real pond: `tiles` are places, `stood` the pyramids by name."""

    def __init__(self, rng, state, doubt=0.0):
        """`doubt` is the share of pyramids whose size is not read for sure, wherever they are
        put.
        """
        self.rng, self.board, self.doubt = rng, BOARD, doubt
        self.tiles = {floe.place for floe in state.board.floes}
        self.stood = {}

    def copy(self):
        """A copy for experiments."""
        other = object.__new__(Table)
        other.__dict__.update(self.__dict__, tiles=set(self.tiles), stood=dict(self.stood))
        return other

    def put(self, name, place):
        """Put a pyramid at a random place on a tile, apart from the others."""
        self.stood.pop(name, None)
        others = [other.off_mm for other in self.stood.values() if other.place == place]
        while True:
            off_mm = self.rng.uniform(-16, 16, 2)
            if all(np.hypot(*(off_mm - other)) > APART_MM for other in others):
                break
        sure, read_as = 1.0, name[0]
        if self.rng.random() < self.doubt:
            sure = float(self.rng.uniform(0.7, 0.97))
            if self.rng.random() > sure:
                read_as = LETTERS[max(0, LETTERS.index(read_as) - 1) or 1]
        self.stood[name] = Stood(name, place, tuple(off_mm), read_as, sure)

    def slide(self, here, there):
        """Slide a tile with all that stands on it."""
        self.tiles = self.tiles - {here} | {there}
        for name, piece in self.stood.items():
            if piece.place == here:
                self.stood[name] = replace(piece, place=there)

    def sink(self, place):
        """Remove a tile with all that stands on it."""
        self.tiles.discard(place)
        for name in [name for name, piece in self.stood.items() if piece.place == place]:
            del self.stood[name]

    def seen(self, *more, **changes):
        """What a camera reads, and more pieces as it reads them."""
        pieces = [
            piece.piece(self.rng.normal(0, ERRS_MM, 2)) for piece in self.stood.values()
        ] + list(more)
        self.rng.shuffle(pieces)
        tiles = {place: place in self.tiles for place in PLACES}
        return replace(Observation(0, 0, CAMERA, tuple(pieces), tiles=tiles), **changes)

    def fallen(self, name):
        """How a camera may read a pyramid that it takes for a lying one."""
        piece = self.stood[name].piece(np.zeros(2))
        solid = lying(PIECEPACK["B"], *(piece.base_mm - 5), 45.0)
        return replace(
            piece,
            size="B",
            pose="lying",
            solid=solid,
            base_mm=piece.base_mm - 5,
            heading_deg=45.0,
            pose_probability=0.9,
        )


@pytest.fixture(scope="session")
def tables():
    """`tables.Table(rng, state)`."""
    return SimpleNamespace(Table=Table, Stood=Stood, CAMERA=CAMERA, BOARD=BOARD, ERRS_MM=ERRS_MM)


@pytest.fixture
def pond(tables):
    """A pond, as a state says it is, in the hands of a camera: `pond(line)` gives the state and the
    table.
    """

    def build(text):
        state = State.parse(text)
        table = tables.Table(np.random.default_rng(3), state)
        for floe in state.board.floes:
            for name in floe.pyramids:
                table.put(name, floe.place)
        return state, table

    return build
