"""Training examples for the pose refiner.

Pieces drawn in full detail, hypotheses with small errors, and these errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import avg_pool2d

from simulation.generate.tables import Kind
from table.pieces import PieceSize
from table.solids import POSES, Array, Pose, Solid
from training.boards import photographs
from training.labelled_views import Table
from vision.geometry.piece_pose import Hypothesis
from vision.geometry.rectified_view import FlatView, Photo
from vision.networks import pose_refiner
from vision.networks.detector import encode_light
from vision.networks.pose_refiner import (
    LOG_SCALES,
    OFF,
    SHIFT,
    SLANTS,
    TURN,
    StraightCrop,
    draw_solid,
    rotation,
    straight_crop,
)
from vision.pose.edge_alignment import align_to_edges

SIDE_PX, BASE_PX = 200, 40.0
"""Side of the stored picture of a piece, and its pixels per base, finer than the network's input.
"""
LENSES_PX, WIDTHS_PX = (420, 950), (1300, 2000)
THROWS = 5
"""Number of arrangements on a free table."""
BOARDS: tuple[Kind, ...] = ("storm", "storm", "boule", "zamboni", "storm", "boule", "icebreaker")
"""Kinds of tables, by frequency. See-through pieces on chessboards and open ground are the hardest.
"""
EDGE_PX = 4
"""Distance from the edge of the picture within which pieces are left out."""
LEVEL_MM = 0.05
"""Largest deviation from level of a piece that gets edge alignment."""
APART_BASES, TURNED_DEG, LEAST_OFF, MOST_OFF = 0.09, 6.0, 0.08, 0.8
"""Errors of hypotheses, 1 sigma, times a log-uniform factor between the last two."""
ASTRAY, ASTRAY_TIMES = 0.1, 5.0
"""Share of hypotheses with a larger error, and its largest factor (log-uniform)."""
FREEDOM = 4.0
"""Degrees of freedom of Student's t, which tolerates a few unreadable examples."""
LEAST_SCALE, MOST_SCALE = -3.0, 6.0
BANK = 1 << 22
MIRRORED = np.array([1.0, -1.0, -1.0])
"""Signs of shifts and rotation in the mirror image, which shows a pyramid too."""
FITS, FITTED = 3, 0.6
"""Number of edge alignments of each piece, from different starts, and share of examples that begin
at their results. The refiner has to correct the errors of edges.
"""
START_BASES, START_DEG, STARTS = 0.06, 4.0, (0.35, 2.2)
"""Errors of the starts, 1 sigma, times a log-uniform factor between the last two."""
STATED = 1.3
"""Standard deviation that edge alignment is given, relative to the true one."""


@dataclass(frozen=True, slots=True, eq=False)
class PieceView:
    """A standing or lying piece, and the rectified picture around it.

    `eye_mm` (3,) is the camera's place; `fits` are the results of edge alignment.
    """

    view: FlatView
    solid: Solid
    pose: Pose
    eye_mm: Array
    fits: tuple[Solid, ...]


def free_pieces(seed: int) -> Iterator[PieceView]:
    """The pieces of one random table with random print."""
    rng = np.random.default_rng([seed, 17])
    table = Table(rng, lens_px=round(float(np.exp(rng.uniform(*np.log(LENSES_PX))))))
    for _ in range(THROWS):
        table.throw()
        light = table.stage.ambient + sum(lamp.power for lamp in table.stage.lamps)
        paper = (
            0.8
            * light
            * np.array(table.stage.sensor.exposure)
            * rng.uniform(0.85, 1.1)
            * rng.uniform(0.96, 1.04, 3)
        )
        placed = [(piece.solid, POSES[pose]) for piece, pose in table.placed]
        yield from piece_views(
            placed, Photo(table.picture(), table.camera, table.setup), paper, rng
        )


def board_pieces(seed: int) -> Iterator[PieceView]:
    """The pieces of one random table of a game."""
    rng = np.random.default_rng([seed, 19])
    for photo, layout, _ in photographs(BOARDS[seed % len(BOARDS)], seed, WIDTHS_PX, rng):
        placed = [(one.piece.solid, one.pose) for one in layout.placed]
        yield from piece_views(placed, photo, photo.paper, rng)


def piece_views(
    placed: list[tuple[Solid, Pose]], photo: Photo, paper: Array, rng: np.random.Generator
) -> Iterator[PieceView]:
    """Pieces on a photograph, each with the picture around it.

    Light is relative to white paper (3,).
    """
    outlines = [photo.silhouette(solid) for solid, _ in placed]
    for k, (solid, pose) in enumerate(placed):
        view = picture_around(solid, pose, photo, paper)
        if pose != "leaning" and view is not None:
            others = outlines[:k] + outlines[k + 1 :]
            yield PieceView(
                view,
                solid,
                pose,
                photo.camera.eye_mm,
                tuple(_fits(solid, pose, photo, others, rng)),
            )


def picture_around(solid: Solid, pose: Pose, photo: Photo, paper: Array) -> FlatView | None:
    """The rectified picture around a piece, in light relative to white paper (3,).

    None if it is not wholly in the photograph.
    """
    lens, half = photo.setup.camera, (SIDE_PX - 1) / 2
    seen = photo.pixels(solid.vertices_mm)
    if (seen < EDGE_PX).any() or (seen > np.array([lens.width, lens.height]) - EDGE_PX - 1).any():
        return None
    where = straight_crop(solid, pose, photo.camera.eye_mm)
    step_mm = where.step_mm * pose_refiner.BASE_PX / BASE_PX
    left, top = where.middle_mm + half * step_mm * np.array([-1, 1])
    place = FlatView(photo.image, float(left), float(top), step_mm)
    flat = pose_refiner.rectify(
        photo.image, SIDE_PX, partial(_photo_pixels, place, photo), cv2.INTER_CUBIC
    )
    return replace(place, code=encode_light(flat, paper))


def _photo_pixels(view: FlatView, photo: Photo, pixels: Array) -> Array:
    """Pixels of a photograph for pixels (n, 2) of a view."""
    return photo.pixels(np.column_stack([view.millimetres(pixels), np.zeros(len(pixels))]))


def _fits(
    solid: Solid, pose: Pose, photo: Photo, occluders: list[Array], rng: np.random.Generator
) -> Iterator[Solid]:
    """Results of edge alignment from a few starts; none if the piece is not level."""
    true = _hypothesis(solid, pose, photo.camera.eye_mm)
    if np.abs(true.solid.vertices_mm - solid.vertices_mm).max() > LEVEL_MM:
        return
    for _ in range(FITS):
        sigma = float(np.exp(rng.uniform(*np.log(STARTS)))) * np.array(
            [START_BASES * true.size.base_mm, START_BASES * true.size.base_mm, START_DEG]
        )
        start = true.at(true.parameters + rng.normal(0, sigma))
        placed = align_to_edges(start, np.diag((STATED * sigma) ** 2), photo, occluders, None)
        yield (start if placed is None else placed.guess).solid


def _hypothesis(solid: Solid, pose: Pose, eye_mm: Array) -> Hypothesis:
    """The hypothesis with this solid, in a size of its own, if it stands or lies level."""
    corners = solid.vertices_mm
    size = PieceSize(
        "its own",
        float(np.linalg.norm(corners[1] - corners[0])),
        float(np.linalg.norm(corners[4] - corners[:4].mean(axis=0))),
    )
    x, y, z = (
        float(value) for value in (corners[:4] if pose == "upright" else corners[1:3]).mean(axis=0)
    )
    return Hypothesis(
        size, pose, x, y, float(np.degrees(straight_crop(solid, pose, eye_mm).turn_rad)), z_mm=z
    )


def example(
    near: PieceView, rng: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Input (5, CROP_PX, CROP_PX) for a hypothesis near the true pose, and its error (3,)."""
    fitted = near.fits and rng.random() < FITTED
    guess = near.fits[int(rng.integers(len(near.fits)))] if fitted else _move_slightly(near, rng)
    seen, cut, mirrored = network_input(guess, near.pose, near.view, near.eye_mm, rng)
    there = straight_crop(near.solid, near.pose, near.eye_mm)
    period = np.pi / 2 if near.pose == "upright" else 2 * np.pi
    turn = (there.turn_rad - cut.turn_rad + period / 2) % period - period / 2
    tip, true_tip = guess.vertices_mm[4, :2], near.solid.vertices_mm[4, :2]
    back = true_tip - cut.middle_mm - rotation(turn) @ (tip - cut.middle_mm)
    off = np.array([*(back @ cut.turned / (cut.step_mm * pose_refiner.BASE_PX)), turn]) / OFF
    return seen, (MIRRORED * off if mirrored else off).astype(np.float32)


def network_input(
    solid: Solid, pose: Pose, view: FlatView, eye_mm: Array, rng: np.random.Generator
) -> tuple[NDArray[np.uint8], StraightCrop, bool]:
    """Input (5, CROP_PX, CROP_PX) for a hypothesis, the crop's placement, and if it is mirrored.

    A standing piece is turned to a random one of its sides.
    """
    cut = straight_crop(solid, pose, eye_mm)
    if pose == "upright":
        cut = cut._replace(turn_rad=cut.turn_rad + int(rng.integers(4)) * np.pi / 2)
    seen = np.concatenate(
        [cut.of(view.code, view.pixels).transpose(2, 0, 1), draw_solid(solid, cut, eye_mm)]
    )
    mirrored = rng.random() < 0.5
    return np.ascontiguousarray(seen[:, ::-1] if mirrored else seen), cut, mirrored


def _move_slightly(near: PieceView, rng: np.random.Generator) -> Solid:
    """The piece with a small random error of its pose."""
    where = straight_crop(near.solid, near.pose, near.eye_mm)
    factor = float(np.exp(rng.uniform(np.log(LEAST_OFF), np.log(MOST_OFF))))
    if rng.random() < ASTRAY:
        factor *= float(np.exp(rng.uniform(0, np.log(ASTRAY_TIMES))))
    turn, shift = (
        rotation(float(np.radians(rng.normal(0, TURNED_DEG * factor)))),
        rng.normal(0, APART_BASES * factor, 2),
    )
    there = near.solid.vertices_mm.copy()
    there[:, :2] = (
        (there[:, :2] - where.middle_mm) @ turn.T
        + where.middle_mm
        + shift * where.step_mm * pose_refiner.BASE_PX
    )
    return Solid(there)


class Augmentation:
    """Random variation of lamps, lenses and sensors in crops; the noise is drawn once."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        fine = torch.from_numpy(rng.standard_normal((1, 1, 2100, 2100), np.float32))
        coarse = 2 * avg_pool2d(fine, 3, 1, 1)
        self.grain = (fine.flatten()[:BANK], coarse.flatten()[:BANK])

    def __call__(self, seen: Tensor) -> Tensor:
        """Augmented crops (n, 5, h, w) in 0..1; the drawn channels are unchanged."""
        n = len(seen)

        def some(low: float, high: float, *shape: int) -> Tensor:
            return torch.from_numpy(self.rng.uniform(low, high, (n, *shape)).astype(np.float32)).to(
                seen.device
            )

        image = seen[:, :3] * some(0.7, 1.2, 1, 1, 1) * some(0.94, 1.06, 3, 1, 1)
        image = image.clamp(1e-4, 1) ** some(0.8, 1.3, 1, 1, 1)
        mean = image.mean(dim=(2, 3), keepdim=True)
        image = mean + torch.where(some(0, 1, 1, 1, 1) < 0.3, some(0.35, 1, 1, 1, 1), 1.0) * (
            image - mean
        )
        blur = some(0, 0.7, 1, 1, 1) * (some(0, 1, 1, 1, 1) < 0.4)
        image = (1 - blur) * image + blur * avg_pool2d(image, 3, 1, 1, count_include_pad=False)
        grain = self.grain[int(self.rng.random() < 0.4)]
        start = int(self.rng.integers(len(grain) - image.numel()))
        image = image + grain[start : start + image.numel()].to(seen.device).view_as(image) * some(
            0, 0.06, 1, 1, 1
        ) * (some(0, 1, 1, 1, 1) < 0.6)
        return torch.cat([image.clamp(0, 1), seen[:, 3:]], dim=1)


def loss(output: Tensor, off: Tensor) -> tuple[Tensor, dict[str, float]]:
    """Negative log-likelihood by Student's t."""
    scales = output[:, LOG_SCALES].clamp(LEAST_SCALE, MOST_SCALE)
    whiten = torch.diag_embed(scales.exp())
    whiten[:, [1, 2, 2], [0, 0, 1]] = output[:, SLANTS]
    apart = off - output[:, :3]
    squared = ((whiten @ apart[..., None])[..., 0] ** 2).sum(dim=1)
    total = (0.5 * (FREEDOM + 3) * torch.log1p(squared / FREEDOM) - scales.sum(dim=1)).mean()
    left = OFF * apart.detach().abs().median(dim=0).values
    return total, {
        "likelihood": -float(total.detach()),
        "bases": float(left[SHIFT].mean()),
        "degrees": float(left[TURN].rad2deg()),
    }
