"""The reading of a simulated table by a perfect camera, without a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from simulation.players.laying import stands_on
from simulation.render.scene import Scene, ScenePiece
from table.boards import Tiles, within
from table.observation import Camera, Observation, SeenCounter, SeenDie, SeenPiece
from table.solids import Array, Pose
from table.table_config import Setup
from vision.cameras.frame import Frame

PERIOD_MS = 500
"""Interval of two pictures: the time that a table has to be at rest."""
SIGMAS = (0.4, 0.4, 1.0)
"""Standard deviations of a good reading: place in mm (x, y), and heading in degrees."""
FLAT_MM = 0.01


class TrueEyes:
    """A camera over simulated players with empty pictures, and the reader of its tables."""

    name, simulated = "true eyes", True

    def __init__(
        self,
        scene_at: Callable[[int], Scene],
        setup: Setup,
        place: Camera,
        frames: int | None = None,
    ) -> None:
        """`frames` is the number of pictures, None for no limit."""
        self.setup = setup
        self._scene_at, self._place, self._left, self._seq = scene_at, place, frames, 0
        self._lies: tuple[object, ...] = ()
        self._seen = Observation(0, 0, place)

    def read(self) -> Frame | None:
        """The next picture; None after the last."""
        if self._seq == self._left:
            return None
        self._seq += 1
        scene = self._scene_at(PERIOD_MS * self._seq)
        lies = (*scene.pieces, *scene.slabs, *scene.dice, bool(scene.limbs))
        if len(lies) != len(self._lies) or any(
            a is not b for a, b in zip(lies, self._lies, strict=True)
        ):
            self._lies, self._seen = lies, self.look(scene)
        return Frame(self._seq, PERIOD_MS * self._seq, np.zeros((8, 8, 3), np.uint8))

    def __call__(self, frame: Frame, *_: object) -> Observation:
        """The true observation for a picture."""
        return replace(self._seen, frame_seq=frame.seq, at_ms=frame.at_ms)

    def look(self, scene: Scene) -> Observation:
        """The true observation of a scene, cached."""
        return true_observation(scene, self.setup, self._place)

    def close(self) -> None:
        """Do nothing; there is no device."""


def true_observation(scene: Scene, setup: Setup, camera: Camera) -> Observation:
    """The exact observation of a scene."""
    there = [(piece, _observed_piece(piece, setup)) for piece in scene.pieces]
    inside = [
        (piece, seen)
        for piece, seen in there
        if within(setup.outline_mm(), piece.vertices_mm[:, :2].mean(axis=0))
    ]
    below = [_piece_below(piece, [one for one, _ in inside]) for piece, _ in inside]
    pieces = tuple(replace(seen, on=on) for (_, seen), on in zip(inside, below, strict=True))
    off = tuple(seen for _, seen in there if not any(seen is other for _, other in inside))
    middles = [slab.outline_mm.mean(axis=0) for slab in scene.slabs]
    kind, board = setup.game.counters, setup.board
    counters = (
        tuple(SeenCounter(kind.colour, float(x), float(y), 0.5) for x, y in middles)
        if kind is not None
        else ()
    )
    tiles = None
    if isinstance(board, Tiles):
        tiles = {
            name: any(np.hypot(*(at - middle)) < board.cell_mm / 2 for middle in middles)
            for name, at in places(board)
        }
    on_board = [
        die.middle_mm for die in scene.dice if within(setup.outline_mm(), die.middle_mm[:2])
    ]
    dice = (
        tuple(SeenDie(float(x), float(y), 0.5) for x, y, _ in on_board)
        if setup.cover_dice is not None
        else None
    )
    return Observation(
        0, 0, camera, pieces, off, counters, hand=bool(scene.limbs), tiles=tiles, dice=dice
    )


def _piece_below(piece: ScenePiece, pieces: Sequence[ScenePiece]) -> int | None:
    """Index of the piece under a piece: the highest of those that it is over."""
    lower = [k for k, one in enumerate(pieces) if one is not piece and stands_on(piece, one)]
    return max(lower, key=lambda k: float(pieces[k].vertices_mm[:, 2].min()), default=None)


def places(board: Tiles) -> Iterator[tuple[str, Array]]:
    """Names and middles of the places of a board of tiles."""
    for row in range(board.rows):
        for column in range(board.cols):
            yield (
                f"{'abcdefgh'[column]}{row + 1}",
                np.array(board.origin_mm) + board.cell_mm * (np.array([column, row]) + 0.5),
            )


def _observed_piece(piece: ScenePiece, setup: Setup) -> SeenPiece:
    vertices = piece.vertices_mm
    low = vertices[:, 2].min() + FLAT_MM
    size = min(
        setup.sizes, key=lambda one: abs(one.base_mm - np.linalg.norm(vertices[1] - vertices[0]))
    )
    pose: Pose = (
        "upright"
        if np.ptp(vertices[:4, 2]) < FLAT_MM
        else "lying"
        if np.count_nonzero(vertices[:, 2] < low) == 3
        else "leaning"
    )
    base = vertices[:4, :2].mean(axis=0) if pose == "upright" else vertices[1:3, :2].mean(axis=0)
    ahead = (vertices[1] - vertices[0])[:2] if pose == "upright" else vertices[4, :2] - base
    return SeenPiece(
        piece.colour,
        size.name,
        pose,
        base,
        float(np.degrees(np.arctan2(*ahead[::-1]))),
        piece.solid,
        np.diag(SIGMAS) ** 2,
    )
