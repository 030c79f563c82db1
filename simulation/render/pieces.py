"""Pyramids as hollow shells.

Shaded faces, the open base, see-through plastic, sparkle and bright edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from simulation.render.rays import Grid, Plane
from simulation.render.scene import Body, Rgb, ScenePiece, Stage
from simulation.render.shadows import lamp_light
from table.solids import BASE, EDGES, SIDES, TIP, Array
from vision.geometry.camera_model import project

Colours = NDArray[np.float32]
Layer = tuple[Colours, Colours]
"""Transmitted share and added light of a layer of plastic, (h, w, 3) each."""

EDGE_MM = 0.45
"""Half width of the rounded edges, which catch the light."""
SHINE, SHINE_POWER = 0.9, 25.0
MIRROR_MM = 600.0
"""Distance beyond which nothing is mirrored."""
INNER_EDGES = 0.45
"""Light of an inner edge, as a share of an outer edge's."""
BENT = 0.6
"""Light that a face mirrors internally, as a share of an opaque face's."""
BOUNCE: float = 0.15
"""Light from the table on a face that looks down, as a share of all light."""


def transmission(body: Body) -> Rgb:
    """Share of light that a body transmits on to the table."""
    if not (isinstance(body, ScenePiece) and body.see_through):
        return (0.0, 0.0, 0.0)
    r, g, b = 0.75 * tint(body)
    return float(r), float(g), float(b)


def grain(body: Body) -> float:
    """Additional unevenness of the light that a body transmits."""
    return body.grain if isinstance(body, ScenePiece) else 0.0


def tint(piece: ScenePiece) -> Array:
    """Share of light (3,) that one wall of see-through plastic transmits at a right angle."""
    rgb = np.array(piece.rgb)
    through: Array = (0.85 * np.clip((rgb / rgb.max()) ** 0.7, 0.035, 0.93)) ** piece.depth
    return through


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """Surroundings of a piece.

    `ground` is the light (h, w, 3) of the whole ground without pieces, `grid` the rays that see it,
    `z_mm` the ground's height.
    """

    ground: Colours
    grid: Grid
    z_mm: float
    mean_rgb: Array

    def mirrored(self, from_mm: Colours, towards: Colours, sky: Array) -> Colours:
        """Light (h, w, 3) that reaches places (h, w, 3) against directions (h, w, 3).

        It is the ground's where these point down, otherwise the sky's.
        """
        falls = towards[..., 2] < -0.02
        reach = np.where(
            falls,
            (np.float32(self.z_mm) - from_mm[..., 2])
            / np.where(falls, towards[..., 2], np.float32(-1.0)),
            np.float32(0.0),
        )
        places = from_mm + np.clip(reach, 0, MIRROR_MM)[..., None] * towards
        pixels = project(
            places.reshape(-1, 3).astype(float), self.grid.camera, self.grid.lens
        ).astype(np.float32)
        shape = falls.shape
        u, v = pixels[:, 0].reshape(shape), pixels[:, 1].reshape(shape)
        seen = np.asarray(
            cv2.remap(self.ground, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE),
            np.float32,
        )
        light: Colours = np.where(falls[..., None], seen, sky.astype(np.float32))
        return light


def draw_piece(
    out: Colours, piece: ScenePiece, stage: Stage, grid: Grid, around: Surroundings
) -> None:
    """Paint a piece over `out` (h, w, 3)."""
    box = grid.around(piece.solid.vertices_mm, 3.0)
    if box is None:
        return
    part = grid.crop(box)
    shell = _Shell(piece, stage, part, around)
    share = part.silhouette(shell.corners)[..., None]
    behind, before = shell.layer(shell.away), shell.layer(shell.facing)
    below = out[box]
    shown = (below * behind[0] + behind[1]) * before[0] + before[1]
    out[box] = below + share * (shown - below)


class _Shell:
    """One piece before one camera: its corners, faces and edges, for composition in layers."""

    def __init__(self, piece: ScenePiece, stage: Stage, part: Grid, around: Surroundings) -> None:
        self.piece, self.stage, self.part, self.around = piece, stage, part, around
        self.world = piece.solid.vertices_mm
        self.corners = part.to_camera(self.world)
        outer, centre = self.world, self.world[:4].mean(axis=0)
        base_mm = float(np.linalg.norm(outer[1] - outer[0]))
        height_mm = float(np.linalg.norm(outer[TIP] - centre))
        step_mm = piece.wall_mm * np.hypot(height_mm, base_mm / 2) / (base_mm / 2)
        self.inner = centre + max(0.0, 1 - step_mm / height_mm) * (outer - centre)
        self.facing = [face for face in (BASE, *SIDES) if self._facing(face)]
        self.away = (
            [face for face in (BASE, *SIDES) if not self._facing(face)] if piece.see_through else []
        )
        self.strips = self._edge_strips()
        self.sparkle = self._uneven(self.piece.glitter, ())
        self.grains = (
            self._uneven(self.piece.grain, (1,)) if self.piece.grain else np.ones_like(self.sparkle)
        )

    def layer(self, faces: Sequence[tuple[int, ...]]) -> Layer:
        """Mixture of the faces on one side of the piece, weighted by coverage of each pixel."""
        shape = (*self.part.x.shape, 3)
        through, added, total = (
            np.zeros(shape, np.float32),
            np.zeros(shape, np.float32),
            np.full(shape[:2], np.float32(1e-6)),
        )
        for face in faces:
            share = self.part.coverage(self.corners[list(face)])
            face_through, face_added = (
                self._base(face) if face == BASE else self._wall(self.world, face, 1.0)
            )
            through += share[..., None] * face_through
            added += share[..., None] * face_added
            total += share
        if not faces:
            return np.ones(shape, np.float32), added
        through /= total[..., None]
        added /= total[..., None]
        return through, added

    def _facing(self, face: tuple[int, ...]) -> bool:
        a, b, c = self.corners[list(face[:3])]
        return bool(np.cross(b - a, c - a) @ a < 0)

    def _base(self, face: tuple[int, ...]) -> Layer:
        """The open base: a rim of the wall's thickness, and the inside of the walls beyond it."""
        rim = self._wall(self.world, face, 0.9)
        if self.piece.wall_mm <= 0:
            return rim
        inner = self.part.to_camera(self.inner)
        opening = self.part.coverage(inner[list(face)])[..., None]
        if self.piece.see_through:
            return rim[0] * rim[0] * (1 - opening) + opening, 1.5 * rim[1] * (1 - opening)
        inside, total = np.zeros_like(rim[1]), np.full(opening.shape, np.float32(1e-6))
        for side in SIDES:
            if not self._facing(side):
                share = self.part.coverage(inner[list(side)])[..., None]
                inside += share * self._wall(self.inner, side[::-1], 0.6)[1]
                total += share
        return np.zeros_like(rim[1]), rim[1] * (1 - opening) + opening * inside / total

    def _wall(self, vertices: Array, face: tuple[int, ...], openness: float) -> Layer:
        """One flat wall from outside; `openness` is the share of light that reaches it."""
        corners = vertices[list(face)]
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        normal = normal / np.linalg.norm(normal)
        middle = corners.mean(axis=0)
        sky = self.stage.ambient * (0.55 + 0.45 * normal[2])
        lamps = sum(lamp_light(lamp, middle, normal) for lamp in self.stage.lamps)
        light = openness * (lamps + sky + BOUNCE * (1 - normal[2]) * self.around.mean_rgb)
        back = np.array(self.piece.rgb) * light
        gloss, strips = self.piece.gloss, self.strips[..., None]
        mirror, mirrored = self._mirror(middle, normal)
        mirrored *= np.float32(openness**2)
        if not self.piece.see_through:
            added = (
                back * (1 + 0.25 * gloss * strips) + 0.05 * gloss * strips * light.mean() + mirrored
            )
            return np.zeros_like(added, np.float32), added.astype(np.float32)
        sight = self.part.camera.eye_mm - middle
        facing = abs(float(sight @ normal)) / float(np.linalg.norm(sight))
        more, light_from_elsewhere = self._bent_light(face)
        through = more * tint(self.piece) ** (1 / max(facing, 0.35)) * self.grains[..., None]
        strips = self.piece.rims * strips
        added = (back * (0.16 + 0.55 * strips + light_from_elsewhere)) * self.sparkle[
            ..., None
        ] + mirrored
        return (through * (1 - 0.45 * strips) * (1 - mirror)).astype(np.float32), added.astype(
            np.float32
        )

    def _bent_light(self, face: tuple[int, ...]) -> tuple[float, float]:
        """Factor on a face's transmission, and light that it adds.

        The cause is light that is refracted and mirrored within the plastic.
        """
        if not self.piece.bent:
            return 1.0, 0.0
        more, other = self._own_rng(face).normal(0.0, self.piece.bent, 2)
        return float(np.exp(min(more, 0.3))), BENT * max(0.0, float(other))

    def _mirror(self, middle: Array, normal: Array) -> tuple[Colours, Colours]:
        """Share (h, w, 1) of light that a face mirrors (Schlick), and the light (h, w, 3) added."""
        turn = self.part.camera.rotation.astype(np.float32)
        rays: Colours = (
            np.stack([self.part.x, self.part.y, np.ones_like(self.part.x)], axis=-1) @ turn
        )
        rays /= np.linalg.norm(rays, axis=-1, keepdims=True)
        n, eye = normal.astype(np.float32), self.part.camera.eye_mm
        against = rays @ n
        towards = np.asarray(rays - 2 * against[..., None] * n, np.float32)
        reach = np.float32((middle - eye) @ normal) / np.where(
            np.abs(against) < 1e-3, np.float32(1e-3), against
        )
        places = np.asarray(eye + reach[..., None] * rays, np.float32)
        share = (
            np.float32(self.piece.gloss)
            * (np.float32(0.04) + np.float32(0.96) * (1 - np.clip(np.abs(against), 0, 1)) ** 5)[
                ..., None
            ]
        )
        sky = np.full(3, 0.6 * self.stage.ambient)
        return (
            share,
            share * self.around.mirrored(places, towards, sky)
            + np.float32(self.piece.gloss) * self._shine(places, towards)[..., None],
        )

    def _shine(self, places: Colours, towards: Colours) -> Plane:
        """Gloss of the lamps, (h, w), from the angle between mirrored directions and a lamp.

        `places` and `towards` are (h, w, 3).
        """
        total = np.zeros(self.part.x.shape, np.float32)
        for lamp in self.stage.lamps:
            to_lamp = np.array(lamp.at_mm, np.float32) - places
            cosine = np.einsum("hwk,hwk->hw", towards, to_lamp) / np.linalg.norm(to_lamp, axis=-1)
            total += np.float32(SHINE * lamp.power) * np.clip(cosine, 0, 1) ** np.float32(
                SHINE_POWER
            )
        return total

    def _edge_strips(self) -> Plane:
        """Coverage (h, w) by the visible rounded edges.

        With see-through plastic these are all edges, the shell's inner ones too.
        """
        seen = {
            frozenset((a, b))
            for face in self.facing
            for a, b in zip(face, (*face[1:], face[0]), strict=True)
        }
        strips = np.zeros(self.part.x.shape, np.float32)
        for a, b in EDGES:
            if self.piece.see_through or frozenset((a, b)) in seen:
                strips = np.maximum(strips, self._strip(self.corners[a], self.corners[b]))
        if self.piece.see_through and self.piece.wall_mm > 0:
            inner = self.part.to_camera(self.inner)
            for a, b in EDGES[4:]:
                strips = np.maximum(
                    strips, np.float32(INNER_EDGES) * self._strip(inner[a], inner[b])
                )
        return strips

    def _strip(self, start: Array, end: Array) -> Plane:
        normal = np.cross(start, end)
        if np.linalg.norm(normal) < 1e-6:
            return np.zeros(self.part.x.shape, np.float32)
        half_px = np.float32(EDGE_MM * self.part.lens.matrix[0][0] / (0.5 * (start[2] + end[2])))
        beside = np.abs(self.part.beyond(normal))
        strip: Plane = np.clip(half_px + np.float32(0.5) - beside, 0, 1) * min(
            1.0, float(half_px) * 2
        )
        return strip

    def _uneven(self, strength: float, kind: tuple[int, ...]) -> Plane:
        """Unevenness of light in see-through plastic with glitter, (h, w), mean about 1.

        It is the same for the same piece in the same place.
        """
        (v0, v1), (u0, u1) = self.part.span(self.world, 3.0)
        grains = cv2.GaussianBlur(
            self._own_rng(kind).standard_normal((v1 - v0, u1 - u0), dtype=np.float32), (0, 0), 0.6
        )
        rows, columns = self.part.x.shape
        uneven: Plane = np.exp(
            np.float32(3.0 * strength) * grains - np.float32(1.1 * strength**2)
        ).astype(np.float32)
        return uneven[-v0 : rows - v0, -u0 : columns - u0]

    def _own_rng(self, kind: tuple[int, ...]) -> np.random.Generator:
        """Random generator of this piece in this place."""
        place = np.abs(np.round(self.world * 100)).astype(np.int64).ravel()
        return np.random.default_rng([self.stage.seed, *place.tolist(), *kind])
