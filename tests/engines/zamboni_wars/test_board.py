"""The board: its printed arrows, in the usual arrangement and in others."""

import json
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import InvalidNotation
from engines.zamboni_wars import Board
from engines.zamboni_wars.board import CORNERS, FACINGS, SPACES, USUAL, Space
from tests.support.paths import SHARED

FACTS = SHARED / "facts" / "coasters.json"


def test_arrows_of_the_usual_board(slow_arrows):
    assert {str(space): ways for space, ways in USUAL.arrows.items()} == {
        space: set(ways) for space, ways in slow_arrows.items()
    }


@pytest.mark.skipif(
    not FACTS.is_file(), reason="the facts about the printed boards are not beside this checkout"
)
def test_arrows_of_every_coaster_as_it_was_read_off():
    facts = json.loads(FACTS.read_text())
    compass = str.maketrans("URDL", "NESW")
    corner = {"NW": "TL", "NE": "TR", "SE": "BR", "SW": "BL"}
    for dots in product(CORNERS, repeat=4):
        arrows = Board.parse(
            " ".join(
                f"{colour}={dot}"
                for colour, dot in zip(["yellow", "red", "green", "blue"], dots, strict=True)
            )
        ).arrows
        for (across, down), dot in zip([(0, 3), (3, 3), (0, 0), (3, 0)], dots, strict=True):
            for row, ways in enumerate(facts["coaster_by_dot_corner"][corner[dot]]):
                for file, way in enumerate(ways):
                    assert arrows[Space(across + file, down + 2 - row)] == set(
                        way.translate(compass)
                    )


def test_every_way_of_a_coaster_that_is_turned_turns_with_it():
    """A quarter turn of the whole table changes no distance: arrows turn with their spaces."""
    quarter = dict(zip("NESW", "ESWN", strict=True))
    board, turned = (
        Board.parse("yellow=NW red=SE green=NE blue=SW"),
        Board.parse("green=SE yellow=NE blue=NW red=SW"),
    )
    for space in SPACES:
        assert turned.arrows[Space(space.row, 5 - space.file)] == {
            quarter[way] for way in board.arrows[space]
        }


@given(
    st.permutations(["yellow", "red", "green", "blue", "pink"]),
    st.tuples(*[st.sampled_from(CORNERS)] * 4),
)
def test_boards_print_and_parse(colours, dots):
    text = " ".join(f"{colour}={dot}" for colour, dot in zip(colours, dots, strict=False))
    assert str(Board.parse(text)) == text


def test_the_usual_arrangement_of_any_colours():
    for far_left, far_right, near_left, near_right in permutations(
        ["yellow", "red", "green", "blue"]
    ):
        board = Board.usual([[far_left, far_right], [near_left, near_right]])
        assert board.colours == {"NW": far_left, "NE": far_right, "SE": near_right, "SW": near_left}
        assert board.arrows == USUAL.arrows
    assert str(USUAL) == "yellow=SE red=SW green=NE blue=NW"


@pytest.mark.parametrize(
    "colours",
    [[], [["yellow", "red"]], [["yellow", "red", "green", "blue"]], [["yellow", "red"], ["green"]]],
)
def test_a_board_has_two_rows_of_two_coasters(colours):
    with pytest.raises(InvalidNotation, match="expected two rows of two coasters"):
        Board.usual(colours)


def test_spaces_print_and_parse():
    assert [str(space) for space in SPACES[:7]] == ["a6", "b6", "c6", "d6", "e6", "f6", "a5"]
    assert [Space.parse(str(space)) for space in SPACES] == list(SPACES)
    assert {facing: str(Space.parse("c3").ahead(facing)) for facing in FACINGS} == {
        "N": "c4",
        "NE": "d4",
        "E": "d3",
        "SE": "d2",
        "S": "c2",
        "SW": "b2",
        "W": "b3",
        "NW": "b4",
    }
    assert Space.parse("f3").ahead("E") is None
    assert Space.parse("c3").ahead("NW", 3) is None
