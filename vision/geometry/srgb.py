"""Decode sRGB to linear light, so that a blurred edge sits at its half-way level."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.cameras.frame import Image

Light = NDArray[np.float32]

_levels = np.arange(256) / 255.0
_DECODE = np.where(_levels <= 0.04045, _levels / 12.92, ((_levels + 0.055) / 1.055) ** 2.4).astype(
    np.float32
)


def linear(image: Image) -> Light:
    """Linear light 0..1, same shape, of an sRGB image (h, w) or (h, w, 3) (IEC 61966-2-1)."""
    return np.asarray(cv2.LUT(image, _DECODE), np.float32)


def sample_light(image: Image, pixels: NDArray[np.float64]) -> Light:
    """Linear light (n, m, 3) at pixels (n, m, 2) of an image (h, w, 3), interpolated linearly.

    Border pixels are repeated beyond the image.
    """
    h, w = image.shape[:2]
    u, v = pixels[..., 0], pixels[..., 1]  # NumPy takes long for extremes of rows of two
    u0, v0 = np.clip(np.floor([u.min(), v.min()]).astype(int) - 1, 0, [w - 2, h - 2])
    u1, v1 = np.clip(np.ceil([u.max(), v.max()]).astype(int) + 2, [u0 + 2, v0 + 2], [w, h])
    at = (pixels - [u0, v0]).astype(np.float32)
    return np.asarray(
        cv2.remap(
            linear(image[v0:v1, u0:u1]),
            at[..., 0],
            at[..., 1],
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        ),
        np.float32,
    )
