"""Numbers in the EXIF data of photographs: the orientation, and the focal length.

Source: Exif 2.32 (CIPA DC-008), 4.6; TIFF 6.0, section 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

EXIF_START = b"Exif\0\0"
ORIENTATION, EXIF_DIRECTORY = 0x0112, 0x8769
PIXELS_ACROSS, PIXELS_DOWN, FOCAL_35MM = 0xA002, 0xA003, 0xA405
"""Tags of the first directory, and of the one that EXIF_DIRECTORY points to."""
SHORT, LONG = 3, 4
"""Types of whole numbers, of 2 and of 4 bytes."""
MOST_ENTRIES = 1000
FILM_MM = math.hypot(36.0, 24.0)
"""Diagonal of the film that FOCAL_35MM refers to."""
LEAST_FOCAL_MM, MOST_FOCAL_MM = 8, 400
"""Focal lengths in 35 mm film that cameras with a plain lens have; others are not believed."""
SAME_SHAPE = 0.01
"""A picture was cropped if its shape differs from the stated one by a larger share."""


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


def exif_numbers(tiff: bytes) -> dict[int, int]:
    """Whole numbers by tag, of the first directory and the one of EXIF; empty if there are none.

    `tiff` starts with the TIFF header.  Damaged data give fewer numbers, or wrong ones.
    """
    order = {b"II": "little", b"MM": "big"}.get(tiff[:2])
    if order is None:
        return {}
    first = _directory(tiff, 4, order == "little")
    at = first.pop(EXIF_DIRECTORY, 0)
    return (_entries(tiff, at, order == "little") if at else {}) | first


def focal_px(exif: bytes, width: int, height: int) -> float | None:
    """Focal length in px of a picture of this size, from its EXIF data.

    None if they do not state it, or if the picture was cropped. It is computed from the diagonal,
    as phones state it; a maker may also mean the width.
    """
    numbers = exif_numbers(exif)
    film_mm = numbers.get(FOCAL_35MM, 0)
    if not LEAST_FOCAL_MM <= film_mm <= MOST_FOCAL_MM:
        return None
    across, down = numbers.get(PIXELS_ACROSS, 0), numbers.get(PIXELS_DOWN, 0)
    if across and down:
        shape, stated = (max(sides) / min(sides) for sides in ((width, height), (across, down)))
        if abs(shape / stated - 1) > SAME_SHAPE:
            return None
    return film_mm / FILM_MM * math.hypot(width, height)


def _directory(tiff: bytes, at: int, little: bool) -> dict[int, int]:
    """The entries of the directory whose place is written at `at`."""
    return _entries(tiff, int.from_bytes(tiff[at : at + 4], "little" if little else "big"), little)


def _entries(tiff: bytes, directory: int, little: bool) -> dict[int, int]:
    def number(at: int, size: int) -> int:
        return int.from_bytes(tiff[at : at + size], "little" if little else "big")

    found: dict[int, int] = {}
    for index in range(min(number(directory, 2), MOST_ENTRIES)):
        entry = directory + 2 + 12 * index
        kind = number(entry + 2, 2)
        if kind in (SHORT, LONG):
            found.setdefault(number(entry, 2), number(entry + 8, 2 if kind == SHORT else 4))
    return found


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
