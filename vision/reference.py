"""What the picture of the empty table knows: where nothing has changed there is no piece, whatever it looks like."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.finder import Found, Sight, relative
from vision.frame import Image
from vision.paper import paper_light
from vision.photo import Photo

SIGMAS, LEAST_SIGMA = 4.0, 2.0
"""A pixel has changed if it differs from most by so many standard deviations, which are taken to be this many levels at least."""
CHANGED_SHARE = 0.08
"""A piece changes at least this share of what it covers; one of the ground's own colour shows by its faces' light and its shadow."""


def only_changed(sight: Sight, empty: Photo) -> Sight:
    """The sight without what was there when the table was empty."""
    before = relative(empty.flat(sight.view.step_mm).code, paper_light(empty.image, empty.camera, empty.setup))
    mask = changed(sight.view.code, before, SIGMAS)
    cells = cv2.resize(mask.astype(np.float32), sight.pieces.shape[::-1], interpolation=cv2.INTER_AREA) > CHANGED_SHARE
    found = tuple(one for one in sight.found if _is_changed(one, mask, sight))
    return replace(sight, found=found, pieces=sight.pieces & cells)


def changed(now: Image, before: Image, sigmas: float) -> NDArray[np.bool_]:
    """Pixels (h, w) in which two pictures differ by more than a change of all light and their noise, so many times."""
    apart = cv2.blur(now.astype(np.float32) - before, (3, 3))
    apart = np.abs(apart - np.median(apart[::4, ::4], axis=(0, 1))).max(axis=2)
    sample = apart[::4, ::4]
    middle = float(np.median(sample))
    noise = 1.4826 * float(np.median(np.abs(sample - middle)))
    mask: NDArray[np.bool_] = apart > max(sigmas * LEAST_SIGMA, middle + sigmas * noise)
    return mask


def _is_changed(found: Found, mask: NDArray[np.bool_], sight: Sight) -> bool:
    """Does anything change within half a base of a middle?  Beyond the view nothing is known."""
    x, y = sight.view.pixels(found.middle_mm[None])[0]
    inside = np.zeros(mask.shape, np.uint8)
    cv2.circle(inside, (round(x), round(y)), round(found.base_mm / sight.view.step_mm / 2), 1, -1)
    here = mask[inside > 0]
    return len(here) == 0 or bool(here.mean() > CHANGED_SHARE)
