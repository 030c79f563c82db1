"""Short garbage collections while a game goes on."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def short_collections() -> Iterator[None]:
    """Exclude everything loaded at start-up from garbage collection.

    A full collection pauses all threads, those of lamps too. It takes 30 ms on a desktop computer
    for all that Rinkside loads, and next to nothing for what a game adds.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
