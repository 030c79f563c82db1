"""Overlay on the camera picture: the contents of the plan in the camera's perspective."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from referee.presentation.lens_view import camera_projection
from referee.presentation.session_view import Mark, Option
from table.cells import cells_mm
from table.messages import phrase
from table.observation import Observation, SeenPiece
from table.solids import EDGES, Array, convex_hull
from table.table_config import Setup
from webui.svg.board import ellipse_95
from webui.svg.marks import (
    DrawnMark,
    DrawnOption,
    Sheet,
    are_too_many,
    circle,
    draw_marks,
    draw_options,
    path,
)

ROUND = 0.12
"""Margin shown around the board, in widths of the board."""


@dataclass(frozen=True, slots=True)
class OverPiece:
    """A piece in the picture: silhouette, edges, 95 % ellipse, place of the letter above it."""

    name: str
    colour: str
    outline: str
    edges: str
    ellipse: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Overlay:
    """The drawing over a picture, in the picture's pixels.

    `view_box` contains the board; `ground` and `cells` are paths.
    """

    view_box: tuple[float, float, float, float]
    width: int
    height: int
    frame_seq: int
    ground: str
    cells: str
    fiducials: str
    pieces: tuple[OverPiece, ...]
    counters: tuple[tuple[str, str], ...]
    options: tuple[DrawnOption, ...]
    crowded: bool
    trace: tuple[DrawnMark, ...]


def draw_over(
    setup: Setup, seen: Observation, options: Sequence[Option] = (), trace: Sequence[Mark] = ()
) -> Overlay:
    """Draw an observation over the picture that it was read from."""
    sheet = camera_projection(setup, seen.camera)
    kind = setup.game.counters
    radius_mm = kind.diameter_mm / 2 if kind else 0.0
    counters = (
        (one.colour, path(circle(np.array([one.x_mm, one.y_mm]), radius_mm), sheet, closed=True))
        for one in seen.counters
    )
    markers = (
        np.array(marker.corners_mm)
        for marker in setup.fiducials.markers
        if marker.id in seen.camera.fiducials_seen
    )
    return Overlay(
        view_box=_view_box(setup, sheet),
        width=setup.camera.width,
        height=setup.camera.height,
        frame_seq=seen.frame_seq,
        ground=path(setup.outline_mm(), sheet, closed=True),
        cells=" ".join(
            path(corners, sheet, closed=True) for corners in cells_mm(setup.board).values()
        ),
        fiducials=" ".join(
            path(np.column_stack([corners, np.full(4, setup.fiducials.z_mm)]), sheet, closed=True)
            for corners in markers
        ),
        pieces=tuple(_piece(piece, sheet) for piece in seen.pieces),
        counters=tuple(counters),
        options=draw_options(setup.board, options, sheet),
        crowded=are_too_many(options),
        trace=draw_marks(setup.board, trace, sheet),
    )


def _view_box(setup: Setup, sheet: Sheet) -> tuple[float, float, float, float]:
    """The view box: the board with a margin, (x, y, width, height), inside the picture."""
    corners = sheet(np.column_stack([setup.outline_mm(), np.zeros(len(setup.outline_mm()))]))
    margin = ROUND * np.ptp(corners, axis=0).max()
    low = np.maximum(corners.min(axis=0) - margin, 0)
    high = np.minimum(corners.max(axis=0) + margin, (setup.camera.width, setup.camera.height))
    x, y, width, height = np.round([*low, *(high - low)], 1).tolist()
    return x, y, width, height


def _piece(piece: SeenPiece, sheet: Sheet) -> OverPiece:
    vertices = piece.solid.vertices_mm
    corners = sheet(vertices)
    outline = convex_hull(corners)
    edges = " ".join(path(vertices[list(edge)], sheet) for edge in EDGES)
    x, y = outline[:, 0].mean(), outline[:, 1].min()
    points = " ".join(f"{px:.1f},{py:.1f}" for px, py in outline)
    ellipse = path(_ellipse_mm(piece), sheet, closed=True)
    return OverPiece(
        phrase("{colour} {size}, {pose}", colour=piece.colour, size=piece.size, pose=piece.pose),
        piece.colour,
        points,
        edges,
        ellipse,
        round(float(x), 1),
        round(float(y), 1),
    )


def _ellipse_mm(piece: SeenPiece) -> Array:
    """The 95 % region of the base as a polygon, (24, 2)."""
    ellipse = ellipse_95(piece.base_mm.tolist(), piece.covariance[:2, :2])
    turn = math.radians(-ellipse.turn_deg)
    ring = circle(np.zeros(2), 1.0) * (ellipse.a_mm, ellipse.b_mm)
    return np.asarray(
        ring @ np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
        + piece.base_mm
    )
