"""Store the tables that were ruled on: a judge compares a new table with the last valid one."""

from __future__ import annotations

from collections.abc import Container
from typing import Generic, TypeVar

from referee.sessions.state import SessionState

Table = TypeVar("Table")

TABLES_KEPT = 100
"""Number of tables kept. If more rulings than this are undone, the judge has no earlier table, as
after a restart.
"""


class JudgedTables(Generic[Table]):
    """The last tables by the number of the record that was ruled on each."""

    def __init__(self) -> None:
        self._tables: dict[int, Table] = {}

    def keep(self, seq: int, table: Table) -> None:
        """Keep the table on which record `seq`, the newest, rests."""
        self._tables[seq] = table
        if len(self._tables) > TABLES_KEPT:
            del self._tables[next(iter(self._tables))]

    def newest(self, among: Container[int]) -> tuple[int, Table] | None:
        """Return the newest kept record among these, and its table; None without one."""
        return next(
            ((seq, table) for seq, table in reversed(list(self._tables.items())) if seq in among),
            None,
        )

    def before(self, ledger: SessionState) -> Table | None:
        """Return the table of the last ruling in force that was made by camera.

        None if it was before this program started.
        """
        return next(
            (self._tables[seq] for seq in ledger.observed_records if seq in self._tables), None
        )
