"""Find the places of a tiled board that have a tile: tiles look different from the table around."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from table.boards import Tiles
from table.solids import Array
from vision.boards.cover import occlusion_mask
from vision.geometry.piece_pose import Hypothesis
from vision.geometry.rectified_view import Photo
from vision.networks.detector import Detections, light_of

RIM_SHARE = 0.12
"""Share of a tile at each side that is ignored, because of a neighbour's rim or shadow."""
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
LEAST_SHARE = 0.3
"""Share of a place that looks like a tile where there is one."""
RING_MM = (8.0, 26.0)
"""The table itself is sampled between these distances from the outline."""


def tiles_present(
    photo: Photo, pieces: list[Hypothesis], detections: Detections
) -> dict[str, bool]:
    """Whether each place has a tile, by name, a1 at the near left.

    `pieces` are the occluders.
    """
    board = photo.setup.board
    assert isinstance(board, Tiles)
    view = detections.view
    light = np.asarray(np.sqrt(light_of(view.code) + 0.002), float)
    hidden = occlusion_mask(pieces, view, photo.camera.eye_mm)
    ring = _ring(board, light, hidden, detections, photo)
    light = light / _table_light(light, ring)
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
                ~hidden[window]
            ].reshape(-1, 3)
    return _cluster_tiles(samples, light[ring])


def _ring(
    board: Tiles, light: Array, hidden: NDArray[np.bool_], detections: Detections, photo: Photo
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
    return np.asarray((mask > 0) & ~hidden)


def _table_light(light: Array, ring: NDArray[np.bool_]) -> Array:
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

    Whitened differences of the table itself have a size of about 1. Wood varies in brightness, but
    hardly in hue.
    """
    away = table - np.median(table, axis=0)
    off = np.linalg.norm(away, axis=1)
    usual = away[off < OUTLIER * np.median(off) + LEAST_LIGHT]
    return np.asarray(
        np.linalg.cholesky(
            np.linalg.inv(usual.T @ usual / len(usual) + LEAST_SPREAD**2 * np.eye(3))
        )
    )


def _cluster_tiles(samples: dict[str, Array], table: Array) -> dict[str, bool]:
    """Split places into table and tiles: two-means clustering with one mean fixed to the table.

    Several starts are tried, because there may be many tiles or few. A place has a tile where
    enough of its area is closer to the tiles than to the table. Print and shadows may cover the
    rest.
    """
    usual, whiten = np.median(table, axis=0), _unlikeness(table)
    away = {name: (values - usual) @ whiten for name, values in samples.items() if len(values)}
    points = np.array([np.median(values, axis=0) for values in away.values()]).reshape(-1, 3)
    if not len(points):
        return dict.fromkeys(samples, True)
    apart = np.linalg.norm(points, axis=1)
    tile = min(
        (_tile(points, apart, start) for start in STARTS),
        key=lambda tile: _cost(points, apart, tile),
    )
    if np.linalg.norm(tile) < STAND_OUT:
        return dict.fromkeys(samples, False)
    share = {
        name: float((np.linalg.norm(values - tile, axis=1) < np.linalg.norm(values, axis=1)).mean())
        for name, values in away.items()
    }
    # A place that pieces hide completely counts as a tile, because they stand on one.
    return {name: share.get(name, 1.0) > LEAST_SHARE for name in samples}


def _tile(points: Array, apart: Array, start: float) -> Array:
    """Centre (3,) of the tiles' cluster among whitened points (n, 3), with the table at the origin.

    `start` is the quantile of distances at which the first guess is split.
    """
    tile = points[apart >= np.quantile(apart, start)].mean(axis=0)
    for _ in range(10):
        is_tile = np.linalg.norm(points - tile, axis=1) < apart
        if is_tile.any():
            tile = np.median(points[is_tile], axis=0)
    return np.asarray(tile)


def _cost(points: Array, apart: Array, tile: Array) -> float:
    return float((np.minimum(apart, np.linalg.norm(points - tile, axis=1)) ** 2).sum())
