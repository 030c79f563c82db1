"""The order of throws in Ice Boule.

Its distances are lines between pieces, which the measurement draws.
"""

from __future__ import annotations

from engines.board_marks import Mark, Option
from engines.ice_boule.moves import Move
from engines.ice_boule.state import State
from table.messages import Message, msg


def options(state: State) -> tuple[Option, ...]:
    """Return who throws, in turn order from the next player on."""
    if state.winner:
        return ()
    if state.next is None:
        return (Option(state.starter, msg("throws the target (any colour not in play)")),)
    order = (state.next, *(player for player in state.after(state.next) if player != state.next))
    return tuple(Option(player, _part(state, player)) for player in order)


def trace(_state: State, _move: Move) -> tuple[Mark, ...]:
    """Return no marks: pieces of this game are not on cells."""
    return ()


def _part(state: State, player: str) -> Message:
    """Describe what a player has left to do in this end."""
    left = state.remaining_projectiles(player)
    if not left:
        return msg("has no throws left")
    if player == state.next and state.may_stop:
        return msg("throws now ({n} still to throw) or may stop", n=left)
    if player == state.next:
        return msg("throws now, {n} still to throw", n=left)
    if player == state.leading:
        return msg("leads and waits while others can throw, {n} still to throw", n=left)
    return msg("{n} still to throw", n=left)
