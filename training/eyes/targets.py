"""Training examples from rendered scenes: a camera's picture, and the target output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from training.eyes import finish
from training.eyes.cameras import view_channels
from training.eyes.draw import Draw
from training.eyes.model import KINDS, LEAN, STRIDE
from training.eyes.product import BRIGHTEST, HILL_CELLS
from training.eyes.scenes import Objects, Rendered

UNKNOWN, EMPTY, PRINTED = range(3)
KNOWN_SHARES = (0.35, 0.3, 0.35)
"""Probabilities of each knowledge of the bare table: none, a picture, or the board's print."""
PRINT_OFF_PX = 0.8
"""Largest error of the print's assumed place."""
LEAST_VISIBLE = 0.2
"""Visible share below which an object is ignored: detecting it is neither right nor wrong."""
NEAR_CELLS2 = 2.3
"""Squared distance, cells, within which a cell predicts an object's properties."""
OTHER_WAY_ROUND = (3, 2, 1, 0, 4)
"""Order of a piece's corners in a mirror image."""


def each_part(tree: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """A nested tuple of tensors with `change` applied to every tensor."""
    if isinstance(tree, Tensor):
        return change(tree)
    return type(tree)(*(each_part(part, change) for part in tree))


def all_parts(tree: Any) -> list[Tensor]:
    """Every tensor of a nested tuple."""
    return (
        [tree]
        if isinstance(tree, Tensor)
        else [tensor for part in tree for tensor in all_parts(part)]
    )


class Example(NamedTuple):
    """A training example.

    `picture` (b, CHANNELS_IN, side, side), its objects, and `masks` (b, 3, side / STRIDE, side /
    STRIDE).
    """

    picture: Tensor
    objects: Objects
    masks: Tensor


def make_example(
    shown: Rendered, seed: int, smaller: float | None = None, kind: int | None = None
) -> Example:
    """One photograph of each scene.

    `smaller` is the camera's relative resolution, `kind` the knowledge of the bare table; both are
    random if None.
    """
    side = shown.light.shape[-1]
    draw = Draw(seed, len(shown.light), shown.light.device)
    camera = finish.random_cameras(draw)
    coarse = finish.SMALLER[seed % len(finish.SMALLER)] if smaller is None else smaller
    paper = finish.paper_of(camera)
    seen = finish.relative_to_paper(finish.take_pictures(shown.light, camera, coarse, draw), paper)
    later = shown.bare * torch.exp(draw.normal(0.03, 1, 1, 1))
    empty = finish.relative_to_paper(finish.take_pictures(later, camera, coarse, draw), paper)
    printed = _print(shown, camera, draw)
    how = (
        draw.pick(list(KNOWN_SHARES))
        if kind is None
        else torch.full((draw.count,), kind, device=draw.device)
    )
    how = how[:, None, None, None]
    known = torch.where(
        how == EMPTY, 1.0, torch.where(how == PRINTED, (shown.board > 0.5).float(), 0.0)
    )
    difference = (seen - torch.where(how == EMPTY, empty, printed)) * known
    return Example(
        torch.cat([seen, difference, known, view_channels(shown.view, side)], dim=1),
        shown.objects,
        shown.masks,
    )


def _print(shown: Rendered, camera: finish.Camera, draw: Draw) -> Tensor:
    """The board's known print: in even light, with small errors of place and colour."""
    side = shown.light.shape[-1]
    light = finish.blurred(shown.print, camera.spot)
    off = draw.uniform(-PRINT_OFF_PX, PRINT_OFF_PX, 2) * 2 / side
    turn = torch.eye(2, device=off.device).expand(len(off), 2, 2)
    grid = affine_grid(
        torch.cat([turn, off[..., None]], dim=-1), list(light.shape), align_corners=False
    )
    light = grid_sample(light, grid, padding_mode="border", align_corners=False)
    light = light * torch.exp(draw.normal(0.12, 1, 1, 1) + draw.normal(0.05, 3, 1, 1))
    level = (light * torch.tensor([0.3, 0.59, 0.11], device=light.device)[:, None, None]).sum(
        dim=1, keepdim=True
    )
    light = torch.where(camera.grey[:, None, None, None], level, light)
    return (light / BRIGHTEST).clamp(1e-6, 1) ** (1 / 2.2)


def turn_example(one: Example, way: int) -> Example:
    """The example mirrored or turned by quarters, in one of eight ways."""
    for bit, axis in ((1, 0), (2, 1)):
        if way & bit:
            one = _mirrored(one, axis)
    return _transposed(one) if way & 4 else one


def _mirrored(one: Example, axis: int) -> Example:
    """The example with reversed columns, axis 0, or rows."""
    picture, masks = one.picture.flip(3 - axis), one.masks.flip(3 - axis)
    side, objects = picture.shape[-1], one.objects
    sign = torch.ones(2, device=picture.device)
    sign[axis] = -1.0

    def place(pixels: Tensor) -> Tensor:
        return torch.where(sign < 0, side - 1 - pixels, pixels)

    moved = objects._replace(
        centre=place(objects.centre),
        points=place(objects.points)[:, :, list(OTHER_WAY_ROUND)],
        slopes=objects.slopes * sign[:, None],
    )
    return Example(_leaning(picture, picture[:, LEAN] * sign[:, None, None]), moved, masks)


def _transposed(one: Example) -> Example:
    """The example with columns and rows exchanged."""
    picture, objects = one.picture.transpose(2, 3), one.objects
    moved = objects._replace(
        centre=objects.centre.flip(-1),
        points=objects.points.flip(-1)[:, :, list(OTHER_WAY_ROUND)],
        slopes=objects.slopes.flip(-2),
    )
    return Example(_leaning(picture, picture[:, LEAN].flip(1)), moved, one.masks.transpose(2, 3))


def _leaning(picture: Tensor, lean: Tensor) -> Tensor:
    """The picture with another lean."""
    return torch.cat([picture[:, : LEAN.start], lean, picture[:, LEAN.stop :]], dim=1)


class Targets(NamedTuple):
    """Target output of the network.

    `hills` (b, kinds, h, w) are heat maps in 0..1, with their `weight` (b, 1, h, w). `owner` (b, h,
    w) is the index of the object that each cell predicts, `counts` (b, h, w) the weight of that
    prediction.
    """

    hills: Tensor
    weight: Tensor
    owner: Tensor
    counts: Tensor


def cells_of(pixels: Tensor) -> Tensor:
    """Coordinates in cells of coordinates in pixels."""
    return (pixels + 0.5) / STRIDE - 0.5


def to_detection(objects: Objects, cells: int) -> Tensor:
    """Mask of objects (b, k) with their middle in the picture."""
    at = cells_of(objects.centre)
    return (objects.kind >= 0) & ((at > -0.5) & (at < cells - 0.5)).all(dim=-1)


def targets(objects: Objects, cells: int) -> Targets:
    """Target output for pictures of `cells` cells a side."""
    at = cells_of(objects.centre)
    inside = to_detection(objects, cells)
    listed = inside & (objects.visible >= LEAST_VISIBLE)
    steps = torch.arange(cells, device=at.device, dtype=torch.float32)
    dx, dy = (steps - at[..., k, None] for k in (0, 1))
    squared = dy[..., :, None] ** 2 + dx[..., None, :] ** 2
    hill = torch.exp(-squared / (2 * HILL_CELLS**2))
    top = (dy.abs() <= 0.5)[..., :, None] & (dx.abs() <= 0.5)[..., None, :]
    hill = torch.where(top, 1.0, hill) * listed[..., None, None]
    stack = KINDS.index("stack")
    members = [
        objects.stack > 0.5 if kind == stack else objects.kind == kind for kind in range(len(KINDS))
    ]
    hills = torch.stack([(hill * member[..., None, None]).amax(dim=1) for member in members], dim=1)
    left = (inside & ~listed)[..., None, None] & (squared < 2 * NEAR_CELLS2)
    weight = 1 - left.any(dim=1, keepdim=True).float()
    ranked = torch.where(
        listed[..., None, None], squared - 0.5 * objects.raised[..., None, None], torch.inf
    )
    nearest, owner = ranked.min(dim=1)
    counts = torch.where(nearest < NEAR_CELLS2, torch.exp(-nearest.clamp(min=0)), 0.0)
    return Targets(hills, weight, owner, counts)


def relative_turn(slopes: Tensor, edge: Tensor) -> Tensor:
    """Cosine and sine (..., 2) of four times the angle on the table from picture rows to an edge.

    The base edge is (..., 2). In a mirror image the angle changes its sign, like that of a mirrored
    scene.
    """
    a, b, c, d = slopes[..., 0, 0], slopes[..., 0, 1], slopes[..., 1, 0], slopes[..., 1, 1]
    turn = (a * d - b * c).sign()
    rows = torch.atan2(-c * turn, d * turn)
    angle = 4 * turn * (torch.atan2(edge[..., 1], edge[..., 0]) - rows)
    return torch.stack([torch.cos(angle), torch.sin(angle)], dim=-1)
