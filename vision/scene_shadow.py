"""Light of lamps and sky on horizontal surfaces, and what pieces and arms take away of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from table.solids import Array, convex_hull
from vision.scene import Lamp, Limb, Rgb, Stage
from vision.scene_grid import Grid, Plane

Colours = NDArray[np.float32]

DISC = np.column_stack([np.cos(2.399963 * np.arange(9)), np.sin(2.399963 * np.arange(9))]) * np.sqrt((np.arange(9) + 0.5) / 9)[:, None]
"""Nine points spread evenly over a disc (Vogel's spiral): a round lamp as nine small ones."""
SKY = tuple((np.cos(turn), np.sin(turn), 1.1) for turn in 2 * np.pi * np.arange(7) / 7)
"""Directions that stand for the light that comes from all around."""
SKY_SOFT_MM = 9.0


def irradiance(at: tuple[Plane, Plane], z_mm: float, stage: Stage) -> Colours:
    """Light (h, w, 3) that falls on horizontal places of height z, 1 being a lamp of power 1 right above."""
    total = np.full((*at[0].shape, 3), np.float32(stage.ambient))
    for lamp in stage.lamps:
        x, y, z = lamp.at_mm
        drop = np.float32(z - z_mm)
        squared = (at[0] - np.float32(x)) ** 2 + (at[1] - np.float32(y)) ** 2 + drop**2
        falls = np.float32(lamp.power) * (drop * drop / squared) ** 2
        total += falls[..., None] * np.array(lamp.rgb, np.float32)
    return total


def lamp_light(lamp: Lamp, place_mm: Array, normal: Array) -> Array:
    """Light (3,) of one lamp on a small face at (3,) with unit normal (3,)."""
    towards = np.asarray(lamp.at_mm) - place_mm
    distance = float(np.linalg.norm(towards))
    facing = max(0.0, float(normal @ towards) / distance)
    return lamp.power * facing * (lamp.at_mm[2] / distance) ** 2 * np.asarray(lamp.rgb)


def cast_shadow(out: Colours, vertices_mm: Array, passes: Rgb, stage: Stage, grid: Grid, z_mm: float) -> None:
    """Darken `out` (h, w, 3) on the plane z where the convex body (n, 3) stands in the light; `passes` comes through it."""
    middle = vertices_mm.mean(axis=0)
    up = np.array([0.0, 0.0, 1.0])
    sky = np.full(3, stage.ambient)
    lights = [lamp_light(lamp, middle, up) for lamp in stage.lamps]
    total = sky + sum(lights)
    sources: list[tuple[Array, Array, float]] = []
    for lamp, light in zip(stage.lamps, lights, strict=True):
        share = light / total / len(DISC)
        rim = lamp.radius_mm * np.column_stack([DISC, np.zeros(len(DISC))])
        sources += [(_thrown(vertices_mm, np.asarray(lamp.at_mm) + point, z_mm), share, 0.0) for point in rim]
    sources += [(_thrown(vertices_mm, middle + 1e6 * np.array(direction), z_mm), sky / total / len(SKY), SKY_SOFT_MM) for direction in SKY]
    reach = np.concatenate([outline for outline, _, _ in sources])
    box = grid.around(np.column_stack([reach, np.full(len(reach), z_mm)]), 4.0)
    if box is None:
        return
    part = grid.crop(box)
    x, y = part.on_plane(z_mm)
    mm_per_px = float(np.hypot(np.diff(x[:, :2]).mean(), np.diff(y[:, :2]).mean())) if x.shape[1] > 1 else 1.0
    lost = np.zeros((*x.shape, 3), np.float32)
    for outline, share, soft_mm in sources:
        lost += _inside(outline, x, y, max(soft_mm, mm_per_px))[..., None] * share.astype(np.float32)
    out[box] *= 1 - lost * (1 - np.array(passes, np.float32))


def cast_limb_shadow(out: Colours, limbs: tuple[Limb, ...], stage: Stage, grid: Grid, z_mm: float) -> None:
    """Darken `out`, light of the whole grid, where limbs keep the lamps off the plane z."""
    x, y = grid.on_plane(z_mm)
    up = np.array([0.0, 0.0, 1.0])
    for lamp in stage.lamps:
        clear = np.ones(x.shape, np.float32)
        for limb in limbs:
            ends = np.array([limb.a_mm, limb.b_mm])
            rise = (lamp.at_mm[2] - z_mm) / np.maximum(lamp.at_mm[2] - ends[:, 2], 1.0)
            (ax, ay), (bx, by) = np.asarray(lamp.at_mm)[:2] + (ends[:, :2] - np.asarray(lamp.at_mm)[:2]) * rise[:, None]
            radii = np.array([limb.radius_a_mm, limb.radius_b_mm]) * rise
            soft = 4.0 + 2.0 * lamp.radius_mm * (rise - 1.0)
            share, dx, dy = from_axis(x, y, (float(ax), float(ay)), (float(bx), float(by)))
            radius = np.float32(radii[0]) + share * np.float32(radii[1] - radii[0])
            blur = np.float32(soft[0]) + share * np.float32(soft[1] - soft[0])
            clear = np.minimum(clear, np.clip(0.5 + (np.hypot(dx, dy) - radius) / blur, 0, 1))
        place = np.array([float(np.median(x)), float(np.median(y)), z_mm])
        light = lamp_light(lamp, place, up)
        total = stage.ambient + sum(lamp_light(other, place, up) for other in stage.lamps)
        out *= 1 - (1 - clear)[..., None] * (light / total).astype(np.float32)


def from_axis(x: Plane, y: Plane, a: tuple[float, float], b: tuple[float, float]) -> tuple[Plane, Plane, Plane]:
    """How far along the segment a-b, 0 to 1, the nearest point to each place is, and the way from it in x and y."""
    along_x, along_y = np.float32(b[0] - a[0]), np.float32(b[1] - a[1])
    px, py = x - np.float32(a[0]), y - np.float32(a[1])
    share: Plane = np.clip((px * along_x + py * along_y) / (along_x * along_x + along_y * along_y + np.float32(1e-12)), 0, 1).astype(np.float32)
    return share, px - share * along_x, py - share * along_y


def _thrown(vertices_mm: Array, lamp_mm: Array, z_mm: float) -> Array:
    """Outline (n, 2) of the shadow of a convex body under one point of light."""
    rise = (lamp_mm[2] - z_mm) / np.maximum(lamp_mm[2] - vertices_mm[:, 2], 1.0)
    return convex_hull(lamp_mm[:2] + (vertices_mm[:, :2] - lamp_mm[:2]) * rise[:, None])


def _inside(outline: Array, x: Plane, y: Plane, soft_mm: float) -> Plane:
    """1 inside a counter-clockwise convex outline, 0 outside, over a border `soft_mm` wide."""
    share = np.ones(x.shape, np.float32)
    for (ax, ay), (bx, by) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        length = float(np.hypot(bx - ax, by - ay)) or 1.0
        nx, ny = np.float32(-(by - ay) / length / soft_mm), np.float32((bx - ax) / length / soft_mm)
        share *= np.clip(nx * (x - np.float32(ax)) + ny * (y - np.float32(ay)) + np.float32(0.5), 0, 1)
    return share
