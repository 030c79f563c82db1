"""How long to wait before something that failed is tried again."""

from __future__ import annotations

from collections.abc import Callable

FIRST_WAIT_S = 1.0
"""Wait after the first failure; it is twice as long after each further one."""


def wait_s(failures: int, longest_s: float, chance: Callable[[], float]) -> float:
    """The wait in seconds after so many failures before this one, at most the longest.

    By `chance`, from 0 to 1, it is between half and whole, so that not all come back at one moment.
    """
    longest_s = min(longest_s, FIRST_WAIT_S * float(1 << min(failures, 10)))
    return longest_s * (0.5 + 0.5 * chance())
