"""SVG geometry of the bodies on a virtual table; units as in `webui.svg.board`."""

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
    """Top view of a body.

    `middle` is its handle, `fill` a CSS colour, `reach_mm` its radius about the middle.
    """

    body: VirtualBody
    outline: str
    faces: tuple[Face, ...]
    middle: tuple[float, float]
    fill: str
    reach_mm: float


def draw_body(body: VirtualBody) -> DrawnBody:
    """Top view of a body in its pose."""
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
    """The bodies off the table, one entry per kind with its count."""
    counts: dict[str, list[VirtualBody]] = {}
    for body in reserve:
        counts.setdefault(str(body.label), []).append(body)
    return [(draw_body(alike[0]), len(alike)) for alike in counts.values()]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """SVG points of the corner cards and the dice corner around the board.

    `dice_corner` is empty if there is none; `box` is a view box that contains all.
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
    """sRGB byte of linear reflectance 0..1."""
    light = min(max(light, 0.0), 1.0)
    value = 12.92 * light if light < 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055
    return round(255 * value)
