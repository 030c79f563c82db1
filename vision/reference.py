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

LEVELS, SIGMAS = 8.0, 5.0
"""A pixel has changed if it differs by this much, in levels and in standard deviations of the pictures' noise."""
CHANGED_SHARE = 0.1
"""A piece changes at least this share of what it covers; one of the ground's own colour shows by its faces' light and its shadow."""


def only_changed(sight: Sight, empty: Photo) -> Sight:
    """The sight without what was there when the table was empty."""
    before = relative(empty.flat(sight.view.step_mm).code, paper_light(empty.image, empty.camera, empty.setup))
    mask = changed(sight.view.code, before)
    cells = cv2.resize(mask.astype(np.float32), sight.pieces.shape[::-1], interpolation=cv2.INTER_AREA) > CHANGED_SHARE
    found = tuple(one for one in sight.found if _is_changed(one, mask, sight))
    return replace(sight, found=found, pieces=sight.pieces & cells)


def changed(now: Image, before: Image) -> NDArray[np.bool_]:
    """Pixels (h, w) in which two pictures differ by more than their noise."""
    apart = np.asarray(cv2.blur(cv2.absdiff(now, before), (3, 3))).max(axis=2)
    mask: NDArray[np.bool_] = apart > max(LEVELS, SIGMAS * 1.4826 * float(np.median(apart)))
    return mask


def _is_changed(found: Found, mask: NDArray[np.bool_], sight: Sight) -> bool:
    """Does anything change within half a base of a middle?  Beyond the view nothing is known."""
    x, y = sight.view.pixels(found.middle_mm[None])[0]
    inside = np.zeros(mask.shape, np.uint8)
    cv2.circle(inside, (round(x), round(y)), round(found.base_mm / sight.view.step_mm / 2), 1, -1)
    here = mask[inside > 0]
    return len(here) == 0 or bool(here.mean() > CHANGED_SHARE)
