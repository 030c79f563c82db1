"""What an output shows: the score of a table, whose turn it is, and the last ruling."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """A player's colour, name and points in this game."""

    player: str
    name: str
    points: int | float


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """The score of a table. Texts are in its language; `player` is a colour in English.

    `player` is whose turn it is, `outcome` how the game ended, and `trouble` what blinds the
    referee. Each may be empty.
    """

    game: str
    scores: tuple[Score, ...]
    player: str = ""
    headline: str = ""
    outcome: str = ""
    trouble: str = ""
