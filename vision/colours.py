"""Which colour a pyramid has, from the light that comes off it and the ground that may shine through it.

A piece's light is modelled as haze (gloss, the lamp's colour) plus body colour plus the ground seen through dyed plastic,
all relative to the white paper of the fiducials.  Colours are compared by chromaticity, black, white and grey by level.
"""

from __future__ import annotations

import numpy as np

from table.solids import Array
from vision.light import Light

PALETTE: dict[str, tuple[float, float, float]] = {
    "red": (0.45, 0.03, 0.03),
    "orange": (0.58, 0.17, 0.03),
    "yellow": (0.75, 0.50, 0.05),
    "green": (0.04, 0.25, 0.08),
    "cyan": (0.06, 0.32, 0.42),
    "blue": (0.03, 0.07, 0.35),
    "purple": (0.18, 0.05, 0.30),
    "pink": (0.75, 0.25, 0.35),
    "white": (0.72, 0.72, 0.70),
    "clear": (0.60, 0.62, 0.62),
    "grey": (0.20, 0.20, 0.20),
    "black": (0.03, 0.03, 0.03),
}
"""Body colours in linear light relative to white paper; a table learns its own in calibration."""
NEUTRAL = ("white", "grey", "black", "clear")
FLOOR = 0.006
"""Light that is always there: flare and noise; keeps logarithms of dark pixels quiet."""
CHROMA_SIGMA, LEVEL_SIGMA, NEUTRAL_LEVEL_SIGMA = 0.28, 1.1, 0.5
"""How far real pieces stray from the model, in natural logarithms: in chromaticity, and in level."""
HAZE = (0.0, 0.02, 0.08, 0.22)
THROUGH = (0.0, 0.4, 0.8)


def colour_distances(light: Light, ground: Light, paper: Array, colours: tuple[str, ...]) -> Array:
    """Squared distances (n, c), in sigmas, of n pixels' light (n, 3) over ground (n, 3) from each of c colours."""
    seen = np.log(np.maximum(light / paper, 0) + FLOOR)
    under = ground / paper
    result = np.empty((len(light), len(colours)))
    for column, name in enumerate(colours):
        body = np.array(PALETTE[name])
        dye = (body / body.max()) ** 0.8
        level_sigma = NEUTRAL_LEVEL_SIGMA if name in NEUTRAL else LEVEL_SIGMA
        best = np.full(len(light), np.inf)
        for haze in HAZE:
            for through in THROUGH if name not in ("white", "black", "grey") else THROUGH[:1]:
                model = np.log(haze + (1 - through) * body + through * dye * under + FLOOR)
                apart = seen - model
                level = apart.mean(axis=1)
                chroma = ((apart - level[:, None]) ** 2).sum(axis=1)
                best = np.minimum(best, chroma / CHROMA_SIGMA**2 + (level / level_sigma) ** 2 + through + 12 * haze)
        result[:, column] = best
    return result


def shadow_distances(light: Light, ground: Light, paper: Array) -> Array:
    """Squared distances (n,), in sigmas, of n pixels' light (n, 3) from being the ground (n, 3) with a shadow on it.

    A shadow takes all colours alike, up to SHADOW_DEPTH of the light; plastic beside it throws a little of its own colour.
    """
    apart = np.log(np.maximum(light / paper, 0) + FLOOR) - np.log(ground / paper + FLOOR)
    level = apart.mean(axis=1)
    chroma = ((apart - level[:, None]) ** 2).sum(axis=1)
    beyond = np.maximum(level, 0) + np.maximum(-SHADOW_DEPTH - level, 0)
    return np.asarray(chroma / SHADOW_CHROMA_SIGMA**2 + (beyond / SHADOW_LEVEL_SIGMA) ** 2)


SHADOW_DEPTH, SHADOW_CHROMA_SIGMA, SHADOW_LEVEL_SIGMA = 0.7, 0.12, 0.1
"""Natural logarithms."""


def colour_probabilities(light: Light, ground: Light, paper: Array, colours: tuple[str, ...]) -> Array:
    """Probability (c,) of each colour for one piece, from its pixels (n, 3); neighbours' errors are common, so a piece
    counts as a few independent looks, not as n."""
    distances = np.minimum(colour_distances(light, ground, paper, colours), 40.0)
    score = -0.5 * LOOKS * np.mean(distances, axis=0)
    weight = np.exp(score - score.max())
    return np.asarray(weight / weight.sum())


LOOKS = 3.0
"""Independent looks that the pixels of one piece are worth."""
