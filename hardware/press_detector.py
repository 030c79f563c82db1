"""From a button's edges to presses: debounce, long and double presses.

Pure: edges and times in, presses out.

gpiozero's `bounce_time` drops edges, so that a button can stay pressed for ever (gpiozero issues
550 and 1039), and its mock pins have none at all; so every edge is taken, and a level counts once
it has stood still.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hardware.interfaces import Press

BOUNCE_MS = 15.0
"""A level that holds for so long is real."""
LONG_MS = 700.0
"""Held for so long, a press is a long one."""
DOUBLE_MS = 300.0
"""A second press that begins within this time after the first one's end makes a double one."""


@dataclass(slots=True)
class Presses:
    """One button.

    Call `edge` for every edge and `tick` when `due_ms` has come; both with times that never go
    back.

    A press is told of as `down` as soon as it is real, then as `long` while it is held, or as
    `double` with the second one, or as `short` when no second one came.
    """

    button: str
    _raw: bool = False
    _raw_ms: float = -math.inf
    _down: bool = False
    _down_ms: float = -math.inf
    _up_ms: float = -math.inf
    _first_ms: float | None = None
    """A short press that began then waits to become a double one."""
    _reported: bool = True
    """What is held down now has been told of as long or double, and its end means nothing."""

    def edge(self, down: bool, at_ms: float) -> list[Press]:
        """The level changed, or bounced."""
        presses = self.tick(at_ms)
        if down != self._raw:
            self._raw, self._raw_ms = down, at_ms
        return presses

    @property
    def due_ms(self) -> float:
        """When `tick` is to be called next, if nothing else happens; infinite: not at all."""
        due_ms = self._raw_ms + BOUNCE_MS if self._raw != self._down else math.inf
        if self._down and not self._reported:
            due_ms = min(due_ms, self._down_ms + LONG_MS)
        if self._first_ms is not None and not self._down:
            due_ms = min(due_ms, self._up_ms + DOUBLE_MS + BOUNCE_MS)
        return due_ms

    def tick(self, at_ms: float) -> list[Press]:
        """What has become certain by now, in order."""
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
        """The press that waited to become a double one is a short one."""
        first_ms, self._first_ms = self._first_ms, None
        return [] if first_ms is None else [Press(self.button, "short", first_ms)]

    def _change(self) -> list[Press]:
        """The level has stood still: it counts from its first edge on."""
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
