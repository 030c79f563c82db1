"""Which way up pictures are read: the rotation flags of photographs (EXIF) and films, and one rule
for both.

A lens is calibrated for the pixels as they lie in its pictures.  A flag that says how to show a
picture must not move them behind the lens's back, so flags are read here and applied only where
`table.json` says that the lens was calibrated from turned pictures.

Source: Exif 2.32 (CIPA DC-008), 4.6.4 "Orientation"; ISO 14496-12, 8.3.2 "Track Header Box".
"""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np

from table.errors import InputError
from table.table_config import Orientation
from vision.cameras.frame import Image

EXIF_TURNS = {1: 0, 3: 180, 6: 90, 8: 270}
"""Degrees clockwise by which a picture is to be turned to be upright; all other values mean a
mirrored picture.
"""
EXIF_START = b"Exif\0\0"
ORIENTATION_TAG = 0x0112


def is_half_turned(
    clockwise_deg: int, mirrored: bool, orientation: Orientation, where: str
) -> bool:
    """Whether a picture whose flag says so is to be turned by 180 degrees before it is used.

    Raises InputError for a flag that says that the camera stood on its side (90 or 270 degrees) or
    that the picture is mirrored: it is not the camera as it was when the lens was calibrated.
    """
    clockwise_deg %= 360
    if clockwise_deg in (0, 180) and not mirrored:
        return clockwise_deg == 180 and orientation == "upright"
    got = f"turned by {clockwise_deg}°" + (" and mirrored" if mirrored else "")
    advice = (
        "hold the camera as it was held for table.json and lock its rotation, or remove the flag if"
        " it is wrong"
    )
    raise InputError(
        f"{where}: expected a picture that is not turned, got one whose rotation flag says that it"
        f" is {got}; {advice}"
    )


def half_turned(image: Image) -> Image:
    """The picture turned by 180 degrees."""
    return np.asarray(cv2.rotate(image, cv2.ROTATE_180), np.uint8)


def exif_flag(exif: bytes) -> tuple[int, bool]:
    """Degrees clockwise to turn, and whether to mirror first, by EXIF data that begins with its
    TIFF header; (0, False) where none is said.
    """
    value = _tiff_orientation(exif)
    mirrored = {2: 0, 4: 180, 5: 270, 7: 90}
    return (mirrored[value], True) if value in mirrored else (EXIF_TURNS.get(value, 0), False)


def jpeg_exif(data: bytes) -> bytes:
    """The EXIF data of a JPEG, from its TIFF header on; empty where there is none."""
    return next(
        (
            body[len(EXIF_START) :]
            for body in _application_segments(data)
            if body.startswith(EXIF_START)
        ),
        b"",
    )


def _application_segments(data: bytes) -> Iterator[bytes]:
    """The bodies of APP1 segments before the first scan."""
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF and data[at + 1] != 0xDA:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if marker == 0xFF:
            at += 1
            continue
        if marker == 0xE1:
            yield data[at + 4 : at + 2 + length]
        at += 2 + length


def _tiff_orientation(tiff: bytes) -> int:
    """The value of the orientation tag in the first directory; 1 where there is none."""
    order = {b"II": "little", b"MM": "big"}.get(tiff[:2])
    if order is None:
        return 1

    def number(at: int, size: int) -> int:
        return int.from_bytes(tiff[at : at + size], "little" if order == "little" else "big")

    directory = number(4, 4)
    for index in range(min(number(directory, 2), 1000)):
        entry = directory + 2 + 12 * index
        if number(entry, 2) == ORIENTATION_TAG:
            return number(entry + 8, 2)
    return 1
