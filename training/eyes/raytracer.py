"""A ray tracer for tables and plastic: many scenes at a time, on any device.

Rays start at the eye. The table is a plane with a picture on it; bodies are opaque or see-through.
See-through bodies refract a ray (Snell), mirror the room or the table (Fresnel), and absorb the
rest on its way (Beer and Lambert). Shadows on the table are computed once for a scene, as a map of
light, with several random samples of each lamp. Not modelled are caustics, and bodies mirrored in
bodies.

The unit of light is that reflected by white paper in the middle of the table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, grid_sample

from training.eyes.bodies import (
    Bodies,
    Ends,
    dot,
    ends,
    facing,
    first_hit,
    gather_by_body,
    gather_rows,
    near_any,
    plastic_mm,
    true_indices,
    unit,
)
from training.eyes.draw import Draw

LEAST_MM = 0.02
"""Distance within which a ray does not hit a surface again."""
MOST_TURNS = 8
"""Largest number of surfaces along a ray."""
OPAQUE = 1e3
"""Absorption, 1/mm, of opaque material."""
SHELL_SHADOW = 0.12
"""Share of a lamp's light that a see-through body takes beyond absorption: it is mirrored or
refracted aside.
"""
BRIGHTEST_LAMP = 60.0
"""Upper limit of a mirrored lamp's light, which is white in any case."""
LITTLE = 0.004
"""Light below which no shadow is computed."""
SOFT = 0.08
"""Least width of the soft edges of mirrored windows, in half widths."""


class Lights(NamedTuple):
    """Lamps and windows: rectangles, and ambient light.

    `at`, `across`, `up` (b, l, 3) are middle and half sides, mm. `power` (b, l, 3) is the light of
    each on the middle of the table, `around` (b, 3) the ambient light. `bars` (b, 4) are period in
    mm, share of light, and cosine and sine of the direction of the last lamp's shadow bars. `room`
    (b, 3, 4) is the unevenness of the room's brightness by direction.
    """

    at: Tensor
    across: Tensor
    up: Tensor
    power: Tensor
    around: Tensor
    bars: Tensor
    room: Tensor


class Ground(NamedTuple):
    """The table between two corners `low`, `high` (b, 2).

    `colour` (b, 3, h, w) is the reflectance. `lit` and `bare` (b, 3, g, g) are the light with and
    without shadows; `gloss` is (b,). Rows count from y = low.
    """

    low: Tensor
    high: Tensor
    colour: Tensor
    lit: Tensor
    bare: Tensor
    gloss: Tensor


class Materials(NamedTuple):
    """Materials of bodies, (b, k, ...).

    `colour` (3) is the reflectance, `absorbs` (3) in 1/mm, `clear` 1 for see-through, `bends` the
    index of refraction. `gloss` is 0..1; `milk` is the share that a clear surface scatters;
    `bevel_mm`. `pips` (6) are their number, gap, height over the base edge, radius, all in mm,
    sideways shift, and light. `corners` is (5, 3).
    """

    colour: Tensor
    absorbs: Tensor
    clear: Tensor
    bends: Tensor
    gloss: Tensor
    milk: Tensor
    bevel_mm: Tensor
    pips: Tensor
    corners: Tensor


class World(NamedTuple):
    """All contents of scenes."""

    bodies: Bodies
    stuff: Materials
    lights: Lights
    ground: Ground


class RayResult(NamedTuple):
    """Results of rays (b, r).

    `light` is (b, r, 3); `bare` is that of the table without bodies. `body` is the first one hit,
    -1 for none. `alone` (b, k) is the number of rays that would hit each body without the others.
    """

    light: Tensor
    bare: Tensor
    body: Tensor
    alone: Tensor


def without_empty(world: World) -> tuple[World, Tensor]:
    """The same world with only as many body slots as the fullest scene needs.

    Also the former index (b, k) of each body.
    """
    faceted, rounds = world.bodies
    count = faceted.planes.shape[1]
    kept = []
    for balls, first in ((faceted.ball, 0), (rounds.ball, count)):
        there = balls[..., 3] > 0.01
        kept.append(
            torch.argsort((~there).int(), dim=1, stable=True)[
                :, : max(1, int(there.sum(dim=1).max()))
            ]
            + first
        )
    bodies = Bodies(
        type(faceted)(*(gather_by_body(part, kept[0]) for part in faceted)),
        type(rounds)(*(gather_by_body(part, kept[1] - count) for part in rounds)),
    )
    numbers = torch.cat(kept, dim=1)
    return world._replace(
        bodies=bodies, stuff=Materials(*(gather_by_body(part, numbers) for part in world.stuff))
    ), numbers


def bar_transmission(lights: Lights, points: Tensor) -> Tensor:
    """Share (b, r, l) of each lamp's light that the shadow bars transmit at points (b, r, 3)."""
    last = lights.at[:, -1:]
    way = unit(last - points)
    down = points[..., :2] - way[..., :2] * (points[..., 2:] / way[..., 2:].clamp(min=0.05))
    period, share, cosine, sine = lights.bars[:, None].unbind(-1)
    phase = (down[..., 0] * cosine + down[..., 1] * sine) / period
    wave = (phase - phase.floor() - 0.5).abs() * 2
    lets = ((share - wave) * period / 6.0 + 0.5).clamp(0, 1) * 0.92 + 0.08
    return torch.cat(
        [torch.ones_like(way[..., :1]).expand(-1, -1, lights.at.shape[1] - 1), lets[..., None]],
        dim=-1,
    )


def lamp_light(lights: Lights, points: Tensor, normals: Tensor, places: Tensor) -> Tensor:
    """Light (b, r, l) at points (b, r, 3) facing (b, r, 3) from places (b, r, l, 3) on lamps.

    1 is that on a level middle of the table.
    """
    ways = places - points[:, :, None]
    squared = dot(ways, ways)
    level = lights.at[..., 2] / lights.at.norm(dim=-1)
    strength = (lights.at**2).sum(dim=-1) / level.clamp(min=0.1)
    cosine = (dot(ways, normals[:, :, None]) / squared.sqrt()).clamp(min=0)
    return (cosine / squared)[..., 0] * strength[:, None]


def transmitted_light(
    world: World, at: Tensor, places: Tensor, asked: Tensor | None = None
) -> Tensor:
    """Share (b, r, 3) of light from places (b, r, 3) that reaches points (b, r, 3).

    Light passes through or beside bodies; the share is 1 where it is not `asked` (b, r).
    """
    whole = places - at
    way = unit(whole)
    out = torch.ones_like(at)
    near = near_any(world.bodies.balls, at, way)
    numbers, filled = true_indices(near if asked is None else near & asked)
    few, there = (
        gather_rows(torch.cat([at, way, whole.norm(dim=-1, keepdim=True)], dim=-1), numbers),
        filled[..., None],
    )
    length = plastic_mm(ends(world.bodies, few[..., :3], few[..., 3:6]), few[..., 6:], LEAST_MM)
    lost = torch.bmm(length, world.stuff.absorbs) + SHELL_SHADOW * (length > 0).float().sum(
        dim=-1, keepdim=True
    )
    through = torch.where(there, torch.exp(-lost), 1.0)
    return out.scatter_reduce(
        1, numbers[..., None].expand(-1, -1, 3), through, "prod", include_self=True
    )


def light_map(
    bodies: Bodies,
    stuff: Materials,
    lights: Lights,
    low: Tensor,
    high: Tensor,
    side: int,
    samples: int,
    draw: Draw,
) -> tuple[Tensor, Tensor]:
    """Light on the table between two corners, (b, 3, side, side).

    First with the shadows of bodies, then without.
    """
    b, device = len(low), low.device
    steps = (torch.arange(side, device=device) + 0.5) / side
    y, x = torch.meshgrid(steps, steps, indexing="ij")
    flat = low[:, None] + torch.stack([x, y], dim=-1).reshape(1, -1, 2) * (high - low)[:, None]
    points = torch.cat([flat, torch.zeros_like(flat[..., :1])], dim=-1)
    up = torch.zeros_like(points)
    up[..., 2] = 1.0
    lets = bar_transmission(lights, points)
    count = lights.at.shape[1]
    shaded = torch.zeros(b, side * side, count, 3, device=device)
    plain = torch.zeros(b, side * side, count, device=device)
    world, _ = without_empty(World(bodies, stuff, lights, Ground(*([low] * 6))))
    for sample in range(samples):
        places = places_on(lights, side * side, draw, sample, samples)
        light = lamp_light(lights, points, up, places) * lets
        plain += light / samples
        for k in range(count):
            shaded[:, :, k] += (
                light[:, :, k, None] * transmitted_light(world, points, places[:, :, k]) / samples
            )
    soft = shaded.permute(0, 2, 3, 1).reshape(b * count, 3, side, side)
    soft = avg_pool2d(soft, 3, 1, 1, count_include_pad=False).reshape(b, count, 3, side, side)
    lit = (soft * lights.power[..., None, None]).sum(dim=1) + lights.around[..., None, None]
    bare = (
        torch.einsum("brl,blc->bcr", plain, lights.power).reshape(b, 3, side, side)
        + lights.around[..., None, None]
    )
    return lit, bare


def places_on(lights: Lights, count: int, draw: Draw, sample: int = 0, samples: int = 1) -> Tensor:
    """Random places (b, count, l, 3) on lamps, in the `sample`-th of `samples` strips of each."""
    a, c = (
        draw.uniform(-1, 1, count, lights.at.shape[1], 1),
        draw.uniform(-1, 1, count, lights.at.shape[1], 1),
    )
    a = (a + 1 + 2 * sample) / samples - 1
    return lights.at[:, None] + a * lights.across[:, None] + c * lights.up[:, None]


def sample_map(picture: Tensor, ground: Ground, points: Tensor) -> Tensor:
    """Values (b, r, c) of a map (b, c, h, w) of the ground at points (b, r, 2 or 3)."""
    at = (points[..., :2] - ground.low[:, None]) / (ground.high - ground.low)[:, None] * 2 - 1
    got = grid_sample(
        picture, at[:, :, None], mode="bilinear", padding_mode="border", align_corners=False
    )
    return got[..., 0].transpose(1, 2)


def room(world: World, at: Tensor, way: Tensor, blur: Tensor) -> Tensor:
    """Light (b, r, 3) of the room at points (b, r, 3) from directions (b, r, 3).

    Lamps are visible, softened by `blur` (b, r, 1).
    """
    lights = world.lights
    lobes = torch.einsum("blc,brc->brl", lights.room[..., :3], way) + lights.room[:, None, :, 3]
    level = torch.exp(lobes.clamp(-2, 2).mean(dim=-1, keepdim=True))
    light = lights.around[:, None] * level * (0.7 + 0.5 * way[..., 2:].clamp(-1, 1))
    faces = unit(torch.linalg.cross(lights.across, lights.up))
    for k in range(lights.at.shape[1]):
        face, middle = faces[:, None, k], lights.at[:, None, k]
        speed = dot(way, face)
        far = dot(middle - at, face) / torch.where(speed.abs() < 1e-4, 1e-4, speed)
        hit = at + far * way - middle
        a, c = (
            dot(hit, half) / dot(half, half)
            for half in (lights.across[:, None, k], lights.up[:, None, k])
        )
        soft = SOFT + blur * 1.5
        inside = (
            torch.sigmoid((1 - a.abs()) / soft) * torch.sigmoid((1 - c.abs()) / soft) * (far > 0)
        )
        angle = (
            4
            * lights.across[:, None, k].norm(dim=-1)
            * lights.up[:, None, k].norm(dim=-1)
            / dot(middle, middle)[..., 0]
        )
        bright = (3.14 * lights.power[:, None, k] / angle[..., None].clamp(min=1e-3)).clamp(
            max=BRIGHTEST_LAMP
        )
        light = light + inside * bright / (1 + 4 * blur)
    return light


def surrounding_light(world: World, at: Tensor, way: Tensor, blur: Tensor) -> Tensor:
    """Light (b, r, 3) at points (b, r, 3) from directions (b, r, 3), of the table or the room.

    Bodies are ignored.
    """
    falls = way[..., 2:] < -0.02
    far = torch.where(falls, -at[..., 2:] / torch.where(falls, way[..., 2:], -1.0), 0.0).clamp(
        0, 2000
    )
    ground = world.ground
    points = at + far * way
    table = sample_map(ground.colour, ground, points) * sample_map(ground.lit, ground, points)
    return torch.where(falls, table, room(world, at, way, blur))


def reflectance(cosine: Tensor, ratio: Tensor) -> Tensor:
    """Share of light that a surface of clear material mirrors (Fresnel, unpolarised).

    `cosine` is that of the angle of incidence. `ratio` is the index of refraction before the
    surface over that behind it. 1 for total reflection.
    """
    sine_squared = ratio**2 * (1 - cosine**2)
    within = (1 - sine_squared).clamp(min=0).sqrt()
    across = (ratio * cosine - within) / (ratio * cosine + within).clamp(min=1e-6)
    along = (cosine - ratio * within) / (cosine + ratio * within).clamp(min=1e-6)
    return torch.where(sine_squared >= 1, 1.0, (0.5 * (across**2 + along**2)).clamp(0, 1))


def refract(way: Tensor, normal: Tensor, cosine: Tensor, ratio: Tensor) -> Tensor:
    """Directions (..., 3) of refracted rays behind a surface that faces them (Snell)."""
    within = (1 - ratio**2 * (1 - cosine**2)).clamp(min=0).sqrt()
    return unit(ratio * way + (ratio * cosine - within) * normal)


GROUPS = 4
"""Number of groups of scenes with similar numbers of rays that hit bodies. Each group costs as much
as its fullest scene.
"""


def trace_rays(world: World, eye: Tensor, way: Tensor, draw: Draw) -> RayResult:
    """Trace rays from eyes (b, 3) along (b, r, 3)."""
    if len(eye) < 4 * GROUPS:
        return _trace_scenes(world, eye, way, draw)
    near = near_any(world.bodies.balls, eye[:, None].expand_as(way), way).sum(dim=1)
    order = near.argsort()
    parts = []
    for some in order.chunk(GROUPS):
        there = _select_scenes(world, some)
        parts.append(_trace_scenes(there, eye[some], way[some], draw.of(len(some))))
    back = order.argsort()
    return RayResult(*(torch.cat(side)[back] for side in zip(*parts, strict=True)))


def _select_scenes(tree: Any, scenes: Tensor) -> Any:
    """The selected scenes of a nested tuple of tensors."""
    if isinstance(tree, Tensor):
        return tree[scenes]
    return type(tree)(*(_select_scenes(part, scenes) for part in tree))


def _trace_scenes(world: World, eye: Tensor, way: Tensor, draw: Draw) -> RayResult:
    b, r, _ = way.shape
    at = eye[:, None].expand(b, r, 3)
    places = world.stuff.clear.shape[1]
    world, had = without_empty(world)
    bodies, ground = world.bodies, world.ground
    points = at - (at[..., 2:] / way[..., 2:].clamp(max=-0.05)) * way
    colour = sample_map(ground.colour, ground, points)
    gloss = ground.gloss[:, None, None]
    back = way * torch.tensor([1.0, 1.0, -1.0], device=way.device)
    mirror = reflectance(-way[..., 2:], torch.full_like(way[..., :1], 1 / 1.5))
    sheen = gloss * mirror * room(world, points, back, torch.full_like(gloss, 0.35)).clamp(max=8.0)
    bare = colour * sample_map(ground.bare, ground, points) + sheen
    light = colour * sample_map(ground.lit, ground, points) + sheen
    first = torch.full((b, r), -1, dtype=torch.long, device=way.device)
    numbers, filled = true_indices(near_any(bodies.balls, at, way))
    got, body, hits = _follow_rays(
        world, gather_rows(at, numbers), gather_rows(way, numbers), filled, draw
    )
    spare = torch.where(filled, numbers, r)  # padding gets an index of its own
    light = torch.cat([light, light[:, :1]], dim=1)
    met = body >= 0
    there = spare[..., None].expand(-1, -1, 3)
    light = light.scatter(1, there, torch.where(met[..., None], got, light.gather(1, there)))[:, :r]
    first = torch.cat([first, first[:, :1]], dim=1).scatter(1, spare, body)[:, :r]
    first = torch.where(first >= 0, had.gather(1, first.clamp(min=0)), -1)
    alone = torch.zeros(b, places, device=way.device).scatter(1, had, hits)
    return RayResult(light, bare, first, alone)


class _Rays(NamedTuple):
    """Rays in progress: origin, direction, throughput, and whether they continue."""

    at: Tensor
    way: Tensor
    carry: Tensor
    alive: Tensor


def _follow_rays(
    world: World, at: Tensor, way: Tensor, alive: Tensor, draw: Draw
) -> tuple[Tensor, Tensor, Tensor]:
    """Trace rays to their end.

    Returns their light (b, m, 3), and the first body (b, m) that each hits, -1 for none. Also the
    number of rays that would hit each body (b, k).
    """
    all_ends = ends(world.bodies, at, way)
    hits = (
        ((all_ends.into < all_ends.out) & (all_ends.out > 0) & alive[..., None]).float().sum(dim=1)
    )
    light, rays, first = _trace_surface(
        world, _Rays(at, way, torch.ones_like(at), alive), all_ends, draw, 0
    )
    own = torch.arange(at.shape[1], device=at.device).expand(len(at), -1)
    for turn in range(1, MOST_TURNS + 1):
        numbers, filled = true_indices(rays.alive)
        own = own.gather(1, numbers)
        at, way, carry = (gather_rows(side, numbers) for side in rays[:3])
        rays = _Rays(at, way, carry, filled)
        if turn < MOST_TURNS:
            got, rays, _ = _trace_surface(
                world, rays, ends(world.bodies, rays.at, rays.way), draw, turn
            )
        else:
            got = rays.carry * surrounding_light(
                world, rays.at, rays.way, torch.zeros_like(rays.at[..., :1])
            )
        light = light.scatter_add(
            1, own[..., None].expand(-1, -1, 3), torch.where(filled[..., None], got, 0.0)
        )
    return light, first, hits


def _trace_surface(
    world: World, rays: _Rays, all_ends: Ends, draw: Draw, turn: int
) -> tuple[Tensor, _Rays, Tensor]:
    """Trace rays past one surface.

    Returns the light (b, m, 3) that it adds, the rays behind it, and the body (b, m) that was hit,
    -1 for none.
    """
    at, way, carry, alive = rays
    met = first_hit(all_ends, LEAST_MM)
    to_table = torch.where(way[..., 2] < -1e-4, -at[..., 2] / way[..., 2].clamp(max=-1e-4), 1e8)
    hit = alive & (met.far < to_table.clamp(min=LEAST_MM))
    light = torch.zeros_like(at)
    if turn:
        past = carry * surrounding_light(world, at, way, torch.zeros_like(at[..., :1]))
        light = torch.where((alive & ~hit)[..., None], past, light)
    points = at + torch.where(hit, met.far, 0.0)[..., None] * way
    stuff = Materials(*(gather_by_body(part, met.body) for part in world.stuff))
    away, face = facing(
        world.bodies, met, points, torch.where(met.hollow, 0.3 * stuff.bevel_mm, stuff.bevel_mm)
    )
    normal = torch.where(met.into[..., None], away, -away)
    cosine = (-dot(way, normal)).clamp(0.02, 1)
    pip = _on_pip(stuff, points, face) & met.into & ~met.hollow
    clear = ((stuff.clear > 0.5) & ~pip)[..., None]
    ratio = torch.where(met.into, 1 / stuff.bends, stuff.bends)[..., None]
    share = reflectance(cosine, torch.where(clear, ratio, 1 / 1.49))
    back = unit(way + 2 * cosine * normal)
    carry = torch.where(
        (clear & ~met.into[..., None]),
        carry * torch.exp(-stuff.absorbs * torch.where(hit, met.far, 0.0)[..., None]),
        carry,
    )
    blur = (1 - stuff.gloss)[..., None]
    glance = (
        share
        * surrounding_light(world, points, back, blur)
        * (0.15 + 0.85 * stuff.gloss[..., None])
    )
    colour = torch.where(pip[..., None], stuff.pips[..., 5:], stuff.colour)
    diffuse = colour * _incident_light(
        world, points + 0.05 * normal, normal, met.hollow, draw, turn
    )
    milk = torch.where(clear, torch.where(met.into & ~met.hollow, stuff.milk, 0.0)[..., None], 1.0)
    milk = milk * torch.where(clear, 1.0, 1 - share)
    added = carry * (diffuse * milk + torch.where(clear & ~met.into[..., None], 0.0, glance))
    light = torch.where(hit[..., None], added, light)
    whole = share >= 1
    onward = torch.where(whole, back, refract(way, normal, cosine, ratio))
    carry = carry * torch.where(whole, 1.0, (1 - share) * (1 - milk))
    on = hit & clear[..., 0]
    return light, _Rays(points, onward, carry, on), torch.where(hit, met.body, -1)


def _on_pip(stuff: Materials, points: Tensor, face: Tensor) -> Tensor:
    """Mask of points (b, m) on a pip of their face."""
    count, gap, height, radius, shift = stuff.pips[..., :5].unbind(-1)
    side = (face - 1).clamp(0, 3)
    first = stuff.corners.gather(2, side[..., None, None].expand(-1, -1, 1, 3))[:, :, 0]
    second = stuff.corners.gather(2, ((side + 1) % 4)[..., None, None].expand(-1, -1, 1, 3))[
        :, :, 0
    ]
    middle, along = (first + second) / 2, unit(second - first)
    upward = unit(stuff.corners[:, :, 4] - middle)
    u, v = (
        dot(points - middle, along)[..., 0] - shift,
        dot(points - middle, upward)[..., 0] - height,
    )
    half = (count - 1) / 2
    nearest = (
        (u / gap.clamp(min=1e-3) + half).round().clamp(min=0).minimum(count - 1) - half
    ) * gap
    return (count > 0) & (face >= 1) & (face <= 4) & ((u - nearest) ** 2 + v**2 < radius**2)


def _incident_light(
    world: World, points: Tensor, normals: Tensor, hollow: Tensor, draw: Draw, turn: int
) -> Tensor:
    """Light (b, m, 3) on surfaces; shadows are computed for first hits only."""
    lights, ground = world.lights, world.ground
    places = places_on(lights, points.shape[1], draw)
    light = lamp_light(lights, points, normals, places) * bar_transmission(lights, points)
    total = torch.zeros_like(points)
    for k in range(lights.at.shape[1]):
        part = light[..., k, None] * lights.power[:, None, k]
        total = total + (
            part * transmitted_light(world, points, places[:, :, k], part.amax(dim=-1) > LITTLE)
            if turn == 0
            else 0.7 * part
        )
    upward = normals[..., 2:]
    below = sample_map(ground.colour, ground, points) * sample_map(ground.bare, ground, points)
    even = lights.around[:, None] * (0.5 + 0.5 * upward) + 0.6 * below * (0.5 - 0.5 * upward)
    return total + even * torch.where(hollow, 0.4, 1.0)[..., None]
