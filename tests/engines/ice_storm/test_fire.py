"""Lines of fire and shots: the printed examples, symmetries of the board, and doubts against all
that may be so.
"""

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.ice_storm.fire import captures, lines, shots, squares_under_fire
from engines.ice_storm.place import Piece, Place, readings
from engines.ice_storm.squares import SIDE, Square
from tests.support.ice_storm_boards import boards, places

DATA = Path(__file__).with_name("data")


def rows(name):
    lines = [line for line in (DATA / name).read_text().splitlines() if not line.startswith("#")]
    return [tuple(part.strip() for part in line.split("|")) for line in lines]


def pieces(text):
    return tuple(map(Piece.parse, text.split(", ")))


@pytest.mark.parametrize(("place", "squares"), rows("fire.txt"))
def test_lines_of_fire(place, squares):
    (reading,) = readings(Place.parse(place))
    assert sorted(map(str, squares_under_fire(reading))) == sorted(squares.split())


@pytest.mark.parametrize(("place", "ways"), rows("doubts.txt"))
def test_ways_in_which_a_piece_may_lie(place, ways):
    seen = Place.parse(place)
    expected = [Place.parse(way) for way in ways.split(" ; ")]
    assert all(not way.in_doubt for way in expected)
    assert set(readings(seen)) == {reading for way in expected for reading in readings(way)}
    assert len(readings(seen)) == len(expected)
    assert seen.in_doubt == (len(expected) > 1)


@pytest.mark.parametrize(("board", "expected"), rows("shots.txt"))
def test_shots(board, expected):
    found = shots(pieces(board), pieces(board)[0].colour)
    assert "; ".join(map(str, found)) == expected
    assert [shot.certain for shot in found] == [
        " if " not in text for text in expected.split("; ") if text
    ]


@pytest.mark.parametrize(("board", "expected"), rows("captures.txt"))
def test_captures(board, expected):
    found = captures(pieces(board), pieces(board)[0].colour)
    assert (
        " ".join(f"{target.name}{'' if certain else '?'}" for target, certain in found.items())
        == expected
    )


def symmetric(square, turns, mirrored):
    """Where a square comes to lie when the board is mirrored, then turned by quarter turns."""
    file, rank = (SIDE - 1 - square.file, square.rank) if mirrored else square
    for _ in range(turns):
        file, rank = SIDE - 1 - rank, file
    return Square(file, rank)


def moved(squares, turns, mirrored):
    return frozenset(symmetric(square, turns, mirrored) for square in squares)


@given(places(), st.integers(0, 3), st.booleans())
def test_the_board_has_no_favourite_side(place, turns, mirrored):
    reached = symmetric(place.reached, turns, mirrored) if place.reached else None
    turned = Place(
        *(moved(squares, turns, mirrored) for squares in (place.clear, place.doubtful, place.tips)),
        reached,
    )
    fire = {moved(squares_under_fire(reading), turns, mirrored) for reading in readings(place)}
    assert {squares_under_fire(reading) for reading in readings(turned)} == fire
    assert Place.parse(str(turned)) == turned


@given(places())
def test_every_line_runs_straight_to_the_edge(place):
    for reading in readings(place):
        for line in lines(reading):
            assert line.squares[0] in reading.squares or len(reading.squares) == 1
            steps = {
                (b.file - a.file, b.rank - a.rank)
                for a, b in zip(line.squares, line.squares[1:], strict=False)
            }
            assert len(steps) <= 1
            assert line.way == "at home" or {line.squares[-1].file, line.squares[-1].rank} & {
                0,
                SIDE - 1,
            }


@settings(max_examples=60)
@given(boards())
def test_captures_against_all_that_may_be_so(board):
    """Certain: in every combination of ways in which all pieces may lie, some shot hits; possible:
    in one of them.
    """
    worlds = list(product(*(readings(piece.place) for piece in board)))
    found = captures(board, "red")
    aimed = shots(board, "red")
    for k, target in enumerate(board):
        if target.colour == "red":
            assert target not in found
            continue
        fire = [
            [squares_under_fire(world[j]) for j, piece in enumerate(board) if piece.colour == "red"]
            for world in worlds
        ]
        hits = [
            any(squares & world[k].squares for squares in all_fire)
            for world, all_fire in zip(worlds, fire, strict=True)
        ]
        assert (target in found) == any(hits)
        assert found.get(target, False) == all(hits)
        at_target = [shot for shot in aimed if shot.target == target.name]
        assert bool(at_target) == any(hits)
        assert all(hits) or not any(shot.certain for shot in at_target)
