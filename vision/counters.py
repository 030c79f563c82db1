"""Flat round counters, where the game has them."""

from __future__ import annotations

import numpy as np

from table.observation import SeenCounter
from vision.finder import Sight
from vision.photo import Photo

THICKNESS_SHARE = 0.15
"""Thickness of a counter against its diameter: its face is seen so much nearer to the camera than the board."""
SURE_CHANCE = 0.4
DIAMETER_SHARE = 0.3
"""A disc whose diameter is off by more than this share is no counter."""
SIGMA_SHARE = 0.03
"""How well a counter's middle is known against its diameter, 1 sigma."""


def counters(sight: Sight, photo: Photo) -> tuple[SeenCounter, ...]:
    """The counters in sight; none where the game has none."""
    kind = photo.setup.game.counters
    if kind is None:
        return ()
    eye = photo.camera.eye_mm
    rise = 1 - THICKNESS_SHARE * kind.diameter_mm / eye[2]
    seen = []
    for one in sight.found:
        if one.is_disc and one.disc_chance > SURE_CHANCE and abs(np.log(one.base_mm / kind.diameter_mm)) < DIAMETER_SHARE:
            x, y = eye[:2] + (one.middle_mm - eye[:2]) * rise
            seen.append(SeenCounter(kind.colour, float(x), float(y), SIGMA_SHARE * kind.diameter_mm))
    return tuple(seen)
