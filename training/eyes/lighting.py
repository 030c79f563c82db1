"""Random light in rooms: a ceiling, a window, a lamp and the sun."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from training.eyes.bodies import unit
from training.eyes.draw import Draw
from training.eyes.raytracer import Lights

ROOMS = (0.45, 0.2, 0.15, 0.2)
"""Probabilities of even light, a window's, a lamp's, and the sun's."""


def random_lights(draw: Draw) -> Lights:
    """Four rectangular lights: a ceiling, a window, a lamp, and the sun.

    Sometimes bars throw shadows.
    """
    azimuth, at = _places(draw)
    wide, tall = _sizes(draw)
    inwards = unit(at)
    level = unit(
        torch.stack([-inwards[..., 1], inwards[..., 0], torch.full_like(azimuth, 1e-3)], dim=-1)
    )
    across, up = level * wide[..., None], torch.linalg.cross(inwards, level) * tall[..., None]
    ambient = draw.uniform(0.12, 0.45, 1)
    power = _shares(draw)[..., None] * (1 - ambient)[..., None] * torch.exp(draw.normal(0.12, 4, 3))
    bars = _bars(draw, azimuth[:, 0])
    return Lights(
        at,
        across,
        up,
        power,
        ambient * torch.exp(draw.normal(0.08, 3)),
        bars,
        draw.normal(0.8, 3, 4),
    )


def _places(draw: Draw) -> tuple[Tensor, Tensor]:
    """Directions (b, 4) of the lights, counter-clockwise in rad, and places (b, 4, 3) in mm."""
    far = torch.stack(
        [
            draw.uniform(1500, 2600),
            draw.uniform(1500, 3500),
            draw.uniform(700, 1800),
            draw.uniform(4500, 5500),
        ],
        dim=-1,
    )
    rise = torch.stack(
        [draw.uniform(55, 90), draw.uniform(18, 50), draw.uniform(30, 88), draw.uniform(16, 65)],
        dim=-1,
    )
    azimuth, rise = draw.uniform(0, 2 * math.pi, 4), torch.deg2rad(rise)
    way = [
        torch.cos(rise) * torch.cos(azimuth),
        torch.cos(rise) * torch.sin(azimuth),
        torch.sin(rise),
    ]
    return azimuth, far[..., None] * torch.stack(way, dim=-1)


def _sizes(draw: Draw) -> tuple[Tensor, Tensor]:
    """Half widths and half heights of the lights, (b, 4) in mm."""
    wide = torch.stack(
        [
            draw.uniform(500, 1600),
            draw.uniform(250, 800),
            draw.log_uniform(25, 160),
            draw.uniform(30, 90),
        ],
        dim=-1,
    )
    shape = [
        draw.uniform(0.3, 1),
        draw.uniform(0.6, 1.8),
        draw.uniform(0.6, 1),
        torch.ones_like(wide[:, 0]),
    ]
    return wide, wide * torch.stack(shape, dim=-1)


def _bars(draw: Draw, azimuth: Tensor) -> Tensor:
    """Bars of shadow across a direction (b,), or none: (b, 4), as in `Lights`."""
    bars = torch.stack(
        [draw.log_uniform(18, 90), draw.uniform(0.35, 0.8), torch.cos(azimuth), torch.sin(azimuth)],
        dim=-1,
    )
    no_bars = torch.tensor([50.0, 5.0, 1.0, 0.0], device=draw.device)
    return torch.where(draw.chance(0.45, 1), bars, no_bars)


def _shares(draw: Draw) -> Tensor:
    """Share of each light in the total, (b, 4)."""
    likely = torch.tensor(
        [
            [1.0, 0.35, 0.25, 0.0],
            [0.25, 1.0, 0.1, 0.0],
            [0.2, 0.1, 1.0, 0.0],
            [0.12, 0.12, 0.03, 1.0],
        ],
        device=draw.device,
    )
    weights = likely[draw.pick(list(ROOMS))] * torch.exp(draw.normal(0.5, 4))
    return weights / weights.sum(dim=-1, keepdim=True)
