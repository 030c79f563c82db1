"""Small pictures, and a table.json for them."""

from __future__ import annotations

import numpy as np

from vision.cameras.image_files import encode_jpeg

WIDTH, HEIGHT = 96, 80


TABLE = {
    "format": "rinkside-table/1",
    "camera": {
        "width": WIDTH,
        "height": HEIGHT,
        "matrix": [[90, 0, 48], [0, 90, 40], [0, 0, 1]],
        "distortion": [0, 0, 0, 0, 0],
    },
    "fiducials": {"markers": [{"id": 0, "corners_mm": [[0, 40], [40, 40], [40, 0], [0, 0]]}]},
    "board": {"kind": "open", "outline_mm": [[0, 0], [300, 0], [300, 200], [0, 200]]},
    "game": {
        "name": "ice_boule",
        "colours": ["red", "blue"],
        "target": "green",
        "sizes": ["large"],
    },
}


def picture(seed=0, width=WIDTH, height=HEIGHT):
    """A smooth R-G-B picture with a red left and a blue right half."""
    image = np.zeros((height, width, 3), np.uint8)
    image[:, : width // 2, 0] = 200
    image[:, width // 2 :, 2] = 200
    image[:, :, 1] = np.random.default_rng(seed).integers(0, 30, (height, 1))
    return image


def jpeg(**options):
    return encode_jpeg(picture(**options), 95)


def exif(orientation, preview=b""):
    """An EXIF segment; `preview` stands for the small picture that cameras put there."""
    tiff = (
        b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0"
        + bytes([orientation, 0, 0, 0])
        + b"\0\0\0\0"
        + preview
    )
    body = b"Exif\0\0" + tiff
    return b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body
