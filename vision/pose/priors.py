"""How pieces of the game that is played stand as a rule, and how many of them there are."""

from __future__ import annotations

from table.game_facts import PiecePrior
from table.games import table_facts
from table.table_config import Setup


def habit_of(setup: Setup) -> PiecePrior:
    """That of the game that is played."""
    return table_facts(setup.game.name).pieces


def stand_alike(setup: Setup) -> bool:
    """Do nearly all pieces of the game stand, or nearly all lie?"""
    return habit_of(setup).has_dominant_pose


def lie_as_a_rule(setup: Setup) -> bool:
    """Do nearly all pieces of the game lie?"""
    return habit_of(setup).mostly_lying
