"""Scenes to pictures: exact in place, plausible in light, the same for the same seed.

A Renderer keeps what did not change: the ground of a stage is drawn once, pieces once for each arrangement, and a picture of
an unchanged scene costs no more than its noise.
"""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from table.observation import Camera
from table.setup import Setup
from vision.frame import Image
from vision.scene import Limb, Scene, ScenePiece, Sensor, Stage
from vision.scene_grid import Box, Grid, make_grid
from vision.scene_ground import Colours, draw_ground, table_z_mm
from vision.scene_limbs import draw_limbs
from vision.scene_pieces import draw_order, draw_piece, passes
from vision.scene_shadow import cast_limb_shadow, cast_shadow

ENCODING_STEPS = 1 << 14


def _encoding() -> NDArray[np.float32]:
    """sRGB levels 0..255, not rounded, of linear light in steps (IEC 61966-2-1)."""
    light = np.arange(ENCODING_STEPS + 1) / ENCODING_STEPS
    return (255 * np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)).astype(np.float32)


_ENCODE = _encoding()


def render(scene: Scene, setup: Setup, camera: Camera, rng: np.random.Generator) -> Image:
    """A picture of a scene, (height, width, 3) uint8 R-G-B, as the camera of `setup` takes it from `camera`'s place."""
    return _renderer(setup, camera).picture(scene, rng)


@lru_cache(maxsize=2)
def _renderer(setup: Setup, camera: Camera) -> Renderer:
    return Renderer(setup, camera)


class Renderer:
    """Draws scenes for one camera; not for use from two threads at once."""

    def __init__(self, setup: Setup, camera: Camera) -> None:
        self.setup, self.camera = setup, camera
        self._grid: Grid = make_grid(camera, setup.camera)
        self._stage: Stage | None = None
        self._pieces: tuple[ScenePiece, ...] | None = None
        self._limbs: tuple[Limb, ...] = ()
        self._ground: Colours = np.empty(0, np.float32)
        self._table_rgb = np.zeros(3)
        self._bare: Colours = np.empty(0, np.float32)
        self._still: tuple[Colours, Colours] = (self._bare, self._bare)
        self._shown: tuple[Colours, Colours] = self._still

    def picture(self, scene: Scene, rng: np.random.Generator) -> Image:
        """As `render`, for this camera."""
        self._update(scene)
        level, sigma = self._shown
        noise = rng.standard_normal(level.shape, dtype=np.float32)
        noise *= sigma
        noise += level
        picture: Image = np.clip(noise, 0, 255, out=noise).astype(np.uint8)
        return picture

    def light(self, scene: Scene) -> Colours:
        """Light (h, w, 3) float32 before lens blur and sensor: 1 is paper-white under a lamp of power 1."""
        self._update(scene)
        light = self._bare.copy()
        self._add_limbs(light, scene)
        return light

    def _update(self, scene: Scene) -> None:
        if scene.stage is not self._stage:
            self._ground = draw_ground(scene.stage, self.setup, self._grid)
            self._table_rgb = self._ground[::16, ::16].mean(axis=(0, 1)).astype(float)
            self._stage, self._pieces = scene.stage, None
        if self._pieces is None or not _same(self._pieces, scene.pieces):
            self._bare = self._draw_pieces(scene)
            self._still = self._develop(self._bare, (slice(0, self._bare.shape[0]), slice(0, self._bare.shape[1])), scene.stage.sensor)
            self._pieces, self._shown, self._limbs = scene.pieces, self._still, ()
        if not _same(self._limbs, scene.limbs):
            self._shown = self._with_limbs(scene) if scene.limbs else self._still
            self._limbs = scene.limbs

    def _draw_pieces(self, scene: Scene) -> Colours:
        out, low_mm = self._ground.copy(), table_z_mm(self.setup)
        order = draw_order(scene.pieces, self.camera.eye_mm)
        for piece in order:
            stands_mm = low_mm if piece.solid.vertices_mm[:, 2].min() < 0.5 * low_mm else 0.0
            cast_shadow(out, piece.solid.vertices_mm, passes(piece), scene.stage, self._grid, stands_mm)
        for piece in order:
            draw_piece(out, piece, scene.stage, self._grid, self._table_rgb)
        return out

    def _with_limbs(self, scene: Scene) -> tuple[Colours, Colours]:
        light = self._bare.copy()
        self._add_limbs(light, scene)
        return self._develop(light, (slice(0, light.shape[0]), slice(0, light.shape[1])), scene.stage.sensor)

    def _add_limbs(self, light: Colours, scene: Scene) -> None:
        if scene.limbs:
            cast_limb_shadow(light, scene.limbs, scene.stage, self._grid, 0.0)
            draw_limbs(light, scene.limbs, scene.stage, self._grid)

    def _develop(self, light: Colours, box: Box, sensor: Sensor) -> tuple[Colours, Colours]:
        """What the sensor reads, in levels 0..255 not yet rounded, and the standard deviation of its noise."""
        blurred = cv2.GaussianBlur(light, (0, 0), sensor.blur_px) if sensor.blur_px > 0 else light
        rows, columns = self._grid.lens.height, self._grid.lens.width
        v = (np.arange(rows, dtype=np.float32)[box[0]] - rows / 2) / np.hypot(rows, columns) * 2
        u = (np.arange(columns, dtype=np.float32)[box[1]] - columns / 2) / np.hypot(rows, columns) * 2
        falling = 1 - np.float32(sensor.vignetting) * (v[:, None] ** 2 + u[None, :] ** 2)
        exposed = blurred * falling[..., None] * np.array(sensor.exposure, np.float32)
        steps = np.clip(exposed * ENCODING_STEPS + np.float32(0.5), 0, ENCODING_STEPS).astype(np.int32)
        return _ENCODE[steps], _noise_levels(sensor)[steps]


@lru_cache(maxsize=4)
def _noise_levels(sensor: Sensor) -> NDArray[np.float32]:
    """Standard deviation of noise in encoded levels for each step of light."""
    light = np.arange(ENCODING_STEPS + 1) / ENCODING_STEPS
    slope = np.gradient(_ENCODE.astype(float), light)
    sigma: NDArray[np.float32] = (np.sqrt(sensor.read_noise**2 + sensor.shot_noise**2 * light) * slope).astype(np.float32)
    return sigma


def _same(a: tuple[object, ...], b: tuple[object, ...]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))
