"""The document of a game's state: the keys that all games have, as plain data.

At run time it is a dict for JSON. Every game has a type of its own with more keys, beside the
function that creates it. `state_document` has English sentences where `shown_state` has messages,
which are texts too.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict

Announced = dict[str, bool | int | str | None]
"""What `hear` is told: a line of inputs.jsonl without its time, `{"player": "red", "die": 5}`."""


class Announcement(TypedDict):
    """Something that may be announced now: the label of its button, and what `hear` is told.

    With `anybody` any player may say it; `aside` marks what `hear` does not wait for.
    """

    label: str
    said: Announced
    anybody: NotRequired[bool]
    aside: NotRequired[bool]


class EndDocument(TypedDict):
    """A part of a game that is over: who won it, and the points."""

    winner: str | None
    points: int
    kind: NotRequired[str]


class GameDocument(TypedDict):
    """The state of a game, in words and numbers that mean the same in every game.

    `next` is the player who chooses what happens next, null where nobody does; `scores` are the
    points of all players; `turn` says in a sentence what comes next; `rulings` are the house rules;
    `state` is the line that the game's engine reads; `outcome` is a sentence once the game is over.
    The others are there in games that have them: `phase` (a word); `to_move`, `attacker` and
    `starter` (a player who acts where nobody chooses); `leading` (a player); `end` (the part of the
    game that is just over); `points` and `rolls` (dice to show: pips, or pips by player); `may_say`
    (what may be announced); `comments` (what is said aloud now). While it is rolled for who begins,
    `to_roll` are those who are yet to. A game may have more keys.
    """

    next: str | None
    scores: dict[str, int | float]
    turn: str
    rulings: dict[str, str]
    state: str
    outcome: str | None
    phase: NotRequired[str]
    to_move: NotRequired[str | None]
    attacker: NotRequired[str | None]
    starter: NotRequired[str | None]
    leading: NotRequired[str | None]
    end: NotRequired[EndDocument | None]
    points: NotRequired[int | None]
    rolls: NotRequired[dict[str, int | None]]
    to_roll: NotRequired[list[str]]
    may_say: NotRequired[list[Announcement]]
    comments: NotRequired[str | None]
