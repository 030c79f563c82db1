"""What may have happened instead of what was ruled: people who appeal are offered what lies
nearest, and no more than is legal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from engines.errors import Violation
from engines.verdict import Choice


class Rules(Protocol):
    """What is asked of a game: a module of its rules has it."""

    def parse_move(self, text: str) -> Any: ...

    def play(self, state: Any, move: Any) -> Any: ...

    def violation(self, state: Any, move: Any) -> Violation | None: ...


def instead(
    rules: Rules,
    near: Callable[[Any, Any], Iterator[tuple[str, Any]]],
    state: Any,
    moves: Sequence[str],
) -> tuple[Choice, ...]:
    """Moves that were played or tried in `state`, with each legal one that is `near` the last in
    its place.

    `near` says them nearest first, in words for people and as a move.
    """
    if not moves:
        return ()
    *first, last = map(rules.parse_move, moves)
    for move in first:
        state = rules.play(state, move)
    found: dict[str, Choice] = {}
    for said, move in near(state, last):
        if move != last and str(move) not in found and rules.violation(state, move) is None:
            found[str(move)] = Choice(said, (*moves[:-1], str(move)))
    return tuple(found.values())
