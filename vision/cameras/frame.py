"""One image from a camera, with its time."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from cv2.typing import MatLike
from numpy.typing import NDArray

Image = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """`image` is R-G-B, uint8, (height, width, 3); `seq` counts frames from 0.

    `at_ms` is a clock that never goes back, even if the wall clock is set: monotonic for live
    cameras, the recording's own for files. All durations are differences of it. `utc_ms` is the
    wall clock in ms since 1970, for display; None for recordings. `focus_dpt` is the focus of the
    lens in dioptres, if the camera reports it.
    """

    seq: int
    at_ms: int
    image: Image
    focus_dpt: float | None = None
    utc_ms: int | None = None

    @property
    def shown_ms(self) -> int:
        """Time for records and pages: the wall clock, or a recording's own clock.

        Nothing is computed from it.
        """
        return self.at_ms if self.utc_ms is None else self.utc_ms


def swapped(image: MatLike) -> Image:
    """Swap R-G-B and B-G-R (h, w, 3), OpenCV's order.

    numpy's `[..., ::-1]` takes thirty times as long.
    """
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2RGB), np.uint8)
