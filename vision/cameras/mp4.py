"""What an MP4 or MOV film says of itself, as far as OpenCV does not tell: whether its index is
there, how long it is, whether it is mirrored.

Source: ISO 14496-12, 8.1 to 8.8.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

DEEPER = (b"moov", b"trak", b"edts", b"mdia", b"minf", b"stbl")
"""Boxes that hold boxes which are of use."""
MOST_BOXES, MOST_BYTES = 2000, 4096
"""No more boxes are looked at, and no more bytes of one read: what is of use stands at a box's
beginning.
"""
TRIMMED_FRAMES = 2.0
"""An edit list that leaves out more than this trims the film; a shorter one makes up for the order
in which frames are coded.
"""


class Box(NamedTuple):
    """A box with the place of the box around it; `body` is its beginning."""

    kind: bytes
    inside: tuple[bytes, ...]
    body: bytes
    whole: bool


class FilmIndex(NamedTuple):
    """`frames` is their exact number, None where it is not known; `seconds` the film's length, None
    where it is not known.
    """

    complete: bool
    mirrored: bool = False
    frames: int | None = None
    seconds: float | None = None


def is_mp4(start: bytes) -> bool:
    """Whether a file that begins so is MP4 or MOV."""
    return start[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free")


def film_index(path: Path) -> FilmIndex:
    """What the index of an MP4 or MOV says of its first track of pictures; raises OSError."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        boxes = list(_boxes(file, 0, size, ()))
    if not any(box.kind == b"moov" and box.whole for box in boxes):
        return FilmIndex(complete=False)
    fragmented = any(box.kind == b"mvex" for box in boxes)
    time_scale = next((_times(box.body)[0] for box in boxes if box.kind == b"mvhd"), 0)
    track = _track_of_pictures(boxes)
    media_scale, media_length = _times(track.get(b"mdhd", b""))
    frames = int.from_bytes(track.get(b"stsz", b"")[8:12], "big")
    if fragmented or not (frames and media_scale and media_length):
        return FilmIndex(True, _is_mirrored(track.get(b"tkhd", b"")))
    media_s = media_length / media_scale
    shown_s = (
        _edited(track.get(b"elst", b"")) / time_scale
        if time_scale and b"elst" in track
        else media_s
    )
    trimmed = media_s - shown_s > TRIMMED_FRAMES * media_s / frames
    return FilmIndex(
        True, _is_mirrored(track.get(b"tkhd", b"")), None if trimmed else frames, shown_s
    )


def _boxes(file: BinaryIO, at: int, end: int, inside: tuple[bytes, ...]) -> Iterator[Box]:
    """Boxes between two places, each before those that it holds."""
    for _ in range(MOST_BOXES):
        if at + 8 > end:
            return
        file.seek(at)
        head = file.read(16)
        length, kind, first = int.from_bytes(head[:4], "big"), head[4:8], 8
        if length == 1:
            length, first = int.from_bytes(head[8:16], "big"), 16
        elif length == 0:
            length = end - at
        if length < first:
            return
        file.seek(at + first)
        yield Box(kind, inside, file.read(min(MOST_BYTES, length - first)), at + length <= end)
        if kind in DEEPER and len(inside) < len(DEEPER):
            yield from _boxes(file, at + first, min(at + length, end), (*inside, kind))
        at += length


def _track_of_pictures(boxes: list[Box]) -> dict[bytes, bytes]:
    """The boxes of the first track that is a film, by kind; of no track where there is none."""
    track: dict[bytes, bytes] = {}
    for box in boxes:
        if box.kind == b"trak":
            if track.get(b"hdlr", b"")[8:12] == b"vide":
                return track
            track = {}
        elif b"trak" in box.inside and (box.kind != b"hdlr" or box.inside[-1] == b"mdia"):
            track.setdefault(box.kind, box.body)
    return track if track.get(b"hdlr", b"")[8:12] == b"vide" else {}


def _times(header: bytes) -> tuple[int, int]:
    """Time scale and length by the body of `mvhd` or `mdhd`."""
    if header[:1] == b"\1":
        return int.from_bytes(header[20:24], "big"), int.from_bytes(header[24:32], "big")
    return int.from_bytes(header[12:16], "big"), int.from_bytes(header[16:20], "big")


def _edited(edits: bytes) -> int:
    """How long the pictures of an edit list are shown, in the film's time scale."""
    long = edits[:1] == b"\1"
    entry, number = (20, 8) if long else (12, 4)
    shown = 0
    for index in range(min(int.from_bytes(edits[4:8], "big"), MOST_BYTES // entry)):
        row = edits[8 + entry * index : 8 + entry * (index + 1)]
        if int.from_bytes(row[number : 2 * number], "big", signed=True) >= 0:
            shown += int.from_bytes(row[:number], "big")
    return shown


def _is_mirrored(header: bytes) -> bool:
    """Whether the matrix of a `tkhd` mirrors: its determinant is below 0."""
    at = 52 if header[:1] == b"\1" else 40
    a, b, _, c, d = (
        int.from_bytes(header[at + 4 * k : at + 4 * k + 4], "big", signed=True) for k in range(5)
    )
    return a * d - b * c < 0
