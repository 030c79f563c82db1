"""Record a period without judgements, although the camera delivers frames."""

from __future__ import annotations

STALL_CODES = ("table.unread", "table.hand", "table.moving", "table.restless")
"""Codes of the records (`InputRecorded`) that say why nothing is judged."""
UNREAD_MS = 8000
"""Time after which an unreadable table is recorded."""
BUSY_MS = 30_000
"""Time after which a hand over the board, or movement, is recorded."""


class StallTimer:
    """Measures a period of frames that cannot be judged; due once per period.

    Call `next_frame` for every frame, and `due` for those that cannot be judged.
    """

    def __init__(self) -> None:
        self._stalled = self._was_due = False
        self._since_ms: int | None = None
        self._unread_since_ms: int | None = None

    def next_frame(self) -> None:
        """Take the next frame: the period is over if `due` was not called for the previous one."""
        if not self._stalled:
            self._since_ms = self._unread_since_ms = None
            self._was_due = False
        self._stalled = False

    def due(self, at_ms: int, unread: bool) -> bool:
        """True if the period has to be recorded now. `unread`: the table cannot be read."""
        self._stalled = True
        if self._since_ms is None:
            self._since_ms = at_ms
        if not unread:
            self._unread_since_ms = None
        elif self._unread_since_ms is None:
            self._unread_since_ms = at_ms
        long = at_ms - self._since_ms >= BUSY_MS or (
            self._unread_since_ms is not None and at_ms - self._unread_since_ms >= UNREAD_MS
        )
        due = long and not self._was_due
        self._was_due |= due
        return due
