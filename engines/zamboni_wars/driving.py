"""Where a Zamboni can get to: every way that the rules of movement leave open.

Printed rules, "Movement", "Warp Zone Rule", "Treehouse Cover Rule"; rulings zamboni_wars.2 to .4, .7 and .9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from engines.zamboni_wars.board import FACINGS, PLACES, STRAIGHT, Space
from engines.zamboni_wars.moves import Drive
from engines.zamboni_wars.state import State

Way = tuple[Space | str, ...]
"""What each point was spent on: a space that was driven or warped to, or a facing that was turned to."""


@dataclass(frozen=True, slots=True)
class Laws:
    """Which rules of movement hold; all do in a game, and a refusal tries which one it hangs on."""

    arrows: bool = True
    no_two_turns: bool = True
    solid: bool = True
    """Zambonis and cover dice that cannot be pushed stand in the way."""


class Stand(NamedTuple):
    """How things stand in the middle of a move: the Zamboni's space and facing, the cover dice, and whether it just turned."""

    space: Space
    facing: str
    dice: tuple[Space, ...]
    turned: bool


Layer = dict[Stand, Way]
"""Everything that one number of points leads to, each with one way to it."""
IN_FORCE = Laws()


@lru_cache(maxsize=256)
def reachable(state: State, roll: int) -> Mapping[Drive, Way]:
    """Every end of a move of `state.to_move` with a roll of 1 to 6, each with one way there.

    Every way spends all points, or, where no way does, as many as possible (ruling zamboni_wars.4); so all of them are
    equally short.  Of several to the same end, the one given steps first, then warps, then turns, N to NW clockwise.
    """
    *_, reached = islice(layers(state, IN_FORCE), roll)
    ends: dict[Drive, Way] = {}
    for stand, way in reached.items():
        ends.setdefault(Drive(stand.space, stand.facing, () if stand.dice == state.dice else stand.dice), way)
    return MappingProxyType(ends)


def layers(state: State, laws: Laws) -> Iterator[Layer]:
    """What 1, 2, 3, ... points lead to, until nothing can be done any more; without end where something always can."""
    near: Layer = {Stand(state.mover.space, state.mover.facing, state.dice, False): ()}
    while True:
        far: Layer = {}
        for stand, way in near.items():
            for done, then in _next(state, stand, laws):
                far.setdefault(then, (*way, done))
        if not far:
            return
        yield far
        near = far


def breach(state: State, way: Way, laws: Laws) -> tuple[Stand, Space | str]:
    """The first point of a way, possible under `laws`, that the rules in force forbid: how things stood, and what was done."""
    stand = Stand(state.mover.space, state.mover.facing, state.dice, False)
    for done in way:
        if done not in dict(_next(state, stand, IN_FORCE)):
            return stand, done
        stand = dict(_next(state, stand, laws))[done]
    raise ValueError(f"expected a way that breaks a rule, got {' '.join(map(str, way))}")


def _next(state: State, stand: Stand, laws: Laws) -> Iterator[tuple[Space | str, Stand]]:
    """All that one point can do: what it was spent on, and how things stand then."""
    if then := _step(state, stand, laws):
        yield then.space, then
    if state.ruling("warp") == "on" and stand.space in PLACES.values():
        for there in PLACES.values():
            if there != stand.space and not (laws.solid and (there in state.others or there in stand.dice)):
                yield there, Stand(there, stand.facing, stand.dice, False)
    if not (laws.no_two_turns and stand.turned):
        for facing in FACINGS:
            if facing != stand.facing:
                yield facing, Stand(stand.space, facing, stand.dice, True)


def _step(state: State, stand: Stand, laws: Laws) -> Stand | None:
    """One space straight ahead, along an arrow, a cover die pushed on; None where that is not possible."""
    space, facing, dice, _ = stand
    there = space.ahead(facing)
    if there is None or facing not in STRAIGHT or (laws.arrows and facing not in state.board.arrows[space]):
        return None
    if there in dice and (pushed := _pushed(state, there, facing, dice)):
        dice = pushed
    elif laws.solid and (there in dice or there in state.others):
        return None
    return Stand(there, facing, dice, False)


def _pushed(state: State, die: Space, way: str, dice: tuple[Space, ...]) -> tuple[Space, ...] | None:
    """The cover dice after one of them was pushed; None where it is stuck (ruling zamboni_wars.9)."""
    there = die.ahead(way)
    if there is None or there in dice or there in state.others or way not in state.board.arrows[die]:
        return None
    return tuple(sorted(there if space == die else space for space in dice))
