"""Path-traced tables that are kept."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np

from simulation.render.ground import Colours
from simulation.render.scene import Scene
from table.files import write_whole
from table.observation import Camera
from table.table_config import Setup
from training.traced import Tracer

BRIGHTEST = 2.0
"""Light that is kept, at most; 1 is paper under a lamp of power 1."""
CACHE_QUALITY = 95


class CachedTracer(Tracer):
    """Traces each table of a game once, and keeps its light as a picture in a folder.

    What is traced follows from `seed`: not from the camera's noise, and so from how many pictures
    were taken before.
    """

    def __init__(self, paths: int, folder: Path, seed: int, setup: Setup, camera: Camera) -> None:
        super().__init__(setup, camera, paths)
        self._folder, self._rng = folder, np.random.default_rng([seed, 43])
        folder.mkdir(parents=True, exist_ok=True)

    def light(self, scene: Scene, rng: np.random.Generator) -> Colours:
        del rng
        bodies = [
            body.vertices_mm.round(3).tobytes() + repr(body.rgb).encode()
            for body in (*scene.slabs, *scene.pieces)
        ]
        path = self._folder / f"{hashlib.sha256(b''.join(bodies)).hexdigest()[:16]}.jpg"
        if not path.exists():
            write_whole(path, _encode(super().light(scene, self._rng)))
        return _decode(path).copy()


def _encode(light: Colours) -> bytes:
    """Light (h, w, 3) as a JPEG of its roots: dark places need finer steps."""
    levels = (
        (255 * np.sqrt(light[..., ::-1].clip(0, BRIGHTEST) / BRIGHTEST)).round().astype(np.uint8)
    )
    return cv2.imencode(".jpg", levels, [cv2.IMWRITE_JPEG_QUALITY, CACHE_QUALITY])[1].tobytes()


@lru_cache(maxsize=2)
def _decode(path: Path) -> Colours:
    levels = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR)
    assert levels is not None, f"{path}: expected a JPEG that this program wrote; delete it"
    return np.asarray(BRIGHTEST * (levels[..., ::-1].astype(np.float32) / 255) ** 2, np.float32)
