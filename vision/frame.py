"""One picture from a camera."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from cv2.typing import MatLike
from numpy.typing import NDArray

Image = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """`image` is R-G-B, uint8, (height, width, 3); `at_ms` is the camera's clock, `seq` counts frames from 0.

    `focus_dpt` is where the lens is focused, one over metres, if the camera tells.
    """

    seq: int
    at_ms: int
    image: Image
    focus_dpt: float | None = None


def swapped(image: MatLike) -> Image:
    """B-G-R (h, w, 3), as OpenCV has it, for R-G-B, and the other way round; numpy's `[..., ::-1]` takes thirty times as long."""
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2RGB), np.uint8)
