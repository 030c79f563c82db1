"""Labelled views of ray-traced rooms, with objects that are no pieces.

The scenes are those of `training.eyes`: room light, walls of see-through plastic, printed boards,
cloths, coins, cups, cards, hands. They are rectified as for `vision.networks.detector`.
"""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from simulation.render.board_art import counter
from table.solids import Array
from training.eyes import cameras, finish, scenes
from training.eyes.draw import Draw
from training.eyes.model import KINDS
from training.eyes.scenes import SIDE_PX
from training.eyes.targets import LEAST_VISIBLE
from training.labelled_views import VIEW_PX, LabelledView, disc_px, outline_mask
from vision.cameras.frame import Image
from vision.geometry.piece_pose import project_to_table
from vision.networks.detector import STEPS_A_BASE

QUARTER_PX = VIEW_PX // 2
"""Side of a quarter. A view is joined from four scenes, because one picture shows 8 bases and a
view 16.
"""
SHAPE = (QUARTER_PX, QUARTER_PX)
PX_TO_20_MM = (13.0, 24.0)
"""Scale of the cameras in px per 20 mm: a quarter of a view fits into the picture."""
PHOTOGRAPHS = 3
"""Number of photographs of each scene, by different cameras in the same place."""
COARSE = (1.0, 1.0, 1.0, 0.75)
"""Resolution of a photograph relative to the picture."""
QUIETER = (0.2, 1.0)
"""Noise relative to `finish.random_cameras`: a view averages several pixels of a camera."""
FINER_SET = 0.2
"""Share of scenes with a size in play that is smaller than all pieces there."""
FEWEST, SPARSE_TRIES = 4, 0.1
"""Least number of pieces in a quarter, and share of sparser ones that are used nevertheless."""
UNSEEN = 0.5
"""Visible share below which pieces are not listed, because something covers them."""
COUNTER = KINDS.index("counter")


class Quarter:
    """One scene, for a quarter of a view; rendered on demand."""

    def __init__(self, seed: int) -> None:
        self.seed, self.rng = seed, np.random.default_rng([seed, 47])
        self._draw = Draw(seed, 1, torch.device("cpu"))
        self.camera = cameras.random_views(self._draw, SIDE_PX, PX_TO_20_MM)
        self.pieces = scenes.random_pieces(self._draw, self.camera, SIDE_PX)
        there = self.pieces.there[0].numpy()
        bases = self.pieces.base_mm[0].double().numpy()
        self.base_mm = float(bases[there].min() if there.any() else bases.min())
        if self.rng.random() < FINER_SET:
            self.base_mm *= float(self.rng.uniform(0.65, 0.95))
        self.step_mm = self.base_mm / STEPS_A_BASE
        self.eye_mm = self.camera.eye[0].double().numpy()
        corners = self.pieces.corners[0].double().numpy()
        self.corners_px = np.array([self._at(piece) for piece in corners])
        middle = (self.corners_px[:, :4].mean(axis=1) + self.corners_px[:, 4]) / 2
        inside = ((middle > 2) & (middle < QUARTER_PX - 3)).all(axis=1)
        self.listed = self.pieces.listed[0].numpy() & inside

    def render(self) -> bool:
        """Render it; false if it shows a case that the networks do not know.

        That is a piece on another, or a half hidden one.
        """
        scene = scenes.scenes_around(self._draw, self.camera, self.pieces, self.seed)
        with torch.no_grad():
            self.shown = scenes.render(scene, self.seed)
        self.things = scene.things
        visible = self.shown.objects.visible[0, : scenes.PIECES].numpy()
        half = (visible >= LEAST_VISIBLE) & (visible < UNSEEN)
        raised = self.pieces.raised[0].numpy()
        usable = not (self.listed & (half | raised)).any()
        self.listed &= visible >= UNSEEN
        self.map = self._pixels_of_quarter()
        return usable

    def _pixels_of_quarter(self) -> NDArray[np.float32]:
        """Image coordinates of the pixels of the quarter, twice as fine, (2 q, 2 q, 2)."""
        along = ((np.arange(2 * QUARTER_PX) + 0.5) / 2 - QUARTER_PX / 2) * self.step_mm
        x, y = np.meshgrid(along, -along)
        points = np.stack([x, y, np.zeros_like(x)], axis=-1).astype(np.float32)
        pixels = cameras.project(self.camera, torch.from_numpy(points).reshape(1, -1, 3))
        return pixels[0].numpy().reshape(2 * QUARTER_PX, 2 * QUARTER_PX, 2)

    def _flat(self, picture: Image) -> Image:
        """A picture of the camera, rectified."""
        x, y = self.map[..., 0], self.map[..., 1]
        fine = cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(
            cv2.resize(fine, (QUARTER_PX, QUARTER_PX), interpolation=cv2.INTER_AREA), np.uint8
        )

    def _at(self, points_mm: Array) -> Array:
        """Pixels (n, 2) of the quarter for points (n, 3)."""
        flat = project_to_table(points_mm, self.eye_mm)
        return flat[:, :2] * [1, -1] / self.step_mm + QUARTER_PX / 2 - 0.5

    def view(self) -> LabelledView:
        """A photograph of the scene, rectified; its sides are QUARTER_PX."""
        discs = self._counters()
        there, listed = self.pieces.there[0].numpy(), self.listed
        return LabelledView(
            self._flat(self._photograph()),
            self.corners_px[listed],
            self.pieces.kind[0].numpy()[listed],
            self.pieces.name[0].numpy()[listed],
            self.pieces.base_mm[0].double().numpy()[listed] / self.step_mm,
            discs,
            np.stack([outline_mask(SHAPE, self.corners_px[there], discs), self._arms()]),
        )

    def _photograph(self) -> Image:
        """A camera's picture of the scene, in light relative to white paper."""
        draw = Draw(int(self.rng.integers(2**31)), 1, torch.device("cpu"))
        camera = finish.random_cameras(draw)
        camera = camera._replace(
            grey=torch.zeros_like(camera.grey), noise=camera.noise * draw.uniform(*QUIETER, 1)
        )
        coarse = float(self.rng.choice(COARSE))
        with torch.no_grad():
            code = finish.take_pictures(self.shown.light, camera, coarse, draw)
            seen: Tensor = finish.relative_to_paper(code, finish.paper_of(camera))
        picture = (255 * seen[0].permute(1, 2, 0)).round().clamp(0, 255)
        return np.ascontiguousarray(picture.numpy().astype(np.uint8))

    def _counters(self) -> Array:
        """Middle and radius (m, 3) of the faces of counters, in pixels of the quarter."""
        are = self.things.kind[0] == COUNTER
        middles, sizes = self.things.middle[0][are].double().numpy(), self.things.size_mm[0][are]
        discs = [
            counter(middle[:2], float(size), 2 * middle[2], (1.0, 1.0, 1.0))
            for middle, size in zip(middles, sizes, strict=True)
        ]
        return np.array([disc_px(disc, self._at) for disc in discs]).reshape(-1, 3)

    def _arms(self) -> NDArray[np.uint8]:
        mask = (255 * self.shown.masks[0, 2]).numpy().astype(np.uint8)
        mask = np.asarray(cv2.resize(mask, (SIDE_PX, SIDE_PX), interpolation=cv2.INTER_LINEAR))
        return (self._flat(mask) > 127).astype(np.uint8)


def room_views(seed: int) -> Iterator[LabelledView]:
    """PHOTOGRAPHS views of the same four scenes."""
    rng = np.random.default_rng([seed, 53])
    quarters: list[Quarter] = []
    attempt = seed * 1000
    while len(quarters) < 4:
        attempt += 1
        quarter = Quarter(attempt)
        wanted = quarter.listed.sum() >= FEWEST or rng.random() < SPARSE_TRIES
        if wanted and quarter.render():
            quarters.append(quarter)
    for _ in range(PHOTOGRAPHS):
        yield join_quarters([quarter.view() for quarter in quarters])


def join_quarters(quarters: list[LabelledView]) -> LabelledView:
    """One view of four with half its side, by rows."""
    shifts = [np.array([QUARTER_PX * (k % 2), QUARTER_PX * (k // 2)]) for k in range(4)]
    parts = list(zip(quarters, shifts, strict=True))
    a, b, c, d = (quarter.image for quarter in quarters)
    e, f, g, h = (quarter.masks for quarter in quarters)
    return LabelledView(
        np.concatenate([np.concatenate([a, b], axis=1), np.concatenate([c, d], axis=1)]),
        np.concatenate([one.vertices + shift for one, shift in parts]),
        np.concatenate([one.pose for one in quarters]),
        np.concatenate([one.colour for one in quarters]),
        np.concatenate([one.base for one in quarters]),
        np.concatenate([one.discs + np.append(shift, 0) for one, shift in parts]),
        np.concatenate([np.concatenate([e, f], axis=2), np.concatenate([g, h], axis=2)], axis=1),
    )
