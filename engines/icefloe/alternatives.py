"""Alternatives to a move that was ruled on.

There are none to votes and coins: nobody mistakes what was voted, and on whom coins were laid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engines.alternatives import instead
from engines.icefloe import messages, rules
from engines.icefloe.board import PLACES, STEPS
from engines.icefloe.moves import Move, Movement, Placing, Removal, Slide
from engines.icefloe.state import State
from engines.verdict import Choice
from table.messages import Message, msg


def alternatives(state: State, moves: Sequence[str]) -> tuple[Choice, ...]:
    """Legal alternatives to the last of `moves`, for an appeal.

    Tiles beside the one that a pyramid came to, and other pyramids that may have gone; other ways
    for a tile; other empty tiles.
    """
    return instead(rules, _near, state, moves)


def _near(state: State, ruled: Move) -> Iterator[tuple[str, Move]]:
    match ruled:
        case Movement(pyramid, origin, target):
            floe = state.board.at(origin)
            others = [other for other in (floe.pyramids if floe else ()) if other != pyramid]
            for name, place in [
                *((pyramid, beside) for beside in STEPS[target]),
                *((other, target) for other in others),
            ]:
                yield _went(name, origin, place), Movement(name, origin, place)
        case Slide(origin, _):
            for place in PLACES:
                yield (
                    msg("The tile on {cell} slid to {cell2}", cell=origin, cell2=place),
                    Slide(origin, place),
                )
        case Placing(pyramid, target):
            for place in STEPS[target]:
                yield (
                    msg("{cell} stands on {cell2}", cell=messages.pyramid(pyramid), cell2=place),
                    Placing(pyramid, place),
                )
        case Removal():
            yield msg("No empty tile was removed"), Removal(None)
            for other in state.board.empty:
                yield msg("{cell} was removed", cell=messages.tile(other.tile)), Removal(other.tile)
        case _:
            return


def _went(pyramid: str, origin: str, place: str) -> Message:
    if place == origin:
        return msg("{cell} came back to {cell2}", cell=messages.pyramid(pyramid), cell2=origin)
    return msg(
        "{cell} went from {cell2} to {cell3}",
        cell=messages.pyramid(pyramid),
        cell2=origin,
        cell3=place,
    )
