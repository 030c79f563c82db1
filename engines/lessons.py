"""Lessons: positions of a game, each with one task and what counts as having done it.

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

    `position` are moves from the beginning of the game, None: the table stays as the lesson before
    left it. `example` is a move that does what the `task` asks for, lawful or, where it has to be
    `refused`, not. A move that counts matches `moves` (a regular expression; empty: any), and so
    many `times` of them are needed. `learned` is said once it is done.
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
        """Whether moves that were ruled on are what the task asks for."""
        return refused == self.refused and any(
            re.fullmatch(self.moves or ".+", move) for move in moves
        )


Lessons = Callable[[Sequence[str]], tuple[Lesson, ...]]
"""The lessons of a game for these players, colours in turn order."""


def no_lessons(_players: Sequence[str]) -> tuple[Lesson, ...]:
    """Those of a game that has none."""
    return ()
