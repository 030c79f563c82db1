"""Decode an output of the network: the peaks of its heat maps, each with all its values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import conv2d, max_pool2d

from training.eyes.model import KINDS, STRIDE, UNIT_PX, Answer
from training.eyes.product import HILL_CELLS

LEAST_CHANCE = 0.15
"""Least probability of a reported middle."""
SAME_BASES = 0.45
"""Distance of middles, in bases, below which they belong to one object."""
POSES = 3
STACK, COUNTER, ELSE = (KINDS.index(name) for name in ("stack", "counter", "else"))

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """A detection with its middle at `centre` (2,) px.

    `chances` (kinds,) are the probabilities of the three poses, a stack, a counter and another
    object. `points` (5, 2) px are the corners of the base and the tip, with Laplace scales `doubts`
    (5,) px. `turn` is (2,). `base_doubt` is the Laplace scale of the logarithm of `base_px`.
    `colours` (c,), `clear` and `raised` are probabilities; `visible` is a share.
    """

    centre: Floats
    chances: Floats
    points: Floats
    doubts: Floats
    turn: Floats
    base_px: float
    base_doubt: float
    colours: Floats
    clear: float
    raised: float
    visible: float

    @property
    def poses(self) -> Floats:
        """Probabilities (3,) of the poses of a piece, normalized."""
        return np.asarray(self.chances[:POSES] / max(self.chances[:POSES].sum(), 1e-9))

    @property
    def best(self) -> tuple[int, float]:
        """The most probable of piece (0), counter and other object, and its probability."""
        rivals = {
            0: min(1.0, self.chances[:POSES].sum()),
            **{k: self.chances[k] for k in (COUNTER, ELSE)},
        }
        kind = max(rivals, key=lambda one: rivals[one])
        return kind, float(rivals[kind])


def detections(answer: Tensor, least: float = LEAST_CHANCE) -> list[list[Detection]]:
    """All detections in each picture, the most certain first.

    The outputs are (b, CHANNELS_OUT, h, w).
    """
    answer = answer.float()
    chances = _hill_chances(answer[:, Answer.CENTRE].sigmoid())
    whole = torch.stack(
        [chances[:, :POSES].sum(dim=1), chances[:, COUNTER], chances[:, ELSE]], dim=1
    ).amax(dim=1)
    peak = (whole >= max_pool2d(whole[:, None], 3, 1, 1)[:, 0]) & (whole > least)
    scene, row, column = (part.cpu() for part in peak.nonzero(as_tuple=True))
    cpu = answer.cpu()
    here = cpu[scene, :, row, column].double().numpy()
    likely = chances.cpu()[scene, :, row, column].double().numpy()
    found: list[list[Detection]] = [[] for _ in range(len(answer))]
    for number, values, own, y, x in zip(
        scene.tolist(), here, likely, row.tolist(), column.tolist(), strict=True
    ):
        found[number].append(_detection(values, own, np.array([x, y])))
    return [_without_duplicates(sorted(some, key=lambda one: -one.best[1])) for some in found]


def _hill_chances(chances: Tensor) -> Tensor:
    """Matched filter of probabilities (b, k, h, w): 1 for a certain middle."""
    steps = torch.arange(-1, 2, device=chances.device, dtype=torch.float32)
    bell = torch.exp(-(steps**2) / (2 * HILL_CELLS**2))
    hill = bell[:, None] * bell[None]
    hill = (hill / (hill**2).sum()).expand(chances.shape[1], 1, 3, 3)
    return conv2d(chances, hill, padding=1, groups=chances.shape[1]).clamp(max=1.0)


def _detection(values: Floats, chances: Floats, cell: NDArray[np.int64]) -> Detection:
    middle = (cell.astype(np.float64) + 0.5) * STRIDE - 0.5
    centre = middle + values[Answer.OFFSET] * STRIDE
    weights = np.exp(values[Answer.COLOUR] - values[Answer.COLOUR].max())
    clear, raised, visible = (
        1 / (1 + np.exp(-values[part.start]))
        for part in (Answer.CLEAR, Answer.RAISED, Answer.VISIBLE)
    )
    return Detection(
        centre,
        chances,
        middle + values[Answer.POINTS].reshape(5, 2) * UNIT_PX,
        np.exp(values[Answer.POINT_DOUBT].clip(-5, 2)) * UNIT_PX,
        values[Answer.TURN],
        float(np.exp(values[Answer.SIZE.start]) * UNIT_PX),
        float(np.exp(values[Answer.SIZE_DOUBT.start].clip(-5, 2))),
        weights / weights.sum(),
        float(clear),
        float(raised),
        float(visible),
    )


def _without_duplicates(found: list[Detection]) -> list[Detection]:
    """The detections without those within SAME_BASES of a more certain one."""
    kept: list[Detection] = []
    for one in found:
        if all(
            np.hypot(*(one.centre - other.centre)) >= SAME_BASES * min(one.base_px, other.base_px)
            for other in kept
        ):
            kept.append(one)
    return kept
