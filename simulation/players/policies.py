"""Simple computer players that need only a game's rules. Randomness is passed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from engines import Rules


class Player(Protocol):
    """Chooses a move for the next player; called only while the game runs."""

    def choose(self, state: Any) -> Any:
        """A legal move."""


@dataclass(frozen=True, slots=True)
class RandomPlayer:
    """Any legal move with equal probability; of continuous moves, any of the examples."""

    rules: Rules
    chance: Random

    def choose(self, state: Any) -> Any:
        """A legal move."""
        return self.chance.choice(list(self.rules.legal_moves(state)))


@dataclass(frozen=True, slots=True)
class GreedyPlayer:
    """A player that maximises its lead over the best other player after the move.

    Ties are broken by chance.
    """

    rules: Rules
    chance: Random

    def choose(self, state: Any) -> Any:
        """A legal move."""
        moves = list(self.rules.legal_moves(state))
        if state.next is None:
            return self.chance.choice(moves)
        leads = [lead(self.rules.play(state, move), state.next) for move in moves]
        best = max(leads)
        return self.chance.choice(
            [move for move, ahead in zip(moves, leads, strict=True) if ahead == best]
        )


def lead(state: Any, player: str) -> float:
    """A player's score minus the best other score, or minus 0 if there is no other player."""
    scores = dict(zip(state.players, state.scores, strict=True))
    own = scores.pop(player)
    return float(own - max(scores.values(), default=0))


def playout(rules: Rules, state: Any, choose: Callable[[Any], Any]) -> Iterator[tuple[Any, Any]]:
    """Play to the end, with `choose` picking every move.

    Yields each move with the state after it.
    """
    while rules.outcome(state) is None:
        move = choose(state)
        state = rules.play(state, move)
        yield move, state
