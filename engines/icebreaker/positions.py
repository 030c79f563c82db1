"""Icebreaker for search and playouts: bare sets of cells, without checks or words.

A move is a pair of one-cell sets, `(from, to)`. Tests compare it with the rules move for move.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from engines.icebreaker.board import Board

Step = tuple[int, int]


class Position(NamedTuple):
    """A position from the view of the player to move: sets of cells, and captures."""

    own: int
    others: int
    ice: int
    mine: int
    theirs: int

    def after(self, step: Step) -> Position:
        """Position after a move, from the other player's view."""
        own, others, ice, mine, theirs = self
        start, end = step
        if ice & end:
            return Position(others, own ^ start ^ end, ice ^ end, theirs, mine + 1)
        return Position(others, own ^ start ^ end, ice, theirs, mine)

    def after_pass(self) -> Position:
        """Position from the other player's view, if no ship could move."""
        return Position(self.others, self.own, self.ice, self.theirs, self.mine)


def steps(board: Board, position: Position) -> list[Step]:
    """Legal moves of the player to move, captures first; none if the turn passes.

    Ice beside a ship is captured. Otherwise layers spread from all ice around the ships: the first
    layer beside a ship has the first steps of its shortest ways.
    """
    own, others, ice, _, _ = position
    around, found, far = board.around, [], []
    ships = own
    while ships:
        ship = ships & -ships
        ships ^= ship
        near = around[ship.bit_length() - 1] & ice
        if not near:
            far.append(ship)
        while near:
            cell = near & -near
            near ^= cell
            found.append((ship, cell))
    layer, free = ice, board.cells & ~(own | others | ice)
    while far:
        layer = board.neighbours(layer) & free
        if not layer:
            break
        free ^= layer
        further = []
        for ship in far:
            near = around[ship.bit_length() - 1] & layer
            if not near:
                further.append(ship)
            while near:
                cell = near & -near
                near ^= cell
                found.append((ship, cell))
        far = further
    return found


def playout(
    board: Board, position: Position, goal: int, chance: Callable[[], float]
) -> tuple[int, bool]:
    """Play random legal moves until somebody has `goal` captures.

    Returns the number of moves, and whether the player to move in `position` won. `chance` is
    `Random.random`. There must be enough ice for `goal`.
    """
    moves, first = 0, True
    while position.theirs < goal:
        legal = steps(board, position)
        if legal:
            position = position.after(legal[int(chance() * len(legal))])
            moves += 1
        else:
            position = position.after_pass()
        first = not first
    return moves, not first
