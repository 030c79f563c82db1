"""What an output shows: the score of a table, whose turn it is, and the last ruling."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """A player, by colour and by name, and their points in this game."""

    player: str
    name: str
    points: int | float


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """A table at a moment.  Texts are in the table's language; `player` is a colour in English.

    `player` is whose turn it is, `outcome` how the game ended, and `trouble` what keeps the referee
    from seeing; each is empty where there is none.
    """

    game: str
    scores: tuple[Score, ...]
    player: str = ""
    headline: str = ""
    outcome: str = ""
    trouble: str = ""
