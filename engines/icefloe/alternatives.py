"""What may have happened instead of a move that was ruled; what was voted, and on whom coins were
laid, nobody mistakes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engines.alternatives import instead
from engines.icefloe import rules
from engines.icefloe.board import PLACES, STEPS
from engines.icefloe.moves import Move, Movement, Placing, Removal, Slide
from engines.icefloe.state import State
from engines.verdict import Choice


def alternatives(state: State, moves: Sequence[str]) -> tuple[Choice, ...]:
    """Tiles beside the one that a pyramid came to, and other pyramids that may have gone; other
    ways for a tile; other empty tiles.
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
                went = (
                    f"went from {origin} to {place}"
                    if place != origin
                    else f"came back to {origin}"
                )
                yield f"{name} {went}", Movement(name, origin, place)
        case Slide(origin, _):
            for place in PLACES:
                yield f"The tile on {origin} slid to {place}", Slide(origin, place)
        case Placing(pyramid, target):
            for place in STEPS[target]:
                yield f"{pyramid} stands on {place}", Placing(pyramid, place)
        case Removal():
            yield "No empty tile was removed", Removal(None)
            for other in state.board.empty:
                yield f"{other.tile} was removed", Removal(other.tile)
        case _:
            return
