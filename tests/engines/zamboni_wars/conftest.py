"""Tables of Zamboni Wars, for all its tests."""

from tests.support.zamboni_wars import at, begin, real_table, slow_arrows, table

__all__ = ["at", "begin", "real_table", "slow_arrows", "table"]
