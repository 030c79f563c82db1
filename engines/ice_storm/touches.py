"""Squares touched by a measured piece: each touched, clear, or too close to call.

See ruling ice_storm.2. A piece touches a square if the two overlap by more than the measurement's
uncertainty. Convex outlines overlap unless some edge of one has all corners of the other beyond it.
The distance beyond an edge, in mm, changes with the piece's (x_mm, y_mm, heading_deg). To first
order it changes by the edge's normal and the lever arm about `base_mm`, so the covariance gives its
standard deviation.

A square is surely touched if no edge separates it from the piece within the 95 % uncertainty. It is
surely clear if one edge separates them by more than that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from engines.ice_storm.place import Place, shapes
from engines.ice_storm.squares import SIDE, Square
from table.boards import Board, Chessboard, kind_in_words
from table.errors import InputError
from table.messages import msg, phrase
from table.observation import SeenPiece
from table.pieces import PieceSize
from table.solids import Array, convex_hull

Z95 = 1.96
"""Half-width of the 95 % interval of a normal distribution, in standard deviations."""
Call = Literal["touched", "clear", "too close"]


@dataclass(frozen=True, slots=True)
class Touch:
    """Measured overlap of a piece with a square.

    `overlap_mm` is the least displacement that separates them; below 0 the piece is beside the
    square.
    """

    square: Square
    overlap_mm: float
    sigma_mm: float
    call: Call

    def __str__(self) -> str:
        return phrase(
            "{cell}: {mm} mm, {touch}",
            cell=self.square,
            mm=f"{self.overlap_mm:.1f} ± {Z95 * self.sigma_mm:.1f}",
            touch=self.call,
        )


@dataclass(frozen=True, slots=True)
class Touches:
    """Squares that a piece touches or may touch, in order; others are surely clear.

    `tips` are the squares that its tip may be in, none if it stands upright. `reached` is another
    square, which has the tip if the piece touches it. `on_board` is False if it lies off the board
    or partly off, None if that is too close to call.
    """

    squares: tuple[Touch, ...]
    tips: frozenset[Square]
    reached: Square | None
    on_board: bool | None

    @property
    def place(self) -> Place | None:
        """The place in the notation of moves; None off the board.

        Doubtful squares that would make three in a row with touched ones are left out.
        """
        if self.on_board is False:
            return None
        clear = frozenset(touch.square for touch in self.squares if touch.call == "touched")
        doubtful = frozenset(touch.square for touch in self.squares if touch.call == "too close")
        possible = clear.union(*shapes(clear, doubtful))
        reached = self.reached if self.reached in possible else None
        return Place(
            clear,
            doubtful & possible,
            self.tips & possible,
            reached,
            off_doubtful=self.on_board is None,
        )


def touches(piece: SeenPiece, board: Chessboard, touching: str = "contact") -> Touches:
    """The squares of a chessboard that a piece touches.

    Touching is by contact with the board or, with `overhang`, by the plan view. A piece that leans
    rests on some point below its plan view that no picture shows: all squares below it are too
    close to call, unless there is only one. Whether pose and size were read for sure is not checked
    here. Raises InvalidNotation for a piece that is too large for the squares (see `check_setup`).
    """
    rests_somewhere = piece.pose == "leaning" and touching == "contact"
    seen = _Outline.of(piece, overhang=rests_somewhere or touching == "overhang")
    found = [
        touch
        for square in _squares_in_reach(seen, board)
        if (touch := _touch(seen, square, board)).call != "clear"
    ]
    on_board = _on_board(seen, board)
    if rests_somewhere and (len(found) > 1 or not on_board):
        found = [
            Touch(touch.square, touch.overlap_mm, touch.sigma_mm, "too close") for touch in found
        ]
        on_board = on_board or (None if found else False)
    tips, reached = (
        (frozenset[Square](), None) if piece.pose == "upright" else _tips(seen, found, board)
    )
    return Touches(tuple(found), tips, reached, on_board)


def check_board(board: Board) -> Chessboard:
    """Return the board, if Ice Storm can be played on it; raises InputError."""
    if not isinstance(board, Chessboard) or (board.files, board.ranks) != (SIDE, SIDE):
        got = (
            phrase("a chessboard of {n} x {n2}", n=board.files, n2=board.ranks)
            if isinstance(board, Chessboard)
            else kind_in_words(board)
        )
        raise InputError(
            msg(
                "Ice Storm needs a chessboard of {n} x {n} squares; this is {text}",
                n=SIDE,
                text=got,
            )
        )
    return board


def check_setup(board: Board, size: PieceSize) -> None:
    """Raise InputError if Ice Storm cannot be played on this board with pieces of this size.

    A piece shorter than a square is wide touches four squares at most, and those share a corner
    (ruling ice_storm.6).
    """
    board = check_board(board)
    longest_mm = max(math.hypot(size.slant_mm, size.base_mm / 2), size.base_mm * math.sqrt(2))
    if board.square_mm <= longest_mm:
        raise InputError(
            msg(
                "board.square_mm: expected more than {mm} mm, the length of a {size} piece (house"
                " rule ice_storm.6), got {mm2} mm",
                mm=f"{longest_mm:.1f}",
                size=size,
                mm2=f"{board.square_mm:.1f}",
            )
        )


@dataclass(frozen=True, eq=False)
class _Outline:
    """A measured outline, (n, 2) mm counter-clockwise, that moves with its piece.

    `tip_mm` (2,) is seen from above.
    """

    points_mm: Array
    tip_mm: Array
    base_mm: Array
    covariance: Array

    @classmethod
    def of(cls, piece: SeenPiece, overhang: bool) -> _Outline:
        points = piece.solid.plan_mm() if overhang else convex_hull(piece.contact_mm)
        return cls(points, piece.tip_mm, piece.base_mm, piece.covariance)

    def sigma_mm(self, normal: Array, points_mm: Array) -> Array:
        """Standard deviation (n,) of points (n, 2) of the piece along a unit normal (2,)."""
        arm = points_mm - self.base_mm
        turning = (normal[1] * arm[:, 0] - normal[0] * arm[:, 1]) * math.pi / 180
        moving, both, turned = (
            float(normal @ self.covariance[:2, :2] @ normal),
            float(normal @ (self.covariance[:2, 2] + self.covariance[2, :2])),
            float(self.covariance[2, 2]),
        )
        variance: Array = moving + turning * (both + turning * turned)
        return np.sqrt(np.maximum(variance, 0.0))

    @cached_property
    def side_sigmas_mm(self) -> list[Array]:
        """Standard deviation (n,) of the points along the normal of each of `_SIDES`."""
        return [self.sigma_mm(normal, self.points_mm) for normal, _ in _SIDES]

    @cached_property
    def edges(self) -> list[tuple[Array, Array]]:
        """The edges, each as a point (2,) on it and its outward unit normal (2,)."""
        along = np.roll(self.points_mm, -1, axis=0) - self.points_mm
        normals = np.column_stack([along[:, 1], -along[:, 0]]) / np.hypot(*along.T)[:, None]
        return list(zip(self.points_mm, normals, strict=True))


_SIDES = (
    (np.array([1.0, 0.0]), 1),
    (np.array([0.0, 1.0]), 2),
    (np.array([-1.0, 0.0]), 3),
    (np.array([0.0, -1.0]), 0),
)
"""Outward normals of a square's sides, with a corner on each (corners counter-clockwise from the
lower left).
"""


def _corners(square: Square, board: Chessboard) -> Array:
    """Corners of a square, (4, 2), counter-clockwise from the lower left one."""
    steps = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float) + square
    corners: Array = np.asarray(board.origin_mm) + board.square_mm * steps
    return corners


def _squares_in_reach(seen: _Outline, board: Chessboard) -> list[Square]:
    """Squares that the piece may reach, in order."""
    reach_mm = 1.0 + 6 * max(float(sigma_mm.max()) for sigma_mm in seen.side_sigmas_mm)
    origin = np.asarray(board.origin_mm)
    low = (
        np.floor((seen.points_mm.min(axis=0) - reach_mm - origin) / board.square_mm)
        .astype(int)
        .clip(0, SIDE)
    )
    high = (
        np.floor((seen.points_mm.max(axis=0) + reach_mm - origin) / board.square_mm)
        .astype(int)
        .clip(-1, SIDE - 1)
    )
    return [
        Square(file, rank)
        for file in range(low[0], high[0] + 1)
        for rank in range(low[1], high[1] + 1)
    ]


def _touch(seen: _Outline, square: Square, board: Chessboard) -> Touch:
    corners = _corners(square, board)
    # How far each point lies on the inner side of each edge: corners of the piece inside the
    # square's sides, and corners of the square inside the piece's edges; these turn with the piece,
    # as if its edge were carried with it at that corner.
    edges = [
        ((corners[at] - seen.points_mm) @ normal, sigma_mm)
        for (normal, at), sigma_mm in zip(_SIDES, seen.side_sigmas_mm, strict=True)
    ]
    edges += [
        ((start - corners) @ normal, seen.sigma_mm(normal, corners)) for start, normal in seen.edges
    ]
    deepest = [int(np.argmax(inside)) for inside, _ in edges]
    least = min(range(len(edges)), key=lambda edge: edges[edge][0][deepest[edge]])
    call: Call = "too close"
    if all((inside > Z95 * sigma).any() for inside, sigma in edges):
        call = "touched"
    elif any((inside < -Z95 * sigma).all() for inside, sigma in edges):
        call = "clear"
    return Touch(
        square, float(edges[least][0][deepest[least]]), float(edges[least][1][deepest[least]]), call
    )


def _tips(
    seen: _Outline, found: list[Touch], board: Chessboard
) -> tuple[frozenset[Square], Square | None]:
    """Squares that may contain the tip, among those found, and one that only the tip may reach.

    A tip over none of them, on a piece that leans out over the edge of the board, may be in all.
    """
    tip_mm = seen.tip_mm[None]
    others = seen.points_mm[np.hypot(*(seen.points_mm - tip_mm).T) > 1e-6]
    maybe, reached = set(), set()
    for touch in found:
        corners = _corners(touch.square, board)
        beside = [
            ((corners[at] - points) @ normal, seen.sigma_mm(normal, points))
            for points in (tip_mm, others)
            for normal, at in _SIDES
        ]
        if all((inside >= -Z95 * sigma).all() for inside, sigma in beside[:4]):
            maybe.add(touch.square)
            # Beyond a side that the tip is surely within, an edge may cross the square without the
            # tip.
            sides = zip(beside[:4], beside[4:], strict=True)
            alone = any(
                (tip <= Z95 * at).all() and (rest < -Z95 * by).all()
                for (tip, at), (rest, by) in sides
            )
            if touch.call == "too close" and alone:
                reached.add(touch.square)
    if len(maybe) == 2 and len(reached) == 1:
        (beyond,) = reached
        return frozenset(maybe - reached), beyond
    return frozenset(maybe or {touch.square for touch in found}), None


def _on_board(seen: _Outline, board: Chessboard) -> bool | None:
    """True if all of the piece is on the board; None: too close to call."""
    outline = board.outline()
    inside = [(outline[at] - seen.points_mm) @ normal for normal, at in _SIDES]
    sigma = seen.side_sigmas_mm
    if any((mm < -Z95 * s).any() for mm, s in zip(inside, sigma, strict=True)):
        return False
    return True if all((mm > Z95 * s).all() for mm, s in zip(inside, sigma, strict=True)) else None
