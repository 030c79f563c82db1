"""Bodies for ray tracing: convex polyhedra and round bodies, solid or hollow, in batches of scenes.

A body is an outer convex shape minus an inner one, its hollow, which extends beyond it where it is
open. All is in millimetres in the table frame, z = 0 is the table. `b` counts scenes, `k` bodies of
a scene, `r` rays.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

FAR = 1e9
NEVER = 1e6
LEAST = 1e-9
FACES = 6
"""Planes of a polyhedron: a pyramid's base, four sides and blunt tip, or a box's six."""
SIDES = ((0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4))
OPEN_MM = 1.0
"""Extension of a pyramid's hollow beyond its base."""


class Polyhedra(NamedTuple):
    """Polyhedra as intersections of half-spaces.

    `planes` (b, k, FACES, 4) are outward normals n and c with n x <= c inside. `hollow` (b, k,
    FACES) is c of the hollow, whose normals are the same, far below for none. `ball` (b, k, 4) is a
    bounding sphere.
    """

    planes: Tensor
    hollow: Tensor
    ball: Tensor


class Rounds(NamedTuple):
    """Cylinders, cups and balls.

    A body is the points p = `turn` (x - `middle`) with |pxy|^2 + round pz^2 <= (1 + taper pz)^2 and
    |pz| <= 1. `turn` is (b, k, 3, 3), `middle` (b, k, 3), `shape` (b, k, 2) is round and taper.
    `hollow` (b, k, 2) is the hollow share of the radius, 0 for none, and pz of its floor. `ball`
    (b, k, 4) is a bounding sphere.
    """

    turn: Tensor
    middle: Tensor
    shape: Tensor
    hollow: Tensor
    ball: Tensor


class Bodies(NamedTuple):
    """All bodies of scenes: first the polyhedra, then the round bodies."""

    polyhedra: Polyhedra
    rounds: Rounds

    @property
    def balls(self) -> Tensor:
        """Bounding spheres (b, k, 4)."""
        return torch.cat([self.polyhedra.ball, self.rounds.ball], dim=1)


def dot(a: Tensor, b: Tensor) -> Tensor:
    """Scalar products of vectors (..., 3), with the last axis kept as 1."""
    return (a * b).sum(dim=-1, keepdim=True)


def unit(a: Tensor) -> Tensor:
    """Vectors (..., 3) normalized to length 1."""
    return a / a.norm(dim=-1, keepdim=True).clamp(min=LEAST)


def pyramids(vertices: Tensor, wall_mm: Tensor, blunt: Tensor) -> Polyhedra:
    """Pyramids with corners (b, k, 5, 3).

    Walls (b, k) are in mm, 0 for solid pyramids. `blunt` (b, k) is the share of the height by which
    tips are cut off. Corners that are all zero make a body that no ray hits.
    """
    base, tip = vertices[..., :4, :], vertices[..., 4, :]
    middle = base.mean(dim=-2)
    axis = tip - middle
    height = axis.norm(dim=-1)
    normals, offsets = [-unit(axis)], [dot(-unit(axis), middle)]
    for a, b, c in SIDES:
        out = unit(
            torch.linalg.cross(
                vertices[..., b, :] - vertices[..., a, :], vertices[..., c, :] - vertices[..., a, :]
            )
        )
        normals.append(out)
        offsets.append(dot(out, vertices[..., a, :]))
    normals.append(unit(axis))
    offsets.append(dot(unit(axis), middle) + (height * (1 - blunt))[..., None])
    n, c = torch.stack(normals, dim=-2), torch.cat(offsets, dim=-1)[..., None]
    nothing = (height < LEAST)[..., None, None]
    inwards = torch.tensor([-OPEN_MM, 1, 1, 1, 1, 1], device=n.device)[:, None]
    walls = (
        torch.where(
            torch.tensor([True] + [False] * 5, device=n.device)[:, None],
            1.0,
            wall_mm[..., None, None],
        )
        * inwards
    )
    hollow = torch.where((wall_mm <= 0)[..., None] | nothing[..., 0], -NEVER, (c - walls)[..., 0])
    ball = torch.cat(
        [
            vertices.mean(dim=-2),
            (vertices - vertices.mean(dim=-2, keepdim=True))
            .norm(dim=-1)
            .amax(dim=-1, keepdim=True),
        ],
        dim=-1,
    )
    return Polyhedra(torch.where(nothing, empty_planes(n), torch.cat([n, c], dim=-1)), hollow, ball)


def boxes(middle: Tensor, turn: Tensor, half: Tensor) -> Polyhedra:
    """Boxes around (b, k, 3).

    Their axes are the columns of `turn` (b, k, 3, 3); half sides (b, k, 3), 0 for none.
    """
    axes = turn.transpose(-1, -2)
    n = torch.cat([axes, -axes], dim=-2)
    c = (n * middle[..., None, :]).sum(dim=-1, keepdim=True) + torch.cat([half, half], dim=-1)[
        ..., None
    ]
    nothing = (half.amin(dim=-1) <= 0)[..., None, None]
    planes = torch.where(nothing, empty_planes(n), torch.cat([n, c], dim=-1))
    return Polyhedra(
        planes,
        torch.full_like(planes[..., 0], -NEVER),
        torch.cat([middle, half.norm(dim=-1, keepdim=True)], dim=-1),
    )


def empty_planes(normals: Tensor) -> Tensor:
    """Planes (..., 4) for normals (..., 3) whose half-spaces have no common point."""
    empty = torch.zeros(*normals.shape[:-1], 4, device=normals.device)
    empty[..., 3] = -1.0
    return empty


def concatenate(first: Polyhedra, second: Polyhedra) -> Polyhedra:
    """The bodies of both, in order."""
    return Polyhedra(*(torch.cat(parts, dim=1) for parts in zip(first, second, strict=True)))


def round_things(
    middle: Tensor, turn: Tensor, half: Tensor, shape: Tensor, hollow: Tensor
) -> Rounds:
    """Round bodies around (b, k, 3).

    Their axes are the columns of `turn` (b, k, 3, 3); `half` (b, k, 3) holds radii and half height,
    0 for none.
    """
    inwards = turn.transpose(-1, -2) / half.clamp(min=1e-4)[..., None]
    return Rounds(
        inwards,
        middle,
        shape,
        hollow,
        torch.cat([middle, half.norm(dim=-1, keepdim=True) * 1.3], dim=-1),
    )


def _between_planes(
    faceted: Polyhedra, at: Tensor, way: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Entry and exit of rays (b, r, 3) for bodies and for their hollows, (b, r, k) each.

    The exit comes before the entry if a ray misses.
    """
    found: list[Tensor] = []
    for face in range(faceted.planes.shape[2]):
        normals = faceted.planes[:, :, face, :3].transpose(1, 2)
        speed, along = torch.bmm(way, normals), torch.bmm(at, normals)
        slow = 1 / torch.where(speed.abs() < LEAST, LEAST, speed)
        inwards = speed < 0
        for k, level in enumerate(
            (faceted.planes[:, None, :, face, 3], faceted.hollow[:, None, :, face])
        ):
            there = (level - along) * slow
            into, out = torch.where(inwards, there, -FAR), torch.where(inwards, FAR, there)
            if face == 0:
                found += [into, out]
            else:
                found[2 * k], found[2 * k + 1] = (
                    torch.maximum(found[2 * k], into),
                    torch.minimum(found[2 * k + 1], out),
                )
    return found[0], found[1], found[2], found[3]


def _between_roots(
    rounds: Rounds, at: Tensor, way: Tensor, share: Tensor | float, floor: Tensor | None
) -> tuple[Tensor, Tensor]:
    """As `_between_planes`, for round bodies with a scaled radius.

    The radius is multiplied by `share` (b, 1, k); pz begins at `floor` (b, 1, k), or -1 if None.
    """
    matrix = rounds.turn
    p = torch.einsum("bkij,brkj->brki", matrix, at[:, :, None] - rounds.middle[:, None])
    v = torch.einsum("bkij,brj->brki", matrix, way)
    ball, taper = rounds.shape[:, None, :, 0], rounds.shape[:, None, :, 1]
    wide = share * (1 + taper * p[..., 2])
    a = v[..., 0] ** 2 + v[..., 1] ** 2 + ball * v[..., 2] ** 2 - (share * taper * v[..., 2]) ** 2
    half_b = (
        p[..., 0] * v[..., 0]
        + p[..., 1] * v[..., 1]
        + ball * p[..., 2] * v[..., 2]
        - wide * share * taper * v[..., 2]
    )
    c = p[..., 0] ** 2 + p[..., 1] ** 2 + ball * p[..., 2] ** 2 - wide**2
    a = torch.where(a.abs() < LEAST, LEAST, a)
    inside = half_b**2 - a * c
    root = inside.clamp(min=0).sqrt()
    into, out = (-half_b - root) / a, (-half_b + root) / a
    into, out = torch.minimum(into, out), torch.maximum(into, out)
    into, out = torch.where(inside < 0, FAR, into), torch.where(inside < 0, -FAR, out)
    speed = torch.where(v[..., 2].abs() < LEAST, LEAST, v[..., 2])
    low = (-1.0 if floor is None else floor) - p[..., 2]
    high = (1.0 if floor is None else 1.2) - p[..., 2]
    first, second = low / speed, high / speed
    return torch.maximum(into, torch.minimum(first, second)), torch.minimum(
        out, torch.maximum(first, second)
    )


class Ends(NamedTuple):
    """Entries and exits of bodies and their hollows along rays (b, r, k).

    A ray misses if an exit comes before its entry.
    """

    into: Tensor
    out: Tensor
    into_hollow: Tensor
    out_of_hollow: Tensor


def ends(bodies: Bodies, at: Tensor, way: Tensor) -> Ends:
    """Entries and exits of rays from (b, r, 3) along (b, r, 3)."""
    faceted, rounds = bodies
    parts = [_between_planes(faceted, at, way)]
    if rounds.middle.shape[1]:
        into, out = _between_roots(rounds, at, way, 1.0, None)
        share, floor = rounds.hollow[:, None, :, 0], rounds.hollow[:, None, :, 1]
        empty, full = _between_roots(rounds, at, way, share.clamp(min=0.01), floor)
        parts.append(
            (into, out, torch.where(share > 0, empty, FAR), torch.where(share > 0, full, -FAR))
        )
    return Ends(*(torch.cat(side, dim=2) for side in zip(*parts, strict=True)))


class FirstHit(NamedTuple):
    """First hit of each ray.

    Distance `far` (b, r), FAR for no hit; index of the `body` (b, r). `into` is true if the ray
    enters the material, `hollow` if it hits the wall of the hollow.
    """

    far: Tensor
    body: Tensor
    into: Tensor
    hollow: Tensor


def first_hit(all_ends: Ends, least_mm: float) -> FirstHit:
    """First hits of rays beyond a distance."""
    a0, a1, b0, b1 = all_ends
    solid, hollow = a0 < a1, b0 < b1

    def met(end: Tensor, there: Tensor) -> Tensor:
        return torch.where(there & (end > least_mm), end, FAR)

    choices = [
        met(a0, solid & ~(hollow & (b0 < a0) & (a0 < b1))),
        met(a1, solid & ~(hollow & (b0 < a1) & (a1 < b1))),
        met(b0, solid & hollow & (a0 < b0) & (b0 < a1)),
        met(b1, solid & hollow & (a0 < b1) & (b1 < a1)),
    ]
    nearest = torch.minimum(
        torch.minimum(choices[0], choices[1]), torch.minimum(choices[2], choices[3])
    )
    far, body = nearest.min(dim=2)
    which = torch.stack(
        [choice.gather(2, body[..., None])[..., 0] for choice in choices], dim=-1
    ).argmin(dim=-1)
    return FirstHit(far, body, (which == 0) | (which == 3), which >= 2)


def plastic_mm(all_ends: Ends, most_mm: Tensor, least_mm: float) -> Tensor:
    """Length (b, r, k) of rays in the material of each body.

    Counted from `least_mm` up to `most_mm` (b, r, 1).
    """
    a0, a1, b0, b1 = all_ends
    start, stop = a0.clamp(min=least_mm), torch.minimum(a1, most_mm)
    in_hollow = (torch.minimum(stop, b1) - torch.maximum(start, b0)).clamp(min=0)
    return (stop - start).clamp(min=0) - torch.where(b0 < b1, in_hollow, 0.0)


def facing(
    bodies: Bodies, met: FirstHit, points: Tensor, bevel_mm: Tensor
) -> tuple[Tensor, Tensor]:
    """Surface normals (b, r, 3), out of the material, and polyhedron face numbers (b, r).

    Points are (b, r, 3). Within `bevel_mm` (b, r) of an edge the normals beside it are blended, as
    on a rounded edge.
    """
    faceted, rounds = bodies
    count = faceted.planes.shape[1]
    chosen = met.body.clamp(max=count - 1)
    planes = gather_by_body(faceted.planes, chosen)
    level = torch.where(
        met.hollow[..., None], gather_by_body(faceted.hollow, chosen), planes[..., 3]
    )
    room = (level - (planes[..., :3] * points[..., None, :]).sum(dim=-1)).abs()
    face = room.argmin(dim=-1)
    weight = (1 - room / bevel_mm[..., None].clamp(min=1e-3)).clamp(min=0)
    weight = torch.where(
        torch.nn.functional.one_hot(face, FACES) > 0, weight.clamp(min=0.5), weight
    )
    away = unit((weight[..., None] * planes[..., :3]).sum(dim=-2))
    if rounds.middle.shape[1]:
        away = torch.where(
            (met.body >= count)[..., None],
            _round_facing(rounds, (met.body - count).clamp(min=0), points),
            away,
        )
    return torch.where(met.hollow[..., None], -away, away), face


def gather_by_body(values: Tensor, body: Tensor) -> Tensor:
    """Values (b, k, ...) of the bodies (b, r): (b, r, ...)."""
    return values[torch.arange(len(values), device=values.device)[:, None], body]


def _round_facing(rounds: Rounds, body: Tensor, points: Tensor) -> Tensor:
    matrix = gather_by_body(rounds.turn, body)
    p = torch.einsum("brij,brj->bri", matrix, points - gather_by_body(rounds.middle, body))
    shape, hollow = gather_by_body(rounds.shape, body), gather_by_body(rounds.hollow, body)
    ball, taper = shape[..., 0], shape[..., 1]
    wide = 1 + taper * p[..., 2]
    reach = (p[..., 0] ** 2 + p[..., 1] ** 2 + ball * p[..., 2] ** 2).sqrt()
    from_side = torch.minimum((wide - reach).abs(), (wide * hollow[..., 0] - reach).abs())
    from_end = torch.minimum((1 - p[..., 2].abs()).abs(), (p[..., 2] - hollow[..., 1]).abs())
    at_side = (from_side * _length(matrix, 2) < from_end * _length(matrix, 0)) | (ball > 0.5)
    side = torch.stack([p[..., 0], p[..., 1], ball * p[..., 2] - taper * wide], dim=-1)
    end = torch.zeros_like(side)
    end[..., 2] = p[..., 2].sign()
    return unit(torch.einsum("brij,bri->brj", matrix, torch.where(at_side[..., None], side, end)))


def _length(matrix: Tensor, row: int) -> Tensor:
    return matrix[..., row, :].norm(dim=-1)


def near_any(balls: Tensor, at: Tensor, way: Tensor) -> Tensor:
    """Mask of rays (b, r) through the ball (b, k, 4) of any body."""
    middle, radius = balls[..., :3], balls[..., 3]
    along = torch.bmm(way, middle.transpose(1, 2)) - dot(way, at)
    apart = (
        dot(at, at) - 2 * torch.bmm(at, middle.transpose(1, 2)) + (middle**2).sum(dim=-1)[:, None]
    )
    within = (apart - along**2 < ((radius + 0.5) ** 2)[:, None]) & (
        (along > 0) | (apart < (radius**2)[:, None])
    )
    return (within & (radius > 0.01)[:, None]).any(dim=2)


def true_indices(mask: Tensor) -> tuple[Tensor, Tensor]:
    """Indices (b, m) of the true entries in each row of (b, r), and a mask of the valid ones."""
    most = max(1, int(mask.sum(dim=1).max()))
    place = torch.where(mask, mask.long().cumsum(dim=1) - 1, most)
    numbers = torch.zeros(len(mask), most + 1, dtype=torch.long, device=mask.device)
    numbers.scatter_(1, place, torch.arange(mask.shape[1], device=mask.device).expand_as(place))
    filled = torch.arange(most, device=mask.device)[None] < mask.sum(dim=1, keepdim=True)
    return numbers[:, :most], filled


def gather_rows(values: Tensor, numbers: Tensor) -> Tensor:
    """Values (b, r, c) of the indices (b, m): (b, m, c)."""
    return values.gather(1, numbers[..., None].expand(-1, -1, values.shape[2]))
