"""Moves of IceFloe and their notation.

| move | says |
|---|---|
| `ES:b3` | the E of suns was placed on b3, before the first round |
| `ES:b3-c1` | it moved from b3 to c1; by which way makes no difference |
| `s:c2-c3` | the tile on c2 slid to c3 with all that stands on it |
| `vote red 4`, `vote red S` | red's vote on the value, then on the suit |
| `coin red 2 to blue`, `coin red a to red` | red laid the #2 coin, the ace, on a vote |
| `done red` | red lays no more coins on these votes |
| `decide red 4`, `decide red S` | the torch bearer, red, decides a vote |
| `decide red blue`, `decide red shared` | the torch bearer names the winner of a tied game, or a shared victory |
| `remove S4`, `remove none` | the torch bearer removes the tile voted on; then an empty tile, or none |
| `score red S4` | red selects a tile to score on |
| `torch yellow` | the round ended and the torch went to yellow |
| `object red to blue` | red says that blue broke the commentary rules: the others vote on it, in the open |
| `breach yellow yes` | yellow's word on that; in a tie the torch bearer says it once more, and decides |
| `penalty red` | red broke the commentary rules and nobody doubts it |
| `penalty red: blue=yes yellow=no torch=yes` | it was doubted: how the others, and in a tie the torch bearer, decided |
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from engines.errors import InvalidNotation
from engines.move_notation import Notation, parse_colour
from table.pieces import COLOURS

NOBODY = "none"
SHARED = "shared"
COINS = {"a": 1, "2": 2}
"""The coins that every player starts with, and what each adds to a vote (printed rules, "Voting
Coins").
"""


@dataclass(frozen=True, slots=True)
class Placing:
    """A pyramid was placed before the first round."""

    pyramid: str
    place: str

    def __str__(self) -> str:
        return f"{self.pyramid}:{self.place}"


@dataclass(frozen=True, slots=True)
class Movement:
    """A pyramid moved by one or two of step and jump."""

    pyramid: str
    origin: str
    target: str

    def __str__(self) -> str:
        return f"{self.pyramid}:{self.origin}-{self.target}"


@dataclass(frozen=True, slots=True)
class Slide:
    """A tile slid with all that stands on it."""

    origin: str
    target: str

    def __str__(self) -> str:
        return f"s:{self.origin}-{self.target}"


@dataclass(frozen=True, slots=True)
class Vote:
    """A vote for a value or a suit, secret until all have voted."""

    player: str
    choice: str

    def __str__(self) -> str:
        return f"vote {self.player} {self.choice}"


@dataclass(frozen=True, slots=True)
class Coin:
    """A voting coin, `a` or `2`, laid on the vote of player `to`."""

    player: str
    coin: str
    to: str

    def __str__(self) -> str:
        return f"coin {self.player} {self.coin} to {self.to}"


@dataclass(frozen=True, slots=True)
class Done:
    """A player lays no more coins on these votes."""

    player: str

    def __str__(self) -> str:
        return f"done {self.player}"


@dataclass(frozen=True, slots=True)
class Decision:
    """What the torch bearer decides: a value, a suit, the colour of the winner, or `shared`."""

    player: str
    choice: str

    def __str__(self) -> str:
        return f"decide {self.player} {self.choice}"


@dataclass(frozen=True, slots=True)
class Removal:
    """A tile removed by the torch bearer; None: no empty tile was removed."""

    tile: str | None

    def __str__(self) -> str:
        return f"remove {self.tile or NOBODY}"


@dataclass(frozen=True, slots=True)
class Selection:
    """The tile that a player scores on."""

    player: str
    tile: str

    def __str__(self) -> str:
        return f"score {self.player} {self.tile}"


@dataclass(frozen=True, slots=True)
class Torch:
    """The torch went to the next player: a new round."""

    player: str

    def __str__(self) -> str:
        return f"torch {self.player}"


@dataclass(frozen=True, slots=True)
class Penalty:
    """A player has no vote for the rest of the round.

    `ballot` is how the others voted where the breach was doubted, as (player, yes); empty where it
    was not. `torch` is the torch bearer's word in a tie.
    """

    player: str
    ballot: tuple[tuple[str, bool], ...] = ()
    torch: bool | None = None

    def __str__(self) -> str:
        message = [*self.ballot, *([] if self.torch is None else [("torch", self.torch)])]
        words = "".join(f" {player}={'yes' if yes else 'no'}" for player, yes in message)
        return f"penalty {self.player}" + (f":{words}" if words else "")


@dataclass(frozen=True, slots=True)
class Objection:
    """A player says that another one broke the commentary rules."""

    player: str
    to: str

    def __str__(self) -> str:
        return f"object {self.player} to {self.to}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A player's word on the open objection: `guilty`, or no breach."""

    player: str
    guilty: bool

    def __str__(self) -> str:
        return f"breach {self.player} {'yes' if self.guilty else 'no'}"


Move = (
    Placing
    | Movement
    | Slide
    | Vote
    | Coin
    | Done
    | Decision
    | Removal
    | Selection
    | Torch
    | Penalty
    | Objection
    | Finding
)

ANSWERS = {"yes": True, "no": False}
_TORCH = "torch"


def parse_move(text: str) -> Move:
    """The move that a line of notation says; raises InvalidNotation, which quotes the text."""
    return _NOTATION.parse(text)


def _sign(pattern: str, expected: str) -> Callable[[str], str]:
    """A parser of text that matches a pattern; it raises InvalidNotation for other text."""

    def read(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise InvalidNotation(f"expected {expected}, got {text!r}")
        return text

    return read


def _ballot(text: str) -> dict[str, bool]:
    """The answers by player, in the order in which they were given."""
    answers: dict[str, bool] = {}
    for word in text.split(" "):
        name, _, answer = word.partition("=")
        if answer not in ANSWERS or name in answers:
            raise InvalidNotation(
                f"expected each player's word once, such as 'blue=yes' or 'torch=no', got {text!r}"
            )
        answers[name if name == _TORCH else parse_colour(name)] = ANSWERS[answer]
    return answers


def _answer(text: str) -> bool:
    if text not in ANSWERS:
        raise InvalidNotation(f"expected yes or no, got {text!r}")
    return ANSWERS[text]


def _penalty(player: str, ballot: dict[str, bool]) -> Penalty:
    return Penalty(
        player,
        tuple((name, yes) for name, yes in ballot.items() if name != _TORCH),
        ballot.get(_TORCH),
    )


_parse_place = _sign("[a-e][1-5]", "a place (a1 to e5)")

_NOTATION: Notation[Move] = Notation(
    "'ES:b3-c1', 's:c2-c3', 'vote red 4' or 'remove S4'",
    {
        "{pyramid}:{origin}-{target}": Movement,
        "{pyramid}:{place}": Placing,
        "s:{origin}-{target}": Slide,
        "vote {player} {choice}": Vote,
        "coin {player} {coin} to {to}": Coin,
        "done {player}": Done,
        "decide {player} {choice}": Decision,
        f"remove {NOBODY}": partial(Removal, None),
        "remove {tile}": Removal,
        "score {player} {tile}": Selection,
        "torch {player}": Torch,
        "penalty {player}: {ballot}": _penalty,
        "penalty {player}": Penalty,
        "object {player} to {to}": Objection,
        "breach {player} {guilty}": Finding,
    },
    {
        "pyramid": _sign("[A-F][SMCA]", "a pyramid (letter A to F, suit S, M, C or A)"),
        "place": _parse_place,
        "origin": _parse_place,
        "target": _parse_place,
        "tile": _sign("[SMCA][na2-5]", "a tile (suit S, M, C or A, value n, a or 2 to 5)"),
        "choice": _sign(
            f"[na2-5SMCA]|{SHARED}|{'|'.join(COLOURS)}",
            f"a value (n, a, 2 to 5), a suit (S, M, C, A), a colour or {SHARED!r}",
        ),
        "coin": _sign("[a2]", "a coin (a or 2)"),
        "player": parse_colour,
        "to": parse_colour,
        "ballot": _ballot,
        "guilty": _answer,
    },
)
