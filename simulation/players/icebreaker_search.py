"""A player of Icebreaker that looks ahead: alpha-beta search with iterative deepening.

It goes one move deeper at a time until its nodes are spent. No clock and no chance: the same
position and the same number of nodes give the same move on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from engines.icebreaker.board import Board
from engines.icebreaker.explanations import ways
from engines.icebreaker.moves import Move, moves
from engines.icebreaker.state import State

WON = 10_000
"""More than positions are ever worth before they are won; a win is worth one more for every iceberg
that it leaves.
"""
LEAD = 4
"""What a captured iceberg is worth beside one that a player would only reach first."""


@dataclass(frozen=True, slots=True)
class SearchPlayer:
    """Looks at `nodes` positions a move, and at every position one move ahead in any case."""

    nodes: int = 2000

    def choose(self, state: State) -> Move:
        """The best legal move that was found; raises ValueError once the game is over."""
        if state.seat is None:
            raise ValueError("the game is over, so there is no move to choose")
        own, others = state.seat, 1 - state.seat
        position = Position(
            state.ships[own],
            state.ships[others],
            state.ice,
            state.scores[own],
            state.scores[others],
        )
        decided = max(state.scores) >= state.setting.majority
        search = _Search(
            state.setting.board, state.setting.enough if decided else state.setting.majority
        )
        value, depth = search.value(position, 1, -2 * WON, 2 * WON), 1
        search.nodes = self.nodes
        try:
            while abs(value) < WON and depth < 2 * state.ice.bit_count():
                depth += 1
                value = search.value(position, depth, -2 * WON, 2 * WON)
        except _Spent:
            pass  # a move found so far was looked at as deeply as the one it replaced
        return search.best[position]


class Position(NamedTuple):
    """As the player to move sees it: sets of cells, and captures."""

    own: int
    others: int
    ice: int
    mine: int
    theirs: int

    def after(self, move: Move) -> Position:
        """What the other player sees after a move."""
        to = 1 << move.to_cell
        moved = self.own ^ (1 << move.from_cell | to)
        return Position(
            self.others, moved, self.ice & ~to, self.theirs, self.mine + bool(self.ice & to)
        )

    def passed(self) -> Position:
        """What the other player sees when no ship could move."""
        return Position(self.others, self.own, self.ice, self.theirs, self.mine)


class _Spent(Exception):  # noqa: N818 - no error
    """All nodes are spent."""


class _Search:
    """Alpha-beta search over positions of one board.

    `goal` is how many captures win; `nodes` are left to spend, None for no limit; `best` moves are
    tried first next time.
    """

    def __init__(self, board: Board, goal: int) -> None:
        self.board, self.goal = board, goal
        self.nodes: int | None = None
        self.best: dict[Position, Move] = {}

    def value(self, position: Position, depth: int, low: int, high: int) -> int:
        """Value of a position for the player to move, within the window `low` to `high`.

        Raises _Spent.
        """
        if self.nodes is not None:
            self.nodes -= 1
            if self.nodes < 0:
                raise _Spent
        if position.theirs >= self.goal or not position.ice:
            won = WON + position.ice.bit_count()
            return won if position.mine > position.theirs else -won
        if depth == 0:
            return LEAD * (position.mine - position.theirs) + self.reach(position)
        tried = self.ordered(position)
        if not tried:
            return -self.value(position.passed(), depth, -high, -low)
        for move in tried:
            value = -self.value(position.after(move), depth - 1, -high, -low)
            if value > low:
                low = value
                self.best[position] = move
            if low >= high:
                break
        return low

    def ordered(self, position: Position) -> list[Move]:
        """Legal moves, the one that was best before first, then captures."""
        found = ways(self.board, position.own, position.others, position.ice)
        legal = list(chain.from_iterable(moves(ship, cells) for ship, (_, cells) in found.items()))
        if (best := self.best.get(position)) is not None:
            legal.remove(best)
            legal.insert(0, best)
        return legal

    def reach(self, position: Position) -> int:
        """Icebergs that the player to move reaches first, less those that the other reaches first.

        Both sides spread one step at a time over cells without ships, the player to move first.
        """
        board, near, far, ice = self.board, position.own, position.others, position.ice
        free = board.cells & ~(near | far)
        ahead = 0
        while (near or far) and free & ice:
            near = board.beside(near) & free
            free ^= near
            far = board.beside(far) & free
            free ^= far
            ahead += (near & ice).bit_count() - (far & ice).bit_count()
        return ahead
