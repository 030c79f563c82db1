"""Poses of standing, lying and leaning pieces without overlap, for many scenes at a time.

`b` counts scenes, `n` slots for pieces. A piece is tipped up about one edge of its base. With a
tilt of 0 it lies, with `standing_tilt` it stands, between the two it leans.
"""

from __future__ import annotations

import torch
from torch import Tensor

FACES = ((0, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4))
EDGES = ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4))
STEPS = 12
"""Number of bisections in the search for a touching place."""


def standing_tilt(base: Tensor, height: Tensor) -> Tensor:
    """Tilt in radians from lying to standing."""
    return torch.atan2(height, -base / 2)


def pose_corners(
    base: Tensor, height: Tensor, place: Tensor, heading: Tensor, tilt: Tensor, roll: Tensor
) -> Tensor:
    """Corners (..., 5, 3) of pieces at places (..., 2), corners 1 and 2 on the table.

    The place is the middle seen from above. `base`, `height` (...) mm; `heading` of the tip, `tilt`
    up from lying, `roll` about the heading, radians (...).
    """
    slant, half = torch.hypot(height, base / 2), base / 2
    back, up = base * half / slant, base * height / slant
    nought = torch.zeros_like(base)
    along = torch.stack([back, nought, nought, back, slant], dim=-1)
    across = torch.stack([-half, -half, half, half, nought], dim=-1)
    over = torch.stack([up, nought, nought, up, nought], dim=-1)
    c, s = torch.cos(tilt)[..., None], torch.sin(tilt)[..., None]
    along, over = along * c - over * s, along * s + over * c
    c, s = torch.cos(roll)[..., None], torch.sin(roll)[..., None]
    across, over = across * c - over * s, across * s + over * c
    over = over - over.amin(dim=-1, keepdim=True)
    middle = (along[..., :4].mean(dim=-1, keepdim=True) + along[..., 4:]) / 2
    along = along - middle
    c, s = torch.cos(heading)[..., None], torch.sin(heading)[..., None]
    return torch.stack(
        [along * c - across * s + place[..., :1], along * s + across * c + place[..., 1:], over],
        dim=-1,
    )


def apart_mm(first: Tensor, second: Tensor) -> Tensor:
    """Separation of pyramids (..., 5, 3), below 0 where they overlap (separating axes).

    The two shapes broadcast. The sign is exact. The distance is that between two parallel planes
    that separate them, a lower bound.
    """
    shape = torch.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    first, second = first.expand(*shape, 5, 3), second.expand(*shape, 5, 3)

    def normals(corners: Tensor) -> Tensor:
        a, b, c = (corners[..., [face[k] for face in FACES], :] for k in range(3))
        return torch.linalg.cross(b - a, c - a)

    def edges(corners: Tensor) -> Tensor:
        return corners[..., [b for _, b in EDGES], :] - corners[..., [a for a, _ in EDGES], :]

    crossed = torch.linalg.cross(
        edges(first)[..., :, None, :], edges(second)[..., None, :, :]
    ).flatten(-3, -2)
    axes = torch.cat([normals(first), normals(second), crossed], dim=-2)
    length = axes.norm(dim=-1, keepdim=True)
    axes = axes / length.clamp(min=1e-6)
    one, other = axes @ first.transpose(-1, -2), axes @ second.transpose(-1, -2)
    gap = torch.maximum(
        one.amin(dim=-1) - other.amax(dim=-1), other.amin(dim=-1) - one.amax(dim=-1)
    )
    return torch.where(length[..., 0] > 1e-4, gap, -torch.inf).amax(dim=-1)


def accept_greedily(wanted: Tensor, corners: Tensor, ignored: Tensor, least_mm: float) -> Tensor:
    """Mask of the `wanted` (b, n) that stay, chosen greedily in order.

    Those that stay are at least `least_mm` apart; pairs `ignored` (b, n, n) may intersect.
    """
    clash = (apart_mm(corners[:, :, None], corners[:, None]) < least_mm) & ~ignored
    stays = torch.zeros_like(wanted)
    for k in range(wanted.shape[1]):
        stays[:, k] = wanted[:, k] & ~(clash[:, k] & stays).any(dim=1)
    return stays


def touching_place(
    base: Tensor,
    height: Tensor,
    way: Tensor,
    heading: Tensor,
    tilt: Tensor,
    anchor: Tensor,
    gap_mm: Tensor,
) -> Tensor:
    """Places (..., 2) of pieces moved along `way` (...), radians, away from anchors (..., 5, 3).

    They stop at a gap of `gap_mm` (...).
    """
    middle = (anchor[..., :4, :2].mean(dim=-2) + anchor[..., 4, :2]) / 2
    ahead = torch.stack([torch.cos(way), torch.sin(way)], dim=-1)
    low, high = torch.zeros_like(base), torch.full_like(base, 120.0)
    none = torch.zeros_like(base)
    for _ in range(STEPS):
        far = (low + high) / 2
        corners = pose_corners(base, height, middle + far[..., None] * ahead, heading, tilt, none)
        free = apart_mm(corners, anchor) >= gap_mm
        low, high = torch.where(free, low, far), torch.where(free, far, high)
    return middle + high[..., None] * ahead


def leaning_tilt(
    base: Tensor, height: Tensor, pivot: Tensor, heading: Tensor, anchor: Tensor
) -> Tensor:
    """Tilt in radians at which pieces (...) are just free of anchors (..., 5, 3).

    Their base edge is at `pivot` (..., 2), about which they are tipped up.
    """
    low, high = torch.zeros_like(base), standing_tilt(base, height)
    for _ in range(STEPS):
        tilt = (low + high) / 2
        free = apart_mm(corners_at_pivot(base, height, pivot, heading, tilt), anchor) >= 0.02
        low, high = torch.where(free, low, tilt), torch.where(free, tilt, high)
    return high


def corners_at_pivot(
    base: Tensor, height: Tensor, pivot: Tensor, heading: Tensor, tilt: Tensor
) -> Tensor:
    """Corners (..., 5, 3) of pieces whose edge on the table has its middle at `pivot` (..., 2)."""
    corners = pose_corners(
        base, height, torch.zeros_like(pivot), heading, tilt, torch.zeros_like(base)
    )
    off = pivot - corners[..., 1:3, :2].mean(dim=-2)
    return torch.cat([corners[..., :2] + off[..., None, :], corners[..., 2:]], dim=-1)
