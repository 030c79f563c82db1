"""Movement of a Zamboni: every end that the rules of movement allow.

Printed rules, "Movement", "Warp Zone Rule", "Treehouse Cover Rule"; rulings zamboni_wars.2 to .4,
.7 and .9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from types import MappingProxyType
from typing import NamedTuple

from engines.zamboni_wars.board import FACINGS, PLACES, STRAIGHT, Space
from engines.zamboni_wars.moves import Drive
from engines.zamboni_wars.state import State

Way = tuple[Space | str, ...]
"""Use of each point: a space driven or warped to, or a facing turned to."""


@dataclass(frozen=True, slots=True)
class MovementRules:
    """The rules of movement in force.

    `movement_rules` has those of the game; a refusal varies them to find the rule that decides.
    """

    arrows: bool = True
    no_two_turns: bool = True
    warp_between: bool = True
    """A warp separates two turns, as a step does."""
    solid: bool = True
    """Zambonis, and cover dice that cannot be pushed, block the way."""


class Stand(NamedTuple):
    """The situation in the middle of a move.

    The Zamboni's space and facing, the cover dice, and whether it just turned.
    """

    space: Space
    facing: str
    dice: tuple[Space, ...]
    turned: bool


@dataclass(frozen=True, slots=True)
class Ground:
    """What stays fixed while one Zamboni moves.

    Arrows by space, the spaces of the other Zambonis, warp zones, and the laws.
    """

    arrows: Mapping[Space, frozenset[str]]
    others: frozenset[Space]
    warps: tuple[Space, ...]
    laws: MovementRules


Layer = dict[Stand, Way]
"""Everything reachable with a number of points, each with one way to it."""


def movement_rules(state: State) -> MovementRules:
    """The rules of movement that the players chose (rulings zamboni_wars.3 and .7)."""
    return MovementRules(
        no_two_turns=state.ruling("turns") == "apart",
        warp_between=state.ruling("warp_between") == "may",
    )


@lru_cache(maxsize=256)
def reachable(state: State, roll: int) -> Mapping[Drive, Way]:
    """Every end of a move of `state.to_move` with a roll of 1 to 6, each with one way there.

    Every way spends all points or, if none does, as many as possible (ruling zamboni_wars.4); so
    all are equally short. If points may be left, shorter ways come first, starting with none at
    all. Of several ways to one end, the first in this order is given: steps, warps, turns, N to NW
    clockwise.
    """
    every: list[Layer] = list(islice(layers(state, movement_rules(state)), roll))
    counted: list[Layer] = (
        [{_begin(state): ()}, *every] if state.ruling("points") == "may" else every[-1:]
    )
    ends: dict[Drive, Way] = {}
    for stand, way in chain.from_iterable(layer.items() for layer in counted):
        ends.setdefault(
            Drive(stand.space, stand.facing, () if stand.dice == state.dice else stand.dice), way
        )
    return MappingProxyType(ends)


def layers(state: State, laws: MovementRules) -> Iterator[Layer]:
    """Yield everything reachable with 1, 2, 3, ... points, one layer each.

    Ends when nothing more can be done; may be endless.
    """
    ground = _ground(state, laws)
    near: Layer = {_begin(state): ()}
    while near:
        far: Layer = {}
        for stand, way in near.items():
            for done, then in _next(ground, stand):
                if then not in far:
                    far[then] = (*way, done)
        if far:
            yield far
        near = far


def breach(state: State, way: Way, laws: MovementRules) -> tuple[Stand, Space | str]:
    """First point of a way that the rules in force forbid: the situation, and the act.

    The way is possible under `laws`.
    """
    stand = _begin(state)
    for done in way:
        if done not in dict(_next(_ground(state, movement_rules(state)), stand)):
            return stand, done
        stand = dict(_next(_ground(state, laws), stand))[done]
    raise ValueError(f"expected a way that breaks a rule, got {' '.join(map(str, way))}")


def _ground(state: State, laws: MovementRules) -> Ground:
    warps = tuple(PLACES.values()) if state.ruling("warp") == "on" else ()
    return Ground(state.board.arrows, frozenset(state.others), warps, laws)


def _begin(state: State) -> Stand:
    return Stand(state.mover.space, state.mover.facing, state.dice, False)


def _next(ground: Ground, stand: Stand) -> Iterator[tuple[Space | str, Stand]]:
    """All acts of one point: its use, and the situation after it."""
    if then := _step(ground, stand):
        yield then.space, then
    if stand.space in ground.warps:
        for there in ground.warps:
            taken = there in ground.others or there in stand.dice
            if there != stand.space and not (taken and ground.laws.solid):
                yield (
                    there,
                    Stand(
                        there,
                        stand.facing,
                        stand.dice,
                        stand.turned and not ground.laws.warp_between,
                    ),
                )
    if not (stand.turned and ground.laws.no_two_turns):
        for facing in FACINGS:
            if facing != stand.facing:
                yield facing, Stand(stand.space, facing, stand.dice, True)


def _step(ground: Ground, stand: Stand) -> Stand | None:
    """Step one space straight ahead along an arrow, pushing a cover die; None if impossible."""
    space, facing, dice, _ = stand
    if facing not in STRAIGHT or (ground.laws.arrows and facing not in ground.arrows[space]):
        return None
    there = space.ahead(facing)
    if there is None:
        return None
    if there in dice and (pushed := _dice_after_push(ground, there, facing, dice)):
        return Stand(there, facing, pushed, False)
    if ground.laws.solid and (there in dice or there in ground.others):
        return None
    return Stand(there, facing, dice, False)


def _dice_after_push(
    ground: Ground, die: Space, way: str, dice: tuple[Space, ...]
) -> tuple[Space, ...] | None:
    """The cover dice after a push of one; None where it is stuck (ruling zamboni_wars.9)."""
    there = die.ahead(way)
    if there is None or there in dice or there in ground.others or way not in ground.arrows[die]:
        return None
    return tuple(sorted(there if space == die else space for space in dice))
