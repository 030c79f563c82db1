"""Hands and arms over the table: round, tapered limbs with soft shading."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from simulation.render.rays import Grid, Plane
from simulation.render.scene import Limb, Stage
from simulation.render.shadows import lamp_light, nearest_on_segment
from table.observation import Camera
from table.solids import Array

Colours = NDArray[np.float32]


def limb_points(limb: Limb) -> Array:
    """Corners (16, 3) of boxes around both ends, which bound the limb's pixels."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return np.concatenate(
        [
            np.array(limb.a_mm) + limb.radius_a_mm * signs,
            np.array(limb.b_mm) + limb.radius_b_mm * signs,
        ]
    )


def occlusion_mask(
    limbs: Sequence[Limb], points_mm: Array, camera: Camera, spare_mm: float = 0.0
) -> NDArray[np.bool_]:
    """Mask of points (n, 3) that limbs hide from the camera.

    `spare_mm` is added to the limbs' radii.
    """
    at = points_mm @ camera.rotation.T + camera.translation_mm
    x, y = ((at[:, axis] / at[:, 2]).astype(np.float32) for axis in (0, 1))
    hidden = np.zeros(len(at), bool)
    for limb in limbs:
        ends = np.array([limb.a_mm, limb.b_mm]) @ camera.rotation.T + camera.translation_mm
        (ax, ay), (bx, by) = ends[:, :2] / ends[:, 2:]
        along, dx, dy = nearest_on_segment(x, y, (float(ax), float(ay)), (float(bx), float(by)))
        radii = (np.array([limb.radius_a_mm, limb.radius_b_mm]) + spare_mm) / ends[:, 2]
        hidden |= np.hypot(dx, dy) < radii[0] + along * (radii[1] - radii[0])
    return hidden


def draw_limbs(out: Colours, limbs: tuple[Limb, ...], stage: Stage, grid: Grid) -> None:
    """Paint limbs over `out` (h, w, 3).

    Of overlapping limbs, the part nearest to the camera is visible.
    """
    nearest = np.full(out.shape[:2], np.inf, np.float32)
    for limb in limbs:
        box = grid.around(limb_points(limb), 3.0)
        if box is not None:
            _draw_limb(out[box], nearest[box], limb, stage, grid.crop(box))


def _draw_limb(out: Colours, nearest: Plane, limb: Limb, stage: Stage, part: Grid) -> None:
    ends = part.to_camera(np.array([limb.a_mm, limb.b_mm]))
    flat = ends[:, :2] / ends[:, 2:]
    radii = np.array([limb.radius_a_mm, limb.radius_b_mm]) / ends[:, 2]
    (ax, ay), (bx, by) = flat
    along, dx, dy = nearest_on_segment(
        part.x, part.y, (float(ax), float(ay)), (float(bx), float(by))
    )
    radius = np.float32(radii[0]) + along * np.float32(radii[1] - radii[0])
    across_x, across_y = dx / radius, dy / radius
    rise = np.sqrt(np.clip(1 - across_x * across_x - across_y * across_y, 0, 1))
    depth = (np.float32(ends[0, 2]) + along * np.float32(ends[1, 2] - ends[0, 2])) * (
        1 - radius * rise
    )
    pixel = np.float32(1 / part.lens.matrix[0][0])
    share = np.clip((radius - np.sqrt(dx * dx + dy * dy)) / pixel + np.float32(0.5), 0, 1) * (
        depth < nearest
    )
    np.copyto(nearest, depth, where=share > 0.5)
    light = _soft_light(
        (across_x, across_y, -rise),
        part.camera.rotation,
        (np.array(limb.a_mm) + np.array(limb.b_mm)) / 2,
        stage,
    )
    skin = cv2.merge([np.float32(rgb) * level for rgb, level in zip(limb.rgb, light, strict=True)])
    out += cv2.merge([share] * 3) * (skin - out)


def _soft_light(
    normal: tuple[Plane, Plane, Plane], rotation: Array, middle_mm: Array, stage: Stage
) -> list[Plane]:
    """Light on skin, (h, w) for each colour, with a soft edge between light and shade.

    The normal is in the camera's frame.
    """

    def along(direction: Array) -> Plane:
        x, y, z = (rotation @ direction).astype(np.float32)
        plane: Plane = normal[0] * x + normal[1] * y + normal[2] * z
        return plane

    sky = np.float32(stage.ambient) * (
        np.float32(0.55) + np.float32(0.45) * along(np.array([0.0, 0.0, 1.0]))
    )
    light = [sky] * 3
    for lamp in stage.lamps:
        towards = np.array(lamp.at_mm) - middle_mm
        towards = towards / np.linalg.norm(towards)
        falls = np.clip(np.float32(0.25) + np.float32(0.75) * along(towards), 0, None)
        light = [
            level + falls * strength
            for level, strength in zip(
                light, lamp_light(lamp, middle_mm, towards).astype(np.float32), strict=True
            )
        ]
    return light
