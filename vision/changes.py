"""Where two pictures differ by more than their noise."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.doubt import SIGMAS_A_MEDIAN
from vision.frame import Image

LEAST_SIGMA = 2.0
"""The noise is taken to be this many levels at least."""
EVERY_PX, BLOCK = 4, 8
"""Light and noise are learned from every fourth pixel, in blocks of so many a side."""
STILL_SHARE = 0.25
"""So much of the picture at least is taken to show the same as before: pieces and tiles may be laid on all the rest."""


def changed(now: Image, before: Image, sigmas: float) -> NDArray[np.bool_]:
    """Pixels (h, w) in which two pictures (h, w, 3) differ by more than a change of all light and their noise, so many times."""
    apart = np.asarray(cv2.blur(cv2.subtract(now, before, dtype=cv2.CV_32F), (3, 3)), np.float32)
    by_block = np.median(_blocks(apart[::EVERY_PX, ::EVERY_PX]), axis=1)
    least_changed = np.argsort(np.abs(by_block).max(axis=1), kind="stable")
    apart = np.asarray(np.abs(apart - by_block[least_changed[int(STILL_SHARE * len(by_block))]]), np.float32)
    most = np.maximum(np.maximum(apart[..., 0], apart[..., 1]), apart[..., 2])
    blocks = _blocks(most[::EVERY_PX, ::EVERY_PX, None])[..., 0]
    middles = np.median(blocks, axis=1)
    noises = SIGMAS_A_MEDIAN * np.median(np.abs(blocks - middles[:, None]), axis=1)
    middle, noise = (float(np.quantile(some, STILL_SHARE)) for some in (middles, noises))
    return np.asarray(most > max(sigmas * LEAST_SIGMA, middle + sigmas * noise))


def _blocks(picture: NDArray[np.float32]) -> NDArray[np.float32]:
    """The pixels (b, n, c) of the blocks that a picture (h, w, c) is made of; the whole of a small one is one block."""
    rows, columns = (size // BLOCK for size in picture.shape[:2])
    if not (rows and columns):
        return picture.reshape(1, -1, picture.shape[2])
    whole = picture[: rows * BLOCK, : columns * BLOCK].reshape(rows, BLOCK, columns, BLOCK, -1)
    return whole.swapaxes(1, 2).reshape(rows * columns, BLOCK * BLOCK, -1)
