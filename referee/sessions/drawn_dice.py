"""Dice that are drawn from the operating system's randomness."""

from __future__ import annotations

from collections.abc import Callable
from random import SystemRandom

Draw = Callable[[], int]
"""A value of 1 to 6."""

_system = SystemRandom()


def draw() -> int:
    """A value from the operating system's randomness, which nobody can foresee or seed."""
    return _system.randint(1, 6)
