"""Cameras: rays of pixels, the view channels of the network, and pixel scale.

Pixels are (column, row); (0, 0) is the middle of the first one. `b` counts scenes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from training.eyes.bodies import dot, unit
from training.eyes.draw import Draw
from training.eyes.model import SCALE_MM, SCALE_PX

STEEPEST_DEG = 58.0
NEAREST_MM, FARTHEST_MM = 420.0, 1400.0
SCALES_PX = (10.0, 50.0)
"""Range of the scale in the middle of a picture: pixels per SCALE_MM."""
OFF_AXIS = 0.5
"""Largest tangent of the angle between axis and middle of a picture, which is a part of a larger
one.
"""


class View(NamedTuple):
    """Camera poses and intrinsics.

    `eye` (b, 3) mm; `turn` (b, 3, 3), rows are the camera's right, down and ahead; `focal` (b,) px;
    `centre` (b, 2), the principal point.
    """

    eye: Tensor
    turn: Tensor
    focal: Tensor
    centre: Tensor


def random_views(draw: Draw, side: int, scales: tuple[float, float] = SCALES_PX) -> View:
    """Views from 0 to STEEPEST_DEG whose square pictures have the table's origin in the middle.

    `scales` are as SCALES_PX.
    """
    b = draw.count
    steep = torch.deg2rad(STEEPEST_DEG * draw.uniform(0, 1) ** 0.8)
    far = draw.log_uniform(NEAREST_MM, FARTHEST_MM)
    focal = draw.log_uniform(*scales) / SCALE_MM * far
    ahead = torch.stack([torch.zeros_like(steep), torch.sin(steep), -torch.cos(steep)], dim=-1)
    right = torch.tensor([1.0, 0.0, 0.0], device=draw.device).expand(b, 3)
    roll = draw.uniform(0, 2 * math.pi)[:, None]
    down = torch.linalg.cross(ahead, right)
    right, down = (
        torch.cos(roll) * right + torch.sin(roll) * down,
        torch.cos(roll) * down - torch.sin(roll) * right,
    )
    off = draw.uniform(-1, 1, 2) * OFF_AXIS * draw.uniform(0, 1, 1)
    aim = unit(torch.cat([off, torch.ones(b, 1, device=draw.device)], dim=-1))
    basis = torch.stack([right, down, ahead], dim=1)
    centre = (side - 1) / 2 - off * focal[:, None]
    return View(-far[:, None] * ahead, _to_axis(aim) @ basis, focal, centre)


def _to_axis(aim: Tensor) -> Tensor:
    """Shortest rotations (b, 3, 3) that bring (0, 0, 1) to directions (b, 3)."""
    x, y, z = aim.unbind(-1)
    k = 1 / (1 + z)
    rows = [1 - k * x * x, -k * x * y, x, -k * x * y, 1 - k * y * y, y, -x, -y, z]
    return torch.stack(rows, dim=-1).reshape(-1, 3, 3)


def rays(view: View, side: int, each: int) -> Tensor:
    """Directions (b, side * each * side * each, 3) of `each` by `each` rays a pixel, by rows."""
    steps = (torch.arange(side * each, device=view.eye.device) + 0.5) / each - 0.5
    y, x = torch.meshgrid(steps, steps, indexing="ij")
    return towards(view, torch.stack([x, y], dim=-1).reshape(1, -1, 2).expand(len(view.eye), -1, 2))


def towards(view: View, pixels: Tensor) -> Tensor:
    """Directions (b, r, 3) of pixels (b, r, 2)."""
    flat = (pixels - view.centre[:, None]) / view.focal[:, None, None]
    return unit(torch.cat([flat, torch.ones_like(flat[..., :1])], dim=-1) @ view.turn)


def averaged(light: Tensor, side: int, each: int) -> Tensor:
    """Pictures (b, c, side, side) from the light (b, r, c) of the rays of `rays`."""
    return (
        light.reshape(len(light), side, each, side, each, -1).mean(dim=(2, 4)).permute(0, 3, 1, 2)
    )


def project(view: View, points: Tensor) -> Tensor:
    """Pixels (b, ..., 2) of points (b, ..., 3)."""
    flat = points.reshape(len(points), -1, 3)
    seen = (flat - view.eye[:, None]) @ view.turn.transpose(1, 2)
    pixels = (
        seen[..., :2] / seen[..., 2:].clamp(min=1.0) * view.focal[:, None, None]
        + view.centre[:, None]
    )
    return pixels.reshape(*points.shape[:-1], 2)


def on_table(view: View, pixels: Tensor) -> Tensor:
    """Table points (b, r, 2) of pixels (b, r, 2)."""
    way = towards(view, pixels)
    return (view.eye[:, None] - way * (view.eye[:, None, 2:] / way[..., 2:].clamp(max=-0.05)))[
        ..., :2
    ]


def slopes(view: View, points: Tensor) -> Tensor:
    """Derivatives (b, r, 2, 3) of pixels by points (b, r, 3): pixels per mm along x, y and z."""
    seen = (points - view.eye[:, None]) @ view.turn.transpose(1, 2)
    depth = seen[..., 2:].clamp(min=1.0)
    flat = (seen[..., :2] / depth)[..., None]
    across, ahead = view.turn[:, None, :2], view.turn[:, None, 2:]
    return (across - flat * ahead) * (view.focal[:, None, None] / depth)[..., None]


def scale_and_lean(by_point: Tensor) -> tuple[Tensor, Tensor]:
    """Scale and lean from slopes (..., 2, 3).

    The scale (...) is in pixels per mm of table across the line of sight. The lean is (..., 2).
    """
    x, y, z = by_point.unbind(-1)
    square, product = (
        (x**2).sum(-1) + (y**2).sum(-1),
        (x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]).abs(),
    )
    largest = ((square + (square**2 - 4 * product**2).clamp(min=0).sqrt()) / 2).sqrt()
    return largest, z / largest[..., None]


def view_channels(view: View, side: int) -> Tensor:
    """View channels (b, 3, side, side): lean and scale at every pixel's table point.

    They are in the units of `model`.
    """
    steps = torch.arange(4, side, 8, device=view.eye.device) - 0.5
    y, x = torch.meshgrid(steps, steps, indexing="ij")
    pixels = torch.stack([x, y], dim=-1).reshape(1, -1, 2).expand(len(view.eye), -1, 2)
    flat = on_table(view, pixels)
    scale, lean = scale_and_lean(
        slopes(view, torch.cat([flat, torch.zeros_like(flat[..., :1])], dim=-1))
    )
    channels = torch.cat([lean, torch.log(scale * SCALE_MM / SCALE_PX)[..., None]], dim=-1)
    coarse = channels.transpose(1, 2).reshape(len(flat), 3, len(steps), len(steps))
    return torch.nn.functional.interpolate(
        coarse, size=(side, side), mode="bilinear", align_corners=False
    )


def corners_on_table(view: View, side: int) -> tuple[Tensor, Tensor]:
    """Least and greatest (b, 2) table points in the picture, with a margin."""
    s = side - 1.0
    outline = [
        [0.0, 0.0],
        [s, 0.0],
        [s, s],
        [0.0, s],
        [s / 2, 0.0],
        [0.0, s / 2],
        [s, s / 2],
        [s / 2, s],
    ]
    pixels = torch.tensor(outline, device=view.eye.device).expand(len(view.eye), -1, 2)
    flat = on_table(view, pixels)
    low, high = flat.amin(dim=1), flat.amax(dim=1)
    margin = 0.08 * (high - low) + 15.0
    return low - margin, high + margin


def angle_to(view: View, points: Tensor) -> Tensor:
    """Angle of view from the vertical, in degrees (b, r), at points (b, r, 3)."""
    way = unit(view.eye[:, None] - points)
    return torch.rad2deg(
        torch.acos(dot(way, torch.tensor([0.0, 0.0, 1.0], device=way.device))[..., 0].clamp(-1, 1))
    )
