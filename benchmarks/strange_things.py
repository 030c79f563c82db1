"""Things that are no pieces, drawn into photographs whose camera and table are known exactly.

Dice, cubes, coins, printed triangles, cards, pens, caps, sleeves and cloths, and lights and cameras
that falsify colours.  A thing is drawn where no piece, card or other thing lies or hides it, in the
light of the place: its colours are relative to the white paper of the corner cards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.bad_pictures import (
    Change,
    TakenPicture,
    add_shadows,
    defocus,
    motion_blur,
    recompress,
    set_exposure,
    smear_lens,
    with_light,
)
from table.solids import Array
from vision.assignment.colour import PALETTE
from vision.geometry.camera_model import project
from vision.geometry.srgb import Light, linear

UNUSED = ("green", "purple", "orange", "pink", "cyan", "yellow", "red", "blue")
"""Candidate colours for things of a foreign colour; the first unused one is taken."""
SUN = np.array([0.55, 0.35, 1.0]) / np.linalg.norm([0.55, 0.35, 1.0])
"""Direction to the light source of the things' faces."""
SHADOW = 0.55
"""Relative light in the shadow of a thing."""
TRIES = 400
"""Number of random places to try for a thing."""


@dataclass(frozen=True, slots=True)
class Body:
    """A flat-topped body: outline (n, 2) in mm about its middle, height, and paint."""

    outline_mm: Array
    height_mm: float
    light: tuple[float, float, float]
    """Relative to white paper."""
    marks: tuple[tuple[Array, tuple[float, float, float]], ...] = ()
    """Printed outlines (n, 2) in mm on the top, and their light relative to white paper."""

    def hull_mm(self, place: Array) -> Array:
        """Points (n, 3) of foot, top and shadow at a place (2,)."""
        foot = self.outline_mm + place
        shadow = foot - self.height_mm * SUN[:2] / SUN[2]
        low, high = np.zeros(len(foot)), np.full(len(foot), self.height_mm)
        return np.vstack(
            [np.column_stack([one, z]) for one, z in ((foot, low), (foot, high), (shadow, low))]
        )


@dataclass(frozen=True, slots=True)
class Table:
    """A photographed table, and the colours of its pieces."""

    taken: TakenPicture

    @property
    def own(self) -> str:
        """A colour of the table's pieces, preferably a bright one."""
        colours = self.taken.setup.game.colours
        return next((one for one in colours if one not in ("black", "white", "grey")), colours[0])

    @property
    def foreign(self) -> str:
        """A colour that no piece of the table has."""
        return next(one for one in UNUSED if one not in self.taken.setup.colours)


Painter = Callable[[Table, np.random.Generator], Sequence[Body]]
"""Makes the things of a kind for a table."""


def square(side_mm: float) -> Array:
    return side_mm / 2 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], float)


def disc(diameter_mm: float, corners: int = 40) -> Array:
    turn = 2 * np.pi * np.arange(corners) / corners
    return diameter_mm / 2 * np.column_stack([np.cos(turn), np.sin(turn)])


def triangle(base_mm: float, long_mm: float) -> Array:
    return np.array(
        [[-long_mm / 3, -base_mm / 2], [2 * long_mm / 3, 0], [-long_mm / 3, base_mm / 2]]
    )


def box(width_mm: float, depth_mm: float) -> Array:
    return square(1.0) * [width_mm, depth_mm]


PAPER, INK, STEEL, BRASS = (
    (0.9, 0.9, 0.88),
    (0.03, 0.03, 0.03),
    (0.45, 0.45, 0.46),
    (0.5, 0.36, 0.12),
)


def _pips(side_mm: float) -> tuple[tuple[Array, tuple[float, float, float]], ...]:
    apart = side_mm / 4
    places = ((-1, -1), (1, 1), (0, 0), (-1, 1), (1, -1))
    return tuple((disc(side_mm / 6, 16) + apart * np.array(place), INK) for place in places)


def _linear_rgb(colour: str) -> tuple[float, float, float]:
    return PALETTE[colour]


THINGS: dict[str, Painter] = {
    "dice": lambda _table, _rng: [Body(square(16), 16, PAPER, _pips(16))] * 3,
    "dice in a piece's colour": lambda table, _rng: (
        [Body(square(16), 16, _linear_rgb(table.own), tuple((m, PAPER) for m, _ in _pips(16)))] * 3
    ),
    "cubes in a piece's colour": lambda table, _rng: (
        [Body(square(20), 20, _linear_rgb(table.own))] * 3
    ),
    "small cubes in a piece's colour": lambda table, _rng: (
        [Body(square(10), 10, _linear_rgb(table.own))] * 4
    ),
    "cubes in another colour": lambda table, _rng: (
        [Body(square(20), 20, _linear_rgb(table.foreign))] * 3
    ),
    "wooden bricks": lambda _table, _rng: [Body(box(40, 15), 12, (0.45, 0.3, 0.15))] * 3,
    "coins": lambda _table, _rng: [
        Body(disc(24), 2, STEEL, ((disc(16), BRASS),)),
        Body(disc(21), 2, BRASS),
        Body(disc(19), 2, (0.35, 0.16, 0.08)),
    ],
    "caps in a piece's colour": lambda table, _rng: (
        [Body(disc(30), 12, _linear_rgb(table.own))] * 3
    ),
    "printed triangles in a piece's colour": lambda table, _rng: (
        [Body(triangle(25, 44), 0, _linear_rgb(table.own))] * 3
    ),
    "printed triangles in another colour": lambda table, _rng: (
        [Body(triangle(25, 44), 0, _linear_rgb(table.foreign))] * 3
    ),
    "printed squares in a piece's colour": lambda table, _rng: (
        [Body(square(25), 0, _linear_rgb(table.own))] * 3
    ),
    "black print": lambda _table, _rng: [
        Body(box(30, 6), 0, INK),
        Body(triangle(20, 30), 0, INK),
        Body(square(14), 0, INK),
    ],
    "cards": lambda table, _rng: [
        Body(box(57, 88), 0.3, PAPER, ((triangle(12, 14), _linear_rgb(table.own)),)),
        Body(box(57, 88), 0.3, (0.25, 0.05, 0.07), ((box(45, 76), (0.55, 0.3, 0.3)),)),
    ],
    "a pen": lambda table, _rng: [
        Body(box(130, 9), 8, _linear_rgb(table.own), ((box(20, 3), STEEL),)),
        Body(box(140, 8), 7, INK),
    ],
    "a phone": lambda _table, _rng: [Body(box(70, 145), 8, (0.02, 0.02, 0.025))],
    "crumbs": lambda _table, rng: [
        Body(disc(float(rng.uniform(2, 6)), 7), 1, (0.4, 0.25, 0.1)) for _ in range(25)
    ],
    "slips of coloured paper": lambda table, _rng: [
        Body(box(45, 12), 0, _linear_rgb(table.own)),
        Body(box(30, 30), 0, _linear_rgb(table.foreign)),
    ],
}
"""Kinds of things."""


def lay_things(things: Painter, bodies_mm: Sequence[Array]) -> Change:
    """Lay things on visibly free places of the table."""

    def change(taken: TakenPicture, rng: np.random.Generator) -> TakenPicture:
        light = linear(taken.image)
        white, busy = paper_light(taken, light), _busy(bodies_mm, taken)
        for thing in things(Table(taken), rng):
            turned = replace_outline(thing, float(rng.uniform(0, 2 * np.pi)))
            place = _free_place(turned, busy, taken, rng)
            if place is not None:
                _draw(light, turned, place, white, taken)
                busy |= _hull(turned.hull_mm(place), taken)
        return with_light(taken, lambda _light: light)

    return change


def replace_outline(body: Body, radians: float) -> Body:
    """The body turned about its middle."""
    cos, sin = np.cos(radians), np.sin(radians)
    turn = np.array([[cos, sin], [-sin, cos]])
    marks = tuple((outline @ turn, light) for outline, light in body.marks)
    return replace(body, outline_mm=body.outline_mm @ turn, marks=marks)


def paper_light(taken: TakenPicture, light: Light) -> Array:
    """Linear light (3,) of the white of the corner cards."""
    whites = []
    for marker in taken.setup.fiducials.markers:
        mask = np.zeros(light.shape[:2], np.uint8)
        corners = np.rint(taken.corners_px(marker, 1.1)).astype(np.int32)
        cv2.fillConvexPoly(mask, corners, 1)
        if mask.any():
            whites.append(np.percentile(light[mask > 0], 85, axis=0))
    return np.median(whites, axis=0) if whites else np.ones(3)


def _free_place(
    body: Body, busy: NDArray[np.bool_], taken: TakenPicture, rng: np.random.Generator
) -> Array | None:
    """A random place (2,) where the body covers no `busy` pixel; None if none is found."""
    outline = taken.setup.outline_mm()
    low, high = outline.min(axis=0), outline.max(axis=0)
    for _ in range(TRIES):
        place = np.asarray(rng.uniform(low, high))
        if not (busy & _hull(body.hull_mm(place), taken)).any():
            return place
    return None


def _draw(light: Light, body: Body, place: Array, white: Array, taken: TakenPicture) -> None:
    """Draw a body at a place into linear light (h, w, 3): its shadow, sides, top and marks."""
    foot = body.outline_mm + place
    if body.height_mm > 1:
        thrown = foot - body.height_mm * SUN[:2] / SUN[2]
        both = cv2.convexHull(np.vstack([foot, thrown]).astype(np.float32))[:, 0]
        _paint(light, both, 0.0, None, taken)
    middle = foot.mean(axis=0)
    sides = [
        (a, b, (a + b) / 2)
        for a, b in zip(foot, np.roll(foot, -1, axis=0), strict=True)
        if body.height_mm > 0.5
    ]
    eye = taken.camera.eye_mm[:2]
    for a, b, there in sorted(sides, key=lambda side: -float(np.linalg.norm(side[2] - eye))):
        across = (there - middle) / max(float(np.linalg.norm(there - middle)), 1e-9)
        shade = 0.45 + 0.4 * max(float(across @ SUN[:2]), 0.0)
        wall = np.array([[*a, 0.0], [*b, 0.0], [*b, body.height_mm], [*a, body.height_mm]])
        _paint(light, wall, None, white * shade * body.light, taken)
    _paint(light, foot, body.height_mm, white * body.light, taken)
    for outline, mark in body.marks:
        _paint(light, outline + place, body.height_mm, white * mark, taken)


def _paint(
    light: Light, outline: Array, z_mm: float | None, colour: Array | None, taken: TakenPicture
) -> None:
    """Fill an outline, (n, 3) or (n, 2) at a height, with a colour; None draws a shadow."""
    points = outline if z_mm is None else np.column_stack([outline, np.full(len(outline), z_mm)])
    pixels = project(np.asarray(points, float), taken.camera, taken.setup.camera)
    if not np.isfinite(pixels).all() or np.abs(pixels).max() > 1e4:
        return
    mask = np.zeros(light.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.rint(16 * pixels).astype(np.int32), 255, cv2.LINE_AA, 4)
    soft = cv2.GaussianBlur(mask, (0, 0), 0.8 if colour is not None else 2.0)
    share = (soft.astype(np.float32) / 255)[..., None]
    target = light * SHADOW if colour is None else np.asarray(colour, np.float32)
    light[:] = light * (1 - share) + target * share


def cloth(dark: float, stripes_mm: float, bodies_mm: Sequence[Array]) -> Change:
    """Replace the ground between pieces and cards by a striped cloth."""

    def change(taken: TakenPicture, rng: np.random.Generator) -> TakenPicture:
        light, outline = linear(taken.image), taken.setup.outline_mm()
        turn, middle = float(rng.uniform(0, np.pi)), outline.mean(axis=0)
        along, across = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        reach = float(np.ptp(outline, axis=0).max())
        stripes = np.zeros(light.shape[:2], np.uint8)
        for away in np.arange(-reach, reach, 2 * stripes_mm):
            ends = [
                (-reach, away),
                (reach, away),
                (reach, away + stripes_mm),
                (-reach, away + stripes_mm),
            ]
            corners = [[*(middle + u * along + v * across), 0.0] for u, v in ends]
            pixels = project(np.array(corners), taken.camera, taken.setup.camera)
            cv2.fillConvexPoly(stripes, np.rint(pixels).astype(np.int32), 255)
        stripes[_busy(bodies_mm, taken)] = 0
        share = (cv2.GaussianBlur(stripes, (0, 0), 1.0).astype(np.float32) / 255)[..., None]
        return with_light(taken, lambda _light: light * (1 - share * (1 - dark)))

    return change


def _busy(bodies_mm: Sequence[Array], taken: TakenPicture) -> NDArray[np.bool_]:
    """Pixels (h, w) of bodies, (n, 3) each, and of the corner cards."""
    cards = [
        np.column_stack([marker.around_mm(1.5), np.zeros(4)])
        for marker in taken.setup.fiducials.markers
    ]
    busy = np.zeros(taken.image.shape[:2], bool)
    for body in (*bodies_mm, *cards):
        busy |= _hull(body, taken)
    return busy


def _hull(points_mm: Array, taken: TakenPicture) -> NDArray[np.bool_]:
    """Pixels (h, w) of the convex hull of points (n, 3), slightly dilated."""
    mask = np.zeros(taken.image.shape[:2], np.uint8)
    pixels = project(points_mm, taken.camera, taken.setup.camera)
    hull = cv2.convexHull(pixels.astype(np.float32))[:, 0]
    middle = hull.mean(axis=0)
    away = hull - middle
    wider = middle + away * (1 + 5 / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-6))
    cv2.fillConvexPoly(mask, np.rint(wider).astype(np.int32), 1)
    return np.asarray(mask > 0)


def mix_channels(share: float) -> Change:
    """A camera without an infrared filter: `share` of the light is equal in all channels."""

    def change(taken: TakenPicture, _: np.random.Generator) -> TakenPicture:
        def mix(light: Light) -> Light:
            infrared = light.max(axis=2, keepdims=True) * 0.9
            return np.asarray((1 - share) * light + share * infrared, np.float32)

        return with_light(taken, mix)

    return change


def tint(red: float, green: float, blue: float) -> Change:
    """A coloured light, or a wrong white balance."""

    def change(taken: TakenPicture, _: np.random.Generator) -> TakenPicture:
        factors = np.array([red, green, blue], np.float32)
        return with_light(taken, lambda light: np.asarray(light * factors, np.float32))

    return change


def veil(share: float) -> Change:
    """Stray light: add `share` of white to the whole picture."""

    def change(taken: TakenPicture, _: np.random.Generator) -> TakenPicture:
        return with_light(
            taken, lambda light: np.asarray((1 - share) * light + share * 0.6, np.float32)
        )

    return change


def add_highlights(spots: int) -> Change:
    """Reflections of lamps: bright spots at random places on the table."""

    def change(taken: TakenPicture, rng: np.random.Generator) -> TakenPicture:
        outline = taken.setup.outline_mm()
        places = rng.uniform(outline.min(axis=0), outline.max(axis=0), (spots, 2))
        centres = project(
            np.column_stack([places, np.zeros(spots)]), taken.camera, taken.setup.camera
        )
        height, width = taken.image.shape[:2]
        v, u = np.mgrid[:height, :width].astype(np.float32)
        shine = sum(
            np.exp(-((u - x) ** 2 + (v - y) ** 2) / (2 * (width * rng.uniform(0.01, 0.04)) ** 2))
            for x, y in centres
        )
        return with_light(
            taken, lambda light: np.asarray(light + 1.2 * np.asarray(shine)[..., None], np.float32)
        )

    return change


def sleeve(bodies_mm: Sequence[Array]) -> Change:
    """An arm in a sleeve of a piece's colour reaches over the near edge, beside all pieces."""

    def change(taken: TakenPicture, rng: np.random.Generator) -> TakenPicture:
        light, busy = linear(taken.image), _busy(bodies_mm, taken)
        arm = Body(box(260, 70), 40, _linear_rgb(Table(taken).own), ((box(12, 70), INK),))
        outline = taken.setup.outline_mm()
        low, high = outline.min(axis=0), outline.max(axis=0)
        for _ in range(TRIES):
            place = np.array([rng.uniform(low[0], high[0]), low[1] - 60.0])
            turned = replace_outline(arm, float(np.pi / 2 + rng.uniform(-0.4, 0.4)))
            if not (busy & _hull(turned.hull_mm(place), taken)).any():
                _draw(light, turned, place, paper_light(taken, light), taken)
                break
        return with_light(taken, lambda _light: light)

    return change


STRESSES: dict[str, Callable[[Sequence[Array]], Change]] = {
    **{name: partial(lay_things, painter) for name, painter in THINGS.items()},
    "a sleeve in a piece's colour": sleeve,
    "a striped cloth": partial(cloth, 0.55, 12.0),
    "a cloth with broad stripes": partial(cloth, 0.7, 45.0),
    "bars of hard shadow": lambda _: add_shadows(6),
    "lamps mirrored in the table": lambda _: add_highlights(3),
    "a smeared lens": lambda _: smear_lens(0.6),
    "stray light": lambda _: veil(0.3),
    "half of an infrared filter": lambda _: mix_channels(0.5),
    "no infrared filter": lambda _: mix_channels(0.85),
    "no colours": lambda _: mix_channels(1.0),
    "warm bulbs": lambda _: tint(1.1, 0.8, 0.45),
    "blue light": lambda _: tint(0.6, 0.85, 1.1),
    "too bright, glowing": lambda _: set_exposure(2.5, 0.15),
    "very dark": lambda _: set_exposure(0.12),
    "moved by 4 px": lambda _: motion_blur(4),
    "out of focus by 3 px": lambda _: defocus(3),
    "JPEG quality 25": lambda _: recompress(25),
}
"""Changes by name; each gets the bodies (n, 3) in mm on the table."""
