"""Predict position errors of pieces over the whole table.

The inputs are the camera's pose, the lens and the accuracy of edges. Each independent cause of a
shared error is a column of 1-sigma shifts of the points of the table. The error of a place, and
that of a distance, follow from the same columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from table.observation import Camera, Observation, SeenPiece
from table.solids import Array
from table.table_config import Setup
from vision.cameras.frame import Image
from vision.geometry.camera_model import mm_per_pixel, place_shifts
from vision.geometry.piece_pose import Hypothesis
from vision.geometry.rectified_view import Photo
from vision.geometry.uncertainty import edge_sigma_mm, inflate_covariance
from vision.pose.edge_alignment import POOL, samples

EDGE_PX = 0.75
"""Standard deviation of one edge profile of a piece, if no pieces were measured."""
LEAST_PIECES = 3
"""Least number of pieces from which the accuracy of edges on this table is measured."""
GRID = 11
"""Number of places along the longer side of the table."""
HEADINGS_DEG = tuple(11.0 + 45 * k for k in range(8))
"""Headings of a lying piece that are evaluated at each place."""
_DRAWS = np.random.default_rng(1).standard_normal((1000, 2))


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """Error model of one table: camera, setup and accuracy of edges.

    `larger` is the ratio, 1 or more, of the actual shared errors to their prediction.
    """

    camera: Camera
    setup: Setup
    edge_px: float = EDGE_PX
    larger: float = 1.0

    def shared(self, points_mm: Array, z_mm: float) -> Array:
        """Shifts (n, 2, k) mm of points (n, 2) at a height, one per shared cause, 1 sigma."""
        return self.larger * place_shifts(points_mm, z_mm, self.camera, self.setup.camera)

    def own_covariance(self, guess: Hypothesis) -> Array:
        """Covariance (3, 3) of a piece's (x mm, y mm, heading deg) from its edges alone.

        As `vision.observe` would report it; infinite if too little of the piece shows.
        """
        points = samples(guess, Photo(np.empty((0, 0, 3), np.uint8), self.camera, self.setup), [])
        if points is None:
            return np.diag(np.full(3, np.inf))
        return inflate_covariance(
            self.edge_px**2 * POOL * np.linalg.inv(points.jacobian.T @ points.jacobian)[:3, :3]
        )

    def place_covariance(self, guess: Hypothesis) -> Array:
        """Total covariance (3, 3) of a piece's (x mm, y mm, heading deg)."""
        covariance = self.own_covariance(guess)
        covariance[:2, :2] += self.shared_covariance(guess)
        return covariance

    def shared_covariance(self, guess: Hypothesis) -> Array:
        """Covariance (2, 2) mm2 of a piece's place from the shared causes."""
        middle = guess.solid.vertices_mm.mean(axis=0)
        (shared,) = self.shared(middle[None, :2], float(middle[2]))
        return np.asarray(shared @ shared.T)


def edge_px(seen: Sequence[tuple[Observation, Image]], setup: Setup) -> float | None:
    """Median accuracy, in pixels, of these pieces' edges; None if there are too few pieces."""
    found = [
        _edge_sigma_px(piece, Photo(image, one.camera, setup))
        for one, image in seen
        for piece in one.pieces
        if piece.pose != "leaning"
    ]
    known = [value for value in found if value is not None]
    return float(np.median(known)) if len(known) >= LEAST_PIECES else None


def _edge_sigma_px(piece: SeenPiece, photo: Photo) -> float | None:
    x, y = (float(value) for value in piece.base_mm)
    guess = Hypothesis(photo.setup.pieces[piece.size], piece.pose, x, y, piece.heading_deg)
    points = samples(guess, photo, [])
    if points is None:
        return None
    geometry = POOL * np.linalg.inv(points.jacobian.T @ points.jacobian)[:2, :2]
    shared = Errors(photo.camera, photo.setup).shared_covariance(guess)
    return edge_sigma_mm(piece.covariance[:2, :2] - shared) / float(np.sqrt(np.trace(geometry) / 2))


def radius_95(covariance: Array) -> float:
    """Radius in mm that contains 95 % of errors with a covariance (2, 2) mm2."""
    if not np.isfinite(covariance).all():
        return float("inf")
    away = _DRAWS @ np.linalg.cholesky(covariance + 1e-12 * np.eye(2)).T
    return float(np.quantile(np.hypot(*away.T), 0.95))


@dataclass(frozen=True, slots=True, eq=False)
class ErrorMap:
    """95 % radii in mm of lying and of standing pieces: (rows, columns) each, the far row first.

    `pixel_mm` is the length on the table per pixel. `x_mm` and `y_mm` are the middles of columns
    and rows.
    """

    x_mm: Array
    y_mm: Array
    lying_mm: Array
    standing_mm: Array
    pixel_mm: Array


def error_map(errors: Errors) -> ErrorMap:
    """The errors of the smallest pieces in play, over the bounding rectangle of the board."""
    setup = errors.setup
    low, high = setup.outline_mm().min(axis=0), setup.outline_mm().max(axis=0)
    step = float((high - low).max()) / GRID
    columns, rows = (max(2, round(float(length) / step)) for length in high - low)
    x = low[0] + (np.arange(columns) + 0.5) * (high[0] - low[0]) / columns
    y = high[1] - (np.arange(rows) + 0.5) * (high[1] - low[1]) / rows
    places = np.stack(np.meshgrid(x, y), axis=-1)
    size = min(setup.sizes, key=lambda one: one.base_mm)
    lying = _radii(
        [Hypothesis(size, "lying", 0.0, 0.0, heading) for heading in HEADINGS_DEG], places, errors
    )
    standing = _radii([Hypothesis(size, "upright", 0.0, 0.0, HEADINGS_DEG[0])], places, errors)
    pixel = np.array(
        [mm_per_pixel(errors.camera, setup.camera, place) for place in places.reshape(-1, 2)]
    ).reshape(rows, columns)
    return ErrorMap(x, y, lying, standing, pixel)


def _radii(guesses: Sequence[Hypothesis], places_mm: Array, errors: Errors) -> Array:
    """95 % radii, mm, at places (rows, columns, 2): root mean square over `guesses`."""
    z_mm = float(guesses[0].solid.vertices_mm[:, 2].mean())
    shared = errors.shared(places_mm.reshape(-1, 2), z_mm)
    squared = np.empty(len(shared))
    for k, ((x, y), columns) in enumerate(zip(places_mm.reshape(-1, 2), shared, strict=True)):
        owns = [
            errors.own_covariance(replace(guess, x_mm=float(x), y_mm=float(y)))[:2, :2]
            for guess in guesses
        ]
        squared[k] = np.mean([radius_95(own + columns @ columns.T) ** 2 for own in owns])
    return np.sqrt(squared).reshape(places_mm.shape[:2])
