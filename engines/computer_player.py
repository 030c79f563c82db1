"""Computer players: what a game offers that has one, and how strong it can be asked to play.

A computer player never touches the table. It says what it wants to do, people carry it out, and the
referee rules on that as on anybody's move. Clock and chance are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, get_args

from table.messages import Message

Strength = Literal["beginner", "club", "strong"]
STRENGTHS: tuple[Strength, ...] = get_args(Strength)
OutOfTime = Callable[[], bool]
"""Whether the time to think is over; asked every few positions."""


def never() -> bool:
    """There is no clock: the player thinks until its own budget is spent, alike everywhere."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputerPlayer:
    """How a computer plays a game.

    `asked` are those who choose something now; nobody while dice decide or the game is over.
    `choose` gives a legal move of one of them, and looks at no vote of others that is not shown
    yet: the same state, strength and chance give the same move while time is not over. `wants` says
    a move in a sentence. `announced` is what is told to the referee for a move that is only said,
    as `hear` takes it; None for one that somebody has to make on the table.
    """

    asked: Callable[[Any], tuple[str, ...]]
    choose: Callable[[Any, str, Strength, Random, OutOfTime], Any]
    wants: Callable[[Any, Any], Message]
    announced: Callable[[Any, Any], Mapping[str, Any] | None]
