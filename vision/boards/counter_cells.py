"""Classify each cell as counter or bare by comparison with the table's other cells.

The detector was trained on other tables and misses counters of nearly the board's colour. On one
table, however, all counters look alike, and so do all bare cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from table.boards import Hex
from table.observation import SeenCounter
from table.solids import Array
from vision.boards.cover import occlusion_mask
from vision.geometry.piece_pose import Hypothesis
from vision.geometry.rectified_view import FlatView, Photo
from vision.geometry.uncertainty import SIGMAS_A_MEDIAN

CORE_SHARE = 0.5
"""Radius of the part of a cell that is compared, in radii of a counter."""
MOST_HIDDEN = 0.2
"""Largest share of that part that pieces may hide."""
POINTS = 25
"""Number of sampling points across a cell."""
CLIPPED = 0.95
"""Linear light of a channel, relative to the brightest level, above which a pixel is ignored."""
DARK = 0.01
"""Linear light that is added before logarithms are taken."""
LEAST_CELLS = 3
"""Least number of counters, and of bare cells, from which the two kinds are learned."""
LEAST_SPREAD = np.array([0.01, 0.01, 0.05])
"""Lower bound of the standard deviations of a cell's features: log red over green, log blue over
green, log light.
"""
TAILS, SIGMAS_BETWEEN_TAILS = (0.1, 0.9), 2.56
"""Quantiles by which the spread of light is estimated, and the standard deviations of a normal
distribution between them.
"""
DIFFERENT, ALIKE, CLEARER = 5.0, 4.0, 2.0
"""In standard deviations: least distance between the features of counters and bare cells, and
largest distance of a cell from its own kind. Factor by which the other kind must be farther.
"""
SIGMA_SHARE = 0.06
"""Standard deviation of the middle of a counter that is found by its cell, as a share of its
diameter.
"""
ROUNDS = 2
"""Number of classification rounds; the first starts from the detector's counters."""


@dataclass(frozen=True, slots=True, eq=False)
class _Kind:
    """Features of the cells of a kind: `middle` (3,), and `spread` (3,), one standard deviation."""

    middle: Array
    spread: Array

    @classmethod
    def of(cls, looks: Array) -> _Kind:
        middle = np.median(looks, axis=0)
        spread = SIGMAS_A_MEDIAN * np.median(np.abs(looks - middle), axis=0)
        # A shadow over a part of the table makes the distribution of light bimodal.
        spread[2] = max(spread[2], np.ptp(np.quantile(looks[:, 2], TAILS)) / SIGMAS_BETWEEN_TAILS)
        return cls(middle, np.maximum(spread, LEAST_SPREAD))

    def away(self, looks: Array) -> Array:
        """Distances (...) of features (..., 3) from the middle, in standard deviations."""
        return np.asarray(np.linalg.norm((looks - self.middle) / self.spread, axis=-1))


def correct_by_cells(
    seen: Sequence[SeenCounter], pieces: Sequence[Hypothesis], view: FlatView, photo: Photo
) -> tuple[SeenCounter, ...]:
    """The detector's counters, corrected by the features of the cells.

    Missed counters are added. Uncertain ones are confirmed or dropped, and certain ones in a cell
    that looks bare become uncertain. Unchanged if counters and bare cells look much alike, or are
    few.
    """
    board, counter = photo.setup.board, photo.setup.game.counters
    if not isinstance(board, Hex) or counter is None:
        return tuple(seen)
    middles_mm = np.array(list(board.middles().values()))
    points_mm = _points_mm(board.cell_mm / 2)
    core_mm = points_mm[np.linalg.norm(points_mm, axis=1) <= CORE_SHARE * counter.diameter_mm / 2]
    hidden = occlusion_mask(pieces, view, photo.camera.eye_mm)
    looks = _cell_looks(middles_mm[:, None] + core_mm, hidden, view, photo)
    cells = np.array([_median(cell) for cell in looks])
    there = _nearest_counters(seen, middles_mm, board.cell_mm / 2)
    kinds = _kinds(cells, there, seen)
    if kinds is None:
        return tuple(seen)
    of_counter, of_bare = (kind.away(cells) for kind in kinds)
    is_counter = (of_counter < ALIKE) & (of_bare > np.maximum(CLEARER * of_counter, ALIKE))
    is_bare = (of_bare < ALIKE) & (of_counter > np.maximum(CLEARER * of_bare, ALIKE))
    checked: dict[int, SeenCounter] = dict(enumerate(seen))
    for cell in np.flatnonzero(there >= 0):
        one = seen[there[cell]]
        if is_counter[cell]:
            checked[there[cell]] = replace(one, sure=True)
        elif is_bare[cell] and one.sure:
            checked[there[cell]] = replace(one, sure=False)
        elif is_bare[cell]:
            del checked[there[cell]]
    for cell in np.flatnonzero(is_counter & (there < 0)):
        (whole,) = _cell_looks(middles_mm[None, [cell]] + points_mm, hidden, view, photo)
        like = kinds[0].away(whole) < kinds[1].away(whole)
        x_mm, y_mm = (float(mm) for mm in middles_mm[cell] + points_mm[like].mean(axis=0))
        checked[len(seen) + int(cell)] = SeenCounter(
            counter.colour, x_mm, y_mm, SIGMA_SHARE * counter.diameter_mm
        )
    return tuple(checked.values())


def _points_mm(radius_mm: float) -> Array:
    """Points (m, 2) in a disc around the origin."""
    steps = np.linspace(-radius_mm, radius_mm, POINTS)
    points = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    return np.asarray(points[np.linalg.norm(points, axis=1) <= radius_mm])


def _cell_looks(points_mm: Array, hidden: NDArray[np.bool_], view: FlatView, photo: Photo) -> Array:
    """Features (n, m, 3) at points (n, m, 2): log red over green, log blue over green, log light.

    NaN where the view (h, w) is `hidden`, or where the picture is clipped.
    """
    flat = points_mm.reshape(-1, 2)
    pixels = photo.pixels(np.column_stack([flat, np.zeros(len(flat))]))
    light = np.asarray(photo.light(pixels[None])[0], float)
    red, green, blue = np.log(light + DARK).T
    looks = np.stack([red - green, blue - green, (red + green + blue) / 3], axis=-1)
    columns, rows = np.rint(view.pixels(flat)).astype(int).T
    rows, columns = (
        at.clip(0, size - 1) for at, size in zip((rows, columns), hidden.shape, strict=True)
    )
    looks[hidden[rows, columns] | (light.max(axis=1) > CLIPPED)] = np.nan
    return looks.reshape(*points_mm.shape[:2], 3)


def _median(looks: Array) -> Array:
    """Median (3,) of features (m, 3); NaN if too few are known."""
    known = looks[~np.isnan(looks[:, 0])]
    if len(known) <= (1 - MOST_HIDDEN) * len(looks):
        return np.full(3, np.nan)
    return np.asarray(np.median(known, axis=0))


def _nearest_counters(
    seen: Sequence[SeenCounter], middles_mm: Array, within_mm: float
) -> NDArray[np.intp]:
    """Index of the nearest counter in each cell (n,), -1 where there is none."""
    if not seen:
        return np.full(len(middles_mm), -1)
    places_mm = np.array([[one.x_mm, one.y_mm] for one in seen])
    away_mm = np.linalg.norm(places_mm - middles_mm[:, None], axis=-1)
    return np.where(away_mm.min(axis=1) < within_mm, away_mm.argmin(axis=1), -1)


def _kinds(
    cells: Array, there: NDArray[np.intp], seen: Sequence[SeenCounter]
) -> tuple[_Kind, _Kind] | None:
    """Features of counters and of bare cells on this table; None if they are too similar or few."""
    visible = ~np.isnan(cells).any(axis=1)
    sure = np.array([at >= 0 and seen[at].sure for at in there])
    counters, bare = visible & sure, visible & (there < 0)
    for _ in range(ROUNDS):
        if min(counters.sum(), bare.sum()) < LEAST_CELLS:
            return None
        kinds = _Kind.of(cells[counters]), _Kind.of(cells[bare])
        if _distance(*kinds) < DIFFERENT:
            return None
        away = [kind.away(cells) for kind in kinds]
        counters = visible & (away[0] < away[1])
        bare = visible & ~counters
    return kinds


def _distance(one: _Kind, other: _Kind) -> float:
    """Distance between the features of two kinds, in standard deviations of the wider one."""
    wider = np.maximum(one.spread, other.spread)
    return float(np.linalg.norm((one.middle - other.middle) / wider))
