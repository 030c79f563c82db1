"""Detect flat round counters, if the game has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from table.observation import SeenCounter
from table.solids import Array
from vision.geometry.rectified_view import Photo
from vision.networks.detector import Detection, Detections

THICKNESS_SHARE = 0.15
"""Thickness of a counter as a share of its diameter. It raises the face above the board."""
SURE_CHANCE, STILL_CHANCE = 0.4, 0.2
"""Probability from which a disc is reported. The second applies if the same camera's image before
showed a counter there, and then its width is not checked.
"""
CLEAR_CHANCE = 0.62
"""Probability from which a disc is a confident counter."""
DIAMETER_SHARE, ALL_SHARE = 0.3, 0.6
"""Largest deviations, in natural logarithms, of a disc's diameter from the usual one, and of the
usual one from the true one.
"""
SIGMA_SHARE = 0.03
"""Standard deviation of a counter's middle as a share of its diameter."""


def counters(
    detections: Detections, photo: Photo, before: Sequence[SeenCounter] = ()
) -> tuple[SeenCounter, ...]:
    """The visible counters; empty if the game has none.

    `before` are those in the same camera's image before this one.
    """
    kind = photo.setup.game.counters
    if kind is None:
        return ()
    eye = photo.camera.eye_mm
    rise = 1 - THICKNESS_SHARE * kind.diameter_mm / eye[2]
    there = [np.array([one.x_mm, one.y_mm]) for one in before]

    def still(one: Detection, middle_mm: Array) -> bool:
        return one.disc_chance > STILL_CHANCE and any(
            np.hypot(*(middle_mm - was)) < kind.diameter_mm / 2 for was in there
        )

    discs = [one for one in detections.objects if one.is_disc]
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
