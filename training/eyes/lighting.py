"""Light in rooms: a ceiling, a window, a lamp and the sun, by chance."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from training.eyes.bodies import unit
from training.eyes.draw import Draw
from training.eyes.raytracer import Lights

ROOMS = (0.45, 0.2, 0.15, 0.2)
"""How often the room's light is even, a window's, a lamp's, or the sun's."""


def random_lights(draw: Draw) -> Lights:
    """Four rectangular lights: a ceiling, a window, a lamp, and the sun.

    Sometimes bars throw shadows.
    """
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
    at = far[..., None] * torch.stack(
        [
            torch.cos(rise) * torch.cos(azimuth),
            torch.cos(rise) * torch.sin(azimuth),
            torch.sin(rise),
        ],
        dim=-1,
    )
    wide = torch.stack(
        [
            draw.uniform(500, 1600),
            draw.uniform(250, 800),
            draw.log_uniform(25, 160),
            draw.uniform(30, 90),
        ],
        dim=-1,
    )
    tall = wide * torch.stack(
        [
            draw.uniform(0.3, 1),
            draw.uniform(0.6, 1.8),
            draw.uniform(0.6, 1),
            torch.ones_like(far[:, 0]),
        ],
        dim=-1,
    )
    inwards = unit(at)
    level = unit(
        torch.stack([-inwards[..., 1], inwards[..., 0], torch.full_like(far, 1e-3)], dim=-1)
    )
    across, up = level * wide[..., None], torch.linalg.cross(inwards, level) * tall[..., None]
    ambient = draw.uniform(0.12, 0.45, 1)
    power = _shares(draw)[..., None] * (1 - ambient)[..., None] * torch.exp(draw.normal(0.12, 4, 3))
    bars = torch.stack(
        [
            draw.log_uniform(18, 90),
            draw.uniform(0.35, 0.8),
            torch.cos(azimuth[:, 0]),
            torch.sin(azimuth[:, 0]),
        ],
        dim=-1,
    )
    no_bars = torch.tensor([50.0, 5.0, 1.0, 0.0], device=draw.device)
    bars = torch.where(draw.chance(0.45, 1), bars, no_bars)
    return Lights(
        at,
        across,
        up,
        power,
        ambient * torch.exp(draw.normal(0.08, 3)),
        bars,
        draw.normal(0.8, 3, 4),
    )


def _shares(draw: Draw) -> Tensor:
    """How much of the lamps' light each of the four has, (b, 4)."""
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
