"""What lies on a virtual table, as geometry for SVG; units as in `webui.svg.board`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from table.solids import Solid, convex_hull
from table.table_config import Setup
from webui.interfaces import VirtualBody
from webui.svg.board import Face, draw_box, faces, flip, points


@dataclass(frozen=True, slots=True)
class DrawnBody:
    """A body from straight above.

    `middle` is where it is held, `fill` a CSS colour, `reach_mm` its radius about the middle.
    """

    body: VirtualBody
    outline: str
    faces: tuple[Face, ...]
    middle: tuple[float, float]
    fill: str
    reach_mm: float


def draw_body(body: VirtualBody) -> DrawnBody:
    """A body where it lies."""
    vertices = body.vertices_mm
    plan, middle = convex_hull(vertices[:, :2]), vertices[:, :2].mean(axis=0)
    return DrawnBody(
        body,
        points(Solid(vertices).plan_mm() if body.kind == "piece" else plan),
        faces(vertices) if body.kind == "piece" else (),
        flip(middle),
        "#" + "".join(f"{_byte(value):02x}" for value in body.rgb),
        round(float(((plan - middle) ** 2).sum(axis=1).max() ** 0.5), 1),
    )


def count_bodies(reserve: Iterable[VirtualBody]) -> list[tuple[DrawnBody, int]]:
    """The bodies beside the table, each sort once with its number."""
    counts: dict[str, list[VirtualBody]] = {}
    for body in reserve:
        counts.setdefault(str(body.label), []).append(body)
    return [(draw_body(alike[0]), len(alike)) for alike in counts.values()]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What lies about the board: SVG points of the corner cards and of the dice corner.

    `dice_corner` is empty where there is none; `box` is the view box with all of it.
    """

    box: tuple[float, float, float, float]
    cards: tuple[str, ...]
    dice_corner: str


def draw_surroundings(setup: Setup) -> Surroundings:
    """The surroundings of the board on a table."""
    corner = np.array(setup.dice_corner.outline_mm if setup.dice_corner else ()).reshape(-1, 2)
    cards = [np.array(marker.corners_mm) for marker in setup.fiducials.markers]
    return Surroundings(
        draw_box(np.vstack([setup.outline_mm(), *cards, corner])),
        tuple(points(card) for card in cards),
        points(corner) if len(corner) else "",
    )


def _byte(light: float) -> int:
    """The sRGB value of light that comes back, 0..1."""
    light = min(max(light, 0.0), 1.0)
    value = 12.92 * light if light < 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055
    return round(255 * value)
