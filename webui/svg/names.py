"""What the record calls the pieces that are seen: numbers of throws in Ice Storm, letters of
pyramids in IceFloe.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from table.boards import Board, within
from table.cells import cells_mm
from table.solids import Array

SUITS = {"red": "S", "black": "M", "yellow": "C", "green": "C", "blue": "A"}
"""The suit that IceFloe's pyramids of a colour have."""


def names_of(
    board: Board, state: Mapping[str, Any], pieces: Sequence[Mapping[str, Any]]
) -> dict[int, str]:
    """A short name, `5` or `E`, by index of a seen piece; only where the record has one piece of
    that colour about there.
    """
    cells = cells_mm(board)
    known = [
        (colour, name, [cells[place] for place in places if place in cells])
        for colour, name, places in _known(state)
    ]
    found = {}
    for index, piece in enumerate(pieces):
        middle = np.array(piece["vertices_mm"], float)[:, :2].mean(axis=0)
        here = [
            name
            for colour, name, corners in known
            if colour == piece["colour"] and _lies_on(middle, corners)
        ]
        if len(here) == 1:
            found[index] = here[0]
    return found


def _lies_on(middle: Array, cells: Sequence[Array]) -> bool:
    return any(within(corners, middle) for corners in cells)


def _known(state: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """Colour, short name and places of every piece that the record names."""
    pieces, board = state.get("pieces"), state.get("board")
    if isinstance(pieces, Mapping):
        for name, place in pieces.items():
            colour = name.rstrip("0123456789")
            yield colour, name[len(colour) :], re.findall("[a-h][1-8]", place)
    elif isinstance(board, Mapping):
        players = [*state.get("left", ())]
        for place, floe in board.items():
            yield from (
                (player, name[0], [place])
                for name in floe["pyramids"]
                for player in players
                if SUITS.get(player) == name[1]
            )
