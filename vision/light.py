"""Pixel values as light: sRGB decoding, so that a blurred edge sits where its half-way level is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.frame import Image

Light = NDArray[np.float32]

_levels = np.arange(256) / 255.0
_DECODE = np.where(_levels <= 0.04045, _levels / 12.92, ((_levels + 0.055) / 1.055) ** 2.4).astype(np.float32)


def linear(image: Image) -> Light:
    """Linear light 0..1, same shape, of an sRGB image (IEC 61966-2-1)."""
    light: Light = _DECODE[image]
    return light
