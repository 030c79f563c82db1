"""Usual poses and numbers of the pieces of the table's game."""

from __future__ import annotations

from table.game_facts import PiecePrior
from table.games import table_facts
from table.table_config import Setup


def habit_of(setup: Setup) -> PiecePrior:
    """The piece habits of the table's game."""
    return table_facts(setup.game.name).pieces


def has_dominant_pose(setup: Setup) -> bool:
    """True if nearly all pieces of the game stand, or nearly all lie."""
    return habit_of(setup).has_dominant_pose


def usually_lie(setup: Setup) -> bool:
    """True if nearly all pieces of the game lie."""
    return habit_of(setup).mostly_lying


def usually_stand(setup: Setup) -> bool:
    """True if nearly all pieces of the game stand."""
    return has_dominant_pose(setup) and not usually_lie(setup)
