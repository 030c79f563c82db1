"""Light of lamps and sky on horizontal surfaces, and shadows of pieces and arms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import cv2
import numpy as np
from numpy.typing import NDArray

from simulation.render.rays import Grid, Plane, fill_polygon
from simulation.render.scene import Lamp, Limb, Rgb, Stage
from table.solids import Array

Colours = NDArray[np.float32]

LAMP_POINTS = 20
_TURNS = 2.399963 * np.arange(LAMP_POINTS)
DISC = (
    np.column_stack([np.cos(_TURNS), np.sin(_TURNS)])
    * np.sqrt((np.arange(LAMP_POINTS) + 0.5) / LAMP_POINTS)[:, None]
)
"""Points spread evenly over a disc (Vogel's spiral), to represent a round lamp by many small ones.
"""
SKY = tuple((np.cos(turn), np.sin(turn), 1.1) for turn in 2 * np.pi * np.arange(7) / 7)
"""Directions that represent the ambient light."""
SKY_SOFT_MM = 9.0
TEXEL_MM, MOST_TEXELS = 0.4, 400
"""Size of a texel of a shadow, and largest number of texels on a side."""
GLINT_MM = 0.5


def irradiance(at: tuple[Plane, Plane], z_mm: float, stage: Stage) -> Colours:
    """Irradiance (h, w, 3) of horizontal places at height z.

    A lamp of power 1 straight above gives 1.
    """
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


def sheen(at: tuple[Plane, Plane], lamps: tuple[Lamp, ...], eye_mm: Array, z_mm: float) -> Plane:
    """A broad mirror image of the lamps on a horizontal surface, (h, w).

    It is 1 in the middle of the image of a lamp of power 1.
    """
    total = np.zeros(at[0].shape, np.float32)
    for lamp in lamps:
        height, drop = eye_mm[2] - z_mm, lamp.at_mm[2] - z_mm
        mirrored = (np.array(lamp.at_mm[:2]) * height + eye_mm[:2] * drop) / (height + drop)
        reach = np.float32(0.28 * drop)
        total += np.float32(lamp.power) * np.exp(
            -((at[0] - np.float32(mirrored[0])) ** 2 + (at[1] - np.float32(mirrored[1])) ** 2)
            / reach**2
        )
    return total


@dataclass(frozen=True, slots=True, eq=False)
class Shadow:
    """The light that a body takes from the plane z.

    `lost` (h, w, 3) is the share taken, on a grid of `texel_mm` with rows along y. The middle of
    its first texel is at `corner_mm` (2,).
    """

    lost: Colours
    corner_mm: Array
    texel_mm: float
    z_mm: float

    def reach_mm(self) -> Array:
        """Corners (4, 3) of a rectangle on its plane around the shadow."""
        x0, y0 = self.corner_mm
        x1, y1 = self.corner_mm + self.texel_mm * np.array(self.lost.shape[1::-1])
        return np.array([[x, y, self.z_mm] for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))])

    def cast(self, out: Colours, passes: Rgb, grid: Grid, grain: float = 0.0) -> None:
        """Darken `out` (h, w, 3) by the shadow.

        `passes` is the share of light that the body transmits. That light is uneven, as through
        plastic, and more so with the body's `grain`.
        """
        box = grid.around(self.reach_mm(), 4.0)
        if box is None:
            return
        x, y = grid.crop(box).on_plane(self.z_mm)
        scale, (x0, y0) = np.float32(1 / self.texel_mm), self.corner_mm.astype(np.float32)
        lost = np.asarray(
            cv2.remap(
                self.lost,
                (x - x0) * scale,
                (y - y0) * scale,
                cv2.INTER_LINEAR,
                borderMode=cv2.BORDER_CONSTANT,
            ),
            np.float32,
        )
        if any(passes):
            step = np.float32(1 / GLINT_MM)
            lost *= 1 - cv2.remap(
                _glints(grain), x * step, y * step, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP
            )[..., None] * np.array(passes, np.float32)
        out[box] *= 1 - lost


@lru_cache(maxsize=8)
def _glints(grain: float) -> Plane:
    """Unevenness of transmitted light on the table, mean 1, on a seamless tile."""
    noise = np.random.default_rng(4).standard_normal((256, 256), dtype=np.float32)
    smooth = cv2.GaussianBlur(np.tile(noise, (3, 3)), (0, 0), 1.3)[256:512, 256:512]
    uneven = np.exp(np.float32(0.35 + grain) * smooth / smooth.std())
    glints: Plane = (uneven / uneven.mean()).astype(np.float32)
    return glints


def shadow_of(vertices_mm: Array, stage: Stage, z_mm: float) -> Shadow:
    """The shadow of a convex body (n, 3) on the plane z."""
    middle, up = vertices_mm.mean(axis=0), np.array([0.0, 0.0, 1.0])
    sky = np.full(3, stage.ambient)
    lights = [lamp_light(lamp, middle, up) for lamp in stage.lamps]
    total = np.maximum(sky + sum(lights), 1e-6)
    rims = [
        np.asarray(lamp.at_mm) + lamp.radius_mm * np.column_stack([DISC, np.zeros(len(DISC))])
        for lamp in stage.lamps
    ]
    groups = [
        np.array([_project_from_lamp(vertices_mm, point, z_mm) for point in rim]) for rim in rims
    ]
    groups.append(
        np.array(
            [
                _project_from_lamp(vertices_mm, middle + 1e6 * np.array(direction), z_mm)
                for direction in SKY
            ]
        )
    )
    reach = np.concatenate([group.reshape(-1, 2) for group in groups])
    low, high = reach.min(axis=0) - SKY_SOFT_MM, reach.max(axis=0) + SKY_SOFT_MM
    texel = max(TEXEL_MM, float((high - low).max()) / MOST_TEXELS)
    width, depth = np.ceil((high - low) / texel).astype(int) + 1
    lost = np.zeros((depth, width, 3), np.float32)
    for group, light in zip(groups, [*lights, sky], strict=True):
        mask, share = np.zeros((depth, width), np.uint8), np.zeros((depth, width), np.float32)
        for places in ((group - low) / texel).astype(np.float32):
            mask[:] = 0
            fill_polygon(mask, np.asarray(cv2.convexHull(places), float).reshape(-1, 2))
            cv2.accumulate(mask, share)
        if light is sky:
            share = np.asarray(
                cv2.GaussianBlur(share, (0, 0), 0.3 * SKY_SOFT_MM / texel), np.float32
            )
        lost += share[..., None] * (light / total / 255 / len(group)).astype(np.float32)
    return Shadow(lost, low, texel, z_mm)


def cast_limb_shadow(
    out: Colours, limbs: tuple[Limb, ...], stage: Stage, grid: Grid, z_mm: float
) -> None:
    """Darken `out` (h, w, 3) in the limbs' shadows on the plane z."""
    up = np.array([0.0, 0.0, 1.0])
    place = np.array([*np.mean([limb.a_mm[:2] for limb in limbs], axis=0), z_mm])
    total = np.maximum(
        stage.ambient + sum(lamp_light(lamp, place, up) for lamp in stage.lamps), 1e-6
    )
    x, y = grid.on_plane(z_mm)
    for lamp in stage.lamps:
        clear = np.ones(out.shape[:2], np.float32)
        for limb in limbs:
            shade = _LimbShadow.of(limb, lamp, z_mm)
            box = grid.around(shade.corners_mm(), 2.0)
            if box is not None:
                clear[box] = np.minimum(clear[box], shade.clear(x[box], y[box]))
        shares = (lamp_light(lamp, place, up) / total).astype(np.float32)
        cv2.multiply(out, cv2.merge([1 - (1 - clear) * share for share in shares]), out)


def limb_shadow_mm(limb: Limb, stage: Stage, z_mm: float) -> Array:
    """Points (n, 3) on the plane z around all shadows of a limb."""
    return np.concatenate(
        [np.empty((0, 3)), *(_LimbShadow.of(limb, lamp, z_mm).corners_mm() for lamp in stage.lamps)]
    )


@dataclass(frozen=True, slots=True, eq=False)
class _LimbShadow:
    """Shadow of a limb under one lamp, mm.

    Its ends (2, 2), its radii there and the widths of its soft edges, (2,) each.
    """

    ends_mm: Array
    radii_mm: Array
    soft_mm: Array
    z_mm: float

    @classmethod
    def of(cls, limb: Limb, lamp: Lamp, z_mm: float) -> Self:
        ends, lamp_mm = np.array([limb.a_mm, limb.b_mm]), np.array(lamp.at_mm)
        rise = (lamp_mm[2] - z_mm) / np.maximum(lamp_mm[2] - ends[:, 2], 1.0)
        places = lamp_mm[:2] + (ends[:, :2] - lamp_mm[:2]) * rise[:, None]
        radii = np.array([limb.radius_a_mm, limb.radius_b_mm]) * rise
        return cls(places, radii, 4.0 + 2.0 * lamp.radius_mm * (rise - 1.0), z_mm)

    def corners_mm(self) -> Array:
        reach = (self.radii_mm + self.soft_mm)[:, None, None] * np.array(
            [[-1, -1], [-1, 1], [1, -1], [1, 1]]
        )
        places = (self.ends_mm[:, None] + reach).reshape(-1, 2)
        return np.column_stack([places, np.full(len(places), self.z_mm)])

    def clear(self, x: Plane, y: Plane) -> Plane:
        """Visible share 0..1 of the lamp at places on the plane."""
        (ax, ay), (bx, by) = self.ends_mm
        along, dx, dy = nearest_on_segment(x, y, (float(ax), float(ay)), (float(bx), float(by)))
        radius = np.float32(self.radii_mm[0]) + along * np.float32(
            self.radii_mm[1] - self.radii_mm[0]
        )
        soft = np.float32(self.soft_mm[0]) + along * np.float32(self.soft_mm[1] - self.soft_mm[0])
        clear: Plane = np.clip(np.float32(0.5) + (np.sqrt(dx * dx + dy * dy) - radius) / soft, 0, 1)
        return clear


def nearest_on_segment(
    x: Plane, y: Plane, a: tuple[float, float], b: tuple[float, float]
) -> tuple[Plane, Plane, Plane]:
    """Nearest point of the segment a-b to each place.

    Its position along the segment, 0 to 1, and the offset from it to the place in x and y.
    """
    along_x, along_y = np.float32(b[0] - a[0]), np.float32(b[1] - a[1])
    px, py = x - np.float32(a[0]), y - np.float32(a[1])
    share: Plane = np.clip(
        (px * along_x + py * along_y) / (along_x * along_x + along_y * along_y + np.float32(1e-12)),
        0,
        1,
    ).astype(np.float32)
    return share, px - share * along_x, py - share * along_y


def _project_from_lamp(vertices_mm: Array, lamp_mm: Array, z_mm: float) -> Array:
    """Projection of a body's vertices from a point light to the plane z, (n, 2)."""
    rise = (lamp_mm[2] - z_mm) / np.maximum(lamp_mm[2] - vertices_mm[:, 2], 1.0)
    thrown: Array = lamp_mm[:2] + (vertices_mm[:, :2] - lamp_mm[:2]) * rise[:, None]
    return thrown
