"""Return freed memory of the process to the system, on Linux with glibc.

Reading a table needs many large arrays for a moment. By default the allocator keeps their pages,
and has a pool for every thread: docs/SERVICE.md has the figures.
"""

from __future__ import annotations

import ctypes
from functools import cache

_M_ARENA_MAX = -8
"""Option M_ARENA_MAX of mallopt(3)."""


@cache
def _libc() -> ctypes.CDLL | None:
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        return None
    return libc if hasattr(libc, "malloc_trim") and hasattr(libc, "mallopt") else None


def share_one_pool() -> None:
    """Make all threads allocate from one pool; to be called before threads are started."""
    if (libc := _libc()) is not None:
        libc.mallopt(_M_ARENA_MAX, 1)


def give_back() -> None:
    """Return free memory to the system; takes some milliseconds."""
    if (libc := _libc()) is not None:
        libc.malloc_trim(0)
