"""Detect presses from a button's edges: debounce, long and double presses.

Pure: edges and times in, presses out.

gpiozero's `bounce_time` drops edges, so that a button can stay pressed for ever (gpiozero issues
550 and 1039). Its mock pins do not have it at all. So every edge is taken, and a level counts once
it has been stable.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hardware.interfaces import Press

BOUNCE_MS = 15.0
"""Time for which a level has to be stable."""
LONG_MS = 700.0
"""A press held for this long is a long one."""
DOUBLE_MS = 300.0
"""Longest time from the end of a press to the beginning of the second one of a double press."""


@dataclass(slots=True)
class Presses:
    """Press detector of one button.

    Call `edge` for every edge, and `tick` once `due_ms` is reached; times never decrease.

    A press is reported as `down` once its level is stable. Then it is `long` while it is held,
    `double` after a second press, or `short` if there is none.
    """

    button: str
    _raw: bool = False
    _raw_ms: float = -math.inf
    _down: bool = False
    _down_ms: float = -math.inf
    _up_ms: float = -math.inf
    _first_ms: float | None = None
    """Start of a short press that may still become a double one."""
    _reported: bool = True
    """True once the current press was reported as long or double: its end is ignored."""

    def edge(self, down: bool, at_ms: float) -> list[Press]:
        """Take an edge, or a bounce; returns the presses certain by then."""
        presses = self.tick(at_ms)
        if down != self._raw:
            self._raw, self._raw_ms = down, at_ms
        return presses

    @property
    def due_ms(self) -> float:
        """Time at which `tick` is due if there is no edge before; infinite: never."""
        due_ms = self._raw_ms + BOUNCE_MS if self._raw != self._down else math.inf
        if self._down and not self._reported:
            due_ms = min(due_ms, self._down_ms + LONG_MS)
        if self._first_ms is not None and not self._down:
            due_ms = min(due_ms, self._up_ms + DOUBLE_MS + BOUNCE_MS)
        return due_ms

    def tick(self, at_ms: float) -> list[Press]:
        """Return the presses that are certain by now, in order."""
        presses: list[Press] = []
        while (due_ms := self.due_ms) <= at_ms:
            presses += self._settle(due_ms)
        return presses

    def _settle(self, due_ms: float) -> list[Press]:
        if self._raw != self._down and self._raw_ms + BOUNCE_MS <= due_ms:
            return self._change()
        if not self._down:
            return self._single()
        self._reported = True
        return [*self._single(), Press(self.button, "long", self._down_ms)]

    def _single(self) -> list[Press]:
        """Report the pending press as short."""
        first_ms, self._first_ms = self._first_ms, None
        return [] if first_ms is None else [Press(self.button, "short", first_ms)]

    def _change(self) -> list[Press]:
        """Take the stable level; it counts from its first edge."""
        self._down = self._raw
        if self._down:
            presses = self._single() if self._raw_ms - self._up_ms > DOUBLE_MS else []
            self._down_ms, self._reported = self._raw_ms, False
            return [*presses, Press(self.button, "down", self._down_ms)]
        self._up_ms = self._raw_ms
        if self._reported:
            return []
        self._reported, first_ms = True, self._first_ms
        self._first_ms = self._down_ms if first_ms is None else None
        return [] if first_ms is None else [Press(self.button, "double", first_ms)]
