"""The `table.json` of a table in use, and the only function that replaces such a file."""

from __future__ import annotations

import threading
from pathlib import Path

from table.files import keep_previous
from table.table_config import Setup, save_table


def replace_table(setup: Setup, path: Path) -> Path | None:
    """Write a table; an existing one is copied beside it, and the copy's path returned.

    Raises InputError; the file is then unchanged.
    """
    kept = keep_previous(path)
    save_table(setup, path)
    return kept


class TableFile:
    """A table and its file.

    During set-up and play nothing else writes the file. All methods are thread-safe.
    """

    def __init__(self, path: Path, setup: Setup) -> None:
        """`setup` is the current table; the file may differ by house rules of one game."""
        self.path = path
        self._lock = threading.Lock()
        self._setup = setup

    @property
    def setup(self) -> Setup:
        """The current table."""
        with self._lock:
            return self._setup

    def replace(self, setup: Setup) -> None:
        """Write another table to the file and use it from now on; as `replace_table`."""
        with self._lock:
            replace_table(setup, self.path)
            self._setup = setup
