"""Questions about unseen ships."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from engines.icebreaker.board import label
from engines.icebreaker.matching import TableMatch
from engines.icebreaker.moves import Move
from engines.icebreaker.rules import RULES, legal_moves, move_text, play
from engines.icebreaker.state import SHIPS, State
from engines.occlusion import mostly_seen, true_act_choices
from engines.verdict import Ambiguous, Choice
from table.messages import Listing, Message, all_of, msg, phrase, sentences


def ask_unseen(
    state: State, found: TableMatch, unseen: Collection[tuple[str, int]]
) -> Ambiguous | None:
    """Ask where these unseen ships (player, cell) are.

    They are in place, or where a legal move takes one; moves to unread things come first. None if
    more is wrong, or most ships are unseen.
    """
    if not mostly_seen(unseen, 2 * SHIPS):
        return None
    there = replace(found, held=found.held.union(unseen))
    unread = {cells[0] for cells in found.unread}
    explained = sorted(
        (move for move in legal_moves(state) if _explains(state, there, move)),
        key=lambda move: move.to_cell not in unread,
    )
    ways = [Choice(move_text(state, move), (str(move),)) for move in explained]
    still = (
        msg("It still stands there, but the camera cannot see it")
        if there.agrees_with(state)
        else None
    )
    if not (choices := true_act_choices(ways, still)):
        return None
    message = true_act_question(ships(unseen))
    return Ambiguous(
        code="icebreaker.unseen",
        message=message,
        rests_on=RULES,
        player=state.next,
        choices=choices,
        withdrawn_if_table_changes=True,
    )


def _explains(state: State, there: TableMatch, move: Move) -> bool:
    """True if the table may be as this move leaves it.

    The ship that moved is seen, or was unseen before and still is.
    """
    mover = (str(state.next), move.from_cell)
    after = play(state, move)
    went = replace(there, held=there.held - {mover} | {(mover[0], move.to_cell)})
    return there.agrees_with(after) or (mover in there.held and went.agrees_with(after))


def true_act_question(unseen: Listing) -> Message:
    """Ask which act happened, given what is unseen."""
    return sentences(
        msg("Not seen on the board: {text}.", text=unseen),
        msg("Which is right?"),
        msg("You can also move it a little."),
    )


def ships(slots: Collection[tuple[str, int]]) -> Listing:
    """Name ships by their player and cell."""
    return all_of(
        phrase("{player}'s ship from {cell}", player=player, cell=label(cell))
        for player, cell in slots
    )
