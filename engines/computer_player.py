"""Computer players: a game's interface for them, and their strengths.

A computer player never touches the table. It states what it wants to do, people carry it out, and
the referee rules on that as on any move. Clock and randomness are passed in.
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
"""True once the time to think is over; called every few positions."""


def never() -> bool:
    """Return False: without a clock, only the player's own budget limits its thinking."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputerPlayer:
    """Functions of a game's computer player.

    `asked` are the players who choose something now; none while dice decide or the game is over.
    `choose` returns a legal move of one of them. It ignores hidden votes of others, and is
    deterministic for a state, strength and `chance` unless time runs out. `wants` describes a move
    in a sentence. `announced` is the input for `hear` of a move that is only said; None for a move
    on the table.
    """

    asked: Callable[[Any], tuple[str, ...]]
    choose: Callable[[Any, str, Strength, Random, OutOfTime], Any]
    wants: Callable[[Any, Any], Message]
    announced: Callable[[Any, Any], Mapping[str, Any] | None]
