"""Lessons: positions of a game, each with one task and the moves that fulfil it.

They are data of a game (`GameFacts.lessons`); a tutor on the virtual table gives them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from table.messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One task.

    `position` are moves from the beginning of the game; None: the previous lesson's table.
    `example` is a move that does the `task`, legal unless it has to be `refused`. A move counts if
    it matches `moves` (a regular expression; empty: any); the task needs `times` of them. `learned`
    is said at the end.
    """

    title: Message
    task: Message
    learned: Message
    example: str
    position: tuple[str, ...] | None = ()
    refused: bool = False
    moves: str = ""
    times: int = 1

    def counts(self, refused: bool, moves: Sequence[str]) -> bool:
        """True if these moves, as ruled on, fulfil the task."""
        return refused == self.refused and any(
            re.fullmatch(self.moves or ".+", move) for move in moves
        )


Lessons = Callable[[Sequence[str]], tuple[Lesson, ...]]
"""The lessons of a game for these players, colours in turn order."""


def no_lessons(_players: Sequence[str]) -> tuple[Lesson, ...]:
    """Return no lessons."""
    return ()
