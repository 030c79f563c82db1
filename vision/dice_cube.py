"""A cube on its edges: how well the edges of a picture agree with a die that lies flat, and with one that leans.

All in the plane of the top of a die that lies flat.  Sampled points of the cube's edges are compared with the nearest edge of
the same direction in the picture (chamfer matching).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from table.solids import Array, convex_hull
from vision.hypothesis import cast_down

CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))
SIDE_SHARE, SAMPLES = 0.72, 9
"""Middle share of an edge that is looked at, as corners are round, and at how many points."""
SHARES = 0.5 + SIDE_SHARE * np.linspace(-0.5, 0.5, SAMPLES)[:, None]
"""How far along an edge those are."""
LEAST_LENGTH = 0.25
"""Edges that are seen shorter than this, of the die's, are left out."""
LEAST_SEEN = 0.12
"""Faces that are seen at a flatter angle than this, its sine, are no evidence: both their long edges would agree with one in the picture."""
DIRECTIONS = 8
"""Edges in a picture are told apart by so many directions."""
REACHES_PX = (4.0, 2.0)
"""How far edges may be from where they belong: at first, and for good."""
LEANS_DEG = 16.0
"""From leaning so far, each way, and from lying flat a die that leans is looked for."""
EDGE_UNITS, WEAKEST, STRONGEST = 1000, 350, 800
"""Canny's thresholds for steepness, of which 1 is an edge for sure, in thousandths."""


def _face(axis: int, sign: int) -> list[int]:
    """Corners of a face, in order round it."""
    right, up = (axis + 1) % 3, (axis + 2) % 3
    return [
        next(k for k, corner in enumerate(CORNERS) if (corner[axis], corner[right], corner[up]) == (sign, a, b))
        for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    ]


FACES = [(axis, sign, _face(axis, sign)) for axis in range(3) for sign in (-1, 1)]


@cache
def _edges_of(seen: tuple[bool, ...]) -> NDArray[np.int_]:
    """The corners at the ends, (2, n), of the edges of those of FACES that are seen."""
    faces = [face for (_, _, face), there in zip(FACES, seen, strict=True) if there]
    return np.array(sorted({(min(pair), max(pair)) for face in faces for pair in zip(face, face[1:] + face[:1], strict=True)})).T


@dataclass(frozen=True, slots=True, eq=False)
class EdgeMap:
    """Distance in pixels to the nearest edge of each of DIRECTIONS, (n, h, w); `start_mm` (2,) is the upper left, `step_mm` a pixel."""

    away_px: NDArray[np.float32]
    start_mm: Array
    step_mm: float

    def agreement(self, points_mm: Array, ways: Array, reach_px: float) -> Array:
        """How well edges agree with points (n, m, 2) on lines along directions (n, 2): (n, m), 1 on an edge, 0 far from one."""
        _, h, w = self.away_px.shape
        places = np.rint((points_mm - self.start_mm) * np.array([1, -1]) / self.step_mm).astype(np.intp)
        column, row = (np.minimum(np.maximum(places[..., axis], 0), size - 1) for axis, size in enumerate((w, h)))
        turns = np.arctan2(-ways[:, 0], ways[:, 1]) % np.pi
        away = self.away_px[(turns * (DIRECTIONS / np.pi)).astype(np.intp)[:, None] % DIRECTIONS, row, column]
        return np.asarray(np.exp(-((away / reach_px) ** 2)), float)


def edge_map(along_x: NDArray[np.float32], along_y: NDArray[np.float32], start_mm: Array, step_mm: float) -> EdgeMap:
    """The edges of a picture from its steepness along x and y, (h, w, 3) each, y up; 1 is an edge for sure."""
    strongest = (along_x**2 + along_y**2).argmax(axis=2)[..., None]
    x, y = (np.take_along_axis(along, strongest, 2)[..., 0] for along in (along_x, along_y))
    across, down = (np.clip(EDGE_UNITS * along, -32000, 32000).astype(np.int16) for along in (x, -y))
    edges = np.asarray(cv2.Canny(across, down, WEAKEST, STRONGEST, L2gradient=True)) > 0
    turns = np.degrees(np.arctan2(y, x)) % 180
    maps = []
    for k in range(DIRECTIONS):
        off_deg = np.abs((turns - (k + 0.5) * 180 / DIRECTIONS + 90) % 180 - 90)
        like = edges & (off_deg < 1.1 * 180 / DIRECTIONS)
        maps.append(cv2.distanceTransform((~like).astype(np.uint8), cv2.DIST_L2, 3) if like.any() else np.full(like.shape, 99.0))
    return EdgeMap(np.asarray(maps, np.float32), start_mm, step_mm)


@dataclass(frozen=True, slots=True, eq=False)
class Cube:
    """A die above `middle_mm` (2,) that touches the plane `z_mm`, before an eye at (3,); `lean_deg` (2,) is the rotation, about x
    and y, from lying flat, turned by `turn_deg`."""

    middle_mm: Array
    turn_deg: float
    edge_mm: float
    z_mm: float
    eye_mm: Array
    lean_deg: tuple[float, float] = (0.0, 0.0)

    def top(self) -> Array:
        """Corners of the top of a die that lies flat, (4, 2), counter-clockwise, the near left one first before it is turned."""
        turn = np.radians(self.turn_deg)
        right, up = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
        return np.asarray(self.middle_mm + self.edge_mm / 2 * (np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) @ np.array([right, up])))

    def moved(self, by: Array) -> Cube:
        """Moved by (x, y) mm and turned by degrees, (3,), or leaning too, (5,)."""
        turn_deg = self.turn_deg + float(by[2])
        lean = (float(by[3]), float(by[4])) if len(by) > 3 else self.lean_deg
        return Cube(self.middle_mm + by[:2], turn_deg, self.edge_mm, self.z_mm, self.eye_mm, lean)

    def agreement(self, edges: EdgeMap, reach_px: float = REACHES_PX[-1]) -> float:
        """How well its edges that can be seen agree with those of a picture, 0 to 1."""
        agreed, length = self._agreed(edges, reach_px, 0.0)
        return agreed / length

    def evidence(self, edges: EdgeMap, reach_px: float = REACHES_PX[-1]) -> float:
        """Length of its edges that agree with those of a picture, less that of those that can be seen and do not, in its edges.

        A die that leans so that nothing but its top is seen explains less than one of which three faces are.
        """
        agreed, length = self._agreed(edges, reach_px, LEAST_SEEN)
        return (2 * agreed - length) / self.edge_mm

    def _agreed(self, edges: EdgeMap, reach_px: float, least_seen: float) -> tuple[float, float]:
        """Length in mm of its edges that agree with those of a picture, and of all of them that can be seen."""
        starts, ends = self._edges(least_seen)
        ways = ends - starts
        lengths = np.hypot(ways[:, 0], ways[:, 1])
        long = lengths > LEAST_LENGTH * self.edge_mm
        starts, ways, lengths = starts[long], ways[long], lengths[long]
        agreed = edges.agreement(starts[:, None] + SHARES * ways[:, None], ways, reach_px).sum(axis=1)
        return float(agreed @ lengths) / SAMPLES, float(lengths.sum())

    def outline(self) -> Array:
        """Outline (n, 2), counter-clockwise, of what it hides of z = 0 from the eye."""
        _, corners, _ = self._corners()
        return convex_hull(cast_down(corners, self.eye_mm))

    def _corners(self) -> tuple[Array, Array, Array]:
        """Its middle, (3,), its corners, (8, 3), as CORNERS has them, and its rotation, (3, 3)."""
        turn = math.radians(self.turn_deg)
        rotation = np.array([[math.cos(turn), -math.sin(turn), 0.0], [math.sin(turn), math.cos(turn), 0.0], [0.0, 0.0, 1.0]])
        if any(self.lean_deg):
            rotation = np.asarray(cv2.Rodrigues(np.radians((*self.lean_deg, 0.0)))[0], float) @ rotation
        half = self.edge_mm / 2
        middle = np.array([*self.middle_mm, self.z_mm + half * np.abs(rotation[2]).sum()])
        return middle, middle + half * CORNERS @ rotation.T, rotation

    def _edges(self, least_seen: float) -> tuple[Array, Array]:
        """The ends, (n, 2) each, of the edges of all faces that look to the eye at an angle of so large a sine, cast on to the plane of
        the top."""
        middle, corners, rotation = self._corners()
        away = ((self.eye_mm - middle) @ rotation).tolist()
        least = self.edge_mm / 2 + least_seen * math.hypot(*away)
        seen = tuple(sign * away[axis] > least for axis, sign, _ in FACES)
        nearer = (self.eye_mm[2] - self.z_mm - self.edge_mm) / (self.eye_mm[2] - corners[:, 2])
        cast = self.eye_mm[:2] + (corners[:, :2] - self.eye_mm[:2]) * nearer[:, None]
        first, second = _edges_of(seen)
        return cast[first], cast[second]


def laid_flat(cube: Cube, edges: EdgeMap) -> Cube:
    """The cube moved and turned on to the edges of a picture."""
    return _best(cube, np.zeros(3), lambda one, reach_px: one.agreement(edges, reach_px))


def leans_by(cube: Cube, edges: EdgeMap) -> float:
    """How much more evidence there is in a picture for a die that leans, near one that lies flat, than for any that lies flat there."""
    ways = np.radians(60 * np.arange(6))
    starts = [np.zeros(3), np.zeros(5), *(np.array([0, 0, 0, LEANS_DEG * np.cos(way), LEANS_DEG * np.sin(way)]) for way in ways)]
    flat, *leaning = (_best(cube, start, lambda one, reach_px: one.evidence(edges, reach_px)).evidence(edges) for start in starts)
    return max(leaning) - flat


def _best(cube: Cube, start: Array, how_well: Callable[[Cube, float], float]) -> Cube:
    """The cube moved from a start to where it does best, roughly and then finely."""
    steps = np.array([cube.edge_mm / 16, cube.edge_mm / 16, 4.0, 6.0, 6.0])[: len(start)]
    at = start
    for finer, reach_px in enumerate(REACHES_PX, 1):

        def amiss(by: Array, reach_px: float = reach_px) -> float:
            return -how_well(cube.moved(by), reach_px)

        simplex = np.vstack([at, at + np.diag(steps / finer)])
        found = minimize(
            amiss, at, (), "Nelder-Mead", options={"initial_simplex": simplex, "maxfev": 40 * len(start) - 40, "xatol": 0.05, "fatol": 1e-3}
        )
        at = np.array(found.x, dtype=np.float64)
    return cube.moved(at)
