"""A reader that knows what lies on a simulated table, and errs at random.

A game is refereed as with bad vision, and no picture is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random

import numpy as np

from benchmarks.games.piece_faults import FAULTS
from simulation.players.ice_boule_table import stands_on
from simulation.render.scene import Scene, ScenePiece
from table.boards import Tiles, within
from table.observation import Camera, Observation, SeenCounter, SeenDie, SeenPiece
from table.solids import Pose
from table.table_config import Setup
from vision.cameras.frame import Frame

SIGMAS = (0.4, 0.4, 1.0)
"""Of place in mm, and of heading in degrees, where a piece is read well."""
FAULTS_AT_ONCE = (0, 0, 1, 1, 2, 3)
FLAT_MM = 0.01

Fault = Callable[[Observation, int, Setup], Observation]


def read_truly(scene: Scene, setup: Setup, camera: Camera) -> Observation:
    """All that lies there, as it lies."""
    there = [(piece, _read(piece, setup)) for piece in scene.pieces]
    inside = [
        (piece, seen)
        for piece, seen in there
        if within(setup.outline_mm(), piece.vertices_mm[:, :2].mean(axis=0))
    ]
    below = [_below(piece, [one for one, _ in inside]) for piece, _ in inside]
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


def _below(piece: ScenePiece, pieces: Sequence[ScenePiece]) -> int | None:
    """Which piece one stands on: the highest of those that it is over."""
    lower = [k for k, one in enumerate(pieces) if one is not piece and stands_on(piece, one)]
    return max(lower, key=lambda k: float(pieces[k].vertices_mm[:, 2].min()), default=None)


def places(board: Tiles) -> Iterator[tuple[str, np.ndarray]]:
    """Names and middles of the places of a board of tiles."""
    for row in range(board.rows):
        for column in range(board.cols):
            yield (
                f"{'abcdefgh'[column]}{row + 1}",
                np.array(board.origin_mm) + board.cell_mm * (np.array([column, row]) + 0.5),
            )


def _read(piece: ScenePiece, setup: Setup) -> SeenPiece:
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


def _put(seen: Observation, k: int, **other: object) -> Observation:
    return replace(
        seen, pieces=(*seen.pieces[:k], replace(seen.pieces[k], **other), *seen.pieces[k + 1 :])
    )


def hardly_read(seen: Observation, k: int, _setup: Setup) -> Observation:
    return _put(seen, k, covariance=np.diag([15.0, 15.0, 20.0]) ** 2, size_probability=0.6)


def of_a_doubtful_colour(seen: Observation, k: int, _setup: Setup) -> Observation:
    return _put(seen, k, colour_probability=0.6)


def leaning(seen: Observation, k: int, _setup: Setup) -> Observation:
    return _put(seen, k, pose="leaning", pose_probability=0.7)


def off_the_board(seen: Observation, k: int, setup: Setup) -> Observation:
    return replace(
        FAULTS["not seen at all"](seen, k, setup), off_board=(*seen.off_board, seen.pieces[k])
    )


def another_thing_lost(seen: Observation, k: int, _setup: Setup) -> Observation:
    """A counter, a cover die or a tile that is there is not seen."""
    tiles = [place for place, there in (seen.tiles or {}).items() if there]
    return replace(
        seen,
        counters=seen.counters[:k] + seen.counters[k + 1 :],
        dice=seen.dice[1:] if seen.dice else seen.dice,
        tiles={**seen.tiles, tiles[k % len(tiles)]: False} if seen.tiles and tiles else seen.tiles,
    )


def another_thing_found(seen: Observation, k: int, setup: Setup) -> Observation:
    """A counter, a cover die or a tile is seen where none is."""
    x, y = (float(mm) for mm in seen.pieces[k].base_mm + 20.0)
    kind = setup.game.counters
    return replace(
        seen,
        counters=(
            (*seen.counters, SeenCounter(kind.colour, x, y, 0.5, sure=k % 2 == 0))
            if kind is not None
            else ()
        ),
        dice=(*seen.dice, SeenDie(x, y, 0.5)) if seen.dice is not None else None,
        tiles=(
            {place: there or n == k for n, (place, there) in enumerate(seen.tiles.items())}
            if seen.tiles
            else seen.tiles
        ),
    )


ALL: tuple[Fault, ...] = (
    *FAULTS.values(),
    *(
        hardly_read,
        of_a_doubtful_colour,
        leaning,
        off_the_board,
        another_thing_lost,
        another_thing_found,
    ),
)


class BadEyes:
    """A camera over simulated players with empty pictures, and the reader of its tables.

    Each table is read once, with some of its pieces misread.
    """

    name, simulated = "bad eyes", True

    def __init__(
        self,
        scene_at: Callable[[int], Scene],
        setup: Setup,
        place: Camera,
        seed: int,
        frames: int | None,
        faults: Sequence[int],
        glance: Callable[[], object],
    ) -> None:
        """Set the rates of error and the number of pictures.

        The number of faults of a table is drawn from `faults`; `frames` is how many pictures there
        are, None for no limit. `glance` is what somebody does who looks at the panel at every
        picture.
        """
        self._scene_at, self._setup, self._place, self._chance, self._faults = (
            scene_at,
            setup,
            place,
            Random(seed),
            faults,
        )
        self._left, self._seq, self._glance = frames, 0, glance
        self._lies: tuple[object, ...] = ()
        self._seen = Observation(0, 0, place)

    def read(self) -> Frame | None:
        """The next picture; None when enough were taken."""
        self._glance()
        if self._seq == self._left:
            return None
        self._seq += 1
        scene = self._scene_at(500 * self._seq)
        lies = (*scene.pieces, *scene.slabs, *scene.dice, bool(scene.limbs))
        if len(lies) != len(self._lies) or any(
            a is not b for a, b in zip(lies, self._lies, strict=True)
        ):
            self._lies, self._seen = lies, self._hurt(read_truly(scene, self._setup, self._place))
        return Frame(self._seq, 500 * self._seq, np.zeros((8, 8, 3), np.uint8))

    def __call__(self, frame: Frame, *_: object) -> Observation:
        """What is read of a picture."""
        return replace(self._seen, frame_seq=frame.seq, at_ms=frame.at_ms)

    def close(self) -> None:
        """Nothing is left open."""

    def _hurt(self, seen: Observation) -> Observation:
        for _ in range(self._chance.choice(self._faults)):
            if seen.pieces:
                seen = self._chance.choice(ALL)(
                    seen, self._chance.randrange(len(seen.pieces)), self._setup
                )
        return seen
