"""Labelled views: small rendered tables with pieces at known places, on ground of every kind.

A view is a square part of the table in the form of the input of `vision.networks.detector`:
STEPS_A_BASE pixels per smallest base, in light relative to white paper. For each piece on it, pose,
colour and vertices are known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from simulation.generate.rest_poses import lean_against, slide_against
from simulation.generate.tables import random_stage, square_marker
from simulation.render.arms import draw_limbs, occlusion_mask
from simulation.render.board_art import counter
from simulation.render.ground import Colours, draw_ground
from simulation.render.rays import Grid, make_grid
from simulation.render.renderer import Pictures, Renderer
from simulation.render.scene import (
    ALBEDO,
    ALWAYS_OPAQUE,
    SKINS,
    SLEEVES,
    Limb,
    Rgb,
    Scene,
    ScenePiece,
    Slab,
    Stage,
    look_at,
    reaching_arm,
)
from simulation.render.shadows import irradiance
from table.boards import Open
from table.clearance import is_free
from table.observation import Camera
from table.pieces import COLOURS, PieceSet, PieceSize, load_piece_set
from table.solids import POSES, Array, Pose, Solid, lying, upright
from table.table_config import Fiducials, Game, Lens, Setup
from training.prints import PRINT_PX, random_print
from vision.cameras.frame import Image, swapped
from vision.cameras.image_files import decode_image
from vision.geometry.camera_model import project
from vision.geometry.piece_pose import project_to_table
from vision.networks.detector import STEPS_A_BASE, encode_light

VIEW_PX = 256
"""Side of a view."""
LENS_PX = 400
"""Side of the picture that a view is cut from."""
GLITTER, GLOSS, DEPTH = (0.2, 1.3), (0.0, 1.0), (0.3, 1.6)
GRAIN, BENT, RIMS = (0.0, 0.6), (0.0, 0.7), (0.0, 1.0)
CLEAR, RIMLESS = 0.35, 0.4
"""Share of tables with some plastic without grain, and share of the others with some without
shining edges. Real plastics differ far more than those of one maker.
"""
THROWS = 6
"""Number of views of one table; only the pieces change."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledView:
    """A view with its ground truth, one row per piece.

    `image` (VIEW_PX, VIEW_PX, 3) is as `vision.networks.detector` takes it. Vertices (n, 5, 2) and
    base (n,) are in pixels of the view. Pose (n,) and colour (n,) are indices of POSES and COLOURS.
    Discs (m, 3) are middle and radius. `masks` (2, VIEW_PX, VIEW_PX) are 1 on pieces and discs, and
    on arms.
    """

    image: NDArray[np.uint8]
    vertices: Array
    pose: NDArray[np.int64]
    colour: NDArray[np.int64]
    base: Array
    discs: Array
    masks: NDArray[np.uint8]


def padded(view: LabelledView) -> LabelledView:
    """A view of at least VIEW_PX a side; its edges are repeated, without labels."""
    pad = [(0, max(0, VIEW_PX - size)) for size in view.image.shape[:2]]
    return replace(
        view,
        image=np.pad(view.image, (*pad, (0, 0)), mode="edge"),
        masks=np.pad(view.masks, ((0, 0), *pad)),
    )


def cut_view(view: LabelledView, top: int, left: int) -> LabelledView:
    """The square of VIEW_PX at a corner in px, with the pieces whose middles are inside."""
    vertices = view.vertices - [left, top]
    middle = (vertices[:, :4].mean(axis=1) + vertices[:, 4]) / 2
    keep = ((middle > 2) & (middle < VIEW_PX - 3)).all(axis=1)
    cut = (slice(top, top + VIEW_PX), slice(left, left + VIEW_PX))
    return LabelledView(
        view.image[cut],
        vertices[keep],
        view.pose[keep],
        view.colour[keep],
        view.base[keep],
        view.discs - [left, top, 0],
        view.masks[:, *cut],
    )


def views(seed: int) -> Iterator[LabelledView]:
    """The views of one random table."""
    rng = np.random.default_rng([seed, 7])
    table = Table(rng)
    for _ in range(THROWS):
        table.throw()
        yield table.view(table.picture())


class Table:
    """One table, its lamps and its camera, for repeated throws of pieces."""

    def __init__(self, rng: np.random.Generator, lens_px: int = LENS_PX) -> None:
        self.rng, self.lens_px = rng, lens_px
        pieces: PieceSet = load_piece_set("looney" if rng.random() < 0.7 else "piecepack")
        count = len(pieces.sizes)
        self.sizes: list[PieceSize] = (
            [pieces.sizes[int(rng.integers(count))]]
            if rng.random() < 0.5 and count == 3
            else list(pieces.sizes)
        )
        self.base_mm = min(size.base_mm for size in self.sizes)
        self.step_mm = self.base_mm / STEPS_A_BASE
        self.half_mm = self.step_mm * VIEW_PX / 2
        self.setup, self.camera = _setup(self.half_mm, lens_px, rng), _camera(self.half_mm, rng)
        self.at_px = self._pixels_of_view()
        stage = random_stage(self.setup, rng)
        self.stage: Stage = replace(
            stage, sensor=replace(stage.sensor, blur_px=float(rng.uniform(0.5, 1.5)))
        )
        self.solid_plastic = rng.random() < 0.35
        self.plastic = plastic(rng)
        self.dyes = {colour: _dye(ALBEDO[colour], rng) for colour in COLOURS}
        self.print = random_print(rng, float(rng.uniform(22, 52))) if rng.random() < 0.55 else None
        self.discs = self._discs() if rng.random() < 0.3 else ()
        self.renderer: Pictures = Renderer(self.setup, self.camera, self.ground)
        self.placed: list[tuple[ScenePiece, int]] = []
        self.hidden: list[ScenePiece] = []
        self.limbs: tuple[Limb, ...] = ()

    def _discs(self) -> tuple[Slab, ...]:
        """Counters without overlap."""
        diameter, thick = (
            self.base_mm * float(self.rng.uniform(0.8, 1.7)),
            float(self.rng.uniform(1.5, 6)),
        )
        colour = str(self.rng.choice(["white", "white", *COLOURS]))
        middles: list[Array] = []
        for _ in range(int(self.rng.integers(1, 25))):
            middle = self.rng.uniform(-self.half_mm, self.half_mm, 2)
            if all(np.hypot(*(middle - other)) > 1.05 * diameter for other in middles):
                middles.append(middle)
        return tuple(counter(middle, diameter, thick, self.dyes[colour]) for middle in middles)

    def ground(self, stage: Stage, setup: Setup, grid: Grid) -> Colours:
        out = draw_ground(stage, setup, grid)
        x, y = grid.on_plane(0.0)
        lit = irradiance((x, y), 0.0, stage)
        if self.print is not None:
            scale = np.float32(PRINT_PX / (3.2 * self.half_mm))
            art = cv2.remap(
                self.print,
                x * scale + PRINT_PX / 2,
                y * scale + PRINT_PX / 2,
                cv2.INTER_AREA,
                borderMode=cv2.BORDER_REFLECT,
            )
            out = np.asarray(art * lit, np.float32)
        return out

    def throw(self) -> None:
        """New pieces, and occasionally an arm; no labelled piece lies under it."""
        self.placed, self.hidden, self.limbs = [], [], ()
        if self.rng.random() < 0.15:
            side = self.half_mm * self.rng.uniform(-1.0, 1.0, 2)
            skin = SKINS[int(self.rng.integers(len(SKINS)))]
            sleeve = _dye(SLEEVES[int(self.rng.integers(len(SLEEVES)))], self.rng)
            self.limbs = reaching_arm(
                np.array([*side, 15.0]), float(self.rng.uniform(0, 360)), skin, sleeve
            )
        for _ in range(
            int(self.rng.integers(0, 4))
            if self.rng.random() < 0.15
            else int(self.rng.integers(4, 24))
        ):
            self._lay()
        spare = 0.5 * self.base_mm
        self.placed = [
            one
            for one in self.placed
            if not occlusion_mask(self.limbs, one[0].solid.vertices_mm, self.camera, spare).any()
        ]

    def _lay(self) -> None:
        rng, solids = self.rng, [one[0].solid for one in self.placed]
        size = self.sizes[int(rng.integers(len(self.sizes)))]
        colour = COLOURS[int(rng.integers(len(COLOURS)))]
        for _ in range(20):
            x, y = rng.uniform(-1.1, 1.1, 2) * self.half_mm
            if solids and rng.random() < 0.4:
                x, y = solids[int(rng.integers(len(solids)))].vertices_mm[:, :2].mean(
                    axis=0
                ) + rng.normal(0, 1.3 * size.base_mm, 2)
            heading, kind = float(rng.uniform(0, 360)), rng.random()
            pose: Pose = "upright" if kind < 0.45 else "lying" if kind < 0.9 else "leaning"
            solid: Solid | None
            if pose == "leaning":
                support = solids[int(rng.integers(len(solids)))] if solids else None
                if support is None or support.vertices_mm[:, 2].max() > 2.5 * size.base_mm:
                    continue
                ahead = np.array([math.cos(math.radians(heading)), math.sin(math.radians(heading))])
                away = float(rng.uniform(0.3, 1.0)) * size.slant_mm + size.base_mm / 2
                edge = support.vertices_mm[:, :2].mean(axis=0) - away * ahead + rng.normal(0, 3, 2)
                solid = lean_against(size, edge, heading, support)
                others = [other for other in solids if other is not support]
            else:
                solid = (upright if pose == "upright" else lying)(size, float(x), float(y), heading)
                others = solids
                if solids and rng.random() < 0.3 and is_free(solid, others):
                    solid = slide_against(solid, solids[int(rng.integers(len(solids)))]) or solid
            if solid is None or not is_free(solid, others, 0.01) or self._on_disc(solid):
                continue
            self._place(solid, pose, colour, size)
            return

    def _on_disc(self, solid: Solid) -> bool:
        rims = [disc.outline_mm for disc in self.discs]
        return any(
            np.hypot(*(solid.vertices_mm[:, :2] - rim.mean(axis=0)).T).min()
            < 0.6 * np.ptp(rim[:, 0])
            for rim in rims
        )

    def _place(self, solid: Solid, pose: Pose, colour: str, size: PieceSize) -> None:
        see_through = not self.solid_plastic and colour not in ALWAYS_OPAQUE
        self.placed.append((self._scene_piece(solid, colour, see_through, size), POSES.index(pose)))
        if see_through and len(self.sizes) == 3 and self.rng.random() < 0.3:
            # A nest: smaller pieces of the colour inside, their bases level with this one's.
            middle = solid.vertices_mm[:4].mean(axis=0)
            for inner in self.sizes[: self.sizes.index(size)]:
                shrunk = Solid(
                    middle + (solid.vertices_mm - middle) * (inner.base_mm / size.base_mm)
                )
                self.hidden.append(self._scene_piece(shrunk, colour, see_through, inner))

    def _scene_piece(
        self, solid: Solid, colour: str, see_through: bool, size: PieceSize
    ) -> ScenePiece:
        return ScenePiece(
            solid, colour, see_through, size.wall_mm, dye=self.dyes[colour], **self.plastic
        )

    def _pieces(self) -> tuple[ScenePiece, ...]:
        return tuple(self.hidden) + tuple(one[0] for one in self.placed)

    def picture(self) -> Image:
        """A photograph of the present pieces."""
        picture = self.renderer.picture(
            Scene(self.stage, self._pieces(), self.limbs, self.discs), self.rng
        )
        _, packed = cv2.imencode(
            ".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, int(self.rng.integers(70, 97))]
        )
        return swapped(decode_image(packed.tobytes(), "a drawn picture"))

    def view(self, picture: Image) -> LabelledView:
        """The view cut from a photograph of the present pieces."""
        rng = self.rng
        fine = cv2.remap(
            picture,
            self.at_px[..., 0],
            self.at_px[..., 1],
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        )
        code = np.asarray(
            cv2.resize(fine, (VIEW_PX, VIEW_PX), interpolation=cv2.INTER_AREA), np.uint8
        )
        light = self.stage.ambient + sum(lamp.power for lamp in self.stage.lamps)
        paper = (
            0.8
            * light
            * np.array(self.stage.sensor.exposure)
            * rng.uniform(0.85, 1.1)
            * rng.uniform(0.96, 1.04, 3)
        )
        seen = [one for one in self.placed if self._is_in_view(one[0].solid)]
        discs = np.array([disc_px(disc, self._pixels) for disc in self.discs]).reshape(-1, 3)
        return LabelledView(
            encode_light(code, paper),
            np.array([self._pixels(one[0].solid.vertices_mm) for one in seen]).reshape(-1, 5, 2),
            np.array([one[1] for one in seen], int),
            np.array([COLOURS.index(one[0].colour) for one in seen], int),
            np.array([one[0].solid.base_mm / self.step_mm for one in seen]),
            discs,
            np.stack([self._piece_mask(self._pieces()), self._arm_mask()]),
        )

    def _piece_mask(self, pieces: tuple[ScenePiece, ...]) -> NDArray[np.uint8]:
        bodies = [
            *(piece.solid.vertices_mm for piece in pieces),
            *(disc.vertices_mm for disc in self.discs),
        ]
        return outline_mask((VIEW_PX, VIEW_PX), [self._pixels(body) for body in bodies])

    def _arm_mask(self) -> NDArray[np.uint8]:
        arms = arm_mask(self.limbs, self.stage, self.camera, self.setup.camera)
        return np.asarray(
            cv2.remap(arms, self.at_px[::2, ::2, 0], self.at_px[::2, ::2, 1], cv2.INTER_NEAREST),
            np.uint8,
        )

    def _pixels_of_view(self) -> NDArray[np.float32]:
        """Image coordinates of the pixels of a view twice as fine.

        (2 VIEW_PX, 2 VIEW_PX, 2).
        """
        along = (np.arange(2 * VIEW_PX) + 0.5) / 2 - 0.5
        x, y = np.meshgrid(along * self.step_mm - self.half_mm, self.half_mm - along * self.step_mm)
        at = project(
            np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)]),
            self.camera,
            self.setup.camera,
        )
        return at.astype(np.float32).reshape(2 * VIEW_PX, 2 * VIEW_PX, 2)

    def _pixels(self, points_mm: Array) -> Array:
        flat = project_to_table(points_mm, self.camera.eye_mm)
        return (
            np.column_stack([flat[:, 0] + self.half_mm, self.half_mm - flat[:, 1]]) / self.step_mm
        )

    def _is_in_view(self, solid: Solid) -> bool:
        middle = self._pixels(solid.vertices_mm).mean(axis=0)
        return bool((middle > 2).all() and (middle < VIEW_PX - 3).all())


def plastic(rng: np.random.Generator) -> dict[str, Any]:
    """Material of a table's pieces, as fields of `ScenePiece`."""
    made_of: dict[str, Any] = {
        name: float(rng.uniform(*span))
        for name, span in (("glitter", GLITTER), ("gloss", GLOSS), ("depth", DEPTH))
    }
    if rng.random() < CLEAR:
        return made_of
    rims = 0.0 if rng.random() < RIMLESS else float(rng.uniform(*RIMS))
    return made_of | {
        "grain": float(rng.uniform(*GRAIN)),
        "bent": float(rng.uniform(*BENT)),
        "rims": rims,
    }


def arm_mask(
    limbs: tuple[Limb, ...], stage: Stage, camera: Camera, lens: Lens
) -> NDArray[np.uint8]:
    """1 in the pixels (height, width) of a photograph that show an arm."""
    seen = np.zeros((lens.height, lens.width, 3), np.float32)
    if limbs:
        draw_limbs(
            seen,
            tuple(replace(limb, rgb=(1.0, 1.0, 1.0)) for limb in limbs),
            stage,
            make_grid(camera, lens),
        )
    return (seen.max(axis=2) > 0).astype(np.uint8)


def outline_mask(
    shape: tuple[int, int], bodies: Iterable[Array], discs: Iterable[Array] = ()
) -> NDArray[np.uint8]:
    """1 in the pixels (height, width) inside the outlines of bodies (n, 2) px or in discs.

    Discs (3,) are as by `disc_px`.
    """
    mask = np.zeros(shape, np.uint8)
    for body in bodies:
        hull = cv2.convexHull(np.rint(body * 16).astype(np.int32))
        cv2.fillConvexPoly(mask, hull, 1, shift=4)
    for x, y, radius in discs:
        cv2.circle(mask, (round(x * 16), round(y * 16)), round(radius * 16), 1, -1, shift=4)
    return mask


def disc_px(disc: Slab, pixels: Callable[[Array], Array]) -> Array:
    """Middle and radius (3,) of a counter's face; `pixels` projects points (n, 3) mm."""
    face = pixels(np.column_stack([disc.outline_mm, np.full(len(disc.outline_mm), disc.top_mm)]))
    return np.append(face.mean(axis=0), np.sqrt(np.ptp(face[:, 0]) * np.ptp(face[:, 1])) / 2)


def _dye(rgb: Rgb, rng: np.random.Generator) -> Rgb:
    """A colour with the variation between makers: in lightness, and slightly in hue."""
    r, g, b = (
        float(min(share * math.exp(rng.normal(0, 0.2)), 0.9))
        for share in np.array(rgb) * math.exp(rng.normal(0, 0.2))
    )
    return r, g, b


def _setup(half_mm: float, lens_px: int, rng: np.random.Generator) -> Setup:
    reach = 1.6 * half_mm
    outline = ((-reach, -reach), (reach, -reach), (reach, reach), (-reach, reach))
    focal = lens_px * 3.0
    lens = Lens(
        width=lens_px,
        height=lens_px,
        matrix=((focal, 0.0, lens_px / 2), (0.0, focal, lens_px / 2), (0.0, 0.0, 1.0)),
        distortion=(0.0,) * 5,
    )
    x, y = rng.uniform(0.5, 1.3, 2) * half_mm
    card = square_marker(
        int(rng.integers(50)), float(x), float(-y), float(rng.uniform(0.15, 0.35)) * half_mm
    )
    return Setup(
        camera=lens,
        fiducials=Fiducials(markers=(card,), z_mm=0.15),
        board=Open(outline_mm=outline),
        game=Game(name="ice_boule", colours=("red", "blue"), sizes=("large",), target="black"),
        pieces=load_piece_set("looney"),
    )


def _camera(half_mm: float, rng: np.random.Generator) -> Camera:
    """A camera that sees the whole view, from straight above to a tilt of 45 degrees.

    The corner of a table may be seen at such an angle.
    """
    tilt, turn = math.radians(rng.uniform(0, 45)), math.radians(rng.uniform(0, 360))
    back = np.array(
        [math.sin(tilt) * math.cos(turn), math.sin(tilt) * math.sin(turn), math.cos(tilt)]
    )
    return look_at(
        half_mm * 3.0 * 2.5 * float(rng.uniform(1.0, 1.25)) * back,
        np.zeros(3),
        float(rng.uniform(0, 360)),
    )
