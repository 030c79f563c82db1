"""When a spell in which nothing can be judged is put on record, though the camera gives frames."""

from __future__ import annotations

STALL_CODES = ("table.unread", "table.hand", "table.moving", "table.restless")
"""Codes of the records (`InputRecorded`) that say why nothing is judged."""
UNREAD_MS = 8000
"""A table that cannot be read for this long is put on record."""
BUSY_MS = 30_000
"""A hand over the board, or movement, of this length is put on record too."""


class StallTimer:
    """Counts a spell of frames on which nothing can be judged, and is due once a spell.

    Call `next_frame` for every frame, and `due` for those on which nothing can be judged.
    """

    def __init__(self) -> None:
        self._stalled = self._was_due = False
        self._since_ms: int | None = None
        self._unread_since_ms: int | None = None

    def next_frame(self) -> None:
        """The next frame: the spell is over where `due` was not called for the one before."""
        if not self._stalled:
            self._since_ms = self._unread_since_ms = None
            self._was_due = False
        self._stalled = False

    def due(self, at_ms: int, unread: bool) -> bool:
        """Should the spell be put on record at this frame?  `unread`: the table cannot be read."""
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
