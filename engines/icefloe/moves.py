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
| `penalty red` | red broke the commentary rules and nobody doubts it |
| `penalty red: blue=yes yellow=no torch=yes` | it was doubted: how the others, and in a tie the torch bearer, decided |
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from engines.errors import InvalidNotation
from table.pieces import COLOURS

NOBODY = "none"
SHARED = "shared"
COINS = {"a": 1, "2": 2}
"""The coins that every player starts with, and what each adds to a vote (printed rules, "Voting Coins")."""


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
    """A tile removed by the torch bearer; None: no empty tile."""

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

    `ballot` is how the others voted where that was doubted, as (player, yes); empty where it was not.  `torch` is the
    torch bearer's word in a tie.
    """

    player: str
    ballot: tuple[tuple[str, bool], ...] = ()
    torch: bool | None = None

    def __str__(self) -> str:
        said = [*self.ballot, *([] if self.torch is None else [("torch", self.torch)])]
        words = "".join(f" {player}={'yes' if yes else 'no'}" for player, yes in said)
        return f"penalty {self.player}" + (f":{words}" if words else "")


Move = Placing | Movement | Slide | Vote | Coin | Done | Decision | Removal | Selection | Torch | Penalty

_PLACE, _TILE, _CHOICE = "([a-e][1-5])", "([SMCA][na2-5])", "([SMCAna2-5])"
_PLAYER = f"({'|'.join(COLOURS)})"


def _penalty(player: str, said: str | None) -> Penalty:
    words = [word.split("=") for word in (said or "").split()]
    names = [name for name, _ in words]
    for name in names:
        if names.count(name) > 1:
            raise InvalidNotation(f"expected each player's word once, got {name!r} {names.count(name)} times")
    answers = {name: answer == "yes" for name, answer in words}
    torch = answers.pop("torch", None)
    return Penalty(player, tuple(answers.items()), torch)


_NOTATIONS: tuple[tuple[re.Pattern[str], Callable[..., Move]], ...] = tuple(
    (re.compile(pattern), made)
    for pattern, made in (
        (f"([A-F][SMCA]):{_PLACE}", Placing),
        (f"([A-F][SMCA]):{_PLACE}-{_PLACE}", Movement),
        (f"s:{_PLACE}-{_PLACE}", Slide),
        (f"vote {_PLAYER} {_CHOICE}", Vote),
        (f"coin {_PLAYER} ([a2]) to {_PLAYER}", Coin),
        (f"done {_PLAYER}", Done),
        (f"decide {_PLAYER} ([SMCAna2-5]|{SHARED}|{'|'.join(COLOURS)})", Decision),
        (f"remove (?:{_TILE}|{NOBODY})", Removal),
        (f"score {_PLAYER} {_TILE}", Selection),
        (f"torch {_PLAYER}", Torch),
        (f"penalty {_PLAYER}(?::((?: (?:torch|{'|'.join(COLOURS)})=(?:yes|no))+))?", _penalty),
    )
)
_EXPECTED = {
    "vote": "'vote red 4' (n, a, 2 to 5) or 'vote red S' (S, M, C, A)",
    "coin": "'coin red 2 to blue' or 'coin red a to blue'",
    "done": "'done red'",
    "decide": "'decide red 4', 'decide red S', 'decide red blue' or 'decide red shared'",
    "remove": "'remove S4' or 'remove none'",
    "score": "'score red S4'",
    "torch": "'torch yellow'",
    "penalty": "'penalty red' or 'penalty red: blue=yes yellow=no torch=yes'",
    "s": "'s:c2-c3', places a1 to e5",
}
_OTHERWISE = "a move such as 'ES:b3-c1' (letter A to F, suit S, M, C or A, places a1 to e5), 's:c2-c3', 'vote red 4' or 'remove S4'"


def parse_move(text: str) -> Move:
    """The move that a line of notation says; raises InvalidNotation, which quotes the text."""
    words = " ".join(text.split())
    for pattern, made in _NOTATIONS:
        if found := pattern.fullmatch(words):
            try:
                return made(*found.groups())
            except InvalidNotation as error:
                raise InvalidNotation(f"{error}; in the move {text!r}") from None
    kind = re.split("[ :]", words, maxsplit=1)[0]
    raise InvalidNotation(f"expected {_EXPECTED.get(kind, _OTHERWISE)}, got {text!r}")
