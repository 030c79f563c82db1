"""PNG files: check completeness, and decode.

Source: PNG specification (third edition), 5.3 and 11.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import cv2
import numpy as np
from cv2.typing import MatLike

from table.errors import InputError
from table.messages import msg
from vision.cameras.frame import Image, swapped
from vision.cameras.jpeg import damage_error

PNG = b"\x89PNG\r\n\x1a\n"


CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""Channels per pixel, by colour type."""
PALETTE, WITH_ALPHA = 3, (4, 6)
ADAM7 = (
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)
"""Passes of an interlaced PNG: first column and row, steps to the next ones."""
PIECE = 1 << 16


def decode_png(data: bytes, where: str) -> Image:
    """Decode a PNG to R-G-B (h, w, 3), 8 bits each whatever the file has.

    Raises DamagedError; InputError for transparency, where the colours are undefined, and for an
    animation.
    """
    chunks = list(_chunks(data))
    kinds = [kind for kind, _ in chunks]
    if b"acTL" in kinds:
        raise InputError(
            msg(
                "{where}: expected one picture, got an animation; save one frame of it", where=where
            )
        )
    if not _is_whole(chunks):
        raise damage_error(where)
    image = _decoded(data, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION, where)
    if b"tRNS" in kinds or chunks[0][1][9] in WITH_ALPHA:
        alpha = _decoded(data, cv2.IMREAD_UNCHANGED, where)[..., 3:]
        if alpha.size and alpha.min() < (255 if alpha.dtype == np.uint8 else 65535):
            raise InputError(
                msg(
                    "{where}: expected a picture without transparent parts, got one with"
                    " some; save it without transparency",
                    where=where,
                )
            )
    return swapped(image)


def _decoded(data: bytes, flags: int, where: str) -> MatLike:
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    except cv2.error as error:
        raise damage_error(where) from error
    if image is None:
        raise damage_error(where)
    return image


def _is_whole(chunks: list[tuple[bytes, bytes]]) -> bool:
    """True if the chunks lead from header to end, with as much image data as the header says."""
    if not chunks or chunks[-1][0] != b"IEND" or chunks[0][0] != b"IHDR" or len(chunks[0][1]) != 13:
        return False
    expected = _image_bytes(chunks[0][1])
    return (
        expected is not None
        and _inflated([body for kind, body in chunks if kind == b"IDAT"], expected) == expected
    )


def _image_bytes(header: bytes) -> int | None:
    """Size of the image data before compression; None for an invalid header."""
    width, height = (int.from_bytes(header[at : at + 4], "big") for at in (0, 4))
    depth, colour, compression, filters, interlaced = header[8:]
    depths = {0: (1, 2, 4, 8, 16), PALETTE: (1, 2, 4, 8)}.get(colour, (8, 16))
    if not (
        width
        and height
        and colour in CHANNELS
        and depth in depths
        and compression == filters == 0
        and interlaced in (0, 1)
    ):
        return None
    passes = ADAM7 if interlaced else ((0, 0, 1, 1),)
    sizes = [(-(-(width - x) // across), -(-(height - y) // down)) for x, y, across, down in passes]
    return sum(
        rows * (1 + -(-columns * depth * CHANNELS[colour] // 8))
        for columns, rows in sizes
        if columns > 0 and rows > 0
    )


def _inflated(bodies: list[bytes], most: int) -> int:
    """Decompressed length of the zlib stream in `bodies`; -1 if it is damaged or does not end.

    Counting stops at one above `most`.
    """
    stream, count = zlib.decompressobj(), 0
    try:
        for body in bodies:
            while body and count <= most:
                count += len(stream.decompress(body, PIECE))
                body = stream.unconsumed_tail
        while count <= most and (more := stream.decompress(stream.unconsumed_tail, PIECE)):
            count += len(more)
    except zlib.error:
        return -1
    return count if stream.eof or count > most else -1


def png_exif(data: bytes) -> bytes:
    """The EXIF data of a PNG; empty where there is none."""
    return next((body for kind, body in _chunks(data) if kind == b"eXIf"), b"")


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Type and body of each chunk up to IEND.

    Stops at the first that is cut short or has a wrong checksum.
    """
    at = len(PNG)
    while at + 12 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        body = data[at + 4 : at + 8 + length]
        if zlib.crc32(body) != int.from_bytes(data[at + 8 + length : at + 12 + length], "big"):
            return
        yield body[:4], body[4:]
        if body[:4] == b"IEND":
            return
        at += 12 + length
