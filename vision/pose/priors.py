"""How pieces of each game stand as a rule, and how many of them there are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from table.solids import POSES, Array
from table.table_config import Setup

USUAL = 0.9
"""Where more of a game's pieces than this stand alike, one that seems to stand otherwise is looked
at once more as if it did not.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Habit:
    """How pieces of a game stand as a rule, chances of POSES, and how many of a colour there are on
    its board at most.

    With `apart` they never stand one in another: one more of a colour is told, if it is surely
    read, as it has no business there.
    """

    poses: Array
    most: int
    apart: bool = False


HABITS = {
    "icebreaker": Habit(np.array([0.99, 0.008, 0.002]), 3, apart=True),
    "icefloe": Habit(np.array([0.99, 0.005, 0.005]), 6),
    "zamboni_wars": Habit(np.array([0.03, 0.96, 0.01]), 1),
}
ANYHOW = Habit(np.full(3, 1 / 3), 100)


def habit_of(setup: Setup) -> Habit:
    """That of the game that is played."""
    return HABITS.get(setup.game.name, ANYHOW)


def stand_alike(setup: Setup) -> bool:
    """Do nearly all pieces of the game stand, or nearly all lie?"""
    return bool(habit_of(setup).poses.max() > USUAL)


def lie_as_a_rule(setup: Setup) -> bool:
    """Do nearly all pieces of the game lie?"""
    return bool(habit_of(setup).poses[POSES.index("lying")] > USUAL)
