"""JPEG files: check completeness, decode, and find where one ends in a stream.

Source: ITU-T T.81, annex B.
"""

from __future__ import annotations

import numpy as np
import simplejpeg

from table.errors import InputError
from table.messages import msg
from vision.cameras.frame import Image

JPEG = b"\xff\xd8\xff"
NO_FRAME = (0xC4, 0xC8, 0xCC)
"""Markers in the range of SOF that are something else: tables, and one reserved."""
MOST_SCANS = 50
"""Limit on scans: progressive images have about ten, and each takes as long to decode as the whole
image, however short it is.
"""
MOST_BYTES = 1 << 25
"""A stream in which no image ends within this length is not JPEG."""


class DamagedError(InputError):
    """A picture that is cut short, or whose data are inconsistent."""


def decode_jpeg(data: bytes, where: str, shrink: int = 1) -> Image:
    """Decode a JPEG to R-G-B (h, w, 3), `shrink` times smaller; libjpeg's warnings are errors.

    The result equals OpenCV's, but OpenCV decodes damaged data without complaint.  Raises
    DamagedError, and InputError for printing colours (CMYK).
    """
    if not whole_jpeg(data) or data.count(b"\xff\xda") > MOST_SCANS:
        raise damage_error(where)
    try:
        _, _, colours, _ = simplejpeg.decode_jpeg_header(data)
        image = simplejpeg.decode_jpeg(data, "RGB", min_factor=shrink, strict=True)
    except ValueError as error:
        raise damage_error(where) from error
    if colours in ("CMYK", "YCCK"):
        raise InputError(
            msg(
                "{where}: expected a picture in RGB or grey, got one in CMYK; save it as RGB",
                where=where,
            )
        )
    return np.asarray(image, np.uint8)


def damage_error(where: str) -> DamagedError:
    """The error for a picture that is cut short or damaged."""
    return DamagedError(
        msg(
            "{where}: expected a whole picture, but it is cut short or damaged; take or copy it"
            " again",
            where=where,
        )
    )


class JpegStream:
    """Splits a byte stream into whole JPEGs; other bytes and broken images are dropped.

    `broken` counts images that started and were not whole.
    """

    def __init__(self) -> None:
        self._data = bytearray()
        self.broken = 0

    def feed(self, chunk: bytes) -> None:
        """Append received bytes."""
        self._data += chunk

    def next(self) -> bytes | None:
        """The next whole picture, or None until more bytes come."""
        start = self._data.find(JPEG)
        if start < 0:
            del self._data[: max(0, len(self._data) - len(JPEG) + 1)]
            return None
        del self._data[:start]
        end, whole = find_end(bytes(self._data))
        if not whole and end == len(self._data) <= MOST_BYTES:
            return None
        picture = bytes(self._data[:end])
        del self._data[:end]
        if whole:
            return picture
        self.broken += 1
        return self.next()


def jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Width and height in the frame header; None if there is none before the first scan."""
    at = 2
    while data[at : at + 1] == b"\xff" and at + 9 <= len(data):
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in NO_FRAME:
            return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(
                data[at + 5 : at + 7], "big"
            )
        if marker in (0xD8, 0xD9, 0xDA):
            return None
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def whole_jpeg(data: bytes) -> bool:
    """True if the segments and scans lead to an end-of-image marker.

    Some cameras append data after it, which is ignored.
    """
    return find_end(data)[1]


def find_end(data: bytes) -> tuple[int, bool]:
    """Offset of a JPEG's end and True, or offset up to which the data are valid and False.

    The JPEG starts at 0. If the data are valid to their end, more may follow. A preview in the EXIF
    segment has an end marker of its own, so a search for the marker is not enough.
    """
    at = 2
    while at + 4 <= len(data) + 2:
        if data[at : at + 1] != b"\xff" or data[at + 1] == 0xD8:
            return at, False
        marker = data[at + 1]
        if marker == 0xD9:
            return at + 2, True
        if marker == 0xFF:
            at += 1
            continue
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        if marker == 0xDA:
            at = _after_scan(data, at)
    return len(data), False


def _after_scan(data: bytes, at: int) -> int:
    """Offset of the next marker that is neither a stuffed byte nor a restart."""
    while (at := data.find(b"\xff", at)) >= 0:
        following = data[at + 1 : at + 2]
        if following and following != b"\x00" and not 0xD0 <= following[0] <= 0xD7:
            return at
        at += 1
    return len(data)
