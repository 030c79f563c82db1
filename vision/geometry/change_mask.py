"""Masks of where two images differ by more than their noise."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.cameras.frame import Image
from vision.geometry.uncertainty import SIGMAS_A_MEDIAN

LEAST_SIGMA = 2.0
"""Least noise, in levels."""
EVERY_PX, BLOCK = 4, 8
"""Light and noise are estimated from every fourth pixel, in blocks with this side."""
STILL_SHARE = 0.25
"""Least share of the image that is assumed unchanged. Pieces and tiles may change all the rest."""
SIGMAS, LITTLE_LEVELS, SPOT_PX = 9.0, 6.0, 24
"""Difference, in noise sigmas, of an object that was laid down or taken away; least difference, in
levels, of a weaker spot; least number of pixels of a weaker spot.
"""
TREMBLE_SHARE = 0.1
"""Largest difference of a pixel by camera shake, as a share of the local contrast."""
SHADED, BRIGHTER, HUE_LEVELS = 0.5, 1.03, 8.0
"""Least and largest ratio of the levels in a shadow to those without; largest difference in levels
from the same hue.
"""
AROUND = np.ones((3, 3), np.uint8)


def changed_pixels(now: Image, before: Image, sigmas: float) -> NDArray[np.bool_]:
    """Mask (h, w) of pixels in which two images (h, w, 3) differ by more than light and noise.

    A global change of light is compensated; the threshold is `sigmas` times the noise.
    """
    apart = _difference(now, before)
    return np.asarray(apart.levels > max(sigmas * LEAST_SIGMA, apart.middle + sigmas * apart.noise))


def changed_mask(now: Image, before: Image) -> NDArray[np.bool_]:
    """Mask (h, w) of where something was laid down or taken away between two views (h, w, 3).

    It consists of pixels with a large difference, and of connected spots with a small one, such as
    a dark piece on a dark square.
    """
    apart = _difference(now, before)
    much = apart.levels > max(SIGMAS * LEAST_SIGMA, apart.middle + SIGMAS * apart.noise)
    red, green, blue = cv2.split(
        cv2.subtract(cv2.dilate(before, AROUND), cv2.erode(before, AROUND))
    )
    beyond = cv2.addWeighted(
        apart.levels, 1.0, cv2.max(cv2.max(red, green), blue), -TREMBLE_SHARE, 0.0, dtype=cv2.CV_32F
    )
    little = np.asarray(beyond > max(LITTLE_LEVELS, apart.middle + SIGMAS * apart.noise), np.uint8)
    _, estimates, boxes, _ = cv2.connectedComponentsWithStats(little)
    large = np.flatnonzero(boxes[1:, cv2.CC_STAT_AREA] >= SPOT_PX) + 1
    return np.asarray(much | np.isin(estimates, large) if len(large) else much)


def shadow_mask(now: Image, before: Image) -> NDArray[np.bool_]:
    """Mask (h, w) of pixels whose change between two views (h, w, 3) a shadow alone would explain.

    The light keeps its hue, and there is less of it.
    """
    after, ground = (cv2.blur(picture, (3, 3)).astype(np.float32) for picture in (now, before))
    left = after.sum(axis=2) / np.maximum(ground.sum(axis=2), 1.0)
    other = np.abs(after - ground * left[..., None])
    hue = np.maximum(np.maximum(other[..., 0], other[..., 1]), other[..., 2])
    return np.asarray((left > SHADED) & (left < BRIGHTER) & (hue < HUE_LEVELS))


class _Difference(NamedTuple):
    """Differences in `levels` (h, w) after compensation of a global change of light.

    `middle` and `noise` are the median and the standard deviation of the unchanged pixels.
    """

    levels: NDArray[np.float32]
    middle: float
    noise: float


def _difference(now: Image, before: Image) -> _Difference:
    apart = np.asarray(cv2.blur(cv2.subtract(now, before, dtype=cv2.CV_32F), (3, 3)), np.float32)
    by_block = np.median(_blocks(apart[::EVERY_PX, ::EVERY_PX]), axis=1)
    least_changed = np.argsort(np.abs(by_block).max(axis=1), kind="stable")
    apart = np.asarray(
        np.abs(apart - by_block[least_changed[int(STILL_SHARE * len(by_block))]]), np.float32
    )
    most = np.maximum(np.maximum(apart[..., 0], apart[..., 1]), apart[..., 2])
    blocks = _blocks(most[::EVERY_PX, ::EVERY_PX, None])[..., 0]
    middles = np.median(blocks, axis=1)
    noises = SIGMAS_A_MEDIAN * np.median(np.abs(blocks - middles[:, None]), axis=1)
    middle, noise = (float(np.quantile(some, STILL_SHARE)) for some in (middles, noises))
    return _Difference(most, middle, noise)


def _blocks(picture: NDArray[np.float32]) -> NDArray[np.float32]:
    """The pixels (b, n, c) of an image's blocks (h, w, c); a small image is one block."""
    rows, columns = (size // BLOCK for size in picture.shape[:2])
    if not (rows and columns):
        return picture.reshape(1, -1, picture.shape[2])
    whole = picture[: rows * BLOCK, : columns * BLOCK].reshape(rows, BLOCK, columns, BLOCK, -1)
    return whole.swapaxes(1, 2).reshape(rows * columns, BLOCK * BLOCK, -1)
