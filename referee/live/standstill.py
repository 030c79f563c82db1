"""A table on which nothing can be ruled on for some time, though nobody lost the camera: when that
is put on record.
"""

from __future__ import annotations

STANDS_STILL = ("table.unread", "table.hand", "table.moving", "table.restless")
"""Codes of the records (`Noted`) that tell why."""
UNREAD_MS = 8000
"""A table that cannot be read for so long is put on record: nobody is at it, or they do not
know.
"""
BUSY_MS = 30_000
"""Nor does anybody play with a hand over the board for so long."""


class Standstill:
    """Tell it of every frame, and which of them stand still; it says once a spell that the spell is
    worth a record.
    """

    def __init__(self) -> None:
        self._stood = self._told = False
        self._since_ms = self._unread_ms = -1

    def frame(self) -> None:
        """The next frame has come: where the one before did not stand still, a spell is over."""
        if not self._stood:
            self._since_ms = self._unread_ms = -1
            self._told = False
        self._stood = False

    def due(self, at_ms: int, unread: bool) -> bool:
        """This frame stands still, `unread`: because it cannot be read.  Is it time to put that on
        record?
        """
        self._stood = True
        self._since_ms = at_ms if self._since_ms < 0 else self._since_ms
        self._unread_ms = -1 if not unread else at_ms if self._unread_ms < 0 else self._unread_ms
        long = at_ms - self._since_ms >= BUSY_MS or (
            unread and at_ms - self._unread_ms >= UNREAD_MS
        )
        due = long and not self._told
        self._told |= due
        return due
