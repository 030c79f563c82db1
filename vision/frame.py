"""One picture from a camera."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
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
