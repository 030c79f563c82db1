"""Alternatives to a move that was ruled on.

Votes and coins have none, as they cannot be misread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engines.alternatives import choices_near
from engines.icefloe import messages, rules
from engines.icefloe.announcements import saying
from engines.icefloe.board import PLACES, STEPS
from engines.icefloe.moves import Move, Movement, Objection, Penalty, Placing, Removal, Slide
from engines.icefloe.state import State
from engines.verdict import Choice
from table.messages import Message, msg


def alternatives(state: State, moves: Sequence[str]) -> tuple[Choice, ...]:
    """Return legal alternatives to the last of `moves`, for an appeal.

    Tiles beside the pyramid's target, and other pyramids that may have moved. Other ways for a
    tile. Other empty tiles.
    """
    return choices_near(rules, _nearby_moves, state, moves)


def in_words(state: State, move: Move) -> Message:
    """Describe a move."""
    match move:
        case Movement(pyramid, origin, target):
            return _movement_text(pyramid, origin, target)
        case Slide(origin, target):
            return msg("The tile on {cell} slid to {cell2}", cell=origin, cell2=target)
        case Placing(pyramid, place):
            return msg("{cell} stands on {cell2}", cell=messages.pyramid(pyramid), cell2=place)
        case Removal(None):
            return msg("No empty tile was removed")
        case Removal(tile) if tile:
            return msg("{cell} was removed", cell=messages.tile(tile))
        case Penalty(player):
            return msg("{player} has no vote for the rest of the round", player=player)
        case Objection(player, accused):
            return msg("{player} objects to {player2}", player=player, player2=accused)
        case _:
            return saying(state, move)[0]


def _nearby_moves(state: State, ruled: Move) -> Iterator[tuple[str, Move]]:
    match ruled:
        case Movement(pyramid, origin, target):
            floe = state.board.at(origin)
            others = [other for other in (floe.pyramids if floe else ()) if other != pyramid]
            for name, place in [
                *((pyramid, beside) for beside in STEPS[target]),
                *((other, target) for other in others),
            ]:
                yield _movement_text(name, origin, place), Movement(name, origin, place)
        case Slide(origin, _):
            for place in PLACES:
                slide = Slide(origin, place)
                yield in_words(state, slide), slide
        case Placing(pyramid, target):
            for place in STEPS[target]:
                placing = Placing(pyramid, place)
                yield in_words(state, placing), placing
        case Removal():
            for removal in (Removal(None), *(Removal(one.tile) for one in state.board.empty)):
                yield in_words(state, removal), removal
        case _:
            return


def _movement_text(pyramid: str, origin: str, place: str) -> Message:
    if place == origin:
        return msg("{cell} came back to {cell2}", cell=messages.pyramid(pyramid), cell2=origin)
    return msg(
        "{cell} went from {cell2} to {cell3}",
        cell=messages.pyramid(pyramid),
        cell2=origin,
        cell3=place,
    )
