"""The pips on the top of a die, counted: by where they are on every die, and that nothing is where none belongs."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import cv2
import numpy as np
from numpy.typing import NDArray

from table.solids import Array

PATCH, PATCH_SHARE = 36, 0.84
"""Pixels a side of the picture of a top, and the share of its edge that it shows."""
SPREADS, RADII = (0.2, 0.225, 0.25, 0.275, 0.3), (0.08, 0.1, 0.125, 0.16)
"""How far pips are from the middle, and their radii, as shares of the edge."""
SHIFTS = (-0.08, -0.04, 0.0, 0.04, 0.08)
"""So far all of them may be off."""
SOFT_PX = 1.2
SITES = {"nw": (-1, 1), "n": (0, 1), "ne": (1, 1), "w": (-1, 0), "c": (0, 0), "e": (1, 0), "sw": (-1, -1), "s": (0, -1), "se": (1, -1)}
PATTERNS = ("c", "nw se", "ne sw", "nw c se", "ne c sw", "nw ne sw se", "nw ne c sw se", "nw w sw ne e se", "nw n ne sw s se")
CORE = 0.7
"""The inner share of a pip whose level is compared."""
LIKE, LIKER = 0.8, 0.1
"""How well pips have to fit a pattern (correlation), and how much better than those of all other numbers."""
PLAIN, BARE = 0.55, 0.3
"""Every pip has at least this share of the contrast of the strongest one, every place without one at most that share."""
LEAST_CONTRAST = 0.06
"""Less contrast than this, of 1 from black to white, is noise."""

Spots = tuple[list[NDArray[np.bool_]], list[NDArray[np.bool_]]]


def count_pips(top: NDArray[np.float32]) -> int:
    """The number that the top of a die (PATCH, PATCH, 3), 0..1, shows upright; 0 where it is not plainly one of six.

    Pips are of whatever colour differs most from the rest, darker or lighter.
    """
    apart = (top - np.median(top.reshape(-1, 3), axis=0)).reshape(-1, 3)
    _, _, ways = np.linalg.svd(apart, full_matrices=False)
    ink = (apart @ ways[0]).reshape(PATCH, PATCH)
    patterns, counts, sites = _patterns()
    flat = (ink - ink.mean()).ravel()
    like = patterns @ (flat / max(1e-6, float(np.linalg.norm(flat))))
    best = int(np.abs(like).argmax())
    others = float(np.abs(like[counts != counts[best]]).max())
    if abs(like[best]) < LIKE or abs(like[best]) - others < LIKER:
        return 0
    levels = np.sign(like[best]) * (ink - np.median(ink))
    inked, bare = ([float(levels[spot].mean()) for spot in spots] for spots in sites[best])
    strongest = max(inked)
    plain = strongest >= LEAST_CONTRAST and min(inked) >= PLAIN * strongest and max(bare) <= BARE * strongest
    return int(counts[best]) if plain else 0


@lru_cache(maxsize=1)
def _patterns() -> tuple[Array, NDArray[np.int_], list[Spots]]:
    """All patterns in all sizes, (n, PATCH²) of mean 0 and length 1; their numbers (n,); the places with and without pips of each."""
    shares = PATCH_SHARE * ((np.arange(PATCH) + 0.5) / PATCH - 0.5)
    x, y = np.meshgrid(shares, shares[::-1])
    patterns, counts, sites = [], [], []
    for spread, dx, dy in product(SPREADS, SHIFTS, SHIFTS):
        away = {site: np.hypot(x - dx - spread * across, y - dy - spread * along) for site, (across, along) in SITES.items()}
        for radius, pattern in product(RADII, PATTERNS):
            named = pattern.split()
            drawn = np.sum([np.clip((radius - away[site]) * PATCH / PATCH_SHARE + 0.5, 0, 1) for site in named], axis=0)
            drawn = np.asarray(cv2.GaussianBlur(drawn, (0, 0), SOFT_PX))
            drawn = (drawn - drawn.mean()).ravel()
            patterns.append(drawn / np.linalg.norm(drawn))
            counts.append(len(named))
            spots = {site: distance < CORE * radius for site, distance in away.items()}
            sites.append(([spots[site] for site in named], [spot for site, spot in spots.items() if site not in named]))
    return np.array(patterns, np.float32), np.array(counts), sites
