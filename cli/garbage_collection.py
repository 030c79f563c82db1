"""Python's collections of garbage, kept short while a game goes on."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def short_collections() -> Iterator[None]:
    """Leave out of collections what is there by now: libraries, tables, everything that was opened.

    A collection stands all threads still, in whichever of them it comes due, lamps' threads too.
    Through all that Rinkside loads a full one takes 30 ms on a desktop computer; through what a
    game adds to it, next to nothing.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
