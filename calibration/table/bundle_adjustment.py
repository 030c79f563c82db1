"""Bundle adjustment of still cards, and optionally a board, over several photographs.

The state is [x, y, heading] of cards 1 to 3 relative to card 0. Then, for each photograph, come the
pose (rotation vector, translation) and the spread of light. With a board, its [x, y, heading] and
the outward offset of its rim from its sizes follow.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.table.board_edges import BoardEdges
from table.solids import Array
from table.table_config import Lens
from vision.cameras.frame import Image
from vision.geometry.camera_model import project_with
from vision.localization.fiducial_edges import REACH_MODULES, edge_offsets

CARDS = (0, 1, 2, 3)
PLACES, FRAME = 9, 7
SPREAD = 6
BOARD = slice(-4, -1)
RIM_SIGMA_MM = 0.5
"""Prior standard deviation of the rim of tiles that are laid down one by one."""
SPREAD_SIGMA_PX = 0.5
"""Prior standard deviation of the spread of light in a photograph."""
ROBUST_PX = 0.1
"""Scale of the robust loss: larger residuals have less weight."""
MODULES = 6
ASIDE_MM = 0.5
SIDE_EDGES = 7
"""Number of neighbouring edges of a board with correlated errors; the divisor of the board's
weight.
"""


@dataclass(frozen=True, slots=True, eq=False)
class PriorKnowledge:
    """Known data: the lens, the cards' edges and the board's printed lines.

    `samples` are points and normals by card, in sides of a card. `height_mm` is the height of the
    board's face above the cards.
    """

    lens: Lens
    side_mm: float
    samples: list[tuple[Array, Array]]
    lines: BoardEdges | None = None
    height_mm: float = 0.0

    @property
    def owner(self) -> NDArray[np.intp]:
        """The card that each edge (n,) belongs to."""
        return np.repeat(CARDS, [len(points) for points, _ in self.samples])

    def board_off_px(self, residuals: Array) -> float:
        """Median absolute offset of the board's edges, from their `residuals`."""
        return float(np.sqrt(SIDE_EDGES) * np.median(np.abs(residuals)))


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredEdges:
    """Measured edges of one photograph.

    `indices` (n,) are their indices, `places_px` (n, 2) their places, `normals_px` (n, 2) the
    normals.
    """

    indices: NDArray[np.intp]
    places_px: Array
    normals_px: Array

    def select(self, keep: NDArray[np.bool_]) -> MeasuredEdges:
        """The edges that a mask selects."""
        return MeasuredEdges(self.indices[keep], self.places_px[keep], self.normals_px[keep])


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredPhotograph:
    """One photograph: its cards, and its board if there is one."""

    cards: MeasuredEdges
    board: MeasuredEdges | None = None


def pose(state: Array, frame: int) -> tuple[Array, Array]:
    """Rotation (3, 3) and translation (3,) of a photograph."""
    own = state[PLACES + FRAME * frame :][:SPREAD]
    return np.asarray(cv2.Rodrigues(own[:3])[0], float), own[3:]


def square(side_mm: float) -> Array:
    """Corners (4, 2) clockwise from the top left, around the middle."""
    return side_mm / 2 * np.array([[-1.0, 1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])


def place_points(place: Array, local_mm: Array) -> Array:
    """Points (n, 2) of an object at a place [x, y, heading in rad], on the plane."""
    c, s = np.cos(place[2]), np.sin(place[2])
    return np.asarray(local_mm @ np.array([[c, s], [-s, c]]) + place[:2])


def card_corners(state: Array, side_mm: float) -> Array:
    """Corners (4, 4, 2) of all cards, on the plane."""
    return np.array([place_points(_card(state, card), square(side_mm)) for card in CARDS])


def project_plane(
    points_mm: Array, state: Array, frame: int, lens: Lens, z_mm: float = 0.0
) -> Array:
    """Pixels (n, 2) of points (n, 2) on the plane of the cards, or `z_mm` above it."""
    rotation, translation = pose(state, frame)
    return project_with(
        rotation, translation, np.column_stack([points_mm, np.full(len(points_mm), z_mm)]), lens
    )


def measure(image: Image, state: Array, frame: int, known: PriorKnowledge) -> MeasuredPhotograph:
    """Measure edges of a photograph near their predicted places."""
    edges, normals = _card_edges(state, frame, known)
    corners = project_plane(
        card_corners(state, known.side_mm).reshape(-1, 2), state, frame, known.lens
    ).reshape(4, 4, 2)
    module_px = (
        float(np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2).min()) / MODULES
    )
    offset, _, good = edge_offsets(
        image, edges, normals, REACH_MODULES * module_px, np.full(len(edges), _spread(state, frame))
    )
    cards = _select_edges(edges, normals, offset, good)
    if known.lines is None:
        return MeasuredPhotograph(cards)
    edges, normals = _board_edges(state, frame, known)
    return MeasuredPhotograph(
        cards, _select_edges(edges, normals, *known.lines.measure(image, edges, normals))
    )


def residuals(state: Array, measured: list[MeasuredPhotograph], known: PriorKnowledge) -> Array:
    """Residuals in px of measured edges along their normals: cards, boards, then priors.

    The priors are on spread and rim.
    """
    spreads = [_spread(state, frame) for frame in range(len(measured))]
    cards = [
        _edge_offsets(_card_edges(state, frame, known)[0], one.cards, spread)
        for frame, (one, spread) in enumerate(zip(measured, spreads, strict=True))
    ]
    boards = []
    for frame, one in enumerate(measured):
        if known.lines and one.board:
            spread = spreads[frame] if known.lines.look == "step" else 0.0
            boards.append(
                _edge_offsets(_board_edges(state, frame, known)[0], one.board, spread)
                / np.sqrt(SIDE_EDGES)
            )
    expected = [
        *(np.array(spreads) / SPREAD_SIGMA_PX),
        *(state[-1:] / RIM_SIGMA_MM if known.lines else ()),
    ]
    return np.concatenate([*cards, *boards, ROBUST_PX * np.array(expected)])


def _card(state: Array, card: int) -> Array:
    return state[3 * card - 3 : 3 * card] if card else np.zeros(3)


def _spread(state: Array, frame: int) -> float:
    return float(state[PLACES + FRAME * frame + SPREAD])


def _card_edges(state: Array, frame: int, known: PriorKnowledge) -> tuple[Array, Array]:
    """Predicted edges of all cards (n, 2) px in a photograph, and unit normals to their white."""
    on, beside = (
        np.concatenate(
            [
                place_points(_card(state, card), known.side_mm * points + aside * ways)
                for card, (points, ways) in enumerate(known.samples)
            ]
        )
        for aside in (0.0, ASIDE_MM)
    )
    return _project_edges(on, beside, state, frame, known.lens, 0.0)


def _board_edges(state: Array, frame: int, known: PriorKnowledge) -> tuple[Array, Array]:
    """As `_card_edges`, for the print on the board."""
    assert known.lines is not None
    out = state[-1] if known.lines.look == "rim" else 0.0
    on, beside = (
        place_points(state[BOARD], known.lines.points_mm + (out + aside) * known.lines.normals)
        for aside in (0.0, ASIDE_MM)
    )
    return _project_edges(on, beside, state, frame, known.lens, known.height_mm)


def _project_edges(
    on: Array, beside: Array, state: Array, frame: int, lens: Lens, z_mm: float
) -> tuple[Array, Array]:
    edges = project_plane(on, state, frame, lens, z_mm)
    step = project_plane(beside, state, frame, lens, z_mm) - edges
    return edges, step / np.linalg.norm(step, axis=1, keepdims=True)


def _select_edges(
    edges: Array, normals: Array, offset: Array, good: NDArray[np.bool_]
) -> MeasuredEdges:
    return MeasuredEdges(
        np.flatnonzero(good), (edges + offset[:, None] * normals)[good], normals[good]
    )


def _edge_offsets(edges: Array, seen: MeasuredEdges, spread: float) -> Array:
    return np.asarray(
        np.sum((seen.places_px - edges[seen.indices]) * seen.normals_px, axis=1) - spread
    )
