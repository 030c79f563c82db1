"""SVG geometry of the table in top view.

One unit is 1 mm, x right, y **down** (table y negated).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from referee.presentation.session_view import Ranked, SessionView
from referee.presentation.shown_games import OnBoard, on_board
from table.boards import Board, Chessboard, Coasters, Hex, Open, Tiles
from table.cells import cell_side_mm, cells_mm
from table.messages import phrase
from table.observation_document import Counter, ObservationDocument, Piece, PointMm
from table.solids import FACES, TIP, Array, Solid
from table.table_config import Setup
from webui.svg.labels import Label, place_labels
from webui.svg.marks import (
    DrawnMark,
    DrawnOption,
    are_too_many,
    draw_marks,
    draw_options,
    path,
    plan,
)
from webui.svg.names import names_of

MARGIN_MM = 8.0
FAR_BESIDE = 0.85
"""Limit of a drawn piece's distance from the board's middle, in board widths."""
SAME_PIECE_MM = 4.0
"""Displacement from the measured place above which a piece counts as moved; its gap is not drawn.
"""
SAME_COUNTER_MM = 10.0
"""Displacement above which a counter counts as moved."""

CHI2_95 = 5.991
"""95 % quantile of chi-square with two degrees of freedom: squared ellipse radius in sigmas."""

LIGHT = np.array([-0.42, 0.5, 0.76])
"""Direction towards the light source of the drawing: from the far left."""


@dataclass(frozen=True, slots=True)
class Face:
    """One face in top view: SVG points and shade.

    The shade is relative to a level face: negative is darker, positive is lighter.
    """

    points: str
    shade: float


@dataclass(frozen=True, slots=True)
class Ellipse:
    """The 95 % region of a point.

    Centre and semi-axes in mm, direction of the major axis in SVG degrees.
    """

    x: float
    y: float
    a_mm: float
    b_mm: float
    turn_deg: float


@dataclass(frozen=True, slots=True)
class DrawnPiece:
    """A piece in plan view with its inner edges; `name` is for screen readers."""

    name: str
    colour: str
    outline: str
    faces: tuple[Face, ...]
    tip: tuple[float, float]
    middle: tuple[float, float]
    ellipse: Ellipse
    target: bool


@dataclass(frozen=True, slots=True)
class DrawnGap:
    """The shortest line from a piece to the target, projected on the table."""

    x1: float
    y1: float
    x2: float
    y2: float
    leading: bool
    close: bool
    """True if it is one of the gaps that are too close to call."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A square of a board.

    `dark` is True for squares such as a1; `colour` is the coaster's, `tile` the recorded tile.
    """

    x: float
    y: float
    side_mm: float
    dark: bool
    name: str
    colour: str
    tile: str


@dataclass(frozen=True, slots=True)
class Hexagon:
    """A cell of a hex board: outline and middle."""

    points: str
    x: float
    y: float
    name: str


@dataclass(frozen=True, slots=True)
class DrawnCounter:
    """A flat counter."""

    x: float
    y: float
    radius_mm: float
    colour: str


@dataclass(frozen=True, slots=True)
class DrawnFiducial:
    """A fiducial's square; `seen` if it was used to locate the picture."""

    points: str
    x: float
    y: float
    id: int
    seen: bool


@dataclass(frozen=True, slots=True)
class PutBack:
    """Changes that restore the table to its state before an undone ruling."""

    lift: tuple[DrawnPiece, ...]
    """Pieces to remove: they were not there before."""
    lay: tuple[DrawnPiece, ...]
    """Pieces to put back: they were there before."""
    counters: tuple[DrawnCounter, ...]
    """Counters to put back: they were there before."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything on the table; `view_box` is (x, y, width, height)."""

    view_box: tuple[float, float, float, float]
    text_mm: float
    outline: str
    cells: tuple[Cell, ...]
    hexes: tuple[Hexagon, ...]
    dice: tuple[Cell, ...]
    start: str
    counters: tuple[DrawnCounter, ...]
    fiducials: tuple[DrawnFiducial, ...]
    pieces: tuple[DrawnPiece, ...]
    off_board: tuple[DrawnPiece, ...]
    gaps: tuple[DrawnGap, ...]
    labels: tuple[Label, ...]
    ruler_mm: int
    options: tuple[DrawnOption, ...]
    crowded: bool
    trace: tuple[DrawnMark, ...]
    put_back: PutBack | None
    """None if nothing has to be put back."""


def draw(
    setup: Setup,
    seen: ObservationDocument | None,
    ranking: Sequence[Ranked] = (),
    near: bool = False,
    view: SessionView | None = None,
    known: OnBoard | None = None,
) -> Drawing:
    """Draw the table with the observed pieces and measured gaps.

    `near` limits the drawing to the target and the pieces nearest to it. A `view` adds options,
    trace and the state's board contents (tiles, cover dice, starting line). Without a view, `known`
    gives the recorded board contents.
    """
    known = on_board(view.game, view.state) if view else known or OnBoard()
    options = view.options if view else ()
    close = seen.too_close if seen else frozenset()
    pieces = seen.pieces if seen else ()
    measured = {index: row for row in ranking if (index := _piece_index(row, pieces)) is not None}
    shown = _near_box(pieces, measured, setup) if near and measured else _whole_box(setup, seen)
    view_box = _fit_shape(shown, _whole_box(setup, None))
    text_mm = min(view_box[2], 1.5 * view_box[3]) / (38 if near else 46)
    fiducials_seen = seen.camera.fiducials_seen if seen and seen.camera else None
    return Drawing(
        view_box=view_box,
        text_mm=round(text_mm, 2),
        outline=points(setup.outline_mm()),
        cells=_cells(setup.board, (seen.board_state or {}) if seen else {}, known.tiles),
        hexes=_hexes(setup.board),
        dice=_dice(setup.board, known.dice),
        start=path(np.array(known.line), plan) if known.line else "",
        counters=_counters(setup, seen.counters) if seen else (),
        fiducials=_fiducials(setup, fiducials_seen) if isinstance(setup.board, Open) else (),
        pieces=tuple(_piece(piece, setup) for piece in sorted(pieces, key=_top_mm)),
        off_board=tuple(_piece(piece, setup) for piece in seen.off_board) if seen else (),
        gaps=tuple(
            _gap(row, row.points_mm, row.place - 1 in close)
            for row in measured.values()
            if row.points_mm
        ),
        labels=place_labels(
            pieces,
            measured,
            names_of(setup.board, known.pieces, pieces),
            setup.game.target,
            text_mm,
            view_box,
        ),
        ruler_mm=next(
            (length for length in (500, 200, 100, 50, 20, 10) if length <= view_box[2] / 4), 5
        ),
        options=draw_options(setup.board, options),
        crowded=are_too_many(options),
        trace=draw_marks(setup.board, view.trace if view else ()),
        put_back=_put_back_marks(seen, view.earlier, setup)
        if seen and view and view.earlier
        else None,
    )


def draw_box(points_mm: Array) -> tuple[float, float, float, float]:
    """The view box (x, y, width, height) around points (n, 2) in mm, with a margin."""
    return _box(points_mm, MARGIN_MM)


def ellipse_95(base_mm: Sequence[float], covariance_mm2: Any) -> Ellipse:
    """The 95 % confidence ellipse of a point, from its covariance (2, 2) in mm2."""
    values, vectors = np.linalg.eigh(np.asarray(covariance_mm2, float))
    b_mm, a_mm = np.sqrt(np.maximum(values, 0.0) * CHI2_95)
    along = vectors[:, 1]
    x, y = flip(base_mm)
    return Ellipse(
        x,
        y,
        round(float(a_mm), 3),
        round(float(b_mm), 3),
        round(math.degrees(math.atan2(-along[1], along[0])), 1),
    )


def _put_back_marks(
    seen: ObservationDocument, earlier: ObservationDocument, setup: Setup
) -> PutBack | None:
    lift, lay = (
        tuple(
            _piece(piece, setup)
            for piece in table.pieces
            if not any(_are_at_same_place(piece, one) for one in other.pieces)
        )
        for table, other in ((seen, earlier), (earlier, seen))
    )
    gone = [
        one
        for one in earlier.counters
        if not any(
            one.colour == other.colour
            and math.dist((one.x_mm, one.y_mm), (other.x_mm, other.y_mm)) <= SAME_COUNTER_MM
            for other in seen.counters
        )
    ]
    if not (lift or lay or gone):
        return None
    return PutBack(lift, lay, _counters(setup, gone))


def _are_at_same_place(one: Piece, other: Piece) -> bool:
    return (one.colour, one.size, one.pose) == (other.colour, other.size, other.pose) and math.dist(
        one.base_mm, other.base_mm
    ) <= SAME_PIECE_MM


def any_lies(ranking: Sequence[Ranked], pieces: Sequence[Piece]) -> bool:
    """True if a ranked piece is still in its place, or its place is unknown."""
    return any(row.base_mm is None or _piece_index(row, pieces) is not None for row in ranking)


def _piece_index(row: Ranked, pieces: Sequence[Piece]) -> int | None:
    """Index of a ranking row's piece, if it is still in its place."""
    base_mm = row.base_mm
    if base_mm is None:
        return None
    alike = (index for index, piece in enumerate(pieces) if piece.colour == row.colour)
    apart_mm = {index: math.dist(pieces[index].base_mm, base_mm) for index in alike}
    index = min(apart_mm, key=lambda i: apart_mm[i], default=None)
    return index if index is not None and apart_mm[index] <= SAME_PIECE_MM else None


def _piece(piece: Piece, setup: Setup) -> DrawnPiece:
    vertices = np.array(piece.vertices_mm, float)
    plan = Solid(vertices).plan_mm()
    target = piece.colour == setup.game.target
    return DrawnPiece(
        name=(
            phrase(
                "{colour} {size}, {pose}, the target" if target else "{colour} {size}, {pose}",
                colour=piece.colour,
                size=piece.size,
                pose=piece.pose,
            )
        ),
        colour=piece.colour,
        outline=points(plan),
        faces=faces(vertices),
        tip=flip(vertices[TIP]),
        middle=flip(plan.mean(axis=0)),
        ellipse=ellipse_95(piece.base_mm, piece.base_cov_mm2),
        target=target,
    )


def faces(vertices_mm: Array) -> tuple[Face, ...]:
    """Upward faces, each shaded relative to a level face."""
    found = []
    light = LIGHT / np.linalg.norm(LIGHT)
    for numbers in FACES:
        corners = vertices_mm[list(numbers)]
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        normal /= np.linalg.norm(normal)
        if normal[2] > 1e-6:
            found.append(
                Face(
                    points(corners[:, :2]), round(float(normal @ light - light[2]) * 0.55 + 0.12, 2)
                )
            )
    return tuple(found)


def _gap(row: Ranked, points_mm: tuple[PointMm, PointMm], close: bool) -> DrawnGap:
    on_piece, on_target = points_mm
    return DrawnGap(*flip(on_piece), *flip(on_target), row.place == 1, close)


def _cells(board: Board, tiles: Mapping[str, bool], known: Mapping[str, str]) -> tuple[Cell, ...]:
    """The squares of a board, if it has squares.

    Coasters alternate between dark and light. On a board of tiles, places without a tile are dark:
    `tiles` says which have one (default: all), and `known` gives the recorded contents.
    """
    match board:
        case Chessboard():
            side, files, ranks, block = board.square_mm, board.files, board.ranks, 1
        case Coasters():
            side, files, ranks, block = board.cell_mm, board.cols, board.rows, 3
        case Tiles():
            side, files, ranks, block = board.cell_mm, board.cols, board.rows, 0
        case _:
            return ()
    x0, y0 = board.origin_mm
    cells = []
    for rank in range(ranks):
        for file in range(files):
            name = f"{chr(97 + file)}{rank + 1}"
            dark = (file // block + rank // block) % 2 == 0 if block else not tiles.get(name, True)
            colour = _coaster(board, file, rank) if isinstance(board, Coasters) else ""
            tile = "" if dark else known.get(name, "")
            cells.append(
                Cell(
                    *flip((x0 + file * side, y0 + (rank + 1) * side)),
                    side,
                    dark,
                    name,
                    colour,
                    tile,
                )
            )
    return tuple(cells)


def _coaster(board: Coasters, file: int, rank: int) -> str:
    """The colour of the coaster under a space; empty if it is unknown."""
    down, across = (board.rows - 1 - rank) // 3, file // 3
    return (
        board.layout[down][across]
        if down < len(board.layout) and across < len(board.layout[down])
        else ""
    )


def _hexes(board: Board) -> tuple[Hexagon, ...]:
    """The cells of a hex board."""
    if not isinstance(board, Hex):
        return ()
    return tuple(
        Hexagon(points(corners), *flip(corners.mean(axis=0)), name)
        for name, corners in cells_mm(board).items()
    )


def _dice(board: Board, spaces: Any) -> tuple[Cell, ...]:
    """Cover dice in the middle of their spaces, at half the width of a space."""
    cells, side = cells_mm(board), cell_side_mm(board) / 2
    far_left = np.array([-side / 2, side / 2])
    middles = ((name, cells[name].mean(axis=0)) for name in spaces if name in cells)
    return tuple(
        Cell(*flip(middle + far_left), side, False, name, "", "") for name, middle in middles
    )


def _counters(setup: Setup, seen: Sequence[Counter]) -> tuple[DrawnCounter, ...]:
    kind = setup.game.counters
    return (
        tuple(
            DrawnCounter(*flip((row.x_mm, row.y_mm)), kind.diameter_mm / 2, row.colour)
            for row in seen
        )
        if kind
        else ()
    )


def _fiducials(setup: Setup, seen: Sequence[int] | None) -> tuple[DrawnFiducial, ...]:
    drawn = []
    for marker in setup.fiducials.markers:
        corners = np.array(marker.corners_mm)
        drawn.append(
            DrawnFiducial(
                points(corners),
                *flip(corners.mean(axis=0)),
                marker.id,
                seen is None or marker.id in seen,
            )
        )
    return tuple(drawn)


def _whole_box(setup: Setup, seen: ObservationDocument | None) -> tuple[float, float, float, float]:
    """The view box of the whole table.

    For open ground it includes the fiducials; for a board the cells, their names, and pieces beside
    the board.
    """
    if isinstance(setup.board, Open):
        return _box(
            np.vstack(
                [
                    setup.outline_mm(),
                    *(np.array(marker.corners_mm) for marker in setup.fiducials.markers),
                ]
            ),
            3 * MARGIN_MM,
        )
    side_mm = cell_side_mm(setup.board)
    outline = setup.outline_mm()
    reach_mm = FAR_BESIDE * np.ptp(outline, axis=0).max()
    beside = [
        np.array(piece.vertices_mm, float)[:, :2] for piece in (seen.off_board if seen else ())
    ]
    near = [points for points in beside if np.abs(points - outline.mean(axis=0)).max() < reach_mm]
    return _box(
        np.vstack([outline, *near]), (0.35 if isinstance(setup.board, Hex) else 0.6) * side_mm
    )


def _near_box(
    pieces: Sequence[Piece], measured: Mapping[int, Ranked], setup: Setup
) -> tuple[float, float, float, float]:
    """The view box around the target and the four pieces nearest to it."""
    nearest = sorted(measured, key=lambda index: measured[index].place)[:4]
    shown = [pieces[index] for index in nearest] + [
        piece for piece in pieces if piece.colour == setup.game.target
    ]
    return _box(
        np.vstack([np.array(piece.vertices_mm, float)[:, :2] for piece in shown]), 3 * MARGIN_MM
    )


def _fit_shape(
    box: tuple[float, float, float, float], like: tuple[float, float, float, float]
) -> tuple[float, float, float, float]:
    """A box enlarged about its middle to the aspect ratio of another.

    This keeps the drawing's height constant, so that the page below does not move.
    """
    x, y, width, height = box
    wide, high = max(width, height * like[2] / like[3]), max(height, width * like[3] / like[2])
    x, y = x - (wide - width) / 2, y - (high - height) / 2
    return round(x, 2), round(y, 2), round(wide, 2), round(high, 2)


def _box(points: Array, margin_mm: float) -> tuple[float, float, float, float]:
    low, high = points.min(axis=0) - margin_mm, points.max(axis=0) + margin_mm
    x, y = flip((low[0], high[1]))
    return x, y, round(float(high[0] - low[0]), 2), round(float(high[1] - low[1]), 2)


def _top_mm(piece: Piece) -> float:
    return max(float(vertex[2]) for vertex in piece.vertices_mm)


def flip(point: Sequence[float] | Array) -> tuple[float, float]:
    """A table point (x, y) in mm in SVG axes."""
    return round(float(point[0]), 2), round(0.0 - float(point[1]), 2)


def points(outline: Array) -> str:
    """An outline (n, 2) in mm as SVG `points`."""
    return " ".join(f"{x:g},{y:g}" for x, y in map(flip, outline))
