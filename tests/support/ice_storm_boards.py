"""Boards of Ice Storm, drawn at random."""

from hypothesis import strategies as st

from engines.ice_storm import legal_moves
from engines.ice_storm.moves import Change, Throw
from engines.ice_storm.place import Piece, Place, shapes
from engines.ice_storm.squares import SIDE, Square

SQUARES = [Square(file, rank) for file in range(SIDE) for rank in range(SIDE)]


@st.composite
def places(draw):
    """Any place that can be written: some of four squares that share a corner, and perhaps squares
    in doubt round them.
    """
    file, rank = draw(st.integers(0, SIDE - 2)), draw(st.integers(0, SIDE - 2))
    block = [Square(file + east, rank + north) for east in (0, 1) for north in (0, 1)]
    around = [
        square for square in SQUARES if max(abs(square.file - file), abs(square.rank - rank)) <= 2
    ]
    clear = frozenset(draw(st.sets(st.sampled_from(block), max_size=4)))
    doubtful = (
        frozenset(draw(st.sets(st.sampled_from(around), min_size=not clear, max_size=3))) - clear
    )
    possible = frozenset().union(*shapes(clear, doubtful))
    if not possible:
        clear = possible = frozenset(block)
    doubtful &= possible
    tips = frozenset(draw(st.sets(st.sampled_from(sorted(possible)), max_size=2)))
    reached = (
        draw(st.sampled_from(sorted(doubtful - tips)))
        if tips and doubtful - tips and draw(st.booleans())
        else None
    )
    return Place(clear, doubtful, tips, reached)


@st.composite
def boards(draw):
    colours = draw(
        st.lists(st.sampled_from(["red", "red", "blue", "cyan"]), min_size=2, max_size=4)
    )
    return tuple(Piece(colour, number, draw(places())) for number, colour in enumerate(colours, 1))


def knocking(state, chance):
    """A throw that moves some of what lies there, and some of it off the board."""
    places = [move.place for move in legal_moves(state) if move.place]
    lie = () if state.round_over else state.pieces
    hit = chance.sample(lie, chance.randint(0, min(3, len(lie))))
    changes = tuple(
        Change(piece.name, chance.choice([None, *chance.sample(places, 2)])) for piece in hit
    )
    return Throw(state.next, chance.choice([*places, None]), changes)
