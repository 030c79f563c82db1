"""Where two pictures differ by more than their noise."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.cameras.frame import Image
from vision.geometry.uncertainty import SIGMAS_A_MEDIAN

LEAST_SIGMA = 2.0
"""The noise is taken to be this many levels at least."""
EVERY_PX, BLOCK = 4, 8
"""Light and noise are learned from every fourth pixel, in blocks of so many a side."""
STILL_SHARE = 0.25
"""So much of the picture at least is taken to show the same as before: pieces and tiles may be laid
on all the rest.
"""
SIGMAS, LITTLE_LEVELS, SPOT_PX = 9.0, 6.0, 24
"""What was laid down or taken away differs by so many times the noise; by so few levels only in a
spot of so many pixels, which is a fifth of what the smallest piece covers.
"""
SHAKEN = 0.1
"""By this share of the contrast around it a pixel differs where a camera trembles."""
SHADED, BRIGHTER, HUE_LEVELS = 0.5, 1.03, 8.0
"""A shadow leaves more than the first share of the levels and never makes more than the second of
them, and keeps the hue to so many levels.
"""
AROUND = np.ones((3, 3), np.uint8)


def changed(now: Image, before: Image, sigmas: float) -> NDArray[np.bool_]:
    """Pixels (h, w) in which two pictures (h, w, 3) differ by more than a change of all light and
    their noise, so many times.
    """
    apart = _apart(now, before)
    return np.asarray(apart.levels > max(sigmas * LEAST_SIGMA, apart.middle + sigmas * apart.noise))


def laid_or_taken(now: Image, before: Image) -> NDArray[np.bool_]:
    """Pixels (h, w) of two views of a table, (h, w, 3), in which something was laid down or taken
    away between them: those that differ by much, and those that differ by little in one spot, as
    under a dark piece on a dark square.
    """
    apart = _apart(now, before)
    much = apart.levels > max(SIGMAS * LEAST_SIGMA, apart.middle + SIGMAS * apart.noise)
    red, green, blue = cv2.split(
        cv2.subtract(cv2.dilate(before, AROUND), cv2.erode(before, AROUND))
    )
    beyond = cv2.addWeighted(
        apart.levels, 1.0, cv2.max(cv2.max(red, green), blue), -SHAKEN, 0.0, dtype=cv2.CV_32F
    )
    little = np.asarray(beyond > max(LITTLE_LEVELS, apart.middle + SIGMAS * apart.noise), np.uint8)
    _, spots, boxes, _ = cv2.connectedComponentsWithStats(little)
    large = np.flatnonzero(boxes[1:, cv2.CC_STAT_AREA] >= SPOT_PX) + 1
    return np.asarray(much | np.isin(spots, large) if len(large) else much)


def shaded(now: Image, before: Image) -> NDArray[np.bool_]:
    """Pixels (h, w) of two views of a table, (h, w, 3), in which no more may have come between them
    than a shadow: light of the hue that was there, and less of it.
    """
    after, ground = (cv2.blur(picture, (3, 3)).astype(np.float32) for picture in (now, before))
    left = after.sum(axis=2) / np.maximum(ground.sum(axis=2), 1.0)
    other = np.abs(after - ground * left[..., None])
    hue = np.maximum(np.maximum(other[..., 0], other[..., 1]), other[..., 2])
    return np.asarray((left > SHADED) & (left < BRIGHTER) & (hue < HUE_LEVELS))


class _Apart(NamedTuple):
    """By how many `levels` pixels (h, w) differ after a change of all light, and of those that do
    not the median and the noise.
    """

    levels: NDArray[np.float32]
    middle: float
    noise: float


def _apart(now: Image, before: Image) -> _Apart:
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
    return _Apart(most, middle, noise)


def _blocks(picture: NDArray[np.float32]) -> NDArray[np.float32]:
    """The pixels (b, n, c) of the blocks that a picture (h, w, c) is made of; the whole of a small
    one is one block.
    """
    rows, columns = (size // BLOCK for size in picture.shape[:2])
    if not (rows and columns):
        return picture.reshape(1, -1, picture.shape[2])
    whole = picture[: rows * BLOCK, : columns * BLOCK].reshape(rows, BLOCK, columns, BLOCK, -1)
    return whole.swapaxes(1, 2).reshape(rows * columns, BLOCK * BLOCK, -1)
