"""The order of throws in Ice Boule; its distances are lines between pieces, which the measurement
draws.
"""

from __future__ import annotations

from engines.board_marks import Mark, Option
from engines.ice_boule.moves import Move
from engines.ice_boule.state import State


def options(state: State) -> tuple[Option, ...]:
    """Who throws, in the order of turns from the next one on."""
    if state.winner:
        return ()
    if state.next is None:
        return (Option(state.starter, "throws the target, of a colour that nobody plays"),)
    order = (state.next, *(player for player in state.after(state.next) if player != state.next))
    return tuple(Option(player, _part(state, player)) for player in order)


def trace(_state: State, _move: Move) -> tuple[Mark, ...]:
    """Nothing lies on cells here."""
    return ()


def _part(state: State, player: str) -> str:
    """What a player has left to do in this end."""
    left = f"{state.left(player)} to throw"
    if not state.left(player):
        return "has thrown all"
    if player == state.next:
        return f"throws now, {left}" + (" or may stop" if state.may_stop else "")
    return f"leads: passed over while others can throw, {left}" if player == state.leading else left
