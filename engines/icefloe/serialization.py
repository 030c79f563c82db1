"""A game of IceFloe as plain data for logs and pages.

It holds what all players may see: no vote before all votes are shown.
"""

from __future__ import annotations

from typing import Any

from engines.icefloe.announcements import may_say
from engines.icefloe.messages import comments, turn
from engines.icefloe.rules import outcome
from engines.icefloe.state import State, hidden
from table.messages import plain


def state_document(state: State) -> dict[str, Any]:
    """The state as plain data for logs and programs, its messages in English: see `shown_state`."""
    document: dict[str, Any] = plain(shown_state(state))
    return document


def shown_state(state: State) -> dict[str, Any]:
    """The state as data for pages, every key always there.

    ::

        {"round": 2, "torch": "red",
         "phase": "move",                 # place | move | vote | coins | decide | remove | extra |
         score | torch | name | over
         "to_move": "yellow",             # who places or moves next; None in other phases
         "next": "yellow",                # who chooses what happens next; None while players vote
         or lay coins
         "turn": "Yellow moves a pyramid or slides a tile next.",
         "may_say": [{"label": "red: 4", "said": {"player": "red", "vote_value": "4"}}],  # what
         `hear` waits for, and `aside` what it does not
         "sunk": "Ma",                    # the tile that sank under the last move, or None
         "value": "4",                    # voted on, while its suit is voted on, or None
         "tile": "A4", "tiles": 22,       # to be removed, or None; how many are in play
         "votes": {"red": "4", "blue": None},       # "?" until they are shown; the first may be set
         while the last player moves
         "laid": {"red": 2, "blue": 0},             # what coins add to each vote
         "tally": {"4": 3},               # votes and coins counted, once all are shown
         "choices": ["4", "n"],           # between which the torch bearer decides, else empty
         "done": ["red"], "muted": ["blue"],        # who lays no more coins on these votes; who
         lost the vote of this round by commentary
         "objection": {"to": "blue", "by": "red", "said": {"yellow": True}, "asked": ["red"]},    #
         open, all of it public; or None
         "comments": "Before the vote: ...",        # what the torch bearer should say while votes
         may be cast, else None
         "coins": {"red": "a2", "blue": ""},        # left to each
         "scores": {"red": 0, "blue": 3},
         "left": {"red": ["AS", "ES"], "blue": ["AA"]},
         "board": {"b3": {"tile": "S4", "pyramids": ["ES"], "weight": 3}},
         "rulings": {"done": "stands"},
         "state": "players red blue; ...",          # the line that State.parse reads once no vote
         is hidden in it
         "outcome": None}                 # a sentence when the game is over
    """
    ended, seen, players = outcome(state), hidden(state), state.players
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


def _objection(state: State) -> dict[str, Any] | None:
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
