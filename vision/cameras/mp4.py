"""Read from MP4 and MOV files what OpenCV does not report: index, length and mirroring.

Source: ISO 14496-12, 8.1 to 8.8.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

DEEPER = (b"moov", b"trak", b"edts", b"mdia", b"minf", b"stbl")
"""Boxes whose children are read."""
MOST_BOXES, MOST_BYTES = 2000, 4096
"""Limits on the number of boxes, and on the bytes read of each: the useful part is at a box's
start.
"""
TRIMMED_FRAMES = 2.0
"""Frames that an edit list must leave out to count as trimming. A shorter list compensates for the
order in which frames are coded.
"""


class Box(NamedTuple):
    """A box and the path of its parents; `body` is its beginning."""

    kind: bytes
    inside: tuple[bytes, ...]
    body: bytes
    whole: bool


class FilmIndex(NamedTuple):
    """Length and mirroring of a film by its index.

    `frames` is the exact number of frames, `seconds` the length; None if not known.
    """

    complete: bool
    mirrored: bool = False
    frames: int | None = None
    seconds: float | None = None


def is_mp4(start: bytes) -> bool:
    """True if a file with this beginning is MP4 or MOV."""
    return start[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free")


def film_index(path: Path) -> FilmIndex:
    """Read the index of the first video track of an MP4 or MOV; raises OSError."""
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
        _edit_duration(track.get(b"elst", b"")) / time_scale
        if time_scale and b"elst" in track
        else media_s
    )
    trimmed = media_s - shown_s > TRIMMED_FRAMES * media_s / frames
    return FilmIndex(
        True, _is_mirrored(track.get(b"tkhd", b"")), None if trimmed else frames, shown_s
    )


def _boxes(file: BinaryIO, at: int, end: int, inside: tuple[bytes, ...]) -> Iterator[Box]:
    """Boxes between two offsets, each before its children."""
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
    """The boxes of the first video track, by kind; empty if there is none."""
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
    """Time scale and duration from the body of `mvhd` or `mdhd`."""
    if header[:1] == b"\1":
        return int.from_bytes(header[20:24], "big"), int.from_bytes(header[24:32], "big")
    return int.from_bytes(header[12:16], "big"), int.from_bytes(header[16:20], "big")


def _edit_duration(edits: bytes) -> int:
    """Total duration of an edit list's media, in the film's time scale."""
    long = edits[:1] == b"\1"
    entry, number = (20, 8) if long else (12, 4)
    shown = 0
    for index in range(min(int.from_bytes(edits[4:8], "big"), MOST_BYTES // entry)):
        row = edits[8 + entry * index : 8 + entry * (index + 1)]
        if int.from_bytes(row[number : 2 * number], "big", signed=True) >= 0:
            shown += int.from_bytes(row[:number], "big")
    return shown


def _is_mirrored(header: bytes) -> bool:
    """True if the matrix of a `tkhd` mirrors: its determinant is below 0."""
    at = 52 if header[:1] == b"\1" else 40
    a, b, _, c, d = (
        int.from_bytes(header[at + 4 * k : at + 4 * k + 4], "big", signed=True) for k in range(5)
    )
    return a * d - b * c < 0
