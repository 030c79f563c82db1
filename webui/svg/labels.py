"""Place labels beside the pieces so that they cover neither a piece nor each other.

SVG axes, mm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from referee.presentation.session_view import Ranked
from table.measured_text import shown_mm
from table.messages import Message, Number, phrase
from table.observation_document import Piece
from table.solids import Array
from webui.svg.palette import letter

CHARACTER = 0.66
"""Character width of the widest common typeface, as a fraction of the text height."""


@dataclass(frozen=True, slots=True)
class Label:
    """A box centred on (x, y): the colour's letter, then a text.

    The text is the measured length, else the piece's name. `leader` is the line from the piece to
    the box, x1, y1, x2, y2.
    """

    x: float
    y: float
    width_mm: float
    height_mm: float
    colour: str
    letter: str
    text: str
    place: int
    target: bool
    leader: tuple[float, float, float, float]


def place_labels(
    pieces: Sequence[Piece],
    measured: Mapping[int, Ranked],
    names: Mapping[int, str],
    target: str | None,
    text_mm: float,
    view_box: tuple[float, float, float, float],
) -> tuple[Label, ...]:
    """A label for every piece inside the view box.

    `measured` are ranking rows and `names` recorded names, both by piece index. Labels are placed
    greedily, nearest piece first, each where it covers the least of pieces, labels and gap lines.
    """
    x, y, width, height = view_box
    frame = np.array([x, y, x + width, y + height])
    solids = np.array([_bounds(piece.vertices_mm) for piece in pieces]).reshape(-1, 4)
    lines = np.array(
        [_samples(row.points_mm) for row in measured.values() if row.points_mm]
    ).reshape(-1, 40, 2)
    taken: list[Array] = []
    labels: list[Label] = []
    for index in sorted(
        range(len(pieces)), key=lambda i: measured[i].place if i in measured else len(pieces)
    ):
        colour, row, own = pieces[index].colour, measured.get(index), solids[index]
        if not ((frame[:2] < own[:2]).all() and (own[2:] < frame[2:]).all()):
            continue
        text = "target" if colour == target else _words(row) if row else names.get(index, "")
        size = (text_mm * (1.6 + (CHARACTER * len(text) + 0.5 if text else 0.0)), 1.6 * text_mm)
        box = _cheapest(size, own, solids, np.reshape(taken, (-1, 4)), lines, frame)
        taken.append(box)
        middle = (round(float(box[0] + box[2]) / 2, 2), round(float(box[1] + box[3]) / 2, 2))
        place = row.place if row else 0
        labels.append(
            Label(
                *middle,
                round(size[0], 2),
                round(size[1], 2),
                colour,
                letter(colour),
                text,
                place,
                colour == target,
                _leader(own, box),
            )
        )
    return tuple(labels)


def _leader(own: Array, box: Array) -> tuple[float, float, float, float]:
    """The line from the middle of a piece to the nearest point of its label's box."""
    middle = (own[:2] + own[2:]) / 2
    x1, y1, x2, y2 = (round(float(v), 2) for v in (*middle, *np.clip(middle, box[:2], box[2:])))
    return x1, y1, x2, y2


def _words(row: Ranked) -> Message:
    if row.on_target or row.touching:
        return phrase("on it") if row.on_target else phrase("touching")
    return Message(Number(shown_mm(row.gap_mm, row.sigma_mm)))


def _cheapest(
    size: tuple[float, float], own: Array, solids: Array, taken: Array, lines: Array, frame: Array
) -> Array:
    """The cheapest box (4,) out of 16 directions on four rings around the piece's bounds."""
    width, height = size
    ring, step = np.divmod(np.arange(64), 16)
    clear = (0.3 + 0.8 * ring) * height
    away = np.column_stack([np.cos(math.tau * step / 16), np.sin(math.tau * step / 16)])
    middle = (own[:2] + own[2:]) / 2 + away * (
        (own[2:] - own[:2]) / 2 + np.divide(size, 2) + clear[:, None]
    )
    boxes = np.hstack([middle - np.divide(size, 2), middle + np.divide(size, 2)])
    area = width * height
    covered = 3.0 * _overlap(boxes, solids).sum(axis=1) + 4.0 * _overlap(boxes, taken).sum(axis=1)
    crossed = 0.5 * area * _crossings(boxes, lines).sum(axis=1)
    outside = 6.0 * (area - _overlap(boxes, frame[None])[:, 0])
    best: Array = boxes[np.argmin(covered + crossed + outside + 0.1 * area * clear / height)]
    return best


def _samples(points_mm: Any) -> Array:
    ends = np.array(points_mm, float)[:, :2] * (1, -1)
    line: Array = np.linspace(ends[0], ends[1], 40)
    return line


def _crossings(boxes: Array, lines: Array) -> Array:
    """Coverage of lines (m, 40, 2) by boxes (n, 4), as (n, m).

    It is 1 if a box covers at least a quarter of a line, proportionally less below that.
    """
    low, high = boxes[:, None, None, :2], boxes[:, None, None, 2:]
    share: Array = ((lines > low) & (lines < high)).all(axis=3).mean(axis=2)
    return np.minimum(1.0, 4.0 * share)


def _overlap(boxes: Array, others: Array) -> Array:
    """Common areas of boxes (n, 4) and others (m, 4), (n, m) mm2."""
    low, high = (
        np.maximum(boxes[:, None, :2], others[None, :, :2]),
        np.minimum(boxes[:, None, 2:], others[None, :, 2:]),
    )
    areas: Array = np.maximum(0.0, high - low).prod(axis=2)
    return areas


def _bounds(vertices_mm: Any) -> Array:
    """Left, top, right, bottom of the top view, (4,)."""
    points = np.array(vertices_mm, float)[:, :2] * (1, -1)
    return np.concatenate([points.min(axis=0), points.max(axis=0)])
