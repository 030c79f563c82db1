"""Target cells of ships: ice beside them, else one step nearer to the closest ice."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from engines.icebreaker.board import Board, members

REMEMBERED = 4096
"""Size of the cache: after a request for legal moves, some of them are soon checked and played."""


@lru_cache(REMEMBERED)
def ship_paths(board: Board, own: int, others: int, ice: int) -> Mapping[int, tuple[int, int]]:
    """For each ship of `own`: steps to its closest iceberg, and the set of cells it may go to.

    A ship that can reach no ice is left out (ruling icebreaker.1). Breadth-first search from all
    ice at once, around the ships: the first layer of cells that lies beside a ship holds all first
    steps of its shortest paths, and no other cells beside it.
    """
    found: dict[int, tuple[int, int]] = {}
    around, far = board.around, []
    for ship in members(own):
        if near := around[ship] & ice:
            found[ship] = (1, near)
        else:
            far.append(ship)
    if far:
        layer, steps = ice, 1
        free = board.cells & ~(own | others | ice)
        while far and (layer := board.neighbours(layer) & free):
            free ^= layer
            steps += 1
            found |= {ship: (steps, near) for ship in far if (near := around[ship] & layer)}
            far = [ship for ship in far if ship not in found]
    return found
