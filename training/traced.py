"""Scenes path-traced with Mitsuba 3 (www.mitsuba-renderer.org).

Shells refract light, mirror one another and throw caustics. `simulation.render.renderer` imitates
the appearance of plastic; here it follows from its shape. This is slow. It is for training, and for
measuring how networks trained on drawn pictures do on others. Only `training.traced*` need Mitsuba,
which needs LLVM.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cv2
import mitsuba as mi
import msgspec
import numpy as np
from numpy.typing import NDArray

from simulation.render.arms import draw_limbs
from simulation.render.dice import draw_die
from simulation.render.ground import Colours, draw_ground, table_z_mm
from simulation.render.pieces import tint
from simulation.render.rays import Grid, make_grid
from simulation.render.renderer import Ground, Renderer
from simulation.render.scene import Scene, ScenePiece, Slab, Stage, look_at
from simulation.render.shadows import cast_limb_shadow, shadow_of
from simulation.render.textures import sample
from table.boards import Chessboard, Coasters, Tiles
from table.observation import Camera
from table.solids import Array, Solid
from table.table_config import Lens, Setup
from vision.cameras.frame import Image

mi.set_variant("llvm_ad_rgb")

from training import traced_bodies as bodies  # noqa: E402 - Mitsuba's variant comes first

FAR_MM = 60_000.0
"""Height of a camera whose picture of the table is nearly orthographic."""
FINE_MM, COARSE_MM = 0.2, 1.0
"""Texel sizes of the board with its cards, and of the table around."""
BEYOND_MM, AROUND_MM = 20.0, 700.0
"""Margins of the fine and of the coarse map beyond the cards."""
BELOW_MM = 0.01
"""Vertical distance between overlapping maps."""
MOST_BACK = 0.95
"""Upper limit of reflectances."""
EDGE_RGB = (0.05, 0.04, 0.03)
"""Reflectance of the edges of thick boards."""
PASS = 10
"""Paths per pixel in one pass."""
SPARK = 1.5
"""Limit of a pixel's brightness, as a multiple of its second brightest neighbour's."""
DEPTH = 14
"""Largest number of faces along a path."""
REFRACTION = (1.47, 1.59)
"""Range of indices of refraction, from acrylic glass to polycarbonate."""
SATIN, SATIN_ALPHA = 0.3, (0.02, 0.12)
"""Share of tables with slightly rough see-through plastic, and range of its roughness."""
POLISHED, ROUGHEST = 0.8, 0.35
"""Gloss from which opaque plastic is polished; roughness without gloss."""
BEVEL_MM = (0.05, 0.6)
"""Range of the radius of pieces' edges, to either side."""
SKY_PX = (16, 32)
DEEPER = 0.35
"""Additional optical depth of a drawn nest's single shell for each inner layer."""


class Tracer:
    """Takes pictures like `simulation.render.renderer.Renderer`, with `paths` per pixel.

    Fewer paths leave more grain. All pictures are of one stage, the first.
    """

    def __init__(
        self, setup: Setup, camera: Camera, paths: int, ground: Ground = draw_ground
    ) -> None:
        self.setup, self.camera, self.paths, self.ground = setup, camera, paths, ground
        self._sensor, self._grid = Renderer(setup, camera, ground), make_grid(camera, setup.camera)
        self._traced: _Traced | None = None

    def picture(self, scene: Scene, rng: np.random.Generator) -> Image:
        """A picture (h, w, 3); dice and arms are drawn over the traced one."""
        light = self.light(scene, rng)
        for die in scene.dice:
            shadow_of(die.vertices_mm, scene.stage, float(die.vertices_mm[:, 2].min())).cast(
                light, (0.0, 0.0, 0.0), self._grid
            )
            draw_die(light, die, scene.stage, self._grid)
        if scene.limbs:
            cast_limb_shadow(light, scene.limbs, scene.stage, self._grid, 0.0)
            draw_limbs(light, scene.limbs, scene.stage, self._grid)
        return self._sensor.photograph(light, scene.stage.sensor, rng)

    def light(self, scene: Scene, rng: np.random.Generator) -> Colours:
        """Light (h, w, 3) at each pixel, without dice and arms.

        As `simulation.render.renderer.Renderer.light`.
        """
        if self._traced is None:
            self._traced = _Traced(
                scene.stage, self.setup, self.camera, self.ground, self._grid, rng
            )
        return self._traced.light(scene, self.paths)


class _Traced:
    """Traces scenes of one stage before one camera."""

    def __init__(
        self,
        stage: Stage,
        setup: Setup,
        camera: Camera,
        ground: Ground,
        grid: Grid,
        rng: np.random.Generator,
    ) -> None:
        self.stage, self.setup, self.camera, self.ground, self.grid, self.rng = (
            stage,
            setup,
            camera,
            ground,
            grid,
            rng,
        )
        self.refraction = float(rng.uniform(*REFRACTION))
        self.bevel_mm = float(np.exp(rng.uniform(*np.log(BEVEL_MM))))
        self.satin = float(rng.uniform(*SATIN_ALPHA)) if rng.random() < SATIN else 0.0
        lamps = {f"lamp{k}": bodies.lamp(one) for k, one in enumerate(stage.lamps)}
        self.fixed = {
            "type": "scene",
            "integrator": {"type": "path", "max_depth": DEPTH},
            **lamps,
            "sky": self._sky(),
            **self._table(),
        }

    def light(self, scene: Scene, paths: int) -> Colours:
        """Light (h, w, 3) of a scene with this number of paths per pixel."""
        there: dict[str, Any] = {}
        for k, slab in enumerate(scene.slabs):
            there |= {f"top{k}": bodies.flat(slab.outline_mm, slab.top_mm, _face(slab))}
            there |= {f"side{k}": bodies.wall(slab.outline_mm, slab.low_mm, slab.top_mm, slab.rgb)}
        shells = [shell for piece in scene.pieces for shell in self._nest(piece)]
        there |= {
            f"piece{k}": bodies.shell(shell, self._plastic(shell), self.bevel_mm)
            for k, shell in enumerate(shells)
        }
        sensor, (columns, rows) = self._sensor()
        traced = mi.load_dict({**self.fixed, **there, "sensor": sensor})
        passes = max(1, round(paths / PASS))
        total = sum(
            np.array(mi.render(traced, spp=PASS, seed=int(self.rng.integers(1 << 31))))
            for _ in range(passes)
        )
        ideal = without_sparks(np.asarray(total / passes, np.float32))
        return np.asarray(
            cv2.remap(ideal, columns, rows, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE),
            np.float32,
        ).clip(0)

    def _sensor(self) -> tuple[dict[str, Any], list[NDArray[np.float32]]]:
        """A camera without distortion that covers the lens's field of view.

        Also the coordinates in it of each of the lens's pixels.
        """
        focal = max(self.setup.camera.matrix[0][0], self.setup.camera.matrix[1][1])
        fields = (self.grid.x, self.grid.y)
        half = [int(np.ceil(np.abs(field).max() * focal)) + 3 for field in fields]
        width, height = (2 * size for size in half)
        turn, pose = self.camera.rotation, np.eye(4, dtype=np.float32)
        pose[:3] = np.column_stack(
            [-turn[0], -turn[1], turn[2], self.camera.eye_mm]
        )  # Mitsuba's x runs left, its y up
        film = {
            "type": "hdrfilm",
            "width": width,
            "height": height,
            "rfilter": {"type": "box"},
            "pixel_format": "rgb",
        }
        across_deg = float(np.degrees(2 * np.arctan(half[0] / focal)))
        sensor = {
            "type": "perspective",
            "fov_axis": "x",
            "fov": across_deg,
            "near_clip": 10.0,
            "far_clip": 1e5,
            "film": film,
        }
        at = [
            (np.float32(focal) * field + np.float32(size - 0.5)).astype(np.float32)
            for field, size in zip(fields, half, strict=True)
        ]
        return {
            **sensor,
            "to_world": mi.ScalarTransform4f(pose),
            "sampler": {"type": "independent"},
        }, at

    def _table(self) -> dict[str, Any]:
        """The table, the board on it, and the cards."""
        cards = np.array([marker.corners_mm for marker in self.setup.fiducials.markers])
        outline, z = self.setup.outline_mm(), table_z_mm(self.setup)
        low, high = (
            np.minimum(cards.min(axis=(0, 1)), outline.min(axis=0)),
            np.maximum(cards.max(axis=(0, 1)), outline.max(axis=0)),
        )
        coarse, fine = (
            self._map(low - AROUND_MM, high + AROUND_MM, COARSE_MM),
            self._map(low - BEYOND_MM, high + BEYOND_MM, FINE_MM),
        )
        parts = {
            "far": bodies.flat(bodies.box(coarse.low_mm, coarse.high_mm), z - 2 * BELOW_MM, coarse)
        }
        parts["near"] = bodies.flat(bodies.box(fine.low_mm, fine.high_mm), z - BELOW_MM, fine)
        if z < 0 and not isinstance(self.setup.board, Tiles):  # tiles belong to the scene
            edge = outline
            if isinstance(self.setup.board, Chessboard):
                edge = bodies.box(
                    outline.min(axis=0) - self.stage.frame_mm,
                    outline.max(axis=0) + self.stage.frame_mm,
                )
            parts |= {
                "board": bodies.flat(edge, 0.0, fine),
                "edge": bodies.wall(edge, z, 0.0, EDGE_RGB),
            }
        for k, card in enumerate(cards):
            middle, side_mm = card.mean(axis=0), float(np.linalg.norm(card[1] - card[0]))
            whole = middle + (card - middle) * (1 + 2 * self.stage.card_margin_mm / side_mm)
            parts[f"card{k}"] = bodies.flat(whole[::-1], self.setup.fiducials.z_mm, fine)
        return parts

    def _map(self, low_mm: Array, high_mm: Array, texel_mm: float) -> bodies.Map:
        """Reflectance between two corners (2,), from the ground in even light straight above."""
        width, height = (int(np.ceil(side / texel_mm)) for side in high_mm - low_mm)
        focal = FAR_MM / texel_mm
        matrix = ((focal, 0.0, (width - 1) / 2), (0.0, focal, (height - 1) / 2), (0.0, 0.0, 1.0))
        lens = Lens(width=width, height=height, matrix=matrix, distortion=(0.0,) * 5)
        reach = texel_mm * np.array([width, height])
        middle = np.array([*(low_mm + reach / 2), 0.0])
        even = replace(self.stage, lamps=(), ambient=1.0)
        above = make_grid(look_at(middle + np.array([0.0, 0.0, FAR_MM]), middle), lens)
        shown = self.ground(even, msgspec.structs.replace(self.setup, camera=lens), above)
        return bodies.Map(shown.clip(0, MOST_BACK), low_mm, low_mm + reach)

    def _sky(self) -> dict[str, Any]:
        """Ambient light, uneven as in a room, with the stage's irradiance on the table."""
        rows, columns = SKY_PX
        blobs = cv2.GaussianBlur(
            self.rng.normal(0, 1, (rows, columns)), (0, 0), float(self.rng.uniform(1.0, 4.0))
        )
        levels = np.exp(float(self.rng.uniform(0.5, 4.0)) * blobs)
        above = np.pi / 2 - (np.arange(rows) + 0.5) / rows * np.pi
        falls = np.broadcast_to(
            (np.clip(np.sin(above), 0, None) * np.cos(above))[:, None], levels.shape
        )
        return bodies.sky(
            (levels * self.stage.ambient * falls.sum() / (levels * falls).sum()).astype(np.float32)
        )

    def _nest(self, piece: ScenePiece) -> list[ScenePiece]:
        """A piece with the pieces inside it.

        Nests lie on coasters, with all sizes up to that of the outermost.
        """
        if not (isinstance(self.setup.board, Coasters) and piece.see_through):
            return [piece]
        corners = piece.vertices_mm
        middle, base_mm = corners[:4].mean(axis=0), float(np.linalg.norm(corners[1] - corners[0]))
        shares = [
            size.base_mm / base_mm for size in self.setup.sizes if size.base_mm < base_mm - 0.1
        ]
        inside = [
            replace(piece, solid=Solid(middle + share * (corners - middle))) for share in shares
        ]
        return [
            replace(one, depth=piece.depth / (1 + DEEPER * len(shares))) for one in (piece, *inside)
        ]

    def _plastic(self, piece: ScenePiece) -> bodies.Plastic:
        if piece.see_through:
            return bodies.see_through(tint(piece), self.refraction, self.satin)
        return bodies.opaque(
            piece.rgb, ROUGHEST * (1 - piece.gloss) if piece.gloss < POLISHED else 0.0
        )


def without_sparks(light: Colours) -> Colours:
    """Light (h, w, 3) without fireflies: pixels much brighter than all neighbours by a single path.

    A bright line is kept, because its pixels have equally bright neighbours.
    """
    level = light.max(axis=2)
    padded = np.pad(level, 1, mode="edge")
    rows, columns = level.shape
    around = np.stack(
        [
            padded[i : i + rows, k : k + columns]
            for i in range(3)
            for k in range(3)
            if (i, k) != (1, 1)
        ]
    )
    most = SPARK * np.partition(around, -2, axis=0)[-2]
    return np.asarray(light * np.minimum(1, most / np.maximum(level, 1e-6))[..., None], np.float32)


def _face(slab: Slab) -> bodies.Map:
    """Map of the top of a counter or tile."""
    low, high = slab.outline_mm.min(axis=0), slab.outline_mm.max(axis=0)
    width, height = (int(np.ceil(side / FINE_MM)) for side in high - low)
    x, y = np.meshgrid(
        low[0] + (np.arange(width) + 0.5) * FINE_MM,
        low[1] + (height - np.arange(height) - 0.5) * FINE_MM,
    )
    rgb = np.broadcast_to(np.array(slab.rgb, np.float32), (height, width, 3))
    if slab.face is not None:
        rgb = sample(slab.face, (x.astype(np.float32), y.astype(np.float32)))
    return bodies.Map(rgb.clip(0, MOST_BACK), low, low + FINE_MM * np.array([width, height]))
