"""Lens, sensor and file: blur, veil, noise, white, clipped highlights, JPEG; all on the device.

Pictures are (b, 3, h, w); light has the unit of `raytracer`.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, conv2d, interpolate, pad

from training.eyes.draw import Draw
from training.eyes.product import BRIGHTEST

KERNEL = 11
"""Side of a lens's point spread function, px."""
SMEAR = 49
"""Length of a smear, px."""
WHOLE = 16
"""Divisor of the sides of pictures for JPEG: blocks of 8, colours at half the resolution."""
SMALLER = (1.0, 1.0, 1.0, 1.0, 1.0, 0.75, 0.5)
"""Resolution of the camera relative to the picture; one value for a batch."""
GREY = 0.03
"""Share of monochrome cameras."""
LUMINANCE = """
16 11 10 16 24 40 51 61 12 12 14 19 26 58 60 55 14 13 16 24 40 57 69 56 14 17 22 29 51 87 80 62
18 22 37 56 68 109 103 77 24 35 55 64 81 104 113 92 49 64 78 87 103 121 120 101
72 92 95 98 112 100 103 99
"""
CHROMINANCE = """
17 18 24 47 99 99 99 99 18 21 26 66 99 99 99 99 24 26 56 99 99 99 99 99 47 66 99 99 99 99 99 99
"""
"""Quantisation tables of ITU-T T.81, annex K, by rows; omitted values are 99."""


class Camera(NamedTuple):
    """Properties of one camera, (b, ...).

    `spot` (KERNEL, KERNEL) is the blur, `veil` (1) the veiling glare. `smear` (1) is the share of
    light spread by a finger mark. `dust` (4) is place, size and darkness of a speck. `white` (3) is
    the value of paper in the light of the table's middle. `fall` (3) is the fall-off of light.
    `noise` (2) is shot and dark noise. The others are `grey`, `curve` (1) and `quality` (1).
    `paper` (3) is the deviation of the measured white of paper from `white`.
    """

    spot: Tensor
    veil: Tensor
    smear: Tensor
    dust: Tensor
    white: Tensor
    fall: Tensor
    noise: Tensor
    grey: Tensor
    curve: Tensor
    quality: Tensor
    paper: Tensor


def random_cameras(draw: Draw) -> Camera:
    """Random cameras, good and bad ones."""
    exposure = torch.where(
        draw.chance(0.25, 1), draw.log_uniform(0.9, 2.2, 1), draw.log_uniform(0.25, 0.95, 1)
    )
    noise = torch.cat([draw.log_uniform(1e-5, 2e-3, 1), draw.log_uniform(3e-4, 1.2e-2, 1)], dim=-1)
    return Camera(
        spot=spots(draw),
        veil=torch.where(draw.chance(0.3, 1), draw.uniform(0, 0.3, 1), draw.uniform(0, 0.03, 1)),
        smear=draw.uniform(0.05, 0.4, 1) * draw.chance(0.08, 1),
        dust=torch.cat(
            [
                draw.uniform(-1, 1, 2),
                draw.log_uniform(0.02, 0.2, 1),
                draw.uniform(0.1, 0.8, 1) * draw.chance(0.1, 1),
            ],
            dim=-1,
        ),
        white=exposure * torch.exp(draw.normal(0.12, 3)),
        fall=draw.normal(0.12, 3),
        noise=noise,
        grey=draw.chance(GREY),
        curve=torch.exp(draw.normal(0.08, 1)),
        quality=97 - 67 * draw.uniform(0, 1, 1) ** 2,
        paper=torch.exp(draw.normal(0.15, 1) + draw.normal(0.03, 3)),
    )


def spots(draw: Draw) -> Tensor:
    """Point spread functions (b, KERNEL, KERNEL): sharp, defocused or moved."""
    steps = torch.arange(KERNEL, device=draw.device) - KERNEL // 2
    y, x = (side.float()[None] for side in torch.meshgrid(steps, steps, indexing="ij"))
    sharp = draw.log_uniform(0.25, 0.75, 1, 1)
    sharp = torch.where(draw.chance(0.15, 1, 1), draw.uniform(0.75, 2.2, 1, 1), sharp)
    angle, length = (
        draw.uniform(0, math.pi, 1, 1),
        draw.uniform(0.3, 3.5, 1, 1) * draw.chance(0.12, 1, 1),
    )
    along, across = (
        x * torch.cos(angle) + y * torch.sin(angle),
        y * torch.cos(angle) - x * torch.sin(angle),
    )
    drawn_out = (along.abs() - length).clamp(min=0)
    bell = torch.exp(-(drawn_out**2 + across**2) / (2 * sharp**2))
    radius = draw.uniform(1.0, 3.5, 1, 1)
    disc = (radius + 0.5 - torch.hypot(x, y)).clamp(0, 1)
    spot = torch.where(draw.chance(0.1, 1, 1), disc, bell)
    return spot / spot.sum(dim=(1, 2), keepdim=True)


def blurred(light: Tensor, spot: Tensor) -> Tensor:
    """Each picture (b, c, h, w) convolved with its own kernel (b, k, k)."""
    b, c, h, w = light.shape
    reach = spot.shape[-1] // 2
    wide = pad(light.reshape(1, b * c, h, w), (reach,) * 4, mode="replicate")
    return conv2d(wide, spot[:, None].repeat_interleave(c, dim=0), groups=b * c).reshape(b, c, h, w)


def encoded(light: Tensor) -> Tensor:
    """sRGB values 0..1 of light 0..1 (IEC 61966-2-1)."""
    return torch.where(
        light <= 0.0031308, 12.92 * light, 1.055 * light.clamp(min=0.0031308) ** (1 / 2.4) - 0.055
    )


def decoded(code: Tensor) -> Tensor:
    """Light 0..1 of sRGB values 0..1."""
    return torch.where(
        code <= 0.04045, code / 12.92, ((code.clamp(min=0.04045) + 0.055) / 1.055) ** 2.4
    )


def take_pictures(light: Tensor, camera: Camera, smaller: float, draw: Draw) -> Tensor:
    """Encoded pictures (b, 3, h, w), 0..1, of light by cameras, at the light's own size."""
    side = light.shape[-1]
    light = blurred(light.clamp(0, 50), camera.spot)
    wide = interpolate(
        avg_pool2d(pad(light, (32,) * 4, mode="replicate"), 65, 8),
        size=(side, side),
        mode="bilinear",
    )
    veil = camera.veil[..., None, None]
    light = light + veil * (wide - light)
    light = light + camera.smear[..., None, None] * (_smear_rows(light) - light)
    steps = torch.linspace(-1, 1, side, device=light.device)
    light = light * _speck_transmission(camera.dust, steps)
    fall = camera.fall[..., None, None]
    light = light * torch.exp(
        fall[:, :1] * steps[:, None]
        + fall[:, 1:2] * steps[None]
        - fall[:, 2:].abs() * (steps[:, None] ** 2 + steps[None] ** 2) / 2
    )
    light = light * camera.white[..., None, None]
    small = max(WHOLE, round(side * smaller / WHOLE) * WHOLE)
    if small != side:
        light = interpolate(light, size=(small, small), mode="bilinear", antialias=True)
    noise = draw.normal(1.0, 3, small, small)
    noise = 0.6 * noise + 0.9 * avg_pool2d(noise, 3, 1, 1)
    of_light, of_dark = camera.noise[:, :1, None, None], camera.noise[:, 1:, None, None]
    light = (light + noise * (of_light * light.clamp(0, 1) + of_dark**2).sqrt()).clamp(0, 1)
    level = (light * torch.tensor([0.3, 0.59, 0.11], device=light.device)[:, None, None]).sum(
        dim=1, keepdim=True
    )
    light = torch.where(camera.grey[:, None, None, None], level, light)
    code = encoded(light) ** camera.curve[..., None, None]
    code = jpeg(code, camera.quality)
    return interpolate(code, size=(side, side), mode="bilinear") if small != side else code


def _smear_rows(light: Tensor) -> Tensor:
    """Light spread along rows, as by wiped grease."""
    wide = pad(light, (SMEAR // 2, SMEAR // 2, 0, 0), mode="replicate")
    return avg_pool2d(wide, (1, SMEAR), stride=1)


def _speck_transmission(dust: Tensor, steps: Tensor) -> Tensor:
    """Transmission (b, 1, side, side) of a lens with a speck of dust; steps run from -1 to 1."""
    x, y, size, dark = dust[..., None, None].unbind(1)
    far = ((steps - x) ** 2 + (steps[:, None] - y) ** 2) / size**2
    return (1 - dark * torch.exp(-far))[:, None]


def paper_of(camera: Camera) -> Tensor:
    """Light (b, 3) of the fiducials' paper, as the product measures it in the picture."""
    white = (camera.white * camera.paper).clamp(0.02, 1.0)
    level = (white * torch.tensor([0.3, 0.59, 0.11], device=white.device)).sum(dim=1, keepdim=True)
    white = torch.where(camera.grey[:, None], level, white)
    return decoded(encoded(white) ** camera.curve)


def relative_to_paper(code: Tensor, paper: Tensor) -> Tensor:
    """Light relative to paper (b, 3), encoded as by `vision.networks.detector.encode_light`."""
    return (decoded(code) / (BRIGHTEST * paper[..., None, None])).clamp(1e-6, 1) ** (1 / 2.2)


@cache
def _waves(device: torch.device) -> Tensor:
    n = torch.arange(8, dtype=torch.float32)
    basis = torch.cos((2 * n[None] + 1) * n[:, None] * math.pi / 16) * math.sqrt(2 / 8)
    basis[0] /= math.sqrt(2)
    return basis.to(device)


def jpeg(code: Tensor, quality: Tensor) -> Tensor:
    """Encoded pictures (b, 3, h, w) after JPEG compression with a quality (b, 1).

    Sides are multiples of WHOLE; colours have half the resolution.
    """
    r, g, blue = (255 * code).unbind(1)
    luma = 0.299 * r + 0.587 * g + 0.114 * blue
    chroma = torch.stack([0.5643 * (blue - luma), 0.7133 * (r - luma)], dim=1)
    scale = torch.where(quality < 50, 50 / quality, (2 - quality / 50)).clamp(min=0.02)
    luma = _quantised(luma[:, None] - 128, LUMINANCE, scale)[:, 0] + 128
    chroma = interpolate(
        _quantised(avg_pool2d(chroma, 2), CHROMINANCE, scale), scale_factor=2, mode="bilinear"
    )
    cb, cr = chroma.unbind(1)
    rgb = torch.stack(
        [luma + 1.402 * cr, luma - 0.344136 * cb - 0.714136 * cr, luma + 1.772 * cb], dim=1
    )
    return (rgb.round() / 255).clamp(0, 1)


@cache
def _table(table: str, device: torch.device) -> Tensor:
    figures = [float(figure) for figure in table.split()]
    return torch.tensor(figures + [99.0] * (64 - len(figures)), device=device).reshape(8, 8)


def _quantised(plane: Tensor, table: str, scale: Tensor) -> Tensor:
    b, c, h, w = plane.shape
    waves = _waves(plane.device)
    blocks = plane.reshape(b, c, h // 8, 8, w // 8, 8).permute(0, 1, 2, 4, 3, 5)
    steps = _table(table, plane.device)
    steps = (steps * scale[..., None]).round().clamp(1, 255)[:, None, None, None]
    kept = ((waves @ blocks @ waves.T) / steps).round() * steps
    return (waves.T @ kept @ waves).permute(0, 1, 2, 4, 3, 5).reshape(b, c, h, w)
