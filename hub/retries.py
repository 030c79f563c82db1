"""Exponential backoff with jitter."""

from __future__ import annotations

from collections.abc import Callable

FIRST_WAIT_S = 1.0
"""Wait after the first failure; doubled after each further one."""


def wait_s(failures: int, longest_s: float, chance: Callable[[], float]) -> float:
    """Backoff in seconds after `failures` earlier failures, at most `longest_s`.

    Jitter: `chance`, from 0 to 1, scales the wait to between half and all of it, so that clients do
    not retry together.
    """
    longest_s = min(longest_s, FIRST_WAIT_S * float(1 << min(failures, 10)))
    return longest_s * (0.5 + 0.5 * chance())
