"""Training examples for the detector: labelled views, turned and augmented anew each time."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from table.solids import POSES, Array
from training.labelled_views import VIEW_PX, LabelledView
from vision.networks.detector import (
    AXIS,
    CHANNELS,
    COLOUR,
    DISC,
    HILL_CELLS,
    MASK,
    OFFSET,
    SIZE,
    STEPS_A_BASE,
    STRIDE,
    TURN,
)

CELLS = VIEW_PX // STRIDE
GRID = np.mgrid[:CELLS, :CELLS]
REACH = 4
"""Radius, in cells, of the Gaussian target around a middle."""


def example(
    view: LabelledView, rng: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.float32]]:
    """A training example of a view, randomly mirrored and turned.

    Image (3, h, w), targets (CHANNELS, h / 4, w / 4) and their weights (h / 4, w / 4).
    """
    image, masks, vertices, discs = (
        view.image,
        view.masks,
        view.vertices.copy(),
        view.discs.copy(),
    )
    if rng.random() < 0.5:
        image, masks = image[:, ::-1], masks[..., ::-1]
        vertices[..., 0], discs[:, 0] = VIEW_PX - 1 - vertices[..., 0], VIEW_PX - 1 - discs[:, 0]
    for _ in range(int(rng.integers(4))):
        image, masks = np.rot90(image), np.rot90(masks, axes=(1, 2))
        vertices = np.stack([vertices[..., 1], VIEW_PX - 1 - vertices[..., 0]], axis=-1)
        discs = np.column_stack([discs[:, 1], VIEW_PX - 1 - discs[:, 0], discs[:, 2]])
    answer, weight = (
        np.zeros((CHANNELS, CELLS, CELLS), np.float32),
        np.zeros((CELLS, CELLS), np.float32),
    )
    nearest = np.full((CELLS, CELLS), np.inf)
    for corners, pose, colour, base in zip(
        vertices, view.pose, view.colour, view.base, strict=True
    ):
        middle, tip = corners[:4].mean(axis=0), corners[4]
        turn = np.arctan2(*(corners[1] - corners[0])[::-1])
        values = [(AXIS, (tip - middle) / STEPS_A_BASE), (SIZE, np.log([base / STEPS_A_BASE]))]
        if POSES[pose] == "upright":
            values.append((TURN, np.array([np.cos(4 * turn), np.sin(4 * turn)])))
        _mark(answer, weight, nearest, int(pose), (middle + tip) / 2, int(colour), values)
    for x, y, radius in discs:
        if 0 <= x < VIEW_PX and 0 <= y < VIEW_PX:
            _mark(
                answer,
                weight,
                nearest,
                DISC,
                np.array([x, y]),
                -1,
                [(SIZE, np.log([2 * radius / STEPS_A_BASE]))],
            )
    answer[MASK] = masks.reshape(2, CELLS, STRIDE, CELLS, STRIDE).mean(axis=(2, 4))
    return np.ascontiguousarray(image.transpose(2, 0, 1)), answer, weight


def _mark(
    answer: NDArray[np.float32],
    weight: NDArray[np.float32],
    nearest: Array,
    kind: int,
    at: Array,
    colour: int,
    values: list[tuple[slice, Array]],
) -> None:
    """Write one piece into the targets: its Gaussian, and its values where it is the nearest."""
    away = (at + 0.5) / STRIDE - 0.5
    column, row = np.clip(np.rint(away).astype(int), 0, CELLS - 1)
    rows, columns = (
        slice(max(0, row - REACH), row + REACH + 1),
        slice(max(0, column - REACH), column + REACH + 1),
    )
    dy, dx = (away[::-1, None, None] - GRID[:, rows, columns]).astype(np.float32)
    squared = dx * dx + dy * dy
    hill = np.exp(-squared / (2 * HILL_CELLS**2))
    hill[np.unravel_index(int(squared.argmin()), squared.shape)] = 1.0
    answer[kind, rows, columns] = np.maximum(answer[kind, rows, columns], hill)
    here = (squared < 2.3) & (squared < nearest[rows, columns])
    nearest[rows, columns][here], weight[rows, columns][here] = (
        squared[here],
        np.exp(-squared[here]),
    )
    part = answer[:, rows, columns]
    part[4 : MASK.start, here] = 0.0
    part[OFFSET][:, here] = np.stack([dx[here], dy[here]])
    for channels, value in values:
        part[channels][:, here] = value[:, None]
    if colour >= 0:
        part[COLOUR][colour, here] = 1.0


def augmented(images: Tensor, rng: np.random.Generator) -> Tensor:
    """Images (n, 3, h, w) in 0..1 with the variation of lamps, lenses and sensors."""
    n = len(images)

    def some(low: float, high: float, *shape: int) -> Tensor:
        return torch.from_numpy(rng.uniform(low, high, (n, *shape)).astype(np.float32)).to(
            images.device
        )

    images = images * some(0.75, 1.2, 1, 1, 1) * some(0.94, 1.06, 3, 1, 1)
    images = images.clamp(1e-4, 1) ** some(0.85, 1.2, 1, 1, 1)
    blur = some(0, 0.6, 1, 1, 1) * (some(0, 1, 1, 1, 1) < 0.4)
    images = (1 - blur) * images + blur * torch.nn.functional.avg_pool2d(
        images, 3, 1, 1, count_include_pad=False
    )
    noise = torch.from_numpy(rng.standard_normal(tuple(images.shape), np.float32)).to(images.device)
    return (images + noise * some(0, 0.04, 1, 1, 1) * (some(0, 1, 1, 1, 1) < 0.5)).clamp(0, 1)


def heatmap_losses(logits: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Focal loss of heat maps (Law and Deng 2018): where a middle is, and elsewhere; per middle."""
    chance = logits.sigmoid().clamp(1e-5, 1 - 1e-5)
    top = target > 0.999
    count = top.sum().clamp(min=1)
    missed = ((1 - chance) ** 2 * chance.log())[top].sum()
    invented = ((1 - target) ** 4 * chance**2 * (1 - chance).log())[~top].sum()
    return -missed / count, -invented / count


def loss(output: Tensor, answer: Tensor, weight: Tensor) -> tuple[Tensor, dict[str, float]]:
    """Loss: focal loss of the heat maps (Law and Deng 2018), distances, colours."""
    missed, invented = heatmap_losses(output[:, :4], answer[:, :4])
    hills = missed + invented
    w = weight[:, None]
    whole = weight.sum().clamp(min=1)
    piece = w * (answer[:, COLOUR].sum(dim=1, keepdim=True) > 0)
    upright = w * ((answer[:, TURN] ** 2).sum(dim=1, keepdim=True) > 0.5)

    def apart(channels: slice, mask: Tensor) -> Tensor:
        return (
            torch.nn.functional.smooth_l1_loss(
                output[:, channels], answer[:, channels], reduction="none", beta=0.05
            )
            * mask
        ).sum()

    offset, axis = apart(OFFSET, w) / whole, apart(AXIS, piece) / piece.sum().clamp(min=1)
    turn, size = apart(TURN, upright) / upright.sum().clamp(min=1), apart(SIZE, w) / whole
    names = -(
        answer[:, COLOUR] * torch.log_softmax(output[:, COLOUR], dim=1) * piece
    ).sum() / piece.sum().clamp(min=1)
    masks = torch.nn.functional.binary_cross_entropy_with_logits(output[:, MASK], answer[:, MASK])
    parts = {
        "hills": hills,
        "offset": offset,
        "axis": axis,
        "turn": turn,
        "size": size,
        "colour": names,
        "masks": masks,
    }
    total = hills + offset + 1.5 * axis + 0.5 * turn + 2 * size + 0.3 * names + masks
    return total, {name: float(value.detach()) for name, value in parts.items()}
