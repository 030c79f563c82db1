"""Six-sided dice: cubes with rounded edges, pips on every face, that lie flat or are cocked."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from simulation.render.rays import Grid
from simulation.render.scene import Print, Rgb, SceneDie, Stage
from simulation.render.shadows import Colours
from simulation.render.textures import GLYPHS, Sheet, sample
from table.solids import Array

PIPS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0),),
    2: ((-1, 1), (1, -1)),
    3: ((-1, 1), (0, 0), (1, -1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}
"""Places of a face's pips, in steps of their spread."""
ROUND_SHARE, CUT_SHARE = 0.09, 0.07
"""Width of the rounded edges, and size of the cut corners, as shares of the edge."""
OUT_OF = {1: (2, 1), 6: (2, -1), 2: (0, 1), 5: (0, -1), 3: (1, 1), 4: (1, -1)}
"""Column of `SceneDie.rotation` that points out of a face, and its sign."""
SHINE_POWER = 40.0
SKY_SHARE = 0.6
"""Share of the ambient light that reaches a vertical face."""
WORDS = {1: "a", 2: "2", 3: "3", 4: "4", 5: "5", 6: "n"}
TEXELS = 96


def die_at(
    top: int,
    place_mm: tuple[float, float],
    turn_deg: float,
    edge_mm: float,
    z_mm: float,
    tilt_deg: float = 0.0,
    tilt_way_deg: float = 0.0,
) -> tuple[Array, Array]:
    """Middle (3,) and rotation (3, 3) of a die that touches the plane z with `top` up.

    It is turned by `turn_deg`, then tilted by `tilt_deg` towards `tilt_way_deg`.
    """
    up, sign = OUT_OF[top]
    on_end = np.zeros((3, 3))
    on_end[:, up] = (0.0, 0.0, sign)
    on_end[:, (up + 1) % 3] = (1.0, 0.0, 0.0)
    on_end[:, (up + 2) % 3] = np.cross(on_end[:, up], on_end[:, (up + 1) % 3])
    way = math.radians(tilt_way_deg)
    axis = np.array([-math.sin(way), math.cos(way), 0.0])
    rotation = _turned(axis, tilt_deg) @ _turned(np.array([0.0, 0.0, 1.0]), turn_deg) @ on_end
    reach = edge_mm / 2 * np.abs(rotation[2]).sum()
    return np.array([*place_mm, z_mm + reach]), rotation


def _turned(axis: Array, angle_deg: float) -> Array:
    """Rotation (3, 3) about a unit axis (Rodrigues)."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = math.radians(angle_deg)
    return np.asarray(np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross)


def draw_die(out: Colours, die: SceneDie, stage: Stage, grid: Grid) -> None:
    """Paint a die over `out` (h, w, 3)."""
    box = grid.around(die.vertices_mm, 3.0)
    if box is None:
        return
    part = grid.crop(box)
    shown, total = np.zeros((*part.x.shape, 3), np.float32), np.full(part.x.shape, np.float32(1e-6))
    for value, (column, sign) in OUT_OF.items():
        out_mm = sign * die.rotation[:, column] * die.edge_mm / 2
        if out_mm @ (part.camera.eye_mm - die.middle_mm - out_mm) > 0:
            axes = np.column_stack(
                [
                    die.rotation[:, (column + 1) % 3],
                    sign * die.rotation[:, (column + 2) % 3],
                    sign * die.rotation[:, column],
                ]
            )
            corners = (
                die.middle_mm
                + out_mm
                + die.edge_mm / 2 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) @ axes[:, :2].T
            )
            share = part.coverage(part.to_camera(corners))
            shown += share[..., None] * _face(die, value, axes, stage, part)
            total += share
    cover = part.silhouette(part.to_camera(_cut_corners(die)))
    out[box] += cover[..., None] * (shown / total[..., None] - out[box])


def _cut_corners(die: SceneDie) -> Array:
    """Vertices (24, 3) of a die with cut corners."""
    less = 1 - 2 * CUT_SHARE
    places = [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    cut = np.array(
        [np.where(np.arange(3) == axis, less, 1.0) * place for place in places for axis in range(3)]
    )
    return np.asarray(die.middle_mm + die.edge_mm / 2 * cut @ die.rotation.T)


def _face(die: SceneDie, value: int, axes: Array, stage: Stage, part: Grid) -> Colours:
    """Light (h, w, 3) from the plane of a face.

    The columns of `axes` (3, 3) are its right, up and outward directions.
    """
    half = die.edge_mm / 2
    middle = die.middle_mm + half * axes[:, 2]
    right, up, outward = (part.camera.rotation @ axes).T
    start = part.to_camera(middle[None])[0]
    rays = np.stack([part.x, part.y, np.ones_like(part.x)], axis=-1)
    falls = rays @ outward.astype(np.float32)
    reach = np.float32(start @ outward) / np.where(np.abs(falls) < 1e-4, np.float32(1e-4), falls)
    away = rays * reach[..., None] - start.astype(np.float32)
    u, v = away @ right.astype(np.float32), away @ up.astype(np.float32)
    bend = [
        np.clip((np.abs(side) - half * (1 - 2 * ROUND_SHARE)) / (2 * half * ROUND_SHARE), 0, 1)
        * np.sign(side)
        for side in (u, v)
    ]
    normal = np.stack([*bend, np.ones_like(u)], axis=-1) @ axes.T.astype(np.float32)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    face = sample(
        _face_print(
            value, die.edge_mm, die.rgb, die.ink, die.pip_share, die.spread_share, die.worded
        ),
        (u, v),
    )
    light = np.float32(stage.ambient) * (SKY_SHARE + (1 - SKY_SHARE) * normal[..., 2:])
    shine = np.zeros_like(face)
    to_eye = _unit(part.camera.eye_mm - middle)
    for lamp in stage.lamps:
        to_lamp = np.asarray(lamp.at_mm) - middle
        strength = (
            lamp.power * (lamp.at_mm[2] / np.linalg.norm(to_lamp)) ** 2 * np.asarray(lamp.rgb)
        ).astype(np.float32)
        light = (
            light
            + np.clip(normal @ _unit(to_lamp).astype(np.float32), 0, None)[..., None] * strength
        )
        mirror = np.clip(
            normal @ _unit(_unit(to_lamp) + to_eye).astype(np.float32), 0, None
        ) ** np.float32(SHINE_POWER)
        shine += np.float32(die.gloss) * mirror[..., None] * strength
    return np.asarray(face * light + shine, np.float32)


def _unit(vector: Array) -> Array:
    return np.asarray(vector / np.linalg.norm(vector))


@lru_cache(maxsize=64)
def _face_print(
    value: int,
    edge_mm: float,
    rgb: Rgb,
    ink: Rgb,
    pip_share: float,
    spread_share: float,
    worded: bool,
) -> Print:
    sheet = Sheet(edge_mm, edge_mm, rgb, edge_mm / TEXELS)
    if worded:
        assert WORDS[value] in GLYPHS
        sheet.glyph(WORDS[value], (0.0, 0.0), 0.55 * edge_mm, 0.1 * edge_mm, ink)
        return sheet.print()
    for x, y in PIPS[value]:
        sheet.disc(
            (x * spread_share * edge_mm, y * spread_share * edge_mm), pip_share * edge_mm, ink
        )
    return sheet.print()
