"""Films as cameras write them, made by OpenCV, and damage done to them."""

from __future__ import annotations

import cv2
import numpy as np

WIDTH, HEIGHT = 96, 80
ONE = 1 << 16
TURNED = {
    90: (0, ONE, 0, -ONE, 0, 0),
    180: (-ONE, 0, 0, 0, -ONE, 0),
    270: (0, -ONE, 0, ONE, 0, 0),
    "mirrored": (-ONE, 0, 0, 0, ONE, 0),
}
"""The first two rows of a track's matrix, by rotation in degrees."""


def film(path, fourcc="mp4v", frames=20, size=(WIDTH, HEIGHT), rate=10.0):
    """A film of red above blue, with noise so that each picture takes some bytes."""
    writer, rng = (
        cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*fourcc), rate, size),
        np.random.default_rng(1),
    )
    assert writer.isOpened()
    for _ in range(frames):
        image = rng.integers(0, 60, (size[1], size[0], 3), np.uint8)
        image[: size[1] // 2, :, 2] += 190
        image[size[1] // 2 :, :, 0] += 190
        writer.write(image)
    writer.release()
    return path


def turned(path, how):
    """The film with a different rotation flag and the same pixels."""
    data = bytearray(path.read_bytes())
    at = data.index(b"tkhd") + 44
    for index, value in enumerate(TURNED[how]):
        data[at + 4 * index : at + 4 * index + 4] = value.to_bytes(4, "big", signed=True)
    path.write_bytes(data)
    return path


def trimmed(path, seconds):
    """An MP4 whose edit list shows so much of its end only, as phones cut a film without coding it
    anew.
    """
    data = bytearray(path.read_bytes())
    edits, media = data.index(b"elst") + 12, data.index(b"mdhd") + 16
    shown_ms = int.from_bytes(data[edits : edits + 4], "big")
    scale = int.from_bytes(data[media : media + 4], "big")
    data[edits : edits + 4] = (1000 * seconds).to_bytes(4, "big")
    data[edits + 4 : edits + 8] = ((shown_ms - 1000 * seconds) * scale // 1000).to_bytes(4, "big")
    path.write_bytes(data)
    return path


def cut(path, share):
    """The film truncated to a share of its bytes."""
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    return path


def zeroed(path, start, end):
    """The film with zeros between two shares of its bytes."""
    data = bytearray(path.read_bytes())
    first, last = int(start * len(data)), int(end * len(data))
    data[first:last] = bytes(last - first)
    path.write_bytes(data)
    return path
