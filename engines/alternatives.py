"""Alternatives to a verdict, offered on an appeal.

Only legal ones are offered, the nearest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from engines.errors import Violation
from engines.verdict import Choice


class Rules(Protocol):
    """The part of a game's rules module that is used here.

    `parse_move` reads a line of notation, `play` gives the state after a move, and `violation` says
    why a move is illegal, or None.
    """

    def parse_move(self, text: str) -> Any: ...

    def play(self, state: Any, move: Any) -> Any: ...

    def violation(self, state: Any, move: Any) -> Violation | None: ...


def choices_near(
    rules: Rules,
    near: Callable[[Any, Any], Iterator[tuple[str, Any]]],
    state: Any,
    moves: Sequence[str],
) -> tuple[Choice, ...]:
    """Return the moves played or tried, with the last replaced by each legal move `near` it.

    `near` gives pairs of a sentence for people and a move, nearest first.
    """
    if not moves:
        return ()
    *first, last = map(rules.parse_move, moves)
    for move in first:
        state = rules.play(state, move)
    found: dict[str, Choice] = {}
    for message, move in near(state, last):
        if move != last and str(move) not in found and rules.violation(state, move) is None:
            found[str(move)] = Choice(message, (*moves[:-1], str(move)))
    return tuple(found.values())
