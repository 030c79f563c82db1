"""Cards as they lay before, laid over those that lie there now: which of them lie as they did
beside each other, and where the table's frame is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from calibration.table.bundle_adjustment import CARDS, laid
from table.solids import Array

MOVED_MM = 0.7
"""A card lies as it did if no corner of it is farther than this from where it was."""


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """`place` [x, y, heading in rad] of the table's frame by the `cards` that lie as they did; by
    all, where no two of them do.
    """

    place: Array
    cards: tuple[int, ...]


def kept(before_mm: Array, now_mm: Array) -> Kept:
    """Of cards (4, 4, 2) in the table's frame, as they lay before, and as they lie now in another
    frame: the most that agree.
    """
    for count in range(len(CARDS), 1, -1):
        fits = [
            (*_laid_over(before_mm[list(cards)], now_mm[list(cards)]), cards)
            for cards in combinations(CARDS, count)
        ]
        off_mm, place, cards = min(fits, key=lambda fit: fit[0])
        if off_mm < MOVED_MM:
            return Kept(place, cards)
    return Kept(_laid_over(before_mm, now_mm)[1], ())


def _laid_over(before_mm: Array, now_mm: Array) -> tuple[float, Array]:
    """How far off the worst corner is where cards (n, 4, 2) are laid so that they fit best, and
    that place.
    """
    a, b = before_mm.reshape(-1, 2), now_mm.reshape(-1, 2)
    (c, s), (t, d) = (a - a.mean(axis=0)).T @ (b - b.mean(axis=0))
    heading = np.arctan2(s - t, c + d)
    turned = laid(np.array([0.0, 0.0, heading]), a)
    place = np.array([*(b - turned).mean(axis=0), heading])
    return float(np.hypot(*(laid(place, a) - b).T).max()), place
