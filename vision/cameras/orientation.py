"""Orientation of images: rotation flags of photographs (EXIF) and films, and one rule for both.

A lens is calibrated for the pixels as they lie in its images.  A flag for display must not rotate
them without the calibration knowing.  So flags are read here, and applied only if `table.json` says
that the lens was calibrated from rotated images.
Source: Exif 2.32 (CIPA DC-008), 4.6.4 "Orientation"; ISO 14496-12, 8.3.2 "Track Header Box".
"""

from __future__ import annotations

import cv2
import numpy as np

from table.errors import InputError
from table.messages import msg, phrase
from table.table_config import Orientation
from vision.cameras.exif import ORIENTATION, exif_numbers
from vision.cameras.frame import Image

EXIF_TURNS = {1: 0, 3: 180, 6: 90, 8: 270}
"""Clockwise rotation in degrees that makes an image upright; all other values mean a mirrored
image.
"""


def is_half_turned(
    clockwise_deg: int, mirrored: bool, orientation: Orientation, where: str
) -> bool:
    """True if an image with this flag has to be rotated by 180 degrees before it is used.

    Raises InputError if the flag says that the camera stood on its side (90 or 270 degrees) or that
    the image is mirrored: the camera is then not as it was when the lens was calibrated.
    """
    clockwise_deg %= 360
    if clockwise_deg in (0, 180) and not mirrored:
        return clockwise_deg == 180 and orientation == "upright"
    got = (
        phrase("rotated by {n}° and mirrored", n=clockwise_deg)
        if mirrored
        else phrase("rotated by {n}°", n=clockwise_deg)
    )
    advice = phrase(
        "hold the camera the way it was held for table.json and lock its rotation, or"
        " remove the flag if it is wrong"
    )
    raise InputError(
        msg(
            "{where}: expected a picture that is not rotated, but its rotation flag says"
            " that it is {text}; {text2}",
            where=where,
            text=got,
            text2=advice,
        )
    )


def upright(image: Image, exif: bytes) -> Image:
    """The image rotated by quarter turns and mirrored as its EXIF data say."""
    clockwise_deg, mirrored = exif_flag(exif)
    if mirrored:
        image = np.asarray(cv2.flip(image, 1), np.uint8)
    turns = {90: cv2.ROTATE_90_CLOCKWISE, 180: cv2.ROTATE_180, 270: cv2.ROTATE_90_COUNTERCLOCKWISE}
    if clockwise_deg in turns:
        image = np.asarray(cv2.rotate(image, turns[clockwise_deg]), np.uint8)
    return image


def half_turned(image: Image) -> Image:
    """The image rotated by 180 degrees."""
    return np.asarray(cv2.rotate(image, cv2.ROTATE_180), np.uint8)


def exif_flag(exif: bytes) -> tuple[int, bool]:
    """Clockwise rotation in degrees, and whether to mirror first; (0, False) if not given.

    `exif` starts with its TIFF header.
    """
    value = exif_numbers(exif).get(ORIENTATION, 1)
    mirrored = {2: 0, 4: 180, 5: 270, 7: 90}
    return (mirrored[value], True) if value in mirrored else (EXIF_TURNS.get(value, 0), False)
