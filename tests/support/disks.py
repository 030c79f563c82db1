"""A simulated full disk, and logs that others change or lock."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any


class Disk:
    """Connects logs, `Log(path, connect=disk.connect)`, and lets their files grow no more."""

    def __init__(self) -> None:
        self._connections: list[sqlite3.Connection] = []

    def connect(self, *words: Any, **more: Any) -> sqlite3.Connection:
        """As `sqlite3.connect`."""
        self._connections.append(sqlite3.connect(*words, **more))
        return self._connections[-1]

    def ask(self, pragma: str) -> Any:
        """The first value of a PRAGMA of the newest connection."""
        (value,) = self._connections[-1].execute(f"PRAGMA {pragma}").fetchone()
        return value

    def leave_pages(self, count: int) -> None:
        """Leave room for `count` more pages."""
        self.ask(f"max_page_count = {self.ask('page_count') + count}")


def change(log: Path, statement: str, values: tuple[object, ...] = ()) -> None:
    """Change a log without its program's knowledge."""
    with sqlite3.connect(log) as other:
        other.execute(statement, values)
    other.close()
