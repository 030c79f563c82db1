"""Align the cards' earlier places with their present ones.

The result are the cards whose relative places are unchanged, and the place of the table's frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from calibration.table.bundle_adjustment import CARDS, place_points
from table.solids import Array

MOVED_MM = 0.7
"""Distance of any corner from its earlier place up to which a card is unmoved."""


@dataclass(frozen=True, slots=True, eq=False)
class TableAlignment:
    """Pose of the table's frame, and the cards that agree on it.

    `place` is [x, y, heading in rad] by the unmoved `cards`, or by all cards if no two agree.
    """

    place: Array
    cards: tuple[int, ...]


def find_unmoved_cards(before_mm: Array, now_mm: Array) -> TableAlignment:
    """Find the largest set of cards whose mutual arrangement is unchanged.

    Both are (4, 4, 2): the earlier cards in the table's frame, the present ones in another frame.
    """
    for count in range(len(CARDS), 1, -1):
        fits = [
            (*_rigid_fit(before_mm[list(cards)], now_mm[list(cards)]), cards)
            for cards in combinations(CARDS, count)
        ]
        off_mm, place, cards = min(fits, key=lambda fit: fit[0])
        if off_mm < MOVED_MM:
            return TableAlignment(place, cards)
    return TableAlignment(_rigid_fit(before_mm, now_mm)[1], ())


def _rigid_fit(before_mm: Array, now_mm: Array) -> tuple[float, Array]:
    """Best rigid fit of cards (n, 4, 2): distance of the worst corner in mm, and the place."""
    a, b = before_mm.reshape(-1, 2), now_mm.reshape(-1, 2)
    (c, s), (t, d) = (a - a.mean(axis=0)).T @ (b - b.mean(axis=0))
    heading = np.arctan2(s - t, c + d)
    turned = place_points(np.array([0.0, 0.0, heading]), a)
    place = np.array([*(b - turned).mean(axis=0), heading])
    return float(np.hypot(*(place_points(place, a) - b).T).max()), place
