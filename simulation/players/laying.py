"""Changes of bodies on a table by a hand: move, turn, stand up, lay down, put in a free place.

All functions are pure; a changed body is a new one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from simulation.generate.rest_poses import random_pose
from simulation.render.dice import die_at
from simulation.render.ground import table_z_mm
from simulation.render.scene import Body, SceneDie, ScenePiece, Slab
from table.boards import Tiles, within
from table.cells import cell_at, cell_middle_mm
from table.clearance import is_free
from table.pieces import PieceSize
from table.solids import Array, Solid, convex_hull, lying, on_top, upright
from table.table_config import Setup

Bodies = Mapping[str, Body]
"""Pieces, counters and tiles on the table, by names of the game's own. Untouched bodies stay the
same objects.
"""
GAP_MM = 0.5
"""Least gap between a body put down by hand and the others."""
NEAREST_MM, FARTHEST_MM, RINGS, DIRECTIONS = 2.5, 200.0, 24, 16
"""Search for a free place: radii of the nearest and the farthest ring, number of rings, and places
per ring.
"""
SCATTER_MM = 18.0
"""Standard deviation of a thrown piece's place about its aim."""
LEVEL_MM = 0.05
"""Overlap of heights below which bodies are above each other."""


def middle_mm(body: Body | Solid) -> Array:
    """The middle of a body or solid seen from above, (2,)."""
    middle: Array = body.vertices_mm[:, :2].mean(axis=0)
    return middle


def without(bodies: Bodies, *names: str) -> Bodies:
    """The bodies without these names."""
    return {name: body for name, body in bodies.items() if name not in names}


def kind_of(body: Body) -> Hashable:
    """Key of interchangeable bodies: material, colour and size."""
    match body:
        case ScenePiece():
            return "piece", body.colour, round(body.solid.base_mm, 1)
        case Slab():
            return "slab", body.rgb, None if body.face is None else id(body.face.rgb)
        case SceneDie():
            return "die", body.worded


def size_of(piece: ScenePiece, setup: Setup) -> PieceSize:
    """The size of a piece, among the game's sizes."""
    base_mm = piece.solid.base_mm
    return min(setup.sizes, key=lambda size: abs(size.base_mm - base_mm))


def stands(piece: ScenePiece) -> bool:
    """True if a piece is on its base."""
    return bool(np.ptp(piece.vertices_mm[:4, 2]) < LEVEL_MM)


def move_body(body: Body, by_mm: Array, turn_deg: float = 0.0) -> Body:
    """A body shifted by (3,) mm, and turned about its middle."""
    c, s = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))
    about, rotation = (
        np.array([*middle_mm(body), 0.0]),
        np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
    )

    def carried(points: Array) -> Array:
        return np.asarray((points - about) @ rotation.T + about + by_mm)

    match body:
        case ScenePiece():
            return replace(body, solid=Solid(carried(body.vertices_mm)))
        case Slab():
            face = body.face
            if face is not None:
                x, y, _ = carried(np.array([*face.middle_mm, 0.0]))
                turned_deg = face.turn_deg + turn_deg
                face = replace(face, middle_mm=(float(x), float(y)), turn_deg=turned_deg)
            outline = carried(np.column_stack([body.outline_mm, np.zeros(len(body.outline_mm))]))
            low, top = body.low_mm + float(by_mm[2]), body.top_mm + float(by_mm[2])
            return replace(body, outline_mm=outline[:, :2], low_mm=low, top_mm=top, face=face)
        case SceneDie():
            return replace(
                body, middle_mm=carried(body.middle_mm), rotation=rotation @ body.rotation
            )


def stand_up(piece: ScenePiece, setup: Setup) -> ScenePiece:
    """The piece on its base at its place."""
    ahead = piece.solid.tip_mm - piece.vertices_mm[:4].mean(axis=0)
    x, y = middle_mm(piece)
    solid = upright(size_of(piece, setup), float(x), float(y), _heading_deg(ahead), _low_mm(piece))
    return replace(piece, solid=solid)


def lay_down(piece: ScenePiece, setup: Setup) -> ScenePiece:
    """The piece on a face at its place; its tip points the way that one of its edges did."""
    edge = piece.vertices_mm[1] - piece.vertices_mm[0]
    solid = lying(size_of(piece, setup), 0.0, 0.0, _heading_deg(edge), _low_mm(piece))
    away = middle_mm(piece) - solid.vertices_mm[:, :2].mean(axis=0)
    return replace(piece, solid=Solid(solid.vertices_mm + np.array([*away, 0.0])))


def throw_piece(
    bodies: Bodies, piece: ScenePiece, setup: Setup, rng: np.random.Generator
) -> ScenePiece:
    """The piece at rest after a throw to its place: scattered, in any pose."""
    z_mm = level_mm_at(middle_mm(piece), bodies, setup)
    spot = rng.normal(middle_mm(piece), SCATTER_MM)
    solid = random_pose(size_of(piece, setup), spot, rng)
    return replace(piece, solid=Solid(solid.vertices_mm + np.array([0.0, 0.0, z_mm])))


def roll_die(die: SceneDie, outline_mm: Array, z_mm: float, rng: np.random.Generator) -> SceneDie:
    """The die after a roll, somewhere inside an outline (n, 2)."""
    x, y = outline_mm.min(axis=0) + rng.uniform(0.25, 0.75, 2) * np.ptp(outline_mm, axis=0)
    top, turn_deg = int(rng.integers(1, 7)), float(rng.uniform(0, 90))
    middle, rotation = die_at(top, (float(x), float(y)), turn_deg, die.edge_mm, z_mm)
    return replace(die, middle_mm=middle, rotation=rotation)


def names_of_stack(bodies: Bodies, name: str) -> list[str]:
    """The names of a body and of all that stands on it."""
    below, group = bodies[name], [name]
    for other, body in bodies.items():
        if other == name or not isinstance(body, ScenePiece):
            continue
        if isinstance(below, Slab):
            over = _low_mm(body) > below.top_mm - LEVEL_MM and within(
                below.outline_mm, middle_mm(body)
            )
        else:
            over = isinstance(below, ScenePiece) and is_over(body, below)
        group += [other] * over
    return group


def named_by_cell(bodies: Bodies, setup: Setup, word_of: Callable[[Body], str]) -> Bodies:
    """The bodies with names such as `ship A1`, a word and the cell; unchanged without either."""
    named: dict[str, Body] = {}
    for name, body in bodies.items():
        word, cell = word_of(body), cell_at(setup.board, middle_mm(body))
        here = f"{word} {cell}" if word and cell else name
        while here in named:
            here += "+"
        named[here] = body
    return named


def is_over(upper: ScenePiece, lower: ScenePiece) -> bool:
    """True if a piece is a shell over another one, at any height of a stack."""
    lifted = _low_mm(upper) > _low_mm(lower) + LEVEL_MM
    apart_mm = float(np.hypot(*(upper.solid.tip_mm - lower.solid.tip_mm)[:2]))
    return lifted and stands(upper) and stands(lower) and apart_mm < GAP_MM


def stands_on(upper: ScenePiece, lower: ScenePiece) -> bool:
    """True if `upper` is a shell over the tip of `lower`."""
    base = upper.solid.vertices_mm[:4]
    lifted = (
        base[:, 2].min() > lower.solid.vertices_mm[:, 2].min() + 0.5
        and float(np.ptp(base[:, 2])) < 0.01
    )
    return bool(lifted and np.hypot(*(base.mean(axis=0)[:2] - lower.solid.tip_mm[:2])) < 0.5)


def overlap(one: Body, other: Body) -> bool:
    """True if the gap between two bodies is less than `GAP_MM`, beside or inside one another."""
    if _low_mm(one) >= _top_mm(other) - LEVEL_MM or _low_mm(other) >= _top_mm(one) - LEVEL_MM:
        return False
    if isinstance(one, ScenePiece) and isinstance(other, ScenePiece):
        return not is_free(one.solid, [other.solid], GAP_MM)
    return gap_mm(one, other) < GAP_MM


def gap_mm(one: Body, other: Body) -> float:
    """Lower bound of the gap between two bodies in plan, mm.

    It is the gap along the best separating axis of their outlines.
    """
    outlines = [convex_hull(body.vertices_mm[:, :2]) for body in (one, other)]
    gaps = []
    for near, far in (outlines, outlines[::-1]):
        sides = np.roll(near, -1, axis=0) - near
        out = np.column_stack([sides[:, 1], -sides[:, 0]]) / np.hypot(*sides.T)[:, None]
        gaps.append(((far[None] - near[:, None]) * out[:, None]).sum(axis=2).min(axis=1).max())
    return float(max(gaps))


def place_bodies(bodies: Bodies, wanted: Bodies, setup: Setup, stacks: bool) -> Bodies | None:
    """The table after some bodies, moved together, were released at their places in `wanted`.

    With `stacks` the first of them stacks over a like piece that stands under it. Otherwise it
    comes to rest in the nearest free place. Tiles and counters slide into the cell below them. None
    if there is no room.
    """
    rest = without(bodies, *wanted)
    others = _Others(list(rest.values()))
    first = next(iter(wanted.values()))
    if (
        stacks
        and len(wanted) == 1
        and isinstance(first, ScenePiece)
        and stands(first)
        and (over := _stack_over_like_piece(first, rest, setup)) is not None
    ):
        return {**rest, **dict.fromkeys(wanted, over)}
    if isinstance(first, Slab) and (cell := cell_at(setup.board, middle_mm(first))):
        step = np.array([*(cell_middle_mm(setup.board, cell) or ()), 0.0])
        step[:2] -= middle_mm(first)
        slid = {name: move_body(body, step) for name, body in wanted.items()}
        if others.leave_room(slid.values()):
            return {**rest, **slid}
    ground = {name: body for name, body in rest.items() if isinstance(body, Slab)}
    for away in _places():
        level_mm = level_mm_at(middle_mm(first) + away, ground, setup)
        step = np.array([*away, 0.0 if isinstance(first, Slab) else level_mm - _low_mm(first)])
        tried = {name: move_body(body, step) for name, body in wanted.items()}
        if others.leave_room(tried.values()):
            return {**rest, **tried}
    return None


def level_mm_at(place_mm: Array, bodies: Bodies, setup: Setup) -> float:
    """Height of the surface under a piece at a place (2,): the board, a tile, or the table."""
    if isinstance(setup.board, Tiles):
        tiles = [body for body in bodies.values() if isinstance(body, Slab)]
        on_board = any(within(tile.outline_mm, place_mm) for tile in tiles)
    else:
        on_board = within(setup.outline_mm(), place_mm)
    return 0.0 if on_board else table_z_mm(setup)


def _stack_over_like_piece(piece: ScenePiece, rest: Bodies, setup: Setup) -> ScenePiece | None:
    """The piece over the topmost like piece that stands under it; None if there is none."""
    size = size_of(piece, setup)
    under = [
        body
        for body in rest.values()
        if isinstance(body, ScenePiece)
        and stands(body)
        and kind_of(body)[2:] == kind_of(piece)[2:]  # type: ignore[index]  # a tuple
        and np.hypot(*(middle_mm(body) - middle_mm(piece))) < size.base_mm / 2
    ]
    if not under:
        return None
    top = max(under, key=_top_mm)
    edge = top.vertices_mm[1] - top.vertices_mm[0]
    over = replace(piece, solid=on_top(size, top.solid, _heading_deg(edge)))
    others = [body for body in rest.values() if body is not top and not _same_stack(body, top)]
    return over if _Others(others).leave_room([over]) else None


def _same_stack(body: Body, top: ScenePiece) -> bool:
    return isinstance(body, ScenePiece) and is_over(top, body)


class _Others:
    """Other bodies that may be in the way; most are excluded without a test of their shape."""

    def __init__(self, bodies: Sequence[Body]) -> None:
        self._bodies = bodies
        self._middles = np.array([middle_mm(body) for body in bodies]).reshape(-1, 2)
        self._reach = np.array([_reach_mm(body) for body in bodies])

    def leave_room(self, wanted: Iterable[Body]) -> bool:
        """True if none of the bodies shares space with one of these."""
        return not any(overlap(one, other) for one in wanted for other in self._near(one))

    def _near(self, one: Body) -> list[Body]:
        apart = np.hypot(*(self._middles - middle_mm(one)).T) - self._reach - _reach_mm(one)
        return [self._bodies[int(index)] for index in np.flatnonzero(apart < GAP_MM)]


def _reach_mm(body: Body) -> float:
    """The radius of a body about its middle, seen from above."""
    return float(np.hypot(*(body.vertices_mm[:, :2] - middle_mm(body)).T).max())


def _places() -> Iterator[Array]:
    """Offsets (2,) from a place to others, the nearest first."""
    yield np.zeros(2)
    for radius in np.geomspace(NEAREST_MM, FARTHEST_MM, RINGS):
        for turn in 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS:
            yield radius * np.array([math.cos(turn), math.sin(turn)])


def _heading_deg(way: Array) -> float:
    return math.degrees(math.atan2(float(way[1]), float(way[0])))


def _low_mm(body: Body) -> float:
    return float(body.vertices_mm[:, 2].min())


def _top_mm(body: Body) -> float:
    return float(body.vertices_mm[:, 2].max())
