"""Search of Icebreaker: alpha-beta with a transposition table and iterative deepening.

Without a clock, the result is determined by the position and the number of nodes, on every machine.
"""

from __future__ import annotations

from typing import NamedTuple

from engines.computer_player import OutOfTime, never
from engines.icebreaker.board import Board
from engines.icebreaker.positions import Position, Step, steps

WON = 10_000_000
"""Bound of positions' values before a win; a win is worth one more for every iceberg that it
leaves.
"""
LEAD, FIRST = 1000, 500
"""Values of a captured iceberg, and of one that a player reaches first."""
BESIDE = (57, 235, 265, 119, 25, 10)
"""Value of an iceberg beside a ship in each sixth of the ice, the last sixth first."""
ASKED_EVERY = 64
"""Positions between two checks of the clock."""


class Known(NamedTuple):
    """Search result of a position: `value` is exact, or a bound.

    `bound` is 0 for exact, 1 for a lower bound, -1 for an upper bound.
    """

    depth: int
    value: int
    bound: int
    best: Step


class _Spent(Exception):  # noqa: N818 - no error
    """The node limit or the time is reached."""


class Search:
    """A search on one board; `goal` is the number of captures that wins.

    It visits `nodes` positions, and always every position one move ahead.
    """

    def __init__(self, board: Board, goal: int, nodes: int, out_of_time: OutOfTime = never) -> None:
        self._board, self._goal, self._nodes, self._out_of_time = board, goal, nodes, out_of_time
        self._known: dict[Position, Known] = {}
        self._looked, self.depth = 0, 1

    def best(self, position: Position) -> Step:
        """Return the best move found; the player to move must have one."""
        value = self._value(position, 1, -2 * WON, 2 * WON)
        found = self._known[position].best
        self._looked = 0
        try:
            while abs(value) < WON and self.depth < 2 * position.ice.bit_count():
                value = self._value(position, self.depth + 1, -2 * WON, 2 * WON)
                self.depth += 1
                found = self._known[position].best
        except _Spent:
            if position in self._known:  # incomplete depth, but its first move is searched
                found = self._known[position].best
        return found

    def _value(self, position: Position, depth: int, low: int, high: int) -> int:
        """Value of a position for the player to move, within the window `low` to `high`.

        Raises _Spent.
        """
        self._look()
        if position.theirs >= self._goal or not position.ice:
            won = WON + position.ice.bit_count()
            return won if position.mine > position.theirs else -won
        if depth == 0:
            return worth(self._board, position)
        known = self._known.get(position)
        if known is not None and known.depth >= depth:
            if not known.bound:
                return known.value
            if known.bound > 0 and known.value >= high:
                return known.value
            if known.bound < 0 and known.value <= low:
                return known.value
        legal = steps(self._board, position)
        if not legal:
            return -self._value(position.after_pass(), depth, -high, -low)
        if known is not None and known.best in legal:
            legal.remove(known.best)
            legal.insert(0, known.best)
        most, best, floor = -3 * WON, legal[0], low
        for step in legal:
            value = -self._value(position.after(step), depth - 1, -high, -low)
            if value > most:
                most, best = value, step
                low = max(low, value)
                if low >= high:
                    break
        bound = 1 if most >= high else -1 if most <= floor else 0
        self._known[position] = Known(depth, most, bound, best)
        return most

    def _look(self) -> None:
        self._looked += 1
        if self.depth > 1 or self._known:
            if self._looked > self._nodes:
                raise _Spent
            if self._looked % ASKED_EVERY == 0 and self._out_of_time():
                raise _Spent


def worth(board: Board, position: Position) -> int:
    """Evaluate a position for the player to move.

    It counts captures, icebergs beside ships (once per ship), and icebergs that each side reaches
    first. Both spread one step at a time over cells without ships, the player to move first.
    """
    near, far, ice, mine, theirs = position
    around, free, beside, first = board.around, board.cells & ~(near | far), 0, 0
    for ships, sign in ((near, 1), (far, -1)):
        while ships:
            ship = ships & -ships
            ships ^= ship
            beside += sign * (around[ship.bit_length() - 1] & ice).bit_count()
    while (near or far) and free & ice:
        near = board.neighbours(near) & free
        free ^= near
        far = board.neighbours(far) & free
        free ^= far
        first += (near & ice).bit_count() - (far & ice).bit_count()
    sixth = 6 * ice.bit_count() // (board.ice.bit_count() + 1)
    return LEAD * (mine - theirs) + FIRST * first + BESIDE[sixth] * beside
