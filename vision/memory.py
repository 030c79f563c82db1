"""Memory that a process has freed goes back to the system, on Linux with glibc.

Reading a table needs many large arrays for a moment. Left alone, the allocator keeps their pages,
and has a pool for every thread: docs/SERVICE.md has the figures.
"""

from __future__ import annotations

import ctypes
from functools import cache

_M_ARENA_MAX = -8
"""The number of an option of mallopt(3)."""


@cache
def _libc() -> ctypes.CDLL | None:
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        return None
    return libc if hasattr(libc, "malloc_trim") and hasattr(libc, "mallopt") else None


def share_one_pool() -> None:
    """Let all threads take memory from one pool; call it before there are threads."""
    if (libc := _libc()) is not None:
        libc.mallopt(_M_ARENA_MAX, 1)


def give_back() -> None:
    """Return what is free; it takes some milliseconds."""
    if (libc := _libc()) is not None:
        libc.malloc_trim(0)
