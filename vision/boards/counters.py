"""Flat round counters, where the game has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from table.observation import SeenCounter
from table.solids import Array
from vision.geometry.rectified_view import Photo
from vision.networks.detector import Found, Sight

THICKNESS_SHARE = 0.15
"""Thickness of a counter against its diameter: its face is seen so much nearer to the camera than
the board.
"""
SURE_CHANCE, STILL_CHANCE = 0.4, 0.2
"""A disc is told from the first chance on; where one was told in the picture before, from the same
camera, it is from the second, however wide it seems.
"""
CLEAR_CHANCE = 0.62
"""From this chance on a disc is surely a counter; nearly all that are seen as a whole are."""
DIAMETER_SHARE, ALL_SHARE = 0.3, 0.6
"""A disc whose diameter is off from most by more than the first share is no counter; by the second,
most may be read too small or too large: the finder is seldom shown discs twice as wide as pieces.
"""
SIGMA_SHARE = 0.03
"""How well a counter's middle is known against its diameter, 1 sigma."""


def counters(
    sight: Sight, photo: Photo, before: Sequence[SeenCounter] = ()
) -> tuple[SeenCounter, ...]:
    """The counters in sight; none where the game has none.  `before` are those of the same camera's
    picture before this one.
    """
    kind = photo.setup.game.counters
    if kind is None:
        return ()
    eye = photo.camera.eye_mm
    rise = 1 - THICKNESS_SHARE * kind.diameter_mm / eye[2]
    there = [np.array([one.x_mm, one.y_mm]) for one in before]

    def still(one: Found, middle_mm: Array) -> bool:
        return one.disc_chance > STILL_CHANCE and any(
            np.hypot(*(middle_mm - was)) < kind.diameter_mm / 2 for was in there
        )

    discs = [one for one in sight.found if one.is_disc]
    off = np.log([one.base_mm / kind.diameter_mm for one in discs])
    sure = np.array([one.disc_chance > SURE_CHANCE for one in discs], bool)
    usual = float(np.clip(np.median(off[sure]), -ALL_SHARE, ALL_SHARE)) if sure.any() else 0.0
    seen = []
    for one, share, is_sure in zip(discs, off, sure, strict=True):
        middle = eye[:2] + (one.middle_mm - eye[:2]) * rise
        if (is_sure and abs(share - usual) < DIAMETER_SHARE) or still(one, middle):
            x_mm, y_mm = (float(mm) for mm in middle)
            seen.append(
                SeenCounter(
                    kind.colour,
                    x_mm,
                    y_mm,
                    SIGMA_SHARE * kind.diameter_mm,
                    sure=one.disc_chance > CLEAR_CHANCE,
                )
            )
    return tuple(seen)
