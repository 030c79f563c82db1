"""Flat round counters, where the game has them."""

from __future__ import annotations

import numpy as np

from table.observation import SeenCounter
from vision.finder import Sight
from vision.photo import Photo

THICKNESS_SHARE = 0.15
"""Thickness of a counter against its diameter: its face is seen so much nearer to the camera than the board."""
SURE_CHANCE = 0.4
DIAMETER_SHARE, ALL_SHARE = 0.3, 0.6
"""A disc whose diameter is off from most by more than the first share is no counter; by the second, most may be read too small or too large:
the finder is seldom shown discs twice as wide as pieces."""
SIGMA_SHARE = 0.03
"""How well a counter's middle is known against its diameter, 1 sigma."""


def counters(sight: Sight, photo: Photo) -> tuple[SeenCounter, ...]:
    """The counters in sight; none where the game has none."""
    kind = photo.setup.game.counters
    if kind is None:
        return ()
    eye = photo.camera.eye_mm
    rise = 1 - THICKNESS_SHARE * kind.diameter_mm / eye[2]
    discs = [one for one in sight.found if one.is_disc and one.disc_chance > SURE_CHANCE]
    off = np.log([one.base_mm / kind.diameter_mm for one in discs])
    usual = float(np.clip(np.median(off), -ALL_SHARE, ALL_SHARE)) if discs else 0.0
    seen = []
    for one, share in zip(discs, off, strict=True):
        if abs(share - usual) < DIAMETER_SHARE:
            x, y = eye[:2] + (one.middle_mm - eye[:2]) * rise
            seen.append(SeenCounter(kind.colour, float(x), float(y), SIGMA_SHARE * kind.diameter_mm))
    return tuple(seen)
