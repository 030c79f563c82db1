"""Loss of the network's output."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import (
    binary_cross_entropy_with_logits,
    cross_entropy,
    one_hot,
    smooth_l1_loss,
)

from training.eyes.model import KINDS, STRIDE, UNIT_PX, Answer
from training.eyes.targets import Example, cells_of, relative_turn, targets

LEAST_DOUBT, MOST_DOUBT = -5.0, 2.0
SURER = 0.5
"""Exponent of the Laplace scale by which a likelihood is weighted: 0 for the likelihood itself, 1
for distances.
"""
WEIGHTS = {
    "centre": 1.0,
    "offset": 1.0,
    "points": 0.5,
    "turn": 0.5,
    "size": 0.5,
    "colour": 0.6,
    "clear": 0.15,
    "raised": 0.15,
    "visible": 0.1,
    "mask": 1.0,
}
"""Weights of the parts of the loss. At the end of training none is more than half of the total."""
TURNS = [[(k + turn) % 4 for k in range(4)] + [4] for turn in range(4)]
"""Orders of a standing piece's corners, one for each first corner."""


def loss(output: Tensor, example: Example) -> tuple[Tensor, dict[str, Tensor]]:
    """The total loss of outputs (b, CHANNELS_OUT, h, w), and its parts by name."""
    cells = output.shape[-1]
    target = targets(example.objects, cells)
    parts = {"centre": focal(output[:, Answer.CENTRE], target.hills, target.weight)}
    parts["mask"] = binary_cross_entropy_with_logits(output[:, Answer.MASK], example.masks)
    scene, row, column = (target.counts > 0).nonzero(as_tuple=True)
    here = output[scene, :, row, column]
    weight = target.counts[scene, row, column]
    own = target.owner[scene, row, column]
    objects = type(example.objects)(*(part[scene, own] for part in example.objects))
    cell = torch.stack([column, row], dim=-1).float()
    piece = weight * ((objects.kind >= 0) & (objects.kind < KINDS.index("stack")))
    coloured = piece + weight * (objects.kind == KINDS.index("counter"))
    upright = weight * (objects.kind == KINDS.index("upright"))

    def mean(values: Tensor, by: Tensor) -> Tensor:
        return (values * by).sum() / by.sum().clamp(min=1)

    offset = smooth_l1_loss(
        here[:, Answer.OFFSET], cells_of(objects.centre) - cell, reduction="none", beta=0.05
    ).sum(dim=-1)
    parts["offset"] = mean(offset, weight)
    ways = objects.points - ((cell + 0.5) * STRIDE - 0.5)[:, None]
    parts["points"] = mean(_points(here, ways, upright > 0), piece)
    turn = smooth_l1_loss(
        here[:, Answer.TURN],
        relative_turn(objects.slopes, objects.edge),
        reduction="none",
        beta=0.1,
    ).sum(dim=-1)
    parts["turn"] = mean(turn, upright)
    size = (objects.base_px.clamp(min=1) / UNIT_PX).log()
    parts["size"] = mean(
        laplace((here[:, Answer.SIZE.start] - size).abs(), here[:, Answer.SIZE_DOUBT.start], 1),
        coloured,
    )
    parts["colour"] = mean(
        cross_entropy(here[:, Answer.COLOUR], objects.name, reduction="none"), coloured
    )
    for name, channel, value in (
        ("clear", Answer.CLEAR, objects.clear),
        ("raised", Answer.RAISED, objects.raised),
        ("visible", Answer.VISIBLE, objects.visible),
    ):
        parts[name] = mean(
            binary_cross_entropy_with_logits(here[:, channel.start], value, reduction="none"), piece
        )
    whole = sum(
        (WEIGHTS[name] * part for name, part in parts.items()),
        torch.zeros((), device=output.device),
    )
    return whole, {name: part.detach() for name, part in parts.items()}


def focal(output: Tensor, hills: Tensor, weight: Tensor) -> Tensor:
    """Focal loss of logits (b, k, h, w) against heat maps (Law and Deng, CornerNet, 2018)."""
    chance = output.sigmoid().clamp(1e-5, 1 - 1e-5)
    top = hills > 0.999
    missed = torch.where(top, (1 - chance) ** 2 * chance.log(), 0.0)
    invented = torch.where(top, 0.0, (1 - hills) ** 4 * chance**2 * (1 - chance).log())
    return -((missed + invented) * weight).sum() / top.sum().clamp(min=1)


def laplace(off: Tensor, doubt: Tensor, figures: int) -> Tensor:
    """Laplace negative log-likelihood of distances, summed over `figures` values.

    It lacks a constant and is multiplied by the root of the scale. Otherwise the most certain
    outputs would dominate the rest of the loss (Seitzer et al., On the Pitfalls of Heteroscedastic
    Uncertainty Estimation, ICLR 2022).
    """
    doubt = doubt.clamp(LEAST_DOUBT, MOST_DOUBT)
    return (off * torch.exp(-doubt) + figures * doubt) * torch.exp(SURER * doubt.detach())


def _points(here: Tensor, ways: Tensor, standing: Tensor) -> Tensor:
    """Loss of the corners and the tip, (m,)."""
    output = here[:, Answer.POINTS].reshape(-1, 5, 2)
    ways = ways / UNIT_PX
    turns = torch.tensor(TURNS, device=ways.device)
    rivals = ways[:, turns]
    off = (output[:, None] - rivals).abs().sum(dim=-1)
    best = torch.where(standing, off.detach().sum(dim=-1).argmin(dim=-1), 0)
    chosen = (off * one_hot(best, 4)[..., None]).sum(dim=1)
    return laplace(chosen, here[:, Answer.POINT_DOUBT], 2).sum(dim=-1)
