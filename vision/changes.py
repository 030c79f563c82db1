"""Where two pictures differ by more than their noise."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.frame import Image

LEAST_SIGMA = 2.0
"""The noise is taken to be this many levels at least."""


def changed(now: Image, before: Image, sigmas: float) -> NDArray[np.bool_]:
    """Pixels (h, w) in which two pictures (h, w, 3) differ by more than a change of all light and their noise, so many times."""
    apart = cv2.blur(cv2.subtract(now, before, dtype=cv2.CV_32F), (3, 3))
    apart = np.abs(apart - np.median(apart[::4, ::4], axis=(0, 1)))
    most = np.maximum(np.maximum(apart[..., 0], apart[..., 1]), apart[..., 2])
    sample = most[::4, ::4]
    middle = float(np.median(sample))
    noise = 1.4826 * float(np.median(np.abs(sample - middle)))
    return np.asarray(most > max(sigmas * LEAST_SIGMA, middle + sigmas * noise))
