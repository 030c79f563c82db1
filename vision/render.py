"""Scenes to pictures: exact in place, plausible in light, the same for the same seed.

A Renderer keeps what did not change: the ground of a stage is drawn once, pieces once for each arrangement, and a picture of
an unchanged scene costs no more than its noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
from vision.scene_limbs import draw_limbs, limb_points
from vision.scene_pieces import draw_order, draw_piece, passes
from vision.scene_shadow import Shadow, cast_limb_shadow, limb_shadow_mm, shadow_of

ENCODING_STEPS = 1 << 14
BLUR_REACH_PX = 6
"""Light farther away than this does not come into a pixel by lens blur."""


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


@dataclass(frozen=True, slots=True, eq=False)
class _Developed:
    """What the sensor reads: levels 0..255 not yet rounded, and the standard deviation of their noise, (h, w, 3) each."""

    level: Colours
    sigma: Colours


class Renderer:
    """Draws scenes for one camera; not for use from two threads at once."""

    def __init__(self, setup: Setup, camera: Camera) -> None:
        self.setup, self.camera = setup, camera
        self._grid: Grid = make_grid(camera, setup.camera)
        self._whole: Box = (slice(0, setup.camera.height), slice(0, setup.camera.width))
        self._stage: Stage | None = None
        self._pieces: tuple[ScenePiece, ...] = ()
        self._limbs: tuple[Limb, ...] = ()
        self._shadows: dict[ScenePiece, Shadow] = {}
        self._table_rgb = np.zeros(3)
        shape = (setup.camera.height, setup.camera.width, 3)
        self._ground: Colours = np.zeros(shape, np.float32)
        self._bare: Colours = np.zeros(shape, np.float32)
        self._still = _Developed(np.zeros(shape, np.float32), np.zeros(shape, np.float32))
        self._shown = self._still

    def picture(self, scene: Scene, rng: np.random.Generator) -> Image:
        """As `render`, for this camera."""
        self._update(scene)
        noise = rng.standard_normal(self._shown.level.shape, dtype=np.float32)
        noise *= self._shown.sigma
        noise += self._shown.level
        noise += np.float32(0.5)
        picture: Image = np.clip(noise, 0, 255, out=noise).astype(np.uint8)
        return picture

    def light(self, scene: Scene) -> Colours:
        """Light (h, w, 3) float32 before lens blur and sensor: 1 is paper-white under a lamp of power 1."""
        self._update(scene)
        return self._lit_with_limbs(scene, self._whole)

    def _update(self, scene: Scene) -> None:
        """Draw again what changed since the last scene, and nothing else."""
        if scene.stage is not self._stage:
            self._ground = draw_ground(scene.stage, self.setup, self._grid)
            self._table_rgb = self._ground[::16, ::16].mean(axis=(0, 1)).astype(float)
            self._bare = self._ground.copy()
            self._stage, self._pieces, self._limbs, self._shadows = scene.stage, (), (), {}
            self._develop(self._still, self._whole, lambda box: self._bare[box], scene.stage.sensor)
            self._shown = self._still
        if _differ(self._pieces, scene.pieces):
            self._shadows |= {piece: self._shadow(piece, scene.stage) for piece in scene.pieces if piece not in self._shadows}
            changed = [piece for piece in (*self._pieces, *scene.pieces) if (piece in self._pieces) != (piece in scene.pieces)]
            boxes = self._boxes(changed)
            for box in boxes:
                self._bare[box] = self._with_pieces(scene, box)
            for box in boxes:
                self._develop(self._still, self._widened(box), lambda wide: self._bare[wide], scene.stage.sensor)
            self._shadows = {piece: self._shadows[piece] for piece in scene.pieces}
            self._pieces, self._limbs, self._shown = scene.pieces, (), self._still
        if _differ(self._limbs, scene.limbs):
            self._shown = self._with_limbs(scene)
            self._limbs = scene.limbs

    def _shadow(self, piece: ScenePiece, stage: Stage) -> Shadow:
        low_mm = table_z_mm(self.setup)
        beside = piece.solid.vertices_mm[:, 2].min() < 0.5 * low_mm
        return shadow_of(piece.solid.vertices_mm, stage, low_mm if beside else 0.0)

    def _boxes(self, pieces: list[ScenePiece]) -> list[Box]:
        """Where these pieces and their shadows can be seen."""
        boxes = [self._grid.around(piece.solid.vertices_mm, 3.0) for piece in pieces] + [self._shadows[piece].box(self._grid) for piece in pieces]
        return [box for box in boxes if box is not None]

    def _with_pieces(self, scene: Scene, box: Box) -> Colours:
        """Light in a box of the picture, limbs left out."""
        out, part = self._ground[box].copy(), self._grid.crop(box)
        for piece in scene.pieces:
            self._shadows[piece].cast(out, passes(piece), part)
        near = [piece for piece in scene.pieces if part.around(piece.solid.vertices_mm, 3.0) is not None]
        for piece in draw_order(near, self.camera.eye_mm):
            draw_piece(out, piece, scene.stage, part, self._table_rgb)
        return out

    def _with_limbs(self, scene: Scene) -> _Developed:
        if not scene.limbs:
            return self._still
        reach = [limb_points(limb) for limb in scene.limbs] + [limb_shadow_mm(limb, scene.stage, 0.0) for limb in scene.limbs]
        box = self._grid.around(np.concatenate(reach), BLUR_REACH_PX)
        if box is None:
            return self._still
        shown = _Developed(self._still.level.copy(), self._still.sigma.copy())
        self._develop(shown, box, lambda wide: self._lit_with_limbs(scene, wide), scene.stage.sensor)
        return shown

    def _lit_with_limbs(self, scene: Scene, box: Box) -> Colours:
        light, part = self._bare[box].copy(), self._grid.crop(box)
        if scene.limbs:
            cast_limb_shadow(light, scene.limbs, scene.stage, part, 0.0)
            draw_limbs(light, scene.limbs, scene.stage, part)
        return light

    def _develop(self, into: _Developed, box: Box, light_in: Callable[[Box], Colours], sensor: Sensor) -> None:
        """Write into a box what the sensor reads there, from the light in a box a little wider than that."""
        wide = self._widened(box)
        light = light_in(wide)
        blurred = cv2.GaussianBlur(light, (0, 0), sensor.blur_px) if sensor.blur_px > 0 else light
        rows, columns = (slice(inner.start - outer.start, inner.stop - outer.start) for inner, outer in zip(box, wide, strict=True))
        height, width = self._whole[0].stop, self._whole[1].stop
        v = (np.arange(height, dtype=np.float32)[box[0]] - height / 2) / np.hypot(height, width) * 2
        u = (np.arange(width, dtype=np.float32)[box[1]] - width / 2) / np.hypot(height, width) * 2
        falling = 1 - np.float32(sensor.vignetting) * (v[:, None] ** 2 + u[None, :] ** 2)
        exposed = blurred[rows, columns] * falling[..., None] * np.array(sensor.exposure, np.float32)
        steps = np.clip(exposed * ENCODING_STEPS + np.float32(0.5), 0, ENCODING_STEPS).astype(np.int32)
        into.level[box] = _ENCODE[steps]
        into.sigma[box] = _noise_levels(sensor)[steps]

    def _widened(self, box: Box) -> Box:
        """A box with the surroundings that lens blur brings in, inside the picture."""
        (v0, v1), (u0, u1) = ((part.start - BLUR_REACH_PX, part.stop + BLUR_REACH_PX) for part in box)
        rows, columns = slice(max(v0, 0), min(v1, self._whole[0].stop)), slice(max(u0, 0), min(u1, self._whole[1].stop))
        return rows, columns


@lru_cache(maxsize=4)
def _noise_levels(sensor: Sensor) -> NDArray[np.float32]:
    """Standard deviation of noise in encoded levels for each step of light."""
    light = np.arange(ENCODING_STEPS + 1) / ENCODING_STEPS
    slope = np.gradient(_ENCODE.astype(float), light)
    sigma: NDArray[np.float32] = (np.sqrt(sensor.read_noise**2 + sensor.shot_noise**2 * light) * slope).astype(np.float32)
    return sigma


def _differ(a: tuple[object, ...], b: tuple[object, ...]) -> bool:
    return len(a) != len(b) or any(x is not y for x, y in zip(a, b, strict=True))
