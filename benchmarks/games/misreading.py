"""A reader that knows what lies on a simulated table, and errs at random.

A game is refereed as with bad vision, and no picture is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import numpy as np

from benchmarks.games.piece_faults import FAULTS
from simulation.render.scene import Scene
from simulation.true_reading import TrueEyes
from table.observation import Camera, Observation, SeenCounter, SeenDie
from table.table_config import Setup
from vision.cameras.frame import Frame

FAULTS_AT_ONCE = (0, 0, 1, 1, 2, 3)

Fault = Callable[[Observation, int, Setup], Observation]


def _replace_fields(seen: Observation, k: int, **other: object) -> Observation:
    return replace(
        seen, pieces=(*seen.pieces[:k], replace(seen.pieces[k], **other), *seen.pieces[k + 1 :])
    )


def doubtful_place(seen: Observation, k: int, _setup: Setup) -> Observation:
    return _replace_fields(
        seen, k, covariance=np.diag([15.0, 15.0, 20.0]) ** 2, size_probability=0.6
    )


def doubtful_colour(seen: Observation, k: int, _setup: Setup) -> Observation:
    return _replace_fields(seen, k, colour_probability=0.6)


def leaning(seen: Observation, k: int, _setup: Setup) -> Observation:
    return _replace_fields(seen, k, pose="leaning", pose_probability=0.7)


def outside_board(seen: Observation, k: int, setup: Setup) -> Observation:
    return replace(
        FAULTS["not seen at all"](seen, k, setup), off_board=(*seen.off_board, seen.pieces[k])
    )


def missing_thing(seen: Observation, k: int, _setup: Setup) -> Observation:
    """A counter, a cover die or a tile that is there is not seen."""
    tiles = [place for place, there in (seen.tiles or {}).items() if there]
    return replace(
        seen,
        counters=seen.counters[:k] + seen.counters[k + 1 :],
        dice=seen.dice[1:] if seen.dice else seen.dice,
        tiles={**seen.tiles, tiles[k % len(tiles)]: False} if seen.tiles and tiles else seen.tiles,
    )


def phantom_thing(seen: Observation, k: int, setup: Setup) -> Observation:
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
    *(doubtful_place, doubtful_colour, leaning, outside_board, missing_thing, phantom_thing),
)


class BadEyes(TrueEyes):
    """A camera over simulated players with empty pictures, and the reader of its tables.

    Each table is read once, with some of its pieces misread.
    """

    name = "bad eyes"

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
        super().__init__(scene_at, setup, place, frames)
        self._chance, self._faults, self._glance = Random(seed), faults, glance

    def read(self) -> Frame | None:
        """The next picture; None when enough were taken."""
        self._glance()
        return super().read()

    def look(self, scene: Scene) -> Observation:
        """What lies there, with faults."""
        seen = super().look(scene)
        for _ in range(self._chance.choice(self._faults)):
            if seen.pieces:
                seen = self._chance.choice(ALL)(
                    seen, self._chance.randrange(len(seen.pieces)), self.setup
                )
        return seen
