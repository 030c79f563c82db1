"""Draw dice from the operating system's random generator."""

from __future__ import annotations

from collections.abc import Callable
from random import SystemRandom

Draw = Callable[[], int]
"""Returns a value of 1 to 6."""

_system = SystemRandom()


def draw() -> int:
    """Draw a value from the operating system's random generator; it has no seed."""
    return _system.randint(1, 6)
