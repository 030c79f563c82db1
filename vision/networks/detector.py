"""Detect pieces and counters in the rectified view with a small convolutional network.

The network (`data/detector.onnx`) is trained on images that this project renders, see `training`.
It finds poses, and places to about a millimetre. `vision.networks.keypoints` refines them, and
`vision.pose.edge_alignment` measures them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from table.pieces import COLOURS
from table.solids import Array
from vision.cameras.frame import Image
from vision.geometry.change_mask import changed_mask
from vision.geometry.rectified_view import SUB_BITS, FlatView, Photo
from vision.geometry.srgb import linear
from vision.networks.runtime import as_pictures, run_network

STEPS_A_BASE = 16
"""Resolution of the rectified view: pixels per base of the smallest piece in play."""
STRIDE = 4
"""Output stride: pixels of the view per cell of the network's output."""
DISC, OFFSET, AXIS, TURN, SIZE, COLOUR = (
    3,
    slice(4, 6),
    slice(6, 8),
    slice(8, 10),
    slice(10, 11),
    slice(11, 11 + len(COLOURS)),
)
"""Output channels. 0 to 3: probability of a middle of each pose and of a disc. Offset to the middle
in cells. Vector from the middle of the base to the tip, in STEPS_A_BASE. Cosine and sine of four
times an upright base's heading. Logarithm of the base, or of the disc's diameter, in STEPS_A_BASE.
Logits of the colours.
"""
MASK = slice(COLOUR.stop, COLOUR.stop + 2)
"""Logits of the masks of pieces or discs, and of arms."""
CHANNELS = MASK.stop
BRIGHTEST = 1.2
"""Light relative to white paper that is encoded as white in the network's input."""
WHOLE = 32
"""Sides of the network's input are multiples of this."""
SAME_BASES = 0.5
"""Distance of middles, in bases, below which they are one piece (non-maximum suppression)."""
HILL_CELLS = 0.7
"""Standard deviation of the Gaussian target of the network's output around each middle."""
LEAST_CHANCE = 0.15
"""Least probability of a reported middle."""
FRESH_AROUND_PX = 9
"""Margin around changes since the frame before in which the view is refreshed."""
REACH_CELLS = 14
"""Distance to which a change affects the network's output, and width of the context around a
window. The receptive field is larger, but its outer part has little effect.
"""
MOST_FRESH = 0.8
"""Share of the view, in windows with their context, above which the whole view is processed."""

_bell = np.exp(-(np.arange(-1, 2) ** 2) / (2 * HILL_CELLS**2))
HILL = (np.outer(_bell, _bell) / (np.outer(_bell, _bell) ** 2).sum()).astype(np.float32)
"""Matched filter of the probabilities around a cell. Its response is the height of the peak, 1 for
a certain middle.
"""

Answer = NDArray[np.float32]
Window = tuple[slice, slice]


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """A detection at a place of the view.

    `chances` (4,) are the probabilities of upright, lying, leaning and disc. `middle_mm` (2,) is
    half-way between tip and middle of the base, `axis_mm` (2,) from base to tip. Both are projected
    from the eye to z = 0. `turn_deg` is the heading of an upright base, 0..90. `base_mm` is the
    width of the base, or the disc's diameter; `colours` (c,) are probabilities of the table's.
    """

    chances: Array
    middle_mm: Array
    axis_mm: Array
    turn_deg: float
    base_mm: float
    colours: Array

    @property
    def chance(self) -> float:
        """Probability of a piece."""
        return float(min(1.0, self.chances[:DISC].sum()))

    @property
    def is_disc(self) -> bool:
        """True if a disc is more probable than a piece."""
        return self.disc_chance > self.chance

    @property
    def disc_chance(self) -> float:
        """Probability of a disc."""
        return float(self.chances[DISC])


@dataclass(frozen=True, slots=True, eq=False)
class Detections:
    """The rectified view, relative to white paper, and the detector's output for it.

    `objects` are the detections, the most certain first. `pieces` and `arms` are masks (h / STRIDE,
    w / STRIDE) of cells with pieces or discs, and with hands or arms. `answer` is the raw output.
    `seen` is the image (h, w, 3) that later ones are compared with; part of it may be older than
    the view. `fresh` (h, w) is the part that is not. `changed` (h, w) is the difference from the
    empty table, and `shaded` (h, w) the part of it that may be a shadow; None without an image of
    the empty table.
    """

    view: FlatView
    objects: tuple[Detection, ...]
    pieces: NDArray[np.bool_]
    arms: NDArray[np.bool_]
    answer: Answer
    seen: Image
    fresh: NDArray[np.bool_]
    changed: NDArray[np.bool_] | None = None
    shaded: NDArray[np.bool_] | None = None

    def places_mm(self, cells: Array) -> Array:
        """Table points (n, 2) of cells (n, 2) as (column, row)."""
        return self.view.millimetres((cells + 0.5) * STRIDE - 0.5)

    def polygon(self, outline_mm: Array) -> NDArray[np.int32]:
        """A polygon (n, 2) in OpenCV's fixed-point cells with SUB_BITS."""
        cells = (self.view.pixels(outline_mm) + 0.5) / STRIDE - 0.5
        return np.rint(cells * (1 << SUB_BITS)).astype(np.int32)[:, None]

    def covered_share(self, outline_mm: Array) -> float:
        """Share of a polygon (n, 2) that the piece mask covers."""
        inside = np.zeros(self.pieces.shape, np.uint8)
        cv2.fillPoly(inside, [self.polygon(outline_mm)], 1, shift=SUB_BITS)
        return float(self.pieces[inside > 0].mean()) if inside.any() else 0.0


def encode_light(code: Image, paper: Array) -> Image:
    """Encode light relative to white paper (3,), (h, w, 3): removes exposure and white balance."""
    light = linear(np.arange(256, dtype=np.uint8)[:, None]) / (BRIGHTEST * paper)
    table = np.rint(255 * np.clip(light, 0, 1) ** (1 / 2.2)).astype(np.uint8)
    return np.asarray(cv2.LUT(code, table[None]), np.uint8)


def light_of(code: Image) -> Array:
    """Linear light relative to white paper, decoded from an image made by `encode_light`."""
    return np.asarray(cv2.LUT(code, BRIGHTEST * (np.arange(256) / 255.0) ** 2.2))


def view_of(photo: Photo) -> FlatView:
    """The rectified view of the play area and its margin, relative to the fiducials' paper."""
    view = photo.flat(min(size.base_mm for size in photo.setup.sizes) / STEPS_A_BASE)
    return replace(view, code=encode_light(view.code, photo.paper))


def search(
    view: FlatView, colours: tuple[str, ...], before: Detections | None = None
) -> Detections:
    """Run the detector on a view; `colours` are those that pieces may have.

    `before` is its result for a view of the same place: only changed parts are processed. If
    nothing has changed at all, everything is processed once more, because the image has different
    noise.
    """
    around = np.ones((FRESH_AROUND_PX, FRESH_AROUND_PX), np.uint8)
    windows = None
    if before is not None:
        fresh = cv2.dilate(changed_mask(view.code, before.seen).astype(np.uint8), around) > 0
        windows = _windows(fresh)
    if before is None or windows is None:
        fresh = np.ones(view.code.shape[:2], bool)
        seen, answer = view.code, _run(view.code)
    elif not windows:
        seen, answer = before.seen, _run(view.code)
    else:
        seen, answer = np.where(fresh[..., None], view.code, before.seen), before.answer.copy()
        for window in windows:
            _renew(answer, view.code, window)
    found = _merge_duplicates(
        [_detection_at(answer, row, column, view, colours) for row, column in _peaks(answer[:4])]
    )
    return Detections(
        view,
        tuple(found),
        answer[MASK.start] > 0,
        answer[MASK.start + 1] > 0,
        answer,
        seen,
        np.asarray(fresh, bool),
    )


def _windows(fresh: NDArray[np.bool_]) -> list[Window] | None:
    """Windows, rows and columns of cells, whose output must be recomputed; None if nearly all."""
    h, w = fresh.shape
    cells = (
        cv2.resize(
            fresh.astype(np.float32),
            (-(-w // STRIDE), -(-h // STRIDE)),
            interpolation=cv2.INTER_AREA,
        )
        > 0
    )
    near = cv2.dilate(
        cells.astype(np.uint8), np.ones((2 * REACH_CELLS + 1, 2 * REACH_CELLS + 1), np.uint8)
    )
    count, _, boxes, _ = cv2.connectedComponentsWithStats(near)
    boxes = boxes[1:count]
    windows = [(slice(y, y + h), slice(x, x + w)) for x, y, w, h, _ in boxes]
    looked_at = sum(
        math.prod(side.stop - side.start for side in _with_surroundings(window, near.shape))
        for window in windows
    )
    return windows if looked_at < MOST_FRESH * near.size else None


def _with_surroundings(window: Window, shape: tuple[int, ...]) -> Window:
    """A window of cells (rows, columns) with its context, aligned to the network's own cells."""
    whole = WHOLE // STRIDE
    rows, columns = (
        slice(max(0, side.start - REACH_CELLS) // whole * whole, min(size, side.stop + REACH_CELLS))
        for side, size in zip(window, shape, strict=True)
    )
    return rows, columns


def _renew(answer: Answer, code: Image, window: Window) -> None:
    """Recompute a window of the output, from the window and its context."""
    rows, columns = _with_surroundings(window, answer.shape[1:])
    part = _run(
        code[
            rows.start * STRIDE : rows.stop * STRIDE, columns.start * STRIDE : columns.stop * STRIDE
        ]
    )
    inside = tuple(
        slice(side.start - shown.start, side.stop - shown.start)
        for side, shown in zip(window, (rows, columns), strict=True)
    )
    answer[:, *window] = part[:, *inside]


def _run(code: Image) -> Answer:
    """The network's output (CHANNELS, h / STRIDE, w / STRIDE) for an image (h, w, 3).

    The first channels are converted from logits to probabilities and filtered by HILL.
    """
    h, w = code.shape[:2]
    whole = np.asarray(
        cv2.copyMakeBorder(code, 0, -h % WHOLE, 0, -w % WHOLE, cv2.BORDER_REPLICATE), np.uint8
    )
    answer: Answer = run_network("detector", as_pictures(whole[None]))[0]
    for k in range(DISC + 1):
        answer[k] = cv2.filter2D(
            1 / (1 + np.exp(-answer[k])), cv2.CV_32F, HILL, borderType=cv2.BORDER_CONSTANT
        )
    return answer[:, : -(-h // STRIDE), : -(-w // STRIDE)]


def _peaks(chances: Answer) -> list[tuple[int, int]]:
    """Cells (row, column) that are local maxima, the most certain first."""
    best = np.maximum(chances[:DISC].sum(axis=0), chances[DISC])
    around = np.asarray(cv2.dilate(best, np.ones((3, 3), np.uint8)))
    rows, columns = np.nonzero((best >= around) & (best > LEAST_CHANCE))
    order = np.argsort(-best[rows, columns])
    return [(int(rows[k]), int(columns[k])) for k in order]


def _merge_duplicates(found: list[Detection]) -> list[Detection]:
    """Detections without duplicates.

    If the middle is ambiguous, the network detects one piece in several cells, each with a share of
    the probability.
    """
    left, merged = list(found), []
    while left:
        first = left[0]
        own = [
            one
            for one in left
            if np.hypot(*(one.middle_mm - first.middle_mm))
            < SAME_BASES * min(one.base_mm, first.base_mm)
        ]
        left = [one for one in left if one not in own]
        merged.append(_mean(own))
    return sorted(merged, key=lambda one: -max(one.chance, one.disc_chance))


def _mean(found: list[Detection]) -> Detection:
    """Combine several detections of one object."""
    weight = np.array([one.chances.max() for one in found])
    weight /= weight.sum()
    turns = np.exp(4j * np.radians([one.turn_deg for one in found]))
    return Detection(
        np.minimum(np.sum([one.chances for one in found], axis=0), 1.0),
        weight @ np.array([one.middle_mm for one in found]),
        weight @ np.array([one.axis_mm for one in found]),
        float(np.degrees(np.angle(weight @ turns)) / 4 % 90),
        float(np.exp(weight @ np.log([one.base_mm for one in found]))),
        weight @ np.array([one.colours for one in found]),
    )


def _detection_at(
    answer: Answer, row: int, column: int, view: FlatView, colours: tuple[str, ...]
) -> Detection:
    here = answer[:, row, column].astype(float)
    pixel = (np.array([column, row]) + here[OFFSET] + 0.5) * STRIDE - 0.5
    base_px = STEPS_A_BASE * view.step_mm
    cosine, sine = here[TURN]
    logits = here[COLOUR][[COLOURS.index(name) for name in colours]]
    weights = np.exp(logits - logits.max())
    return Detection(
        here[:4],
        view.millimetres(pixel[None])[0],
        here[AXIS] * base_px * [1, -1],
        float(np.degrees(np.arctan2(-sine, cosine)) / 4 % 90),
        float(np.exp(here[SIZE][0]) * base_px),
        weights / weights.sum(),
    )
