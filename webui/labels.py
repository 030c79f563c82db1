"""Where the words beside the pieces go, so that they cover neither a piece nor each other.  SVG axes, mm."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from table.solids import Array
from webui.measured import shown_mm
from webui.palette import letter

CHARACTER = 0.66
"""Width of a character of the widest of the usual typefaces, in heights of the text."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True, slots=True)
class Label:
    """A box centred on (x, y): the colour's letter, then a length where one was measured."""

    x: float
    y: float
    width_mm: float
    height_mm: float
    colour: str
    letter: str
    text: str
    place: int
    target: bool


def place_labels(
    pieces: Sequence[Mapping[str, Any]],
    measured: Mapping[int, Mapping[str, Any]],
    target: str | None,
    text_mm: float,
    view_box: tuple[float, float, float, float],
) -> tuple[Label, ...]:
    """A label for every piece inside the view box; `measured` are ranking rows by index of their piece.

    Nearest pieces choose first; each takes the place about itself that covers least of pieces, labels and gap lines.
    """
    x, y, width, height = view_box
    frame = (x, y, x + width, y + height)
    solids = [_bounds(piece["vertices_mm"]) for piece in pieces]
    lines = [_samples(row["points_mm"]) for row in measured.values() if row["points_mm"]]
    taken: list[Box] = []
    labels: list[Label] = []
    for index in sorted(range(len(pieces)), key=lambda i: measured[i]["place"] if i in measured else len(pieces)):
        colour, row, own = pieces[index]["colour"], measured.get(index), solids[index]
        if not (frame[0] < own[0] and own[2] < frame[2] and frame[1] < own[1] and own[3] < frame[3]):
            continue
        text = "target" if colour == target else _words(row) if row else ""
        size = (text_mm * (1.6 + (CHARACTER * len(text) + 0.5 if text else 0.0)), 1.6 * text_mm)
        box = _cheapest(size, own, solids, taken, lines, frame)
        taken.append(box)
        middle = (round((box[0] + box[2]) / 2, 2), round((box[1] + box[3]) / 2, 2))
        place = row["place"] if row else 0
        labels.append(Label(*middle, round(size[0], 2), round(size[1], 2), colour, letter(colour), text, place, colour == target))
    return tuple(labels)


def _words(row: Mapping[str, Any]) -> str:
    if row["on_target"] or row["touching"]:
        return "on it" if row["on_target"] else "touching"
    return shown_mm(row["gap_mm"], row["sigma_mm"])


def _cheapest(size: tuple[float, float], own: Box, solids: Sequence[Box], taken: Sequence[Box], lines: Sequence[Array], frame: Box) -> Box:
    """The best of 16 directions on four rings about the piece's own bounds."""
    width, height = size
    area = width * height
    best, least = own, math.inf
    for ring in range(4):
        clear = (0.3 + 0.8 * ring) * height
        for step in range(16):
            angle = math.tau * step / 16
            dx = math.cos(angle) * ((own[2] - own[0]) / 2 + width / 2 + clear)
            dy = math.sin(angle) * ((own[3] - own[1]) / 2 + height / 2 + clear)
            left, top = (own[0] + own[2]) / 2 + dx - width / 2, (own[1] + own[3]) / 2 + dy - height / 2
            box = (left, top, left + width, top + height)
            covered = 3.0 * sum(_overlap(box, solid) for solid in solids) + 4.0 * sum(_overlap(box, other) for other in taken)
            crossed = 0.5 * area * sum(_crossed(box, line) for line in lines)
            outside = 6.0 * (area - _overlap(box, frame))
            cost = covered + crossed + outside + 0.1 * area * clear / height
            if cost < least:
                best, least = box, cost
    return best


def _samples(points_mm: Any) -> Array:
    ends = np.array(points_mm, float)[:, :2] * (1, -1)
    line: Array = np.linspace(ends[0], ends[1], 40)
    return line


def _crossed(box: Box, line: Array) -> float:
    """1 where a box covers a quarter or more of a gap line, less where it only nicks it."""
    inside = (line[:, 0] > box[0]) & (line[:, 0] < box[2]) & (line[:, 1] > box[1]) & (line[:, 1] < box[3])
    return min(1.0, 4.0 * float(inside.mean()))


def _overlap(a: Box, b: Box) -> float:
    """Common area, mm2."""
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


def _bounds(vertices_mm: Any) -> Box:
    x, y = np.array(vertices_mm, float)[:, 0], -np.array(vertices_mm, float)[:, 1]
    return float(x.min()), float(y.min()), float(x.max()), float(y.max())
