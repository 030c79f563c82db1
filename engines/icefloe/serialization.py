"""A game of IceFloe as plain data for logs and pages.

It holds what all players may see: no vote before all votes are shown.
"""

from __future__ import annotations

from typing import TypedDict

from engines.game_document import GameDocument
from engines.icefloe.announcements import may_say
from engines.icefloe.messages import comments, turn
from engines.icefloe.rules import outcome
from engines.icefloe.state import State, public_state
from table.messages import plain


class ObjectionDocument(TypedDict):
    """An objection that is open, all of it public: `asked` are those who are yet to say."""

    to: str
    by: str
    said: dict[str, bool]
    asked: list[str]


class FloeDocument(TypedDict):
    """A tile with the pyramids on it."""

    tile: str
    pyramids: list[str]
    weight: int


class IceFloeDocument(GameDocument):
    """The state of a game of IceFloe, as all players may see it.

    `phase` is `place`, `move`, `vote`, `coins`, `decide`, `remove`, `extra`, `score`, `torch`,
    `name` or `over`; `to_move` places or moves next, None in other phases; `next` chooses what
    happens next, None while players vote or lay coins; `comments` is what the torch bearer should
    say while votes may be cast. `state` is read back once no vote is hidden in it.
    """

    round: int
    torch: str
    """Who bears it."""
    sunk: str | None
    """The tile that sank under the last move."""
    value: str | None
    """Voted on, while its suit is voted on."""
    tile: str | None
    """To be removed."""
    tiles: int
    """How many are in play."""
    votes: dict[str, str | None]
    """`?` until they are shown; the first may be set while the last player moves."""
    laid: dict[str, int]
    """What coins add to each vote."""
    tally: dict[str, int]
    """Votes and coins counted, once all are shown: {"4": 3}."""
    choices: list[str]
    """Between which the torch bearer decides, else empty."""
    done: list[str]
    """Who lays no more coins on these votes."""
    muted: list[str]
    """Who lost the vote of this round by commentary."""
    objection: ObjectionDocument | None
    """The open one."""
    coins: dict[str, str]
    """Left to each: {"red": "a2"}."""
    left: dict[str, list[str]]
    """Pyramids of each: {"red": ["AS", "ES"]}."""
    board: dict[str, FloeDocument]
    """By place: {"b3": {"tile": "S4", "pyramids": ["ES"], "weight": 3}}."""


def state_document(state: State) -> IceFloeDocument:
    """The state as plain data for logs and programs, its messages in English: see `shown_state`."""
    document: IceFloeDocument = plain(shown_state(state))
    return document


def shown_state(state: State) -> IceFloeDocument:
    """The state as data for pages, its sentences as messages: every key of the type is there."""
    ended, seen, players = outcome(state), public_state(state), state.players
    deciding = (
        state.best
        if state.phase == "name"
        else state.leading_choices
        if state.phase == "decide"
        else ()
    )
    return {
        "round": state.round,
        "torch": state.torch,
        "phase": state.phase,
        "to_move": state.mover if state.phase in ("place", "move") else None,
        "next": state.next,
        "turn": turn(state),
        "may_say": may_say(state),
        "sunk": state.sunk,
        "value": state.value,
        "tile": state.tile,
        "tiles": len(state.board.floes),
        "votes": dict(zip(players, seen.votes, strict=True)),
        "laid": dict(zip(players, state.laid, strict=True)),
        "tally": state.tally if state.phase in ("coins", "decide") else {},
        "choices": list(deciding),
        "done": list(state.done),
        "muted": list(state.muted),
        "objection": _objection(state),
        "comments": comments(state) or None,
        "coins": dict(zip(players, state.coins, strict=True)),
        "scores": dict(zip(players, state.scores, strict=True)),
        "left": {player: list(state.pyramids(player)) for player in players},
        "board": {
            f.place: {"tile": f.tile, "pyramids": list(f.pyramids), "weight": f.weight}
            for f in state.board.floes
        },
        "rulings": dict(state.rulings),
        "state": str(seen),
        "outcome": ended.message if ended else None,
    }


def _objection(state: State) -> ObjectionDocument | None:
    open_one = state.objection
    return (
        {
            "to": open_one.accused,
            "by": open_one.by,
            "said": dict(open_one.ballot),
            "asked": list(state.asked),
        }
        if open_one
        else None
    )
