"""Examples of throws, which have endlessly many forms, and the possible settlements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from engines.ice_storm.moves import Change, Settle, Throw
from engines.ice_storm.place import Piece, Place, readings
from engines.ice_storm.squares import SIDE, Square


def throws(player: str, pieces: Sequence[Piece], turn: int) -> Iterator[Throw]:
    """Yield a throw on every square, one off the board, and one per piece that knocks it off.

    Places are of all kinds in turn; `turn` shifts them, so that successive throws differ.
    """
    board = [Square(file, rank) for file in range(SIDE) for rank in range(SIDE)]
    places = [_places(square)[(7 * square.file + square.rank + turn) % 9] for square in board]
    yield from (Throw(player, place) for place in places)
    yield Throw(player, None)
    for piece in pieces:
        yield Throw(
            player, Place(frozenset({min(piece.place.squares)})), (Change(piece.name, None),)
        )


def settlements(pieces: Sequence[Piece]) -> Iterator[Settle]:
    """Yield every final decision about a piece whose place is too close to call."""
    for piece in pieces:
        if piece.place.in_doubt:
            for reading in readings(piece.place):
                yield Settle(
                    piece.name,
                    Place(reading.squares, tips=frozenset({reading.tip} if reading.tip else ())),
                )


@cache
def _places(square: Square) -> tuple[Place, ...]:
    """Nine kinds of places around a square.

    They are centre, edge and corner, each lying, upright and too close to call.
    """
    one = frozenset({square})
    beside = square.step(1, 0) or Square(square.file - 1, square.rank)
    above = square.step(0, 1) or Square(square.file, square.rank - 1)
    edge, across, block = (
        one | {above},
        one | {beside},
        frozenset({square, beside, above, Square(beside.file, above.rank)}),
    )
    return (
        Place(one, tips=one),
        Place(one),
        Place(edge, tips=frozenset({above})),
        Place(across, tips=one),
        Place(block - {above}, tips=frozenset({beside})),
        Place(block, tips=one),
        Place(block),
        Place(one, frozenset({above}), tips=one),
        Place(across, tips=across),
    )
