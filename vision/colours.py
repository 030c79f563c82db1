"""Which colour a pyramid has, from the light that comes off it and the ground that may shine through it.

A piece's light is modelled as haze (gloss, the lamp's colour) plus body colour plus the ground seen through dyed plastic,
all relative to white paper.  Colours are compared by chromaticity, black, white and grey by level.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from table.solids import Array
from vision.finder import STRIDE, Sight, light_of
from vision.hypothesis import Hypothesis, silhouette
from vision.photo import SUB_BITS, Photo
from vision.spots import Spot

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
"""Body colours in linear light relative to white paper."""
NEUTRAL, OPAQUE = ("white", "grey", "black", "clear"), ("white", "grey", "black")
FLOOR = 0.006
"""Light that is always there: flare and noise; keeps logarithms of dark pixels quiet."""
CHROMA_SIGMA, LEVEL_SIGMA, NEUTRAL_LEVEL_SIGMA = 0.28, 1.1, 0.5
"""How far real pieces stray from the model, in natural logarithms: in chromaticity, and in level."""
HAZE = (0.0, 0.02, 0.08, 0.22)
THROUGH = (0.0, 0.4, 0.8)
MOST_APART, LOOKS = 40.0, 3.0
"""The most that a pixel may speak against a colour, and how many independent looks the pixels of a piece are worth."""
DRAWN_DYES = 0.5
"""The second look knows drawn dyes: what it says of colours is believed to this power."""
PIXELS, RING_PX, LEAST_RING = 80, 13, 10
"""Pixels of a piece that are looked at, at most; width of the window round it in which the ground is; fewest pixels for that."""


def bare_ground(sight: Sight, pieces: list[Hypothesis], photo: Photo) -> NDArray[np.bool_]:
    """Pixels (h, w) of the view where neither the finder sees a piece nor one of the pieces is."""
    h, w = sight.view.code.shape[:2]
    shown = np.repeat(np.repeat(sight.pieces, STRIDE, axis=0), STRIDE, axis=1)[:h, :w].astype(np.uint8)
    for piece in pieces:
        cv2.fillConvexPoly(shown, sight.view.polygon(silhouette(piece.solid, photo.camera.eye_mm)), 1, shift=SUB_BITS)
    return np.asarray(shown == 0)


def coloured(spot: Spot, bare: NDArray[np.bool_], sight: Sight, photo: Photo) -> Spot:
    """The spot with chances of the table's colours by the light that comes off it and the bare ground beside it."""
    outline = sight.view.polygon(silhouette(spot.best.solid, photo.camera.eye_mm))[:, 0]
    low = np.maximum((outline.min(axis=0) >> SUB_BITS) - RING_PX, 0)
    high = (outline.max(axis=0) >> SUB_BITS) + RING_PX + 2
    window = (slice(low[1], high[1]), slice(low[0], high[0]))
    part = np.zeros(bare[window].shape, np.uint8)
    if part.size == 0:
        return spot
    cv2.fillConvexPoly(part, outline - (low << SUB_BITS), 1, shift=SUB_BITS)
    inside = cv2.erode(part, np.ones((3, 3), np.uint8)) > 0
    ring = (cv2.dilate(part, np.ones((RING_PX, RING_PX), np.uint8)) > 0) & bare[window]
    light = light_of(sight.view.code[window])
    body = light[inside]
    if not len(body):
        return spot
    ground = np.median(light[ring], axis=0) if ring.sum() > LEAST_RING else np.ones(3)
    apart = colour_distances(body[:: len(body) // PIXELS + 1], ground, photo.setup.colours)
    score = -0.5 * LOOKS * np.minimum(apart, MOST_APART).mean(axis=0) + DRAWN_DYES * np.log(spot.looked.colours + 1e-9)
    weight = np.exp(score - score.max())
    return replace(spot, colours=np.asarray(weight / weight.sum()))


def colour_distances(light: Array, ground: Array, colours: tuple[str, ...]) -> Array:
    """Squared distances (n, c), in sigmas, of n pixels' light (n, 3) over ground (3,) from each of c colours, relative to paper."""
    seen = np.log(np.maximum(light, 0) + FLOOR)
    result = np.empty((len(light), len(colours)))
    for column, name in enumerate(colours):
        models, cost = _models(name, ground)
        apart = seen[:, None] - models
        level = apart.mean(axis=2)
        chroma = ((apart - level[..., None]) ** 2).sum(axis=2)
        level_sigma = NEUTRAL_LEVEL_SIGMA if name in NEUTRAL else LEVEL_SIGMA
        result[:, column] = (chroma / CHROMA_SIGMA**2 + (level / level_sigma) ** 2 + cost).min(axis=1)
    return result


def _models(name: str, ground: Array) -> tuple[Array, Array]:
    """Logarithms (m, 3) of the light that a colour may have over a ground (3,), and what each way of having it costs (m,)."""
    body = np.array(PALETTE[name])
    dye = (body / body.max()) ** 0.8
    ways = [(haze, through) for haze in HAZE for through in (THROUGH if name not in OPAQUE else THROUGH[:1])]
    models = [np.log(haze + (1 - through) * body + through * dye * ground + FLOOR) for haze, through in ways]
    return np.array(models), np.array([through + 12 * haze for haze, through in ways])
