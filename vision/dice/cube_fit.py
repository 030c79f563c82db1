"""Fit a cube by its edges: agreement of image edges with a die that lies flat.

All coordinates are in the plane of the die's top. Sampled points of the cube's edges are compared
with the nearest edge of the same direction in the image (chamfer matching).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import product

import cv2
import numpy as np
from numpy.typing import NDArray

from table.optimize import minimize
from table.solids import Array, convex_hull
from vision.dice.top_view import TopView
from vision.geometry.piece_pose import project_to_table

CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))
SIDE_SHARE, SAMPLES = 0.72, 9
"""Middle share of an edge that is sampled, because corners are round, and the number of samples."""
SHARES = 0.5 + SIDE_SHARE * np.linspace(-0.5, 0.5, SAMPLES)[:, None]
"""Positions of the samples along an edge."""
LEAST_LENGTH = 0.25
"""Projected length, in edges of the die, below which an edge is left out."""
DIRECTIONS = 8
"""Number of directions into which image edges are binned."""
REACHES_PX = (4.0, 2.0)
"""Matching distance of edges: in the coarse and in the fine fit."""
MOST_TRIES = 80
"""Largest number of evaluations for each cube, in the coarse and in the fine search each."""
AGREES_WELL, BESIDE = 0.75, 0.25
"""Edge agreement, 0 to 1, below which the fit also starts from places beside the die; their
distance in edges.
"""
SIDEWAYS = ((BESIDE, 0.0), (0.0, BESIDE), (-BESIDE, 0.0), (0.0, -BESIDE))
EDGE_UNITS, WEAKEST, STRONGEST = 1000, 350, 800
"""Canny thresholds for the gradient, in thousandths; 1 is a certain edge."""


def _face(axis: int, sign: int) -> list[int]:
    """Corners of a face, in cyclic order."""
    right, up = (axis + 1) % 3, (axis + 2) % 3
    return [
        next(
            k
            for k, corner in enumerate(CORNERS)
            if (corner[axis], corner[right], corner[up]) == (sign, a, b)
        )
        for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    ]


FACES = [(axis, sign, _face(axis, sign)) for axis in range(3) for sign in (-1, 1)]


@cache
def _edges_of(seen: tuple[bool, ...]) -> NDArray[np.int_]:
    """End corners (2, n) of the edges of the visible FACES."""
    faces = [face for (_, _, face), there in zip(FACES, seen, strict=True) if there]
    return np.array(
        sorted(
            {
                (min(pair), max(pair))
                for face in faces
                for pair in zip(face, face[1:] + face[:1], strict=True)
            }
        )
    ).T


@dataclass(frozen=True, slots=True, eq=False)
class EdgeMap:
    """Distance in px to the nearest edge of each of DIRECTIONS, (n, h, w).

    `start_mm` (2,) is the upper left, `step_mm` the size of a pixel.
    """

    away_px: NDArray[np.float32]
    start_mm: Array
    step_mm: float

    def agreement(self, points_mm: Array, ways: Array, reach_px: float) -> Array:
        """Agreement (n, m) of edges with points (n, m, 2) on lines of directions (n, 2).

        1 on an edge, 0 far from one.
        """
        _, h, w = self.away_px.shape
        places = np.rint((points_mm - self.start_mm) * np.array([1, -1]) / self.step_mm).astype(
            np.intp
        )
        column, row = (
            np.minimum(np.maximum(places[..., axis], 0), size - 1)
            for axis, size in enumerate((w, h))
        )
        turns = np.arctan2(-ways[:, 0], ways[:, 1]) % np.pi
        away = self.away_px[
            (turns * (DIRECTIONS / np.pi)).astype(np.intp)[:, None] % DIRECTIONS, row, column
        ]
        return np.asarray(np.exp(-((away / reach_px) ** 2)), float)


def edge_map(view: TopView) -> EdgeMap:
    """The edges of a view, from its gradients along x and y."""
    along_x, along_y = view.along_x, view.along_y
    strongest = (along_x**2 + along_y**2).argmax(axis=2)[..., None]
    x, y = (np.take_along_axis(along, strongest, 2)[..., 0] for along in (along_x, along_y))
    across, down = (
        np.clip(EDGE_UNITS * along, -32000, 32000).astype(np.int16) for along in (x, -y)
    )
    edges = np.asarray(cv2.Canny(across, down, WEAKEST, STRONGEST, L2gradient=True)) > 0
    turns = np.degrees(np.arctan2(y, x)) % 180
    maps = []
    for k in range(DIRECTIONS):
        off_deg = np.abs((turns - (k + 0.5) * 180 / DIRECTIONS + 90) % 180 - 90)
        like = edges & (off_deg < 1.1 * 180 / DIRECTIONS)
        maps.append(
            cv2.distanceTransform((~like).astype(np.uint8), cv2.DIST_L2, 3)
            if like.any()
            else np.full(like.shape, 99.0)
        )
    return EdgeMap(np.asarray(maps, np.float32), view.start_mm, view.step_mm)


@dataclass(frozen=True, slots=True, eq=False)
class Cube:
    """A die that lies flat on the plane `z_mm`, seen from an eye at (3,).

    `middle_mm` (2,) is its middle.
    """

    middle_mm: Array
    turn_deg: float
    edge_mm: float
    z_mm: float
    eye_mm: Array

    def axes(self) -> Array:
        """Unit vectors to its right and up, (2, 2) in rows."""
        c, s = math.cos(math.radians(self.turn_deg)), math.sin(math.radians(self.turn_deg))
        return np.array([[c, s], [-s, c]])

    def top(self) -> Array:
        """Corners of its top, (4, 2), counter-clockwise, from the near left one before rotation."""
        return np.asarray(
            self.middle_mm
            + self.edge_mm / 2 * (np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) @ self.axes())
        )

    def moved(self, by: Array) -> Cube:
        """The cube moved by (x, y) mm and turned by degrees, (3,)."""
        return Cube(
            self.middle_mm + by[:2],
            self.turn_deg + float(by[2]),
            self.edge_mm,
            self.z_mm,
            self.eye_mm,
        )

    def beside(self, right: float, up: float) -> Cube:
        """The cube moved along its own axes, in edges."""
        return self.moved(np.append(self.edge_mm * (np.array([right, up]) @ self.axes()), 0.0))

    def agreement(self, edges: EdgeMap, reach_px: float = REACHES_PX[-1]) -> float:
        """Agreement of its visible edges with those of an image, 0 to 1."""
        starts, ends = self.seen_edges()
        ways = ends - starts
        lengths = np.hypot(ways[:, 0], ways[:, 1])
        agreed = edges.agreement(starts[:, None] + SHARES * ways[:, None], ways, reach_px).sum(
            axis=1
        )
        return float(agreed @ lengths) / SAMPLES / float(lengths.sum())

    def seen_edges(self) -> tuple[Array, Array]:
        """End points, (n, 2) each, of the visible faces' edges, projected to the plane of the top.

        Edges with a short projection are left out.
        """
        cast, seen = self._cast()
        first, second = _edges_of(seen)
        ways = cast[second] - cast[first]
        long = np.hypot(ways[:, 0], ways[:, 1]) > LEAST_LENGTH * self.edge_mm
        return cast[first[long]], cast[second[long]]

    def outline(self) -> Array:
        """Outline (n, 2), counter-clockwise, of the part of z = 0 that it hides from the eye."""
        _, corners, _ = self._corners()
        return convex_hull(project_to_table(corners, self.eye_mm))

    def sides(self) -> list[Array]:
        """Corners, (4, 2) each, of its visible sides, projected to the plane of the top."""
        cast, seen = self._cast()
        return [
            cast[face]
            for (axis, _, face), there in zip(FACES, seen, strict=True)
            if there and axis < 2
        ]

    def _corners(self) -> tuple[Array, Array, Array]:
        """Its middle (3,), its corners (8, 3) in the order of CORNERS, and its rotation (3, 3)."""
        turn = math.radians(self.turn_deg)
        rotation = np.array(
            [
                [math.cos(turn), -math.sin(turn), 0.0],
                [math.sin(turn), math.cos(turn), 0.0],
                [0.0, 0.0, 1.0],
            ]
        )
        middle = np.array([*self.middle_mm, self.z_mm + self.edge_mm / 2])
        return middle, middle + self.edge_mm / 2 * CORNERS @ rotation.T, rotation

    def _cast(self) -> tuple[Array, tuple[bool, ...]]:
        """Its corners (8, 2) projected to the plane of the top, and which of FACES are visible."""
        middle, corners, rotation = self._corners()
        away = ((self.eye_mm - middle) @ rotation).tolist()
        seen = tuple(sign * away[axis] > self.edge_mm / 2 for axis, sign, _ in FACES)
        nearer = (self.eye_mm[2] - self.z_mm - self.edge_mm) / (self.eye_mm[2] - corners[:, 2])
        return self.eye_mm[:2] + (corners[:, :2] - self.eye_mm[:2]) * nearer[:, None], seen


def fit_cube_from_several_starts(cube: Cube, edges: EdgeMap) -> Cube:
    """As `fit_cube`, with more starts beside the cube if the edges do not agree well.

    The edges may be those of a shadow. The starts are along the cube's own axes.
    """
    fitted = fit_cube(cube, edges)
    if fitted.agreement(edges) >= AGREES_WELL:
        return fitted
    beside = [fit_cube(fitted.beside(*way), edges) for way in SIDEWAYS]
    return max([fitted, *beside], key=lambda one: one.agreement(edges))


def fit_cube(cube: Cube, edges: EdgeMap) -> Cube:
    """The cube fitted to the edges of an image, coarsely and then finely."""
    steps = np.array([cube.edge_mm / 16, cube.edge_mm / 16, 4.0])
    at = np.zeros(3)
    for finer, reach_px in enumerate(REACHES_PX, 1):

        def amiss(by: Array, reach_px: float = reach_px) -> float:
            return -cube.moved(by).agreement(edges, reach_px)

        simplex = np.vstack([at, at + np.diag(steps / finer)])
        found = minimize(
            amiss,
            at,
            (),
            "Nelder-Mead",
            options={
                "initial_simplex": simplex,
                "maxfev": MOST_TRIES,
                "xatol": 0.05,
                "fatol": 1e-3,
            },
        )
        at = np.array(found.x, dtype=np.float64)
    return cube.moved(at)
