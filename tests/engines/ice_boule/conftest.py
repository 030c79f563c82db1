"""Tables of Ice Boule, for all its tests."""

from tests.support.ice_boule import game, new_game, tables

__all__ = ["game", "new_game", "tables"]
