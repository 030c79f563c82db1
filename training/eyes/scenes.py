"""Random scenes: pieces, other objects, light, a table and a view.

Pieces stand, lie, lean, touch, are stacked and nested. Two scenes of one seed are the same on one
kind of device. `b` counts scenes, `n` slots for pieces. Slots come in pairs. The second piece of a
pair may touch the first, lean on it, stand on it or be in it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from training.eyes import bodies as solid
from training.eyes.cameras import (
    View,
    averaged,
    corners_on_table,
    on_table,
    project,
    random_views,
    rays,
    scale_and_lean,
    slopes,
)
from training.eyes.distractors import ARM, BOXES, COUNTER, NOTHING, ROUNDS, Things, random_things
from training.eyes.draw import Draw
from training.eyes.grounds import ground_picture
from training.eyes.lighting import random_lights
from training.eyes.materials import WEIGHTS, plastics, see_through
from training.eyes.model import KINDS
from training.eyes.posing import (
    accept_greedily,
    corners_at_pivot,
    leaning_tilt,
    pose_corners,
    standing_tilt,
    touching_place,
)
from training.eyes.product import COLOURS, sizes_of
from training.eyes.raytracer import Ground, Materials, World, light_map, sample_map, trace_rays

PIECES = 12
SIDE_PX = 192
"""Side of a picture."""
EACH = 2
"""Number of rays along each side of a pixel."""
GROUND_PX, LIGHT_PX, LIGHT_SAMPLES = 320, 96, 4
UPRIGHT, LYING, LEANING = (KINDS.index(name) for name in ("upright", "lying", "leaning"))
ALONE, TOUCHES, LEANS, STANDS_ON, IS_IN = range(5)
ROLES = (0.42, 0.24, 0.14, 0.13, 0.07)
"""Probabilities of the second piece's roles in a pair."""
LEAST_LEAN = math.radians(3.0)
WALLS_MM = (1.2, 2.3)
CLEARANCE_MM = 0.02
ROLLS, TILTS = 0.03, 0.04
"""Shares of pieces with a random roll, and with a random tilt, without visible support."""


class Pieces(NamedTuple):
    """Pieces of scenes, (b, n, ...).

    `corners` (5, 3) mm; `there`; `listed`: it is to be found; `kind`; `stack`: another visible one
    is on or in it; `raised`: it stands on another; `base_mm`, `wall_mm`; `name`: index of its
    colour; `pips`: their number.
    """

    corners: Tensor
    there: Tensor
    listed: Tensor
    kind: Tensor
    stack: Tensor
    raised: Tensor
    base_mm: Tensor
    wall_mm: Tensor
    name: Tensor
    clear: Tensor
    pips: Tensor


class Objects(NamedTuple):
    """Objects to be found or to be ignored, (b, k, ...).

    `kind` is -1 for nothing and -2 for arms; `centre` (2) and `points` (5, 2) px. `base_px` is
    across the line of sight on the table. `slopes` (2, 2) are the derivatives of pixels along the
    table there. `edge` (2) is the direction of a base edge on the table. `name`, `clear`, `stack`,
    `raised`; `visible` is the visible share.
    """

    kind: Tensor
    centre: Tensor
    points: Tensor
    base_px: Tensor
    slopes: Tensor
    edge: Tensor
    name: Tensor
    clear: Tensor
    stack: Tensor
    raised: Tensor
    visible: Tensor


class Scene(NamedTuple):
    """A scene before rendering."""

    view: View
    pieces: Pieces
    things: Things
    world: World
    board: Tensor


class Rendered(NamedTuple):
    """A rendered scene.

    Light is (b, 3, side, side): `light` of all, `bare` of the table alone, `print` of its print in
    even light. `board` (b, 1, side, side) is the mask of the board. `masks` (b, 3, side / 4, side /
    4) are of pieces and counters, other objects, arms. The objects are the last field.
    """

    light: Tensor
    bare: Tensor
    print: Tensor
    board: Tensor
    masks: Tensor
    view: View
    objects: Objects


def random_sizes(draw: Draw) -> tuple[Tensor, Tensor, Tensor]:
    """Bases and heights (b, PIECES) mm of pieces of a set, and their numbers of pips."""
    sets = [sizes_of(name) for name in ("looney", "piecepack")]
    rows = [[*sizes, *[sizes[-1]] * (6 - len(sizes))] for sizes in sets]
    table = torch.tensor(rows, device=draw.device)
    piecepack = draw.chance(0.2, 1)
    own = torch.where(piecepack, draw.whole(6, PIECES), draw.whole(3, PIECES))
    alike = draw.chance(0.55, 1)
    own = torch.where(alike, own[:, :1], own)
    size = table[piecepack.long().expand(-1, PIECES), own]
    stretched = torch.exp(draw.normal(0.012, 1, 2))
    odd = draw.chance(0.08, 1, 1)
    size = (
        torch.where(
            odd,
            torch.stack([draw.uniform(12, 28, PIECES), draw.uniform(16, 46, PIECES)], dim=-1),
            size,
        )
        * stretched
    )
    return size[..., 0], size[..., 1], own + 1


def _kinds(draw: Draw, second: Tensor, role: Tensor) -> Tensor:
    """Standing or lying, (b, PIECES), by the mode of the scene and the role in the pair."""
    lying_share = torch.tensor([0.06, 0.5, 0.9], device=draw.device)[draw.pick([0.33, 0.34, 0.33])][
        :, None
    ]
    lying = draw.uniform(0, 1, PIECES) < lying_share
    wants_standing, wants_lying = role == STANDS_ON, role == IS_IN
    partner = wants_lying.roll(-1, 1) | (wants_lying & second)
    standing = wants_standing.roll(-1, 1) | (wants_standing & second)
    return (lying | partner) & ~standing


def random_pieces(draw: Draw, view: View, side: int) -> Pieces:
    """Pieces without overlap on the visible part of the table."""
    b, device = draw.count, draw.device
    base, height, pips = random_sizes(draw)
    wall = draw.uniform(*WALLS_MM, 1).expand(-1, PIECES)
    second = (torch.arange(PIECES, device=device) % 2 == 1).expand(b, -1)
    role = torch.where(second, draw.pick(list(ROLES), PIECES), ALONE)
    lying = _kinds(draw, second, role)
    standing = standing_tilt(base, height)
    heading, tilt, roll = _poses(draw, lying, standing, second)
    reach = draw.uniform(0.25, 0.62, 1, 1)
    pixels = (side - 1) / 2 + draw.uniform(-1, 1, PIECES, 2) * reach * side
    place = on_table(view, pixels)
    corners = pose_corners(base, height, place, heading, tilt, roll)
    corners, tilt, raised, hidden = _place_pairs(
        draw, corners, (base, height, wall), heading, tilt, role
    )
    many = ((side / (base[:, 0] * view.focal / view.eye.norm(dim=-1))) ** 2 / 4).clamp(
        1.5, PIECES
    ) / PIECES
    wanted = draw.uniform(0, 1, PIECES) < (many * draw.uniform(0.2, 1.3))[:, None]
    wanted = wanted & (~second | (role == ALONE) | wanted.roll(1, 1)) & (tilt < standing + 1e-3)
    there = _without_overlaps(wanted, corners, role, second)
    on_it, in_it = hidden & (role == STANDS_ON), hidden & (role == IS_IN)
    name, clear = _colours(draw)
    has_second = _next_piece(there)
    shows = (_next_piece(in_it) & has_second | on_it) & clear | _next_piece(raised) & has_second
    return Pieces(
        corners * there[..., None, None],
        there,
        there & ~in_it & ~_next_piece(on_it & there),
        _pose_kinds(tilt, standing, roll),
        shows,
        raised & there,
        base,
        wall,
        name,
        clear,
        pips,
    )


def _poses(
    draw: Draw, lying: Tensor, standing: Tensor, second: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Headings, tilts and rolls of pieces in rad, (b, PIECES) each; `standing` is a standing tilt.

    Some lean, but no second piece of a pair. Often all standing pieces are parallel.
    """
    tilt = torch.where(lying, 0.0, standing)
    tipped = draw.chance(TILTS, PIECES) & ~second
    tilt = torch.where(
        tipped, LEAST_LEAN + draw.uniform(0, 1, PIECES) * (standing - 2 * LEAST_LEAN), tilt
    )
    roll = torch.where(draw.chance(ROLLS, PIECES) & ~second, draw.normal(0.35, PIECES), 0.0)
    heading = draw.uniform(0, 2 * math.pi, PIECES)
    aligned = draw.chance(0.25, 1) & (tilt >= standing - 1e-4)
    parallel = heading[:, :1] + draw.normal(0.03, PIECES)
    return torch.where(aligned, parallel, heading), tilt, roll


def _pose_kinds(tilt: Tensor, standing: Tensor, roll: Tensor) -> Tensor:
    """Upright, lying or leaning, by tilts, the tilt of standing pieces, and rolls."""
    kind = torch.where(
        tilt < LEAST_LEAN, LYING, torch.where(tilt > standing - LEAST_LEAN, UPRIGHT, LEANING)
    )
    return torch.where(roll.abs() > LEAST_LEAN, LEANING, kind)


def _without_overlaps(wanted: Tensor, corners: Tensor, role: Tensor, second: Tensor) -> Tensor:
    """Mask (b, PIECES) of wanted pieces that overlap no other."""
    together = ((role == STANDS_ON) | (role == IS_IN)) & second
    pair = torch.arange(PIECES, device=role.device) // 2
    ignored = (pair[:, None] == pair[None])[None] & (together | together.roll(-1, 1))[:, :, None]
    there = accept_greedily(wanted, corners, ignored, CLEARANCE_MM)
    return there & (~together & (role != LEANS) | there.roll(1, 1))


def _next_piece(of_each: Tensor) -> Tensor:
    """Values of the piece after each, (b, PIECES); 0 or false after the last."""
    return torch.cat([of_each[:, 1:], torch.zeros_like(of_each[:, :1])], dim=1)


def _place_pairs(
    draw: Draw,
    corners: Tensor,
    size: tuple[Tensor, Tensor, Tensor],
    heading: Tensor,
    tilt: Tensor,
    role: Tensor,
) -> tuple[Tensor, ...]:
    """Corners and tilts, with the second piece of each pair moved according to its role.

    Also masks of raised pieces, and of those that hide another or are hidden in it.
    """
    base, height, wall = size
    anchor = corners.roll(1, 1)
    none = torch.zeros_like(base)
    touching = touching_place(
        base,
        height,
        draw.uniform(0, 2 * math.pi, PIECES),
        heading,
        tilt,
        anchor,
        draw.uniform(0.03, 1.2, PIECES),
    )
    by_touch = pose_corners(base, height, touching, heading, tilt, none)
    middle = (anchor[..., :4, :2].mean(dim=-2) + anchor[..., 4, :2]) / 2
    way = torch.stack([torch.cos(heading), torch.sin(heading)], dim=-1)
    pivot = (
        middle
        - way * (base * draw.uniform(0.5, 1.7, PIECES))[..., None]
        + draw.normal(2.5, PIECES, 2)
    )
    leaning = leaning_tilt(base, height, pivot, heading, anchor)
    by_leaning = corners_at_pivot(base, height, pivot, heading, leaning)
    step = wall * torch.hypot(height, base / 2) / (base / 2)
    lift = (anchor[..., 4, 2] - (height - step)).clamp(min=0)
    standing = standing_tilt(base, height)
    upright = pose_corners(base, height, anchor[..., 4, :2], heading, standing, none)
    on_it = upright + torch.nn.functional.pad((lift + 0.05)[..., None, None], (2, 0))
    ratio = (base / base.roll(1, 1))[..., None, None]
    anchor_base = anchor[..., :4, :].mean(dim=-2, keepdim=True)
    room = (
        1 - (wall * torch.hypot(height, base / 2) / (base / 2) / height.roll(1, 1))[..., None, None]
    )
    inside = anchor_base + torch.minimum(ratio, room * 0.99) * (anchor - anchor_base)
    fits = ratio[..., 0, 0] < 0.97
    out = corners
    for own, there in (
        (TOUCHES, by_touch),
        (LEANS, by_leaning),
        (STANDS_ON, on_it),
        (IS_IN, inside),
    ):
        out = torch.where((role == own)[..., None, None], there, out)
    tilt = torch.where(role == LEANS, leaning, tilt)
    tilt = torch.where((role == IS_IN) & ~fits, torch.inf, tilt)  # it does not fit, and is left out
    raised = (role == STANDS_ON) & (lift > 1.0)
    hidden = ((role == STANDS_ON) & (lift <= 1.0)) | (role == IS_IN)
    return out, tilt, raised, hidden


def _colours(draw: Draw) -> tuple[Tensor, Tensor]:
    """Colour indices (b, PIECES) of a few in play, and mask of see-through pieces."""
    weights = torch.tensor(WEIGHTS, device=draw.device).log() - torch.log(
        -torch.log(draw.uniform(1e-6, 1 - 1e-6, len(COLOURS)))
    )
    order = weights.argsort(dim=1, descending=True)
    name = order.gather(1, (draw.uniform(0, 1, PIECES) * (1 + draw.whole(5, 1)).float()).long())
    one_set = draw.chance(0.75, 1)
    return name, see_through(
        name, torch.where(one_set, draw.uniform(0, 1, 1), draw.uniform(0, 1, PIECES))
    )


def random_scenes(seed: int, count: int, device: torch.device, side: int = SIDE_PX) -> Scene:
    """`count` random scenes."""
    draw = Draw(seed, count, device)
    view = random_views(draw, side)
    return scenes_around(draw, view, random_pieces(draw, view, side), seed, side)


def scenes_around(draw: Draw, view: View, pieces: Pieces, seed: int, side: int = SIDE_PX) -> Scene:
    """Scenes of these pieces with other objects, a table and light."""
    device = draw.device
    places = on_table(view, draw.uniform(-0.08 * side, 1.08 * side, BOXES + ROUNDS, 2))
    middles = pieces.corners[..., :2].mean(dim=-2)
    reach = (pieces.corners[..., :2] - middles[..., None, :]).norm(dim=-1).amax(dim=-1)
    apart = (places[:, :, None] - middles[:, None]).norm(dim=-1) - reach[:, None] - 0.5
    free = torch.where(pieces.there[:, None], apart, 1e3).amin(dim=2)
    others = (places[:, :, None] - places[:, None]).norm(dim=-1) + 1e3 * torch.eye(
        BOXES + ROUNDS, device=device
    )
    things = random_things(draw, places, torch.minimum(free, 0.45 * others.amin(dim=2)))
    walls = torch.where(pieces.there, pieces.wall_mm, 0.0)
    walls = torch.where((pieces.clear | draw.chance(0.9, 1)), walls, 0.0)
    blunt = draw.uniform(0.0, 0.05, 1).expand(-1, PIECES)
    shells = solid.pyramids(
        pieces.corners
        + torch.tensor([0.0, 0.0, 0.03], device=device) * pieces.there[..., None, None],
        walls,
        blunt,
    )
    all_bodies = solid.Bodies(solid.concatenate(shells, things.boxes), things.rounds)
    stuff = _stuff(draw, pieces, things)
    lights = random_lights(draw)
    low, high = corners_on_table(view, side)
    colour, board = ground_picture(low, high, GROUND_PX * side // SIDE_PX, seed * 5 + 3)
    lit, bare = light_map(
        all_bodies, stuff, lights, low, high, LIGHT_PX * side // SIDE_PX, LIGHT_SAMPLES, draw
    )
    gloss = draw.uniform(0, 1) ** 3
    world = World(all_bodies, stuff, lights, Ground(low, high, colour, lit, bare, gloss))
    return Scene(view, pieces, things, world, board)


def _stuff(draw: Draw, pieces: Pieces, things: Things) -> Materials:
    """Materials of all bodies, pieces first."""
    b, device = draw.count, draw.device
    rest = BOXES + ROUNDS
    make = draw.whole(3, 1).expand(-1, PIECES)
    made = plastics(
        pieces.name,
        make,
        pieces.clear,
        draw.log_uniform(0.2, 1.2, 1).expand(-1, PIECES),
        draw.normal(0.14, 1, 1) + draw.normal(0.07, PIECES, 3),
    )
    gloss = (draw.uniform(0, 1, 1) ** 0.7).expand(-1, PIECES)
    milk = (draw.uniform(0, 1, 1) ** 2 * 0.3).expand(-1, PIECES)
    bevel = torch.cat(
        [draw.uniform(0.15, 1.1, 1).expand(-1, PIECES), draw.uniform(0.2, 1.5, rest)], dim=1
    )
    base = pieces.base_mm
    pale = (made.colour.mean(dim=-1) > 0.3) ^ draw.chance(0.1, 1)
    ink = torch.where(pale, draw.uniform(0.01, 0.06, 1), draw.uniform(0.4, 0.85, 1))
    count = torch.where(draw.chance(0.7, 1), pieces.pips.clamp(max=6), 0).float()
    low, shift, wide = (
        draw.uniform(0.09, 0.3, 1),
        draw.uniform(-0.3, 0.3, 1),
        draw.uniform(0.025, 0.05, 1),
    )
    pips = torch.stack(
        [count, base * 0.13, base * low, base * wide, base * shift * (count < 3), ink], dim=-1
    )
    none = torch.zeros(b, rest, 6, device=device)
    return Materials(
        colour=torch.cat([made.colour, things.colour], dim=1),
        absorbs=torch.cat([made.absorbs, things.absorbs], dim=1),
        clear=torch.cat([made.clear, things.clear], dim=1),
        bends=draw.uniform(1.46, 1.6, 1).expand(-1, PIECES + rest),
        gloss=torch.cat([gloss, things.gloss], dim=1),
        milk=torch.cat([milk, torch.zeros(b, rest, device=device)], dim=1),
        bevel_mm=bevel,
        pips=torch.cat([pips, none], dim=1),
        corners=torch.cat([pieces.corners, torch.zeros(b, rest, 5, 3, device=device)], dim=1),
    )


def render(scene: Scene, seed: int, side: int = SIDE_PX, each: int = EACH) -> Rendered:
    """Render a scene by ray tracing."""
    view, world = scene.view, scene.world
    draw = Draw(seed + 1, len(view.eye), view.eye.device)
    saw = trace_rays(world, view.eye, rays(view, side, each), draw)
    flat = on_table(view, _pixels(side, view))
    points = torch.cat([flat, torch.zeros_like(flat[..., :1])], dim=-1)
    printed = (
        sample_map(world.ground.colour, world.ground, points)
        .transpose(1, 2)
        .reshape(-1, 3, side, side)
    )
    board = sample_map(scene.board, world.ground, points).transpose(1, 2).reshape(-1, 1, side, side)
    light, bare = averaged(saw.light, side, each), averaged(saw.bare, side, each)
    masks, visible = _masks(scene, saw.body, saw.alone, side, each)
    return Rendered(light, bare, printed, board, masks, view, _objects(scene, visible))


def _pixels(side: int, view: View) -> Tensor:
    steps = torch.arange(side, device=view.eye.device, dtype=torch.float32)
    y, x = torch.meshgrid(steps, steps, indexing="ij")
    return torch.stack([x, y], dim=-1).reshape(1, -1, 2).expand(len(view.eye), -1, 2)


def _masks(
    scene: Scene, body: Tensor, alone: Tensor, side: int, each: int
) -> tuple[Tensor, Tensor]:
    """Masks (b, 3, side / 4, side / 4), and the visible share of each body (b, k)."""
    kinds = torch.cat([scene.pieces.kind, scene.things.kind], dim=1)
    group = torch.where(kinds == ARM, 2, torch.where((kinds <= LEANING) | (kinds == COUNTER), 0, 1))
    of_ray = torch.where(body >= 0, group.gather(1, body.clamp(min=0)), -1)
    step = 4 * each
    cells = of_ray.reshape(len(body), side // 4, step, side // 4, step)
    masks = torch.stack([(cells == k).float().mean(dim=(2, 4)) for k in range(3)], dim=1)
    shows = torch.zeros(len(body), kinds.shape[1] + 1, device=body.device)
    shows.scatter_add_(
        1, torch.where(body >= 0, body, kinds.shape[1]), torch.ones_like(body, dtype=torch.float32)
    )
    return masks, (shows[:, :-1] / alone.clamp(min=1)).clamp(0, 1)


def _objects(scene: Scene, visible: Tensor) -> Objects:
    """Objects to be found, in pixels."""
    view, pieces, things = scene.view, scene.pieces, scene.things
    b, rest = len(view.eye), BOXES + ROUNDS
    corners = torch.cat([pieces.corners, things.middle[:, :, None].expand(-1, -1, 5, -1)], dim=1)
    points = project(view, corners)
    base_centre = project(view, corners[..., :4, :].mean(dim=-2))
    centre = (base_centre + points[..., 4, :]) / 2
    foot = corners[..., :4, :].mean(dim=-2)
    by_point = slopes(view, torch.cat([foot[..., :2], torch.zeros_like(foot[..., 2:])], dim=-1))
    scale, _ = scale_and_lean(by_point)
    kind = torch.cat([torch.where(pieces.listed, pieces.kind, NOTHING), things.kind], dim=1)
    edge = torch.nn.functional.pad(
        corners[:, :PIECES, 1, :2] - corners[:, :PIECES, 0, :2], (0, 0, 0, rest)
    )
    nothing = torch.zeros(b, rest, device=visible.device)
    return Objects(
        kind=kind,
        centre=centre,
        points=points,
        base_px=torch.cat([pieces.base_mm, things.size_mm], dim=1) * scale,
        slopes=by_point[..., :2],
        edge=edge,
        name=torch.cat([pieces.name, things.name], dim=1),
        clear=torch.cat([pieces.clear.float(), things.clear], dim=1),
        stack=torch.cat([pieces.stack.float(), nothing], dim=1),
        raised=torch.cat([pieces.raised.float(), nothing], dim=1),
        visible=visible,
    )
