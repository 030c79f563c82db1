"""Secret votes: cast, and shown to nobody before all votes are in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engines.icefloe.moves import Move, Vote
from engines.icefloe.state import HIDDEN, State, public_state

VOTES = ("vote_value", "vote_suit")
"""Keys of an announcement that make it a vote."""


def hidden_voters(state: State) -> tuple[str, ...]:
    """Players who have cast a vote that is still hidden, in turn order.

    Votes on the value may be cast before the phase is `vote`.
    """
    return tuple(
        player
        for player, vote in zip(state.players, public_state(state).votes, strict=True)
        if vote == HIDDEN
    )


def secret_voter(spoken: Move | Mapping[str, Any]) -> str | None:
    """The player whose vote a move or an announcement casts; None for others.

    Every vote is secret when it is cast.
    """
    if isinstance(spoken, Vote):
        return spoken.player
    if isinstance(spoken, Mapping) and any(key in spoken for key in VOTES):
        player = spoken.get("player")
        return player if isinstance(player, str) else None
    return None
