"""Annotate photographs with what was read: outlines of pieces, nearest points, and gaps.

Everything is drawn twice, dark and wide below, light and narrow above, so that it shows on any
table.  All widths and letters are in proportion to the image; small photographs are enlarged first,
so that their text can be read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import cv2
import numpy as np

from table.errors import InputError
from table.files import write_whole
from table.messages import msg
from table.observation import Camera, Observation, SeenPiece
from table.solids import EDGES, FACES, Array
from table.table_config import Lens
from vision.annotate.text import letter_mask
from vision.cameras.frame import Image, swapped
from vision.geometry.camera_model import project

Tone = Literal["plain", "target", "leading", "doubtful", "off board"]

TONES: dict[Tone, tuple[int, int, int]] = {
    "plain": (255, 255, 255),
    "target": (255, 225, 60),
    "leading": (90, 255, 130),
    "doubtful": (255, 165, 60),
    "off board": (190, 190, 190),
}
"""R-G-B of lines and letters. All are light, because the casing below them is dark."""
CASING = (16, 18, 24)
LEAST_WIDTH_PX = 1600
"""A photograph with a longer side than this keeps its size."""
SUBPIXEL_BITS = 4
EDGE_STEPS = 8
"""Parts of an edge that are projected separately, because lenses bend long edges."""
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")


@dataclass(frozen=True, slots=True, eq=False)
class Note:
    """Text for `Observation.pieces[piece]`, and the ends of its gap.

    `nearest_mm` (2, 3) are the nearest points, the piece's own first.
    """

    piece: int
    text: str
    tone: Tone = "plain"
    nearest_mm: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Canvas:
    """The image being drawn, relative to the photograph by `scale`.

    `line_px` is the width of a piece's outline.
    """

    image: Image
    scale: float
    line_px: float
    taken: Array = field(repr=False)
    """Cost of covering each pixel with text, at a quarter of the size: 0.5 lines, 2 pieces, 3 other
    text.
    """

    @property
    def letter_px(self) -> float:
        """Height of a capital letter."""
        return 8.0 * self.line_px

    def place(self, points_mm: Array, camera: Camera, lens: Lens) -> Array:
        """Table points (n, 3) as pixels (n, 2) of this canvas."""
        pixels: Array = (project(points_mm, camera, lens) + 0.5) * self.scale - 0.5
        return pixels


def annotate(
    image: Image, seen: Observation, lens: Lens, notes: Sequence[Note] = (), caption: str = ""
) -> Image:
    """A copy of the photograph with every piece outlined and noted; `caption` is a sentence below.

    Notes are written in the order given, so the first have the best places, and their gaps lie on
    top.  The copy is larger than the photograph where that is smaller than 1600 px on its longer
    side.
    """
    canvas = _canvas(image)
    tones: dict[int, Tone] = {note.piece: note.tone for note in notes}
    for note in reversed(notes):
        if note.nearest_mm is not None:
            _join(canvas, canvas.place(note.nearest_mm, seen.camera, lens), note.tone)
    for piece in seen.off_board:
        _outline(canvas, piece, seen.camera, lens, "off board")
    for index, piece in enumerate(seen.pieces):
        _outline(canvas, piece, seen.camera, lens, tones.get(index, "plain"))
    if caption:
        _write_caption(canvas, caption)
    _write_notes(canvas, notes, seen, lens)
    return canvas.image


def write_picture(path: Path, image: Image) -> None:
    """Write an image atomically, in the format of its suffix; raises InputError."""
    check_picture_path(path)
    ok, data = cv2.imencode(path.suffix.lower(), swapped(image))
    assert ok, "a uint8 picture can be written in each of these formats"
    write_whole(path, data.tobytes())


def check_picture_path(path: Path) -> None:
    """Raise InputError if no image could be written there, before any work is done for it."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            msg(
                "{path}: expected a name that ends in {raw}, got {raw2}",
                path=path,
                raw=", ".join(SUFFIXES),
                raw2=repr(path.name),
            )
        )
    if not path.parent.is_dir():
        raise InputError(
            msg(
                "{path}: expected a folder that exists, got {raw}",
                path=path,
                raw=repr(str(path.parent)),
            )
        )


def _canvas(image: Image) -> _Canvas:
    height, width = image.shape[:2]
    scale = max(1.0, LEAST_WIDTH_PX / max(height, width))
    copy = np.array(image)
    if scale > 1:
        copy = np.asarray(
            cv2.resize(copy, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC), np.uint8
        )
    height, width = copy.shape[:2]
    taken = np.zeros((height // 4 + 1, width // 4 + 1))
    return _Canvas(np.ascontiguousarray(copy), scale, max(height, width) / 1000, taken)


def visible_edges(piece: SeenPiece, eye_mm: Array) -> list[tuple[int, int]]:
    """Edges of a piece that a camera at `eye_mm` sees, taking the piece as opaque.

    Those are the edges of the faces turned to it.
    """
    vertices = piece.solid.vertices_mm
    seen: set[frozenset[int]] = set()
    for face in FACES:
        a, b, c = vertices[list(face[:3])]
        if np.dot(np.cross(b - a, c - a), eye_mm - a) > 0:
            seen |= {frozenset((face[i - 1], face[i])) for i in range(len(face))}
    return [edge for edge in EDGES if frozenset(edge) in seen]


def _outline(canvas: _Canvas, piece: SeenPiece, camera: Camera, lens: Lens, tone: Tone) -> None:
    """Draw the piece's silhouette, thick, and its inner edges, thin."""
    vertices = piece.solid.vertices_mm
    along = np.linspace(0, 1, EDGE_STEPS + 1)[:, None]
    edges = [
        canvas.place(vertices[a] + along * (vertices[b] - vertices[a]), camera, lens)
        for a, b in EDGES
    ]
    inner = [
        canvas.place(vertices[[a, b]], camera, lens) for a, b in visible_edges(piece, camera.eye_mm)
    ]
    silhouette = np.asarray(
        cv2.convexHull(np.concatenate(edges).astype(np.float32)), float
    ).reshape(-1, 2)
    for width, colour in ((2.4, CASING), (1.0, TONES[tone])):
        for edge in inner:
            _stroke(canvas, edge, 0.5 * width, colour)
        _stroke(canvas, silhouette, width, colour, closed=True)
    cv2.fillConvexPoly(canvas.taken, np.round(silhouette / 4).astype(np.int32), 2.0)


def _join(canvas: _Canvas, ends: Array, tone: Tone) -> None:
    """Draw a gap as a line between the nearest points, which are dots."""
    for width, colour in ((2.0, CASING), (0.8, TONES[tone])):
        _stroke(canvas, ends, width, colour)
        for end in ends:
            _dot(canvas, end, (0.9 + 0.5 * width) * canvas.line_px, colour)
    a, b = np.round(ends / 4).astype(int).tolist()
    cv2.line(canvas.taken, a, b, 0.5, max(1, round(canvas.line_px / 2)))


def _stroke(
    canvas: _Canvas, points: Array, width: float, colour: tuple[int, int, int], closed: bool = False
) -> None:
    fixed = np.round(points * 2**SUBPIXEL_BITS).astype(np.int32).reshape(-1, 1, 2)
    cv2.polylines(
        canvas.image,
        [fixed],
        closed,
        colour,
        max(1, round(width * canvas.line_px)),
        cv2.LINE_AA,
        SUBPIXEL_BITS,
    )


def _dot(canvas: _Canvas, at: Array, radius_px: float, colour: tuple[int, int, int]) -> None:
    x, y, radius = np.round(np.array([*at, radius_px]) * 2**SUBPIXEL_BITS).astype(int).tolist()
    cv2.circle(canvas.image, (x, y), radius, colour, cv2.FILLED, cv2.LINE_AA, SUBPIXEL_BITS)


def _write_notes(canvas: _Canvas, notes: Sequence[Note], seen: Observation, lens: Lens) -> None:
    """Write text near the pieces, where it covers least.

    A thin line leads to the piece if the text is not right beside it.
    """
    written = [(note, letter_mask(note.text, canvas.letter_px)) for note in notes if note.text]
    corners = []
    for note, mask in written:
        vertices = canvas.place(seen.pieces[note.piece].solid.vertices_mm, seen.camera, lens)
        corner = _best_corner(canvas, mask.shape, vertices)
        _claim(canvas, mask.shape, corner)
        _lead(canvas, corner, corner + np.array(mask.shape[::-1]) - 1, vertices, note.tone)
        corners.append(corner)
    for (note, mask), corner in zip(written, corners, strict=True):
        _stamp(canvas, mask, corner, TONES[note.tone])


def _lead(canvas: _Canvas, low: Array, high: Array, vertices_px: Array, tone: Tone) -> None:
    """Draw a line from a text box (low, high) to its piece, if more than a letter apart."""
    middle = vertices_px.mean(axis=0)
    near = np.clip(middle, low, high)
    hull = np.asarray(cv2.convexHull(vertices_px.astype(np.float32))).reshape(-1, 1, 2)
    away = -float(cv2.pointPolygonTest(hull, near.tolist(), True))
    if away < 1.2 * canvas.letter_px:
        return
    for width, colour in ((1.6, CASING), (0.5, TONES[tone])):
        _stroke(
            canvas,
            np.array([near, near + (middle - near) * (away / np.linalg.norm(middle - near))]),
            width,
            colour,
        )


def _best_corner(canvas: _Canvas, shape: tuple[int, ...], vertices_px: Array) -> Array:
    """Top left pixel (x, y) for text of `shape` beside a piece.

    Of the candidate places around the piece, the one that covers least and is nearest.
    """
    middle = (vertices_px.min(axis=0) + vertices_px.max(axis=0)) / 2
    reach = np.ptp(vertices_px, axis=0) / 2
    size = np.array(shape[::-1], float)
    limit = np.array(canvas.image.shape[1::-1]) - size - 1
    sums = np.asarray(cv2.integral(canvas.taken), float)
    best: Array = np.clip(middle - size / 2, 0, np.maximum(limit, 0))
    least = math.inf
    for ring in range(9):
        clear = (0.7 + 0.9 * ring) * canvas.letter_px
        for turn in np.linspace(0, 2 * np.pi, 24, endpoint=False):
            way = np.array([math.cos(turn), math.sin(turn)])
            corner = middle + way * (reach + size / 2 + clear) - size / 2
            if (corner < 0).any() or (corner > limit).any():
                continue
            (x0, y0), (x1, y1) = (
                np.floor(corner / 4).astype(int),
                np.ceil((corner + size) / 4).astype(int),
            )
            covered = sums[y1, x1] - sums[y0, x1] - sums[y1, x0] + sums[y0, x0]
            cost = covered / (size.prod() / 16) + 0.04 * ring
            if cost < least:
                best, least = corner, float(cost)
    return best


def _claim(canvas: _Canvas, shape: tuple[int, ...], corner: Array) -> None:
    """Mark the place of a text, and half a letter around it, as taken."""
    margin = canvas.letter_px / 2
    (x0, y0), (x1, y1) = (
        (np.maximum(corner - margin, 0) // 4).astype(int),
        ((corner + shape[::-1] + margin) // 4 + 1).astype(int),
    )
    canvas.taken[y0:y1, x0:x1] = 3.0


def _write_caption(canvas: _Canvas, caption: str) -> None:
    """Write a sentence along the lower edge, as large as fits."""
    height, width = canvas.image.shape[:2]
    letter_px = 1.25 * canvas.letter_px
    mask = letter_mask(caption, letter_px)
    if mask.shape[1] > width - 2 * letter_px:
        letter_px *= (width - 2 * letter_px) / mask.shape[1]
        mask = letter_mask(caption, letter_px)
    corner = np.array([letter_px, height - mask.shape[0] - letter_px])
    _claim(canvas, mask.shape, corner)
    _stamp(canvas, mask, corner, TONES["plain"])


def _stamp(canvas: _Canvas, mask: Array, corner: Array, colour: tuple[int, int, int]) -> None:
    """Blend letters (h, w), 0 to 1, with a dark halo into the image at the pixel `corner`."""
    halo_px = round(3 * canvas.line_px)
    padded = cv2.copyMakeBorder(mask, *(halo_px,) * 4, cv2.BORDER_CONSTANT, value=0)
    shape = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * (halo_px // 2) + 1,) * 2)
    halo = cv2.GaussianBlur(cv2.dilate(padded, shape), (0, 0), halo_px / 3)
    x0, y0 = np.round(corner).astype(int) - halo_px
    left, top = max(0, -x0), max(0, -y0)
    part = canvas.image[y0 + top : y0 + padded.shape[0], x0 + left : x0 + padded.shape[1]]
    cut = (slice(top, top + part.shape[0]), slice(left, left + part.shape[1]))
    blend = part * (1 - 0.9 * halo[cut][..., None]) + np.array(CASING) * (
        0.9 * halo[cut][..., None]
    )
    ink = padded[cut][..., None]
    part[:] = np.round(blend * (1 - ink) + np.array(colour) * ink)
