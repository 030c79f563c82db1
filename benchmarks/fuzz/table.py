"""A made-up table, and its exact observation with the ± of an ordinary camera."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeVar

import numpy as np

from simulation.render.scene import look_at
from simulation.true_reading import SIGMAS
from table.observation import Camera, Observation, SeenCounter, SeenDie, SeenPiece
from table.pieces import PieceSet
from table.solids import Pose, Solid, leaning, lying, on_top, upright

COUNTER_MM, DIE_MM = 0.5, 0.5
"""How well counters and dice are read, 1 sigma."""
LEANS_DEG = 40.0
HANGS_MM = 900.0
"""The camera hangs so high over the middle of the board."""


@dataclass(frozen=True, slots=True)
class Thing:
    """A pyramid: (x, y) as `SeenPiece.base_mm`, `on` the name of the one that it stands on.

    `shape` is where it is in space, if that does not follow from the rest: it leans on something.
    """

    colour: str
    size: str
    pose: Pose
    x_mm: float
    y_mm: float
    heading_deg: float = 0.0
    on: str | None = None
    shape: Solid | None = None

    @property
    def at_mm(self) -> np.ndarray:
        """Where it is, (2,)."""
        return np.array([self.x_mm, self.y_mm])

    def put(self, at_mm: np.ndarray, **other: object) -> Thing:
        """The same piece elsewhere."""
        x_mm, y_mm = float(at_mm[0]), float(at_mm[1])
        return replace(self, x_mm=x_mm, y_mm=y_mm, **{"shape": None, **other})


@dataclass(frozen=True, slots=True)
class Table:
    """What lies on a table, a new value for every change.

    `things`, and those `off` the board, have names of the game's own.
    """

    things: Mapping[str, Thing] = field(default_factory=dict)
    off: Mapping[str, Thing] = field(default_factory=dict)
    counters: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    dice: Mapping[str, tuple[float, float]] | None = None
    tiles: Mapping[str, bool] | None = None
    hand: bool = False

    def with_thing(self, name: str, thing: Thing) -> Table:
        """One more, or another in its place."""
        return replace(self, things={**self.things, name: thing})

    def without(self, *names: str) -> Table:
        """Things, counters and dice of these names taken away."""
        dice = None if self.dice is None else _without_names(self.dice, names)
        return replace(
            self,
            things=_without_names(self.things, names),
            counters=_without_names(self.counters, names),
            dice=dice,
        )

    def knocked_off(self, name: str, at_mm: np.ndarray) -> Table:
        """A thing lies beside the board."""
        gone = self.things[name].put(at_mm, on=None)
        return replace(self.without(name), off={**self.off, name: gone})


def _without_names(all_of_them: Mapping, names: tuple[str, ...]) -> dict:
    return {name: one for name, one in all_of_them.items() if name not in names}


T = TypeVar("T")
Effect = Callable[[Any, Table, Random], Table | None]
"""What somebody does to a table in a state; None where that cannot be done there."""
HAND_IN_BETWEEN = 0.05


def choose(
    effects: Mapping[str, Callable[[Any, Table, Random], T | None]],
    weights: Sequence[int],
    state: Any,
    table: Table,
    chance: Random,
) -> tuple[str, T]:
    """The name of an effect that can be done, and what comes of it."""
    while True:
        effect = chance.choices(list(effects), weights)[0]
        if (done := effects[effect](state, table, chance)) is not None:
            return effect, done


def do_something(
    effects: Mapping[str, Effect], state: Any, table: Table, chance: Random, lawful: int
) -> tuple[str, Table]:
    """The name of an effect that can be done, and the table after it.

    `effects` begins with lawful acts, which come up `lawful` times as often as others, and lawful
    ones near an edge, twice as often.
    """
    weights = [lawful, 2, *[1] * (len(effects) - 2)]
    effect, after = choose(effects, weights, state, table, chance)
    if chance.random() < HAND_IN_BETWEEN:
        return f"{effect}, hand in between", replace(after, hand=True)
    return effect, after


def camera_over(outline_mm: np.ndarray) -> Camera:
    """High over the middle of a board, a little to the near side."""
    x, y = (outline_mm.min(axis=0) + outline_mm.max(axis=0)) / 2
    return look_at(np.array([x, y - 40.0, HANGS_MM]), np.array([x, y, 0.0]), roll_deg=0.0)


def solid_of(thing: Thing, sizes: PieceSet, below: Solid | None = None) -> Solid:
    """The solid; `below` is that of the piece that it stands on."""
    size = sizes[thing.size]
    if thing.shape is not None:
        return thing.shape
    if below is not None:
        return on_top(size, below, thing.heading_deg)
    if thing.pose == "upright":
        return upright(size, thing.x_mm, thing.y_mm, thing.heading_deg)
    if thing.pose == "lying":
        return lying(size, thing.x_mm, thing.y_mm, thing.heading_deg)
    turn, tilt = math.radians(thing.heading_deg), math.radians(LEANS_DEG)
    about_z = np.array(
        [[math.cos(turn), -math.sin(turn), 0], [math.sin(turn), math.cos(turn), 0], [0, 0, 1]]
    )
    about_y = np.array(
        [[math.cos(tilt), 0, math.sin(tilt)], [0, 1, 0], [-math.sin(tilt), 0, math.cos(tilt)]]
    )
    raised = size.base_mm / 2 * math.sin(tilt)
    return leaning(size, about_z @ about_y, np.array([thing.x_mm, thing.y_mm, raised]))


def observed(table: Table, sizes: PieceSet, camera: Camera) -> Observation:
    """All that lies there as it lies."""
    order = sorted(table.things, key=lambda name: _height(table, name))
    solids: dict[str, Solid] = {}
    pieces = []
    for name in order:
        thing = table.things[name]
        solids[name] = solid_of(thing, sizes, solids.get(thing.on or ""))
        on = order.index(thing.on) if thing.on in solids else None
        pieces.append(replace(_seen(thing, solids[name]), on=on))
    off = tuple(_seen(thing, solid_of(thing, sizes)) for thing in table.off.values())
    counters = tuple(SeenCounter("white", x, y, COUNTER_MM) for x, y in table.counters.values())
    dice = (
        None if table.dice is None else tuple(SeenDie(x, y, DIE_MM) for x, y in table.dice.values())
    )
    tiles = None if table.tiles is None else dict(table.tiles)
    return Observation(
        0, 0, camera, tuple(pieces), off, counters, hand=table.hand, tiles=tiles, dice=dice
    )


def _height(table: Table, name: str) -> int:
    """How many pieces are under this one."""
    below = table.things[name].on
    return 1 + _height(table, below) if below in table.things else 0


def _seen(thing: Thing, solid: Solid) -> SeenPiece:
    base = solid.vertices_mm[:4, :2].mean(axis=0) if thing.pose == "upright" else thing.at_mm
    covariance = np.diag(SIGMAS) ** 2
    return SeenPiece(
        thing.colour, thing.size, thing.pose, base, thing.heading_deg, solid, covariance
    )


class OnTable:
    """A table under its camera, and what happens to pieces on any board.

    Games have `_sizes` and `_camera`.
    """

    _sizes: PieceSet
    _camera: Camera
    _fallen: Pose = "lying"
    """How a piece lies that was toppled."""

    @property
    def sizes(self) -> PieceSet:
        """Sizes of the pieces."""
        return self._sizes

    def observed(self, table: Table) -> Observation:
        """All of it as it lies."""
        return observed(table, self._sizes, self._camera)

    def same(self, state: Any, other: Any) -> bool:
        """As they stand."""
        return bool(state == other)

    def _topple(self, _state: Any, table: Table, chance: Random) -> Table | None:
        return self._change_pose(table, self._fallen, chance)

    def _leaning(self, _state: Any, table: Table, chance: Random) -> Table | None:
        return self._change_pose(table, "leaning", chance)

    def _change_pose(self, table: Table, pose: Pose, chance: Random) -> Table | None:
        if not table.things:
            return None
        name = chance.choice(list(table.things))
        thing = replace(table.things[name], pose=pose, heading_deg=chance.uniform(0, 360))
        return table.with_thing(name, thing)
