"""Find the places of a tiled board that have a tile: tiles look different from the table around."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from table.boards import Tiles
from table.solids import Array
from vision.geometry.piece_pose import Hypothesis, silhouette
from vision.geometry.rectified_view import SUB_BITS, Photo
from vision.networks.detector import Detections, light_of

RIM_SHARE = 0.12
"""Share of a tile at each side that is ignored: a neighbour's rim or shadow may lie there."""
CARD = 1.6
"""Side of the square that contains a fiducial's card, relative to the fiducial."""
ROUNDS, OUTLIER, LEAST_LIGHT = 5, 3.0, 0.02
"""Rounds of the plane fit to the table's light; outlier limit in medians, for cards and print;
least light.
"""
LEAST_SPREAD = 0.01
"""Least standard deviation of the table's light, as a share of it."""
STARTS = (0.6, 0.9, 1.0)
"""Initial guesses: quantiles of the distance from the table's light above which places are
tiles.
"""
STAND_OUT = 2.0
"""Least difference between tiles and table, in spreads of the table; below it the table is bare."""
RING_MM = (8.0, 26.0)
"""The table itself is sampled between these distances from the outline."""


def tiles_present(
    photo: Photo, pieces: list[Hypothesis], detections: Detections
) -> dict[str, bool]:
    """Whether each place has a tile, by name, a1 at the near left.

    `pieces` hide what is under them.
    """
    board = photo.setup.board
    assert isinstance(board, Tiles)
    view, eye = detections.view, photo.camera.eye_mm
    light = np.asarray(np.sqrt(light_of(view.code) + 0.002), float)
    hidden = np.zeros(light.shape[:2], np.uint8)
    for piece in pieces:
        cv2.fillConvexPoly(hidden, view.polygon(silhouette(piece.solid, eye)), 1, shift=SUB_BITS)
    hidden = np.asarray(cv2.dilate(hidden, np.ones((5, 5), np.uint8)), np.uint8)
    ring = _ring(board, light, hidden, detections, photo)
    light = light / _levelled(light, ring)
    half = board.tile_mm / 2 * (1 - 2 * RIM_SHARE)
    samples = {}
    for row in range(board.rows):
        for column in range(board.cols):
            middle = np.array(board.origin_mm) + board.cell_mm * (np.array([column, row]) + 0.5)
            low, high = (
                view.pixels(middle + half * np.array([[-1, 1], [1, -1]])).round().astype(int)
            )
            window = (slice(low[1], high[1] + 1), slice(low[0], high[0] + 1))
            samples["abcdefghijklmnopqrstuvwxyz"[column] + str(row + 1)] = light[window][
                hidden[window] == 0
            ].reshape(-1, 3)
    return _told_apart(samples, light[ring])


def _ring(
    board: Tiles, light: Array, hidden: NDArray[np.uint8], detections: Detections, photo: Photo
) -> NDArray[np.bool_]:
    """Mask (h, w) of the bare table around the board."""
    outline = board.outline()
    middle = outline.mean(axis=0)
    mask = np.zeros(light.shape[:2], np.uint8)
    for grow, value in zip(RING_MM[::-1], (1, 0), strict=True):
        corners = detections.view.pixels(outline + grow * np.sign(outline - middle))
        cv2.fillPoly(mask, [np.rint(corners).astype(np.int32)], value)
    for marker in photo.setup.fiducials.markers:
        card = detections.view.pixels(marker.around_mm(CARD))
        cv2.fillPoly(mask, [np.rint(card).astype(np.int32)], 0)
    return np.asarray((mask > 0) & (hidden == 0))


def _levelled(light: Array, ring: NDArray[np.bool_]) -> Array:
    """The table's own light (h, w, 3), extrapolated from its ring.

    A plane fitted without outliers, because light falls off over a table.
    """
    rows, columns = np.mgrid[: ring.shape[0], : ring.shape[1]]
    places = np.stack([np.ones(ring.shape), rows / len(ring), columns / len(ring)], axis=-1)
    design, seen = places[ring], light[ring]
    weight = np.ones(len(seen))
    for _ in range(ROUNDS):
        plane = np.linalg.lstsq(design * weight[:, None], seen * weight[:, None], rcond=None)[0]
        off = np.linalg.norm(seen - design @ plane, axis=1)
        weight = (off < OUTLIER * np.median(off)).astype(float)
    return np.asarray(np.maximum(places @ plane, LEAST_LIGHT))


def _unlikeness(table: Array) -> Array:
    """Whitening matrix for differences of light (n, 3) from the table's.

    On the table itself they then have a usual size of 1: wood varies in brightness, but hardly in
    hue.
    """
    away = table - np.median(table, axis=0)
    off = np.linalg.norm(away, axis=1)
    usual = away[off < OUTLIER * np.median(off) + LEAST_LIGHT]
    return np.asarray(
        np.linalg.cholesky(
            np.linalg.inv(usual.T @ usual / len(usual) + LEAST_SPREAD**2 * np.eye(3))
        )
    )


def _told_apart(samples: dict[str, Array], table: Array) -> dict[str, bool]:
    """Split places into table and tiles: two-means clustering with one mean fixed to the table.

    Several starts are tried, because there may be many tiles or few.
    """
    middles = {
        name: np.median(values, axis=0) if len(values) else np.full(3, np.nan)
        for name, values in samples.items()
    }
    names = [name for name, middle in middles.items() if np.isfinite(middle).all()]
    points = (np.array([middles[name] for name in names]) - np.median(table, axis=0)) @ _unlikeness(
        table
    )
    apart = np.linalg.norm(points, axis=1)
    tile, is_tile = min(
        (_means(points, apart, start) for start in STARTS),
        key=lambda means: _cost(points, apart, means[0]),
    )
    if np.linalg.norm(tile) < STAND_OUT:
        return dict.fromkeys(samples, False)
    known = dict(zip(names, is_tile.tolist(), strict=True))
    # A place that pieces hide altogether has a tile: they stand on something.
    return {name: known.get(name, True) for name in samples}


def _means(points: Array, apart: Array, start: float) -> tuple[Array, NDArray[np.bool_]]:
    """Mean look of tiles, and which points (n, 3) are tiles; the table is the origin.

    `start` is the quantile of distances at which the first guess is split.
    """
    tile = points[apart >= np.quantile(apart, start)].mean(axis=0)
    for _ in range(10):
        is_tile = np.linalg.norm(points - tile, axis=1) < apart
        if is_tile.any():
            tile = np.median(points[is_tile], axis=0)
    return tile, is_tile


def _cost(points: Array, apart: Array, tile: Array) -> float:
    return float((np.minimum(apart, np.linalg.norm(points - tile, axis=1)) ** 2).sum())
