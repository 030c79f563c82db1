"""What must always hold of Icebreaker's moves, against a slow and obvious version of its rules."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.icebreaker import legal_moves, play, start, violation
from engines.icebreaker.board import SIZES, board, label, members, parse_cell, union
from engines.icebreaker.explanations import ship_paths
from engines.icebreaker.moves import Move
from table.errors import InputError


@st.composite
def tables(draw):
    """Any board with three ships each and some ice, ships often in each other's way."""
    played = board(draw(st.sampled_from(SIZES)))
    cells = list(members(played.cells))
    crowd = cells[: draw(st.integers(8, len(cells)))]
    ships = draw(st.permutations(crowd))[:6]
    ice = draw(
        st.sets(
            st.sampled_from([cell for cell in cells if cell not in ships]),
            min_size=1,
            max_size=draw(st.sampled_from([1, 3, 30])),
        )
    )
    return played, ships[:3], ships[3:], ice


def slow_way(played, ship, ships, ice):
    """Steps to the closest ice and first steps of the shortest ways there, by walking every way
    outward.
    """

    def beside(cell):
        return [other for other in members(played.around[cell]) if other not in ships]

    steps_from = {}
    for first in beside(ship):
        seen, edge, steps = {first}, [first], 1
        while edge and not ice.intersection(edge):
            edge = sorted({other for cell in edge for other in beside(cell)} - seen)
            seen.update(edge)
            steps += 1
        if edge:
            steps_from[first] = steps
    least = min(steps_from.values(), default=None)
    return least, {first for first, steps in steps_from.items() if steps == least}


@given(tables())
def test_ways_are_shortest(table):
    played, own, others, ice = table
    found = ship_paths(played, union(*own), union(*others), union(*ice))
    for ship in own:
        steps, cells = slow_way(played, ship, {*own, *others}, ice)
        assert (ship in found) == (steps is not None)
        if steps:
            assert (found[ship][0], set(members(found[ship][1]))) == (steps, cells)


@given(tables())
def test_somebody_can_move(table):
    """While ice is left one of the two can move: so a turn that passes never comes to nobody
    (ruling icebreaker.2).
    """
    played, own, others, ice = table
    own, others, ice = union(*own), union(*others), union(*ice)
    assert ship_paths(played, own, others, ice) or ship_paths(played, others, own, ice)


@settings(max_examples=15)
@given(st.data())
def test_every_pair_of_cells(data):
    """Of all pairs of cells just those are legal that the list has."""
    state = start(["red", "black"], {"size": data.draw(st.sampled_from(["4", "5"]))})
    for _ in range(data.draw(st.integers(0, 25))):
        state = play(state, data.draw(st.sampled_from(list(legal_moves(state)))))
    everywhere = list(members(board(6).cells))
    pairs = [Move(here, there) for here in everywhere for there in everywhere]
    legal = set(legal_moves(state))
    assert {move for move in pairs if violation(state, move) is None} == legal


@pytest.mark.parametrize(
    ("size", "cells", "majority"),
    [(4, 37, 16), (5, 61, 28), (6, 91, 43), (7, 127, 61), (8, 169, 82)],
)
def test_sizes(size, cells, majority):
    state = start(["red", "black"], {"size": str(size)})
    assert board(size).cells.bit_count() == cells
    assert state.setting.majority == majority
    assert [len(row) for row in board(size).rows] == [
        *range(size, 2 * size),
        *range(2 * size - 2, size - 1, -1),
    ]
    assert len(legal_moves(state)) == 9


def test_cells_print_and_parse():
    labels = [label(cell) for cell in members(board(8).cells)]
    assert (
        [label(parse_cell(text)) for text in labels]
        == [label(parse_cell(text.lower())) for text in labels]
        == labels
    )
    assert all(here < there for here, there in pairwise(map(parse_cell, labels)))


def test_only_two_play():
    with pytest.raises(InputError, match="players: expected 2, got 3"):
        start(["red", "black", "blue"], {})
