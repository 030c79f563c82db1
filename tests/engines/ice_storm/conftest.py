"""Tables of Ice Storm, for all its tests."""

from tests.support.ice_storm import board, lie, piece, play, table, tables

__all__ = ["board", "lie", "piece", "play", "table", "tables"]
