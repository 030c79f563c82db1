"""Training examples on path-traced tables: views, pieces and places.

All are cut from the same pictures, because path tracing is slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simulation.generate.tables import Kind
from table.observation import Camera
from table.solids import POSES
from table.table_config import Setup
from training.boards import photographs, sheet_views
from training.labelled_views import LabelledView, Table
from training.refiner_examples import LENSES_PX, PieceView, piece_views
from training.traced import Tracer
from training.verifier_examples import AmbiguousPlace, ambiguous_places
from vision.geometry.rectified_view import Photo

THROWS = 4
FEWEST, TRIES = 9, 6
"""Least number of pieces of a throw, and number of tries. An empty table costs as much to trace."""
PATHS = (10, 40)
"""Range of paths per pixel."""
WIDTHS_PX = (900, 1500)
BOARDS: tuple[Kind, ...] = ("storm", "boule", "zamboni", "storm", "icebreaker", "boule", "icefloe")


@dataclass(frozen=True, slots=True, eq=False)
class Traced:
    """Training examples from one picture."""

    views: tuple[LabelledView, ...]
    pieces: tuple[PieceView, ...]
    places: tuple[AmbiguousPlace, ...] = ()


def traced_free(seed: int) -> Iterator[Traced]:
    """Pictures of one random table with random print."""
    rng = np.random.default_rng([seed, 31])
    table = Table(rng, lens_px=round(float(np.exp(rng.uniform(*np.log(LENSES_PX))))))
    table.renderer = Tracer(table.setup, table.camera, _paths(rng), table.ground)
    for _ in range(THROWS):
        for _ in range(TRIES):
            table.throw()
            if len(table.placed) >= FEWEST:
                break
        picture = table.picture()
        light = table.stage.ambient + sum(lamp.power for lamp in table.stage.lamps)
        paper = (
            0.8
            * light
            * np.array(table.stage.sensor.exposure)
            * rng.uniform(0.85, 1.1)
            * rng.uniform(0.96, 1.04, 3)
        )
        placed = [(piece.solid, POSES[pose]) for piece, pose in table.placed]
        yield Traced(
            (table.view(picture),),
            tuple(piece_views(placed, Photo(picture, table.camera, table.setup), paper, rng)),
        )


def traced_board(seed: int) -> Iterator[Traced]:
    """Pictures of one random table of a game."""
    rng = np.random.default_rng([seed, 37])

    def tracer(setup: Setup, camera: Camera) -> Tracer:
        return Tracer(setup, camera, _paths(rng))

    for photo, layout, scene in photographs(
        BOARDS[seed % len(BOARDS)], seed, WIDTHS_PX, rng, tracer
    ):
        placed = [(one.piece.solid, one.pose) for one in layout.placed]
        pieces = tuple(piece_views(placed, photo, photo.paper, rng))
        yield Traced(
            tuple(sheet_views(photo, layout, scene, rng)),
            pieces,
            tuple(ambiguous_places(photo, layout)),
        )


def _paths(rng: np.random.Generator) -> int:
    return round(float(np.exp(rng.uniform(*np.log(PATHS)))))
