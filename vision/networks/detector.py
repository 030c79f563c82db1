"""Finds pieces and counters in the flattened view with a small convolutional network.

The network (`data/finder.onnx`) was taught on pictures that this project draws, see `training`.  It
says where pieces are to about a millimetre, and how they stand; `vision.networks.keypoints` looks
closer and `vision.pose.edge_alignment` measures.
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
from vision.geometry.change_mask import laid_or_taken
from vision.geometry.rectified_view import SUB_BITS, FlatView, Photo
from vision.geometry.srgb import linear
from vision.networks.runtime import answers, as_pictures

STEPS_A_BASE = 16
"""Pixels of the view that is searched to the base of the smallest piece in play."""
STRIDE = 4
"""Pixels of the view to a cell of the network's answer."""
DISC, OFFSET, AXIS, TURN, SIZE, COLOUR = (
    3,
    slice(4, 6),
    slice(6, 8),
    slice(8, 10),
    slice(10, 11),
    slice(11, 11 + len(COLOURS)),
)
"""Channels of the answer: 0 to 3 the chance of a middle of each pose and of a disc; the way to it
in cells; from the middle of the base to the tip, in STEPS_A_BASE; cosine and sine of four times an
upright base's heading; logarithm of the base, or of the disc's diameter, in STEPS_A_BASE; logits of
the colours.
"""
MASK = slice(COLOUR.stop, COLOUR.stop + 2)
"""Logits of a piece or disc, and of an arm, being seen there."""
CHANNELS = MASK.stop
BRIGHTEST = 1.2
"""Light, relative to white paper, that is white for the network."""
WHOLE = 32
"""The network takes pictures whose sides are multiples of this."""
SAME_BASES = 0.5
"""Middles nearer than this, in bases, are one piece's."""
HILL_CELLS = 0.7
"""Standard deviation of the hill of chance that the network is taught to raise over each middle."""
LEAST_CHANCE = 0.15
"""Middles that are less likely than this are not told."""
FRESH_AROUND_PX = 9
"""Where something was laid down or taken away since the picture before it is looked at anew, and so
far around.
"""
REACH_CELLS = 14
"""A change moves the network's answer so far around it, and in a window it is given as much again;
its layers reach farther, by little.
"""
MOST_FRESH = 0.8
"""If windows, with what is around them, cover more than this share of the view, the whole of it is
looked at.
"""

_bell = np.exp(-(np.arange(-1, 2) ** 2) / (2 * HILL_CELLS**2))
HILL = (np.outer(_bell, _bell) / (np.outer(_bell, _bell) ** 2).sum()).astype(np.float32)
"""Fitted to the network's chances around a cell it gives the height of the hill there, 1 for a sure
middle.
"""

Answer = NDArray[np.float32]
Window = tuple[slice, slice]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Something at a place of the view.

    `chances` (4,) of upright, lying, leaning and disc, shared out between them; `middle_mm`,
    half-way between tip and middle of the base, and `axis_mm`, the way from base to tip, (2,) each,
    as cast down from the eye on to z = 0; `turn_deg`, the heading of an upright base, 0..90;
    `base_mm`, the width of the base, or the disc's diameter; `colours` (c,), chances of the
    table's.
    """

    chances: Array
    middle_mm: Array
    axis_mm: Array
    turn_deg: float
    base_mm: float
    colours: Array

    @property
    def chance(self) -> float:
        """That there is a piece."""
        return float(min(1.0, self.chances[:DISC].sum()))

    @property
    def is_disc(self) -> bool:
        return self.disc_chance > self.chance

    @property
    def disc_chance(self) -> float:
        """That there is a disc."""
        return float(self.chances[DISC])


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """The view that was searched, in light relative to white paper; what was found in it, the
    surest first; and masks (h / STRIDE, w / STRIDE) of its cells: where pieces or discs show, and
    where a hand or an arm does.

    `answer` is the network's, `seen` the picture (h, w, 3) that later ones are compared with, part
    of which may be older than the view, and `fresh` (h, w) where it is not.  `changed` (h, w) is
    where the view differs from the empty table, and `shaded` (h, w) where that may be a shadow;
    None if there is no picture of it.
    """

    view: FlatView
    found: tuple[Found, ...]
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
        """A polygon (n, 2) in cells, as OpenCV draws it with SUB_BITS."""
        cells = (self.view.pixels(outline_mm) + 0.5) / STRIDE - 0.5
        return np.rint(cells * (1 << SUB_BITS)).astype(np.int32)[:, None]

    def share_seen(self, outline_mm: Array) -> float:
        """Share of a polygon (n, 2) over which pieces show."""
        inside = np.zeros(self.pieces.shape, np.uint8)
        cv2.fillPoly(inside, [self.polygon(outline_mm)], 1, shift=SUB_BITS)
        return float(self.pieces[inside > 0].mean()) if inside.any() else 0.0


def relative(code: Image, paper: Array) -> Image:
    """Encoded light relative to white paper (3,), (h, w, 3): exposure and white balance are taken
    out.
    """
    light = linear(np.arange(256, dtype=np.uint8)[:, None]) / (BRIGHTEST * paper)
    table = np.rint(255 * np.clip(light, 0, 1) ** (1 / 2.2)).astype(np.uint8)
    return np.asarray(cv2.LUT(code, table[None]), np.uint8)


def light_of(code: Image) -> Array:
    """Linear light relative to white paper of a picture that `relative` made."""
    return np.asarray(cv2.LUT(code, BRIGHTEST * (np.arange(256) / 255.0) ** 2.2))


def view_of(photo: Photo) -> FlatView:
    """The table around the play area as it is searched, in light relative to the white paper of the
    fiducials.
    """
    view = photo.flat(min(size.base_mm for size in photo.setup.sizes) / STEPS_A_BASE)
    return replace(view, code=relative(view.code, photo.paper))


def search(view: FlatView, colours: tuple[str, ...], before: Sight | None = None) -> Sight:
    """All that the network sees in a view; `colours` are those that pieces may have.

    `before` is what it saw in a view of the same place: it looks only where something has changed
    since, or, where nothing has at all, at all once more, as another picture has other noise.
    """
    around = np.ones((FRESH_AROUND_PX, FRESH_AROUND_PX), np.uint8)
    windows = None
    if before is not None:
        fresh = cv2.dilate(laid_or_taken(view.code, before.seen).astype(np.uint8), around) > 0
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
    found = _merged(
        [_found(answer, row, column, view, colours) for row, column in _peaks(answer[:4])]
    )
    return Sight(
        view,
        tuple(found),
        answer[MASK.start] > 0,
        answer[MASK.start + 1] > 0,
        answer,
        seen,
        np.asarray(fresh, bool),
    )


def _windows(fresh: NDArray[np.bool_]) -> list[Window] | None:
    """Windows, rows and columns of cells, in which the answer has to be made anew; None where that
    is nearly everywhere.
    """
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
    """What is shown of cells (rows, columns) to the network for the answer in a window of them; it
    begins where the network's own cells do.
    """
    whole = WHOLE // STRIDE
    rows, columns = (
        slice(max(0, side.start - REACH_CELLS) // whole * whole, min(size, side.stop + REACH_CELLS))
        for side, size in zip(window, shape, strict=True)
    )
    return rows, columns


def _renew(answer: Answer, code: Image, window: Window) -> None:
    """Put the network's answer to a window, and to what is around it, into the answer's window."""
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
    """The network's answer (CHANNELS, h / STRIDE, w / STRIDE) to a picture (h, w, 3), chances as
    such.
    """
    h, w = code.shape[:2]
    whole = np.asarray(
        cv2.copyMakeBorder(code, 0, -h % WHOLE, 0, -w % WHOLE, cv2.BORDER_REPLICATE), np.uint8
    )
    answer: Answer = answers("finder", as_pictures(whole[None]))[0]
    for k in range(DISC + 1):
        answer[k] = cv2.filter2D(
            1 / (1 + np.exp(-answer[k])), cv2.CV_32F, HILL, borderType=cv2.BORDER_CONSTANT
        )
    return answer[:, : -(-h // STRIDE), : -(-w // STRIDE)]


def _peaks(chances: Answer) -> list[tuple[int, int]]:
    """Cells (row, column) that are the likeliest of their surroundings, the surest first."""
    best = np.maximum(chances[:DISC].sum(axis=0), chances[DISC])
    around = np.asarray(cv2.dilate(best, np.ones((3, 3), np.uint8)))
    rows, columns = np.nonzero((best >= around) & (best > LEAST_CHANCE))
    order = np.argsort(-best[rows, columns])
    return [(int(rows[k]), int(columns[k])) for k in order]


def _merged(found: list[Found]) -> list[Found]:
    """The same, each once: where the network wavers between cells it sees a piece in several, each
    with a share of the chance.
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


def _mean(found: list[Found]) -> Found:
    """What several sightings of one thing say together."""
    weight = np.array([one.chances.max() for one in found])
    weight /= weight.sum()
    turns = np.exp(4j * np.radians([one.turn_deg for one in found]))
    return Found(
        np.minimum(np.sum([one.chances for one in found], axis=0), 1.0),
        weight @ np.array([one.middle_mm for one in found]),
        weight @ np.array([one.axis_mm for one in found]),
        float(np.degrees(np.angle(weight @ turns)) / 4 % 90),
        float(np.exp(weight @ np.log([one.base_mm for one in found]))),
        weight @ np.array([one.colours for one in found]),
    )


def _found(
    answer: Answer, row: int, column: int, view: FlatView, colours: tuple[str, ...]
) -> Found:
    here = answer[:, row, column].astype(float)
    pixel = (np.array([column, row]) + here[OFFSET] + 0.5) * STRIDE - 0.5
    base_px = STEPS_A_BASE * view.step_mm
    cosine, sine = here[TURN]
    logits = here[COLOUR][[COLOURS.index(name) for name in colours]]
    weights = np.exp(logits - logits.max())
    return Found(
        here[:4],
        view.millimetres(pixel[None])[0],
        here[AXIS] * base_px * [1, -1],
        float(np.degrees(np.arctan2(-sine, cosine)) / 4 % 90),
        float(np.exp(here[SIZE][0]) * base_px),
        weights / weights.sum(),
    )
