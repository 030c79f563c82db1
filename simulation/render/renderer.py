"""Render scenes: exact geometry, plausible light, and the same picture for the same seed.

A Renderer caches what did not change: the ground of a stage is drawn once, pieces once for each
arrangement. A picture of an unchanged scene costs only its noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from simulation.render.arms import draw_limbs, limb_points
from simulation.render.dice import draw_die
from simulation.render.ground import Colours, draw_ground, table_z_mm
from simulation.render.painter_order import draw_order
from simulation.render.pieces import Surroundings, draw_piece, grain, transmission
from simulation.render.rays import Box, Grid, make_grid
from simulation.render.scene import Body, Limb, Scene, SceneDie, Sensor, Slab, Stage
from simulation.render.shadows import Shadow, cast_limb_shadow, limb_shadow_mm, shadow_of
from simulation.render.slabs import draw_slab
from table.boards import Tiles
from table.observation import Camera
from table.table_config import Setup
from vision.cameras.frame import Image

Ground = Callable[[Stage, Setup, Grid], Colours]
"""Draws the reflected light (h, w, 3) of a table without pieces."""
ENCODING_STEPS = 1 << 14
BLUR_REACH_PX = 6
"""Radius beyond which lens blur is ignored."""


def _encoding() -> NDArray[np.float32]:
    """sRGB levels 0..255, not rounded, of linear light in steps (IEC 61966-2-1)."""
    light = np.arange(ENCODING_STEPS + 1) / ENCODING_STEPS
    return (
        255 * np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    ).astype(np.float32)


_ENCODE = _encoding()

GRAIN_ROOM = 1 << 20
"""Number of offsets at which the same grain is added to pictures.

New grain for each picture would cost more than everything else.
"""


@lru_cache(maxsize=2)
def _grain(length: int) -> NDArray[np.float32]:
    """Normally distributed noise of standard deviation 1, (length,), always the same."""
    return np.random.default_rng(length).standard_normal(length, dtype=np.float32)


class Pictures(Protocol):
    """Takes pictures of scenes: a Renderer, or a path tracer."""

    def picture(self, scene: Scene, rng: np.random.Generator) -> Image:
        """A picture (h, w, 3) uint8 R-G-B."""


PicturesOf = Callable[[Setup, Camera], Pictures]
"""Makes a Renderer or path tracer, for a table and the camera's pose before it."""


def render(scene: Scene, setup: Setup, camera: Camera, rng: np.random.Generator) -> Image:
    """A picture of a scene, (height, width, 3) uint8 R-G-B.

    It is taken by the camera of `setup` from `camera`'s pose.
    """
    return _renderer(setup, camera).picture(scene, rng)


@lru_cache(maxsize=2)
def _renderer(setup: Setup, camera: Camera) -> Renderer:
    return Renderer(setup, camera)


@dataclass(frozen=True, slots=True, eq=False)
class _Developed:
    """The sensor's values before rounding.

    Levels 0..255 and the standard deviation of their noise, (h, w, 3) each.
    """

    level: Colours
    sigma: Colours

    def with_noise(self, grain: Colours) -> Image:
        """A picture (h, w, 3), with noise scaled to each level."""
        return np.asarray(
            cv2.add(cv2.multiply(grain, self.sigma), self.level, dtype=cv2.CV_8U), np.uint8
        )


class Renderer:
    """Draws scenes for one camera; not thread-safe."""

    def __init__(self, setup: Setup, camera: Camera, ground: Ground = draw_ground) -> None:
        self.setup, self.camera, self._draw_ground = setup, camera, ground
        self._grid: Grid = make_grid(camera, setup.camera)
        self._whole: Box = (slice(0, setup.camera.height), slice(0, setup.camera.width))
        self._stage: Stage | None = None
        self._bodies: tuple[Body, ...] = ()
        self._limbs: tuple[Limb, ...] = ()
        self._shadows: dict[tuple[Body, float], Shadow] = {}
        """Shadows by casting body and height of the plane that they fall on."""
        self._table_rgb = np.zeros(3)
        shape = (setup.camera.height, setup.camera.width, 3)
        self._ground: Colours = np.zeros(shape, np.float32)
        self._bare: Colours = np.zeros(shape, np.float32)
        self._still = _Developed(np.zeros(shape, np.float32), np.zeros(shape, np.float32))
        self._reached: tuple[Box, _Developed] | None = None
        """A box around limbs, and the sensor's values in it."""
        self._gains: tuple[Sensor, Colours] | None = None

    def picture(self, scene: Scene, rng: np.random.Generator) -> Image:
        """As `render`, for this camera."""
        self._update(scene)
        shape, start = self._still.level.shape, int(rng.integers(GRAIN_ROOM))
        grain = _grain(self._still.level.size + GRAIN_ROOM)[
            start : start + self._still.level.size
        ].reshape(shape)
        picture = self._still.with_noise(grain)
        if self._reached is not None:
            box, reached = self._reached
            picture[box] = reached.with_noise(grain[box])
        return picture

    def photograph(self, light: Colours, sensor: Sensor, rng: np.random.Generator) -> Image:
        """A picture of light (h, w, 3) at this camera's pixels, from any renderer."""
        grain = rng.standard_normal(light.shape, dtype=np.float32)
        return self._develop(self._whole, lambda box: light[box], sensor).with_noise(grain)

    def light(self, scene: Scene) -> Colours:
        """Light (h, w, 3) float32 before lens blur and sensor.

        1 is paper-white under a lamp of power 1.
        """
        self._update(scene)
        return self._lit_with_limbs(scene, self._whole)

    def _update(self, scene: Scene) -> None:
        """Redraw only what changed since the last scene."""
        if scene.stage is not self._stage:
            self._ground = self._draw_ground(scene.stage, self.setup, self._grid)
            self._table_rgb = self._ground[::16, ::16].mean(axis=(0, 1)).astype(float)
            self._bare = self._ground.copy()
            self._stage, self._bodies, self._limbs, self._shadows = scene.stage, (), (), {}
            self._still = self._develop(
                self._whole, lambda box: self._bare[box], scene.stage.sensor
            )
            self._reached = None
        bodies: tuple[Body, ...] = (*scene.slabs, *scene.dice, *scene.pieces)
        if _differ(self._bodies, bodies):
            before, now = set(self._bodies), set(bodies)
            boxes = _merge_boxes(
                [
                    box
                    for body in (*self._bodies, *bodies)
                    if (body in before) != (body in now) and (box := self._box(body))
                ]
            )
            for box in boxes:
                self._bare[box] = self._with_bodies(bodies, scene.stage, box)
            for box in boxes:
                wide = self._widen(box)
                again = self._develop(wide, lambda wider: self._bare[wider], scene.stage.sensor)
                self._still.level[wide], self._still.sigma[wide] = again.level, again.sigma
            self._shadows = {
                (body, z_mm): shadow
                for (body, z_mm), shadow in self._shadows.items()
                if body in now
            }
            self._bodies, self._limbs, self._reached = bodies, (), None
        if _differ(self._limbs, scene.limbs):
            self._reached = self._with_limbs(scene)
            self._limbs = scene.limbs

    def _ground_shadow(self, body: Body) -> Shadow:
        """Shadow of a body on the ground below it: a thick board, or the table beside it."""
        low_mm = table_z_mm(self.setup)
        beside = isinstance(self.setup.board, Tiles) or body.vertices_mm[:, 2].min() < 0.5 * low_mm
        return self._shadow(body, low_mm if beside else 0.0)

    def _shadow(self, body: Body, z_mm: float) -> Shadow:
        if (body, z_mm) not in self._shadows:
            assert self._stage is not None, "a shadow is asked for after its stage was set"
            self._shadows[body, z_mm] = shadow_of(body.vertices_mm, self._stage, z_mm)
        return self._shadows[body, z_mm]

    def _box(self, body: Body) -> Box | None:
        """Box that contains a body and its shadow."""
        return self._grid.around(
            np.concatenate([body.vertices_mm, self._ground_shadow(body).reach_mm()]), 6.0
        )

    def _with_bodies(self, bodies: tuple[Body, ...], stage: Stage, box: Box) -> Colours:
        """Light in a box of the picture, without limbs."""
        out, part = self._ground[box].copy(), self._grid.crop(box)
        for body in bodies:
            self._ground_shadow(body).cast(out, transmission(body), part, grain(body))
        around = Surroundings(self._ground, self._grid, 0.0, self._table_rgb)
        near = [body for body in bodies if part.around(body.vertices_mm, 3.0) is not None]
        for body in draw_order(near, self.camera.eye_mm):
            if isinstance(body, Slab):
                above = [
                    other for other in bodies if other.vertices_mm[:, 2].max() > body.top_mm + 1e-6
                ]
                draw_slab(
                    out,
                    body,
                    stage,
                    part,
                    [(self._shadow(other, body.top_mm), transmission(other)) for other in above],
                )
            elif isinstance(body, SceneDie):
                draw_die(out, body, stage, part)
            else:
                draw_piece(out, body, stage, part, around)
        return out

    def _with_limbs(self, scene: Scene) -> tuple[Box, _Developed] | None:
        if not scene.limbs:
            return None
        reach = [limb_points(limb) for limb in scene.limbs] + [
            limb_shadow_mm(limb, scene.stage, 0.0) for limb in scene.limbs
        ]
        box = self._grid.around(np.concatenate(reach), BLUR_REACH_PX)
        return (
            None
            if box is None
            else (
                box,
                self._develop(
                    box, lambda wide: self._lit_with_limbs(scene, wide), scene.stage.sensor
                ),
            )
        )

    def _lit_with_limbs(self, scene: Scene, box: Box) -> Colours:
        light, part = self._bare[box].copy(), self._grid.crop(box)
        if scene.limbs:
            cast_limb_shadow(light, scene.limbs, scene.stage, part, 0.0)
            draw_limbs(light, scene.limbs, scene.stage, part)
        return light

    def _develop(self, box: Box, light_in: Callable[[Box], Colours], sensor: Sensor) -> _Developed:
        """The sensor's values in a box, from the light in a slightly wider one."""
        wide = self._widen(box)
        light = light_in(wide)
        blurred = cv2.GaussianBlur(light, (0, 0), sensor.blur_px) if sensor.blur_px > 0 else light
        rows, columns = (
            slice(inner.start - outer.start, inner.stop - outer.start)
            for inner, outer in zip(box, wide, strict=True)
        )
        exposed = np.asarray(
            cv2.multiply(blurred[rows, columns], self._gain(sensor)[box], dtype=cv2.CV_16U),
            np.uint16,
        )
        level = np.take(_ENCODE, exposed, mode="clip")
        return _Developed(
            level, np.asarray(cv2.LUT(level.astype(np.uint8), _noise_levels(sensor)), np.float32)
        )

    def _gain(self, sensor: Sensor) -> Colours:
        """Encoding steps per unit of light at each pixel, (h, w, 3): exposure with vignetting."""
        if self._gains is None or self._gains[0] is not sensor:
            height, width = self._whole[0].stop, self._whole[1].stop
            v, u = (
                (np.arange(size, dtype=np.float32) - size / 2) / np.hypot(height, width) * 2
                for size in (height, width)
            )
            falling = 1 - np.float32(sensor.vignetting) * (v[:, None] ** 2 + u[None, :] ** 2)
            gain = falling[..., None] * (ENCODING_STEPS * np.array(sensor.exposure, np.float32))
            self._gains = sensor, gain.astype(np.float32)
        return self._gains[1]

    def _widen(self, box: Box) -> Box:
        """A box widened by the reach of lens blur, inside the picture."""
        (v0, v1), (u0, u1) = (
            (part.start - BLUR_REACH_PX, part.stop + BLUR_REACH_PX) for part in box
        )
        rows, columns = (
            slice(max(v0, 0), min(v1, self._whole[0].stop)),
            slice(max(u0, 0), min(u1, self._whole[1].stop)),
        )
        return rows, columns


def _merge_boxes(boxes: list[Box]) -> list[Box]:
    """Boxes that contain all of these and do not overlap."""
    joined: list[Box] = []
    for rows, columns in boxes:
        while touching := [other for other in joined if _overlap(other, (rows, columns))]:
            joined = [other for other in joined if other not in touching]
            every = [*touching, (rows, columns)]
            rows = slice(min(box[0].start for box in every), max(box[0].stop for box in every))
            columns = slice(min(box[1].start for box in every), max(box[1].stop for box in every))
        joined.append((rows, columns))
    return joined


def _overlap(one: Box, other: Box) -> bool:
    return all(a.start < b.stop and b.start < a.stop for a, b in zip(one, other, strict=True))


@lru_cache(maxsize=4)
def _noise_levels(sensor: Sensor) -> NDArray[np.float32]:
    """Standard deviation of noise in encoded levels for each of 256 levels, (1, 256)."""
    light = np.interp(np.arange(256) + 0.5, _ENCODE, np.arange(ENCODING_STEPS + 1) / ENCODING_STEPS)
    slope = np.interp(
        light,
        np.arange(ENCODING_STEPS + 1) / ENCODING_STEPS,
        ENCODING_STEPS * np.gradient(_ENCODE.astype(float)),
    )
    sigma: NDArray[np.float32] = (
        np.sqrt(sensor.read_noise**2 + sensor.shot_noise**2 * light) * slope
    ).astype(np.float32)
    return sigma[None]


def _differ(a: tuple[object, ...], b: tuple[object, ...]) -> bool:
    return len(a) != len(b) or any(x is not y for x, y in zip(a, b, strict=True))
