"""An event as FIDE's tournament report file (TRF16), which pairing engines read.

One line per player with fixed columns; games are listed by round. The extra line `XXR` gives the
number of planned rounds, as JaVaFo and bbpPairings require.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

MOST_NUMBER = 9999
Outcome = Literal["1", "=", "0", "U", "Z"]
"""Win, draw, loss; pairing-allocated bye; round without a game."""


@dataclass(frozen=True, slots=True)
class TrfRound:
    """A player's round: the opponent's number (0: none), who began, and the outcome.

    `outcome` is None while the game has no result.
    """

    opponent: int = 0
    began: bool | None = None
    outcome: Outcome | None = "Z"


@dataclass(frozen=True, slots=True)
class TrfPlayer:
    """A player: a starting number from 1, points (1 a win), the place, and the rounds."""

    number: int
    name: str
    points: float
    place: int
    rounds: Sequence[TrfRound]


def trf(name: str, date: str, rounds: int, players: Sequence[TrfPlayer]) -> str:
    """Write the report; `date` is YYYY/MM/DD."""
    lines = [
        f"012 {_plain(name, 70)}",
        f"042 {date}",
        f"062 {len(players)}",
        "092 Individual: Swiss-System",
        f"XXR {rounds}",
        *(_player(one) for one in sorted(players, key=lambda one: one.number)),
    ]
    return "\r\n".join(lines) + "\r\n"


def _player(one: TrfPlayer) -> str:
    line = [" "] * 89
    for column, text in (
        (1, "001"),
        (5, f"{one.number:4d}"),
        (15, f"{_plain(one.name, 33):33}"),
        (81, f"{one.points:4.1f}"),
        (86, f"{one.place:4d}"),
    ):
        line[column - 1 : column - 1 + len(text)] = text
    return "".join(line) + "".join(f"  {_round(each)}" for each in one.rounds).rstrip()


def _round(one: TrfRound) -> str:
    side = "-" if one.began is None else "w" if one.began else "b"
    return (
        f"{one.opponent:04d} {side} {one.outcome or ' '}"
        if not one.opponent
        else (f"{one.opponent:4d} {side} {one.outcome or ' '}")
    )


def _plain(text: str, most: int) -> str:
    """Text on one line, cut to `most` characters."""
    return " ".join(text.split())[:most]
