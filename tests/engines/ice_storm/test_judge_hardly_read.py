"""What the judge of Ice Storm makes of pieces that are hardly read, or in another colour."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines import ice_storm as game
from engines.ice_storm.touches import touches
from engines.verdict import Accepted, Ambiguous, CannotSee, OutOfSync, Refused, Waiting
from table.clearance import clearance
from tests.support.ice_storm import read_piece, thrown


def test_nobody_is_told_to_fix_the_table_where_a_doubtful_piece_may_hide_the_missing_one(
    table, lie, play
):
    table.pieces = {"green1": lie("green", 175, 60), "black1": lie("black", 320, 320)}
    before, state = table.seen(), thrown("green1 d2, black1 g7", 2)
    del table.pieces["green1"]
    assert isinstance(play(state, before), OutOfSync)
    leans = replace(
        lie("red", 185, 75).piece(pose_probability=0.7), covariance=np.diag([50.0, 1300.0, 400.0])
    )
    unread = play(state, before, leans)
    assert isinstance(unread, CannotSee)
    assert unread.message == "Rinkside cannot read what is at (185, 75) mm. Show it more clearly."


def test_several_pieces_that_were_moved_and_are_misread_together_are_asked_about(table, lie, play):
    """They fell over in one light: two recorded ones are gone, and two of one colour are new."""
    table.pieces = {
        "black1": lie("black", 320, 320),
        "black2": lie("black", 75, 320),
        "green1": lie("green", 175, 60),
    }
    before, state = table.seen(), thrown("green1 d2, black1 g7, black2 b7", 5)
    table.pieces |= {
        "black1": lie("green", 275, 220),
        "black2": lie("green", 75, 220),
        "red2": lie("red", 175, 320),
    }
    asked = play(state, before)
    assert isinstance(asked, Ambiguous)
    assert (
        asked.message
        == "There seem to be 2 new green pieces. Were black1 and black2 moved instead?"
    )
    assert [choice.moves for choice in asked.choices] == [
        ("throw red d7: black1 f5, black2 b5",),
        (),
    ]


def test_a_piece_that_is_hardly_read_in_its_place_is_not_taken_for_the_one_knocked_away(
    table, lie, play
):
    """Only who throws can have put another piece of the colour on the board."""
    table.pieces = {
        "black1": lie("black", 320, 320),
        "black2": lie("black", 75, 320),
        "green1": lie("green", 175, 60),
    }
    before, state = table.seen(), thrown("green1 d2, black1 g7, black2 b7", 5)
    hardly = replace(
        table.pieces.pop("black1").piece(pose_probability=0.89),
        covariance=np.diag([1.0, 30.0, 1.0]),
    )
    table.pieces |= {"black2": lie("black", 75, 70), "red2": lie("red", 175, 320)}
    assert play(state, before, hardly).moves == ("throw red d7: black2 b2",)


def test_a_piece_that_may_stand_or_lean_is_asked_about_if_its_other_reading_leans_on_something(
    table, lie, play
):
    table.pieces = {"black1": lie("black", 320, 320), "green1": lie("green", 175, 60)}
    before, state = table.seen(), thrown("green1 d2, black1 g7", 2)
    leans = replace(lie("red", 192, 60, 90.0, "leaning").piece(), pose_probability=0.75)
    stands = replace(
        lie("red", 220, 60, pose="upright").piece(), pose_probability=0.87, rivals=(leans,)
    )
    asked = play(state, before, stands)
    assert isinstance(asked, Ambiguous)
    assert [choice.moves for choice in asked.choices][:2] == [(), ("throw red e2^",)]
    sure = replace(stands, pose_probability=1.0)
    assert play(state, before, sure).moves == ("throw red e2^",)
    near = lie("red", 195, 60, 90.0, "leaning").piece(pose_probability=0.13)
    assert 3 < clearance(near.solid, table.pieces["green1"].piece().solid).mm < 6
    doubtful = play(state, before, replace(stands, rivals=(near,)))
    assert isinstance(doubtful, Ambiguous), "its place is in doubt too: it may touch"
    alone = replace(stands, rivals=(lie("red", 320, 60, 90.0, "leaning").piece(),))
    assert play(state, before, alone).moves == ("throw red e2^",), "there is nothing to lean on"


def test_a_throw_that_overturns_a_piece_is_followed_where_only_the_earlier_pose_was_doubtful(
    table, lie, play
):
    stood = lie("black", 320, 320, 10.0, pose="upright")
    table.pieces = {"green1": lie("green", 175, 60)}
    before = table.seen(stood.piece(pose_probability=0.95))
    state = thrown("green1 d2, black1 g7^", 2)
    table.pieces["red1"] = lie("red", 75, 320)
    lies = lie("black", 313, 320, 0.0)
    assert play(state, before, lies.piece()).moves == ("throw red b7: black1 g7",)
    assert play(state, before, lies.piece(pose_probability=0.9)).moves == ("throw red b7",)


@pytest.mark.parametrize("chance", [0.3, 0.6, 0.97])
def test_a_throw_that_stands_or_lies_is_asked_about(table, lie, play, chance):
    """The likelier pose is not taken for granted, nor the squares of the other one lost."""
    table.pieces = {"green1": lie("green", 175, 60), "black1": lie("black", 320, 320)}
    state, before = thrown("green1 d2, black1 g7", 2), table.seen()
    lies = lie("red", 100, 225, 80.0).piece()
    stands = lie("red", 95, 215, 20.0, "upright").piece()
    unsure = replace(stands, pose_probability=chance, rivals=(lies,))
    assert [choice.moves for choice in play(state, before, unsure).choices] == [
        ("throw red b5-c5^",),
        ("throw red b5-c5-c6>c6",),
        (),
    ]
    sure = replace(unsure, pose_probability=0.985)
    assert play(state, before, sure).moves == ("throw red b5-c5^",)


def test_a_knocked_piece_that_stands_or_lies_is_asked_about(table, lie, play):
    table.pieces = {"green1": lie("green", 175, 60), "black1": lie("black", 320, 320)}
    state, before = thrown("green1 d2, black1 g7", 2), table.seen()
    lies, stands = lie("green", 175, 68).piece(), lie("green", 185, 75, 20.0, "upright").piece()
    del table.pieces["green1"]
    unsure = replace(stands, pose_probability=0.8, rivals=(lies,))
    asked = play(state, before, lie("red", 75, 320).piece(), unsure)
    assert [choice.moves for choice in asked.choices] == [
        ("throw red b7: green1 d2^",),
        ("throw red b7",),
        (),
    ]


@pytest.mark.parametrize("lies_probability", [0.2, 0.57])
def test_a_piece_of_the_record_in_two_readings_is_not_taken_for_one_thrown_out_of_turn(
    table, lie, lies_probability
):
    """Only the less probable reading is as on record, and was so when the board was ruled on."""
    table.pieces = {
        "green1": lie("green", 185, 75, 20.0, "upright"),
        "black1": lie("black", 320, 320),
    }
    state, before = thrown("green1 d2^, black1 g7", 2), table.seen()
    stands, lies = table.pieces["green1"].piece(), lie("green", 175, 68).piece()
    unsure = replace(
        lies,
        pose_probability=lies_probability,
        rivals=(replace(stands, pose_probability=1 - lies_probability),),
    )
    black = table.pieces["black1"].piece()
    before = replace(before, pieces=(unsure, black))
    now = replace(before, pieces=(unsure, black, lie("green", 75, 320).piece()))
    verdict = game.judge(game.State.parse(state), now, before, table.board)
    assert (type(verdict), verdict.code, verdict.player) == (Refused, "storm.throw.turn", "green")


def test_the_first_throw_of_a_round_is_asked_about_where_it_can_hardly_be_read(lie, play):
    """Nothing was said of it before, and who threw waited.  It leans on nothing there."""
    leans = replace(
        lie("green", 185, 75).piece(pose_probability=0.9), covariance=np.diag([50.0, 1300.0, 400.0])
    )
    unread = play(thrown("nothing", 0), None, leans)
    assert isinstance(unread, CannotSee)
    assert unread.message == "Rinkside cannot read what is at (185, 75) mm. Show it more clearly."
    moves = [move for choice in unread.asks.choices for move in choice.moves]
    assert moves == ["throw green d2^"]
    assert [choice.label for choice in unread.asks.choices if choice.confirms_record] == [
        "No: it has not been thrown yet"
    ]


@pytest.mark.parametrize(("off_mm", "asked"), [(15, True), (1, False)])
def test_a_throw_that_leans_on_a_piece_of_its_own_and_hides_it_is_asked_about(
    table, lie, play, off_mm, asked
):
    """One piece is seen where one lay; it leans now, and lies a little farther on."""
    table.pieces = {"red1": lie("red", 175, 60), "black1": lie("black", 320, 320)}
    before, state = table.seen(), thrown("black1 g7, red1 d2", 5)
    del table.pieces["red1"]
    leans = lie("red", 175 + off_mm, 60, pose="leaning").piece()
    now = play(state, before, leans)
    if not asked:
        assert isinstance(now, Waiting)
        return
    assert isinstance(now, Ambiguous)
    assert now.message == "Does red's throw lean on red1, at (190, 60) mm?"
    assert [choice.moves for choice in now.choices] == [("void red",), (), ()]
    assert [choice.confirms_record for choice in now.choices] == [False, True, False]


@pytest.mark.parametrize(
    ("reading", "asks"),
    [
        pytest.param({"pose_probability": 0.9}, True, id="hardly read"),
        pytest.param(
            {"pose_probability": 0.9, "colour": "white", "colour_probability": 0.9},
            True,
            id="in a doubtful colour",
        ),
        pytest.param({"pose_probability": 0.9, "colour": "white"}, False, id="surely another"),
    ],
)
def test_a_piece_that_is_gone_and_may_lie_elsewhere_was_not_surely_taken(
    table, lie, play, reading, asks
):
    table.pieces = {"black1": lie("black", 275, 262), "red1": lie("red", 175, 360)}
    table.pieces["green1"] = lie("green", 178, 100)
    before = table.seen()
    state = thrown("green1 d2-d3>d3, black1 f6, red1 d8", 15).replace("turn green", "turn red")
    del table.pieces["green1"]
    carried = replace(
        lie("green", 60, 60).piece(), covariance=np.diag([9.0, 9.0, 400.0]), **reading
    )
    verdict = play(state, before, carried)
    if not asks:
        assert verdict.moves == ("capture green1",)
        return
    assert (type(verdict), verdict.code) == (Ambiguous, "storm.attack")
    assert [choice.moves for choice in verdict.choices] == [("capture green1",), ()]
    assert "(60, 60) mm" in verdict.message
    assert play(state, before).moves == ("capture green1",), "nothing lies elsewhere"


@pytest.mark.parametrize("first", [True, False], ids=["listed first", "listed last"])
def test_the_record_is_found_in_a_piece_that_surely_lies_so(table, lie, play, first):
    """A leaning piece that may touch the same squares was picked up to be thrown again."""
    surely = lie("red", 150, 120)
    leaning = lie("red", 145, 125, 0.0, "leaning").piece()
    state = thrown(f"green1 g7, red1 {surely.place}", 5)
    pieces = [surely.piece(), lie("green", 320, 320).piece()]
    before = replace(table.seen(), pieces=(leaning, *pieces) if first else (*pieces, leaning))
    table.pieces = {"red1": surely, "green1": lie("green", 320, 320)}
    throw = lie("red", 60, 320)
    verdict = play(state, before, throw.piece())
    assert (type(verdict), verdict.moves) == (Accepted, (f"throw red {throw.place}",))


@pytest.mark.parametrize("which", ["thrown", "moved"])
def test_a_reading_that_probably_is_another_pose_is_not_ruled_on(table, lie, play, which):
    """It says so little of itself, and no other reading is given."""
    table.pieces = {"green1": lie("green", 320, 320)}
    state, before = thrown("green1 g7", 4), table.seen()
    green, black = lie("green", 320, 320), lie("black", 175, 60)
    if which == "moved":
        green = lie("green", 220, 320)
    del table.pieces["green1"]
    low = {"pose_probability": 0.57}
    pieces = (
        green.piece(**low if which == "moved" else {}),
        black.piece(**low if which == "thrown" else {}),
    )
    unread = play(state, before, *pieces)
    assert isinstance(unread, CannotSee)
    moves = [choice.moves for choice in unread.asks.choices]
    assert moves == [
        ("throw black d2: green1 e7",) if which == "moved" else ("throw black d2",),
        ("void black: green1 e7",) if which == "moved" else ("void black",),
        (),
        (),
    ]
    standing = lie("black", 175, 66, pose="upright").piece()
    rival = replace(standing, pose_probability=0.4)
    if which == "thrown":
        named = replace(pieces[1], rivals=(rival,))
        assert isinstance(play(state, before, pieces[0], named), Ambiguous), "it is named"


@pytest.mark.parametrize(
    ("probability", "expected"), [(0.924, Refused), (0.75, Refused), (0.65, Ambiguous)]
)
def test_a_doubtful_piece_that_leans_on_another_is_not_unread(
    table, lie, play, probability, expected
):
    """It may lie instead, two millimetres away: few pieces lie so near to another."""
    table.pieces = {"green1": lie("green", 175, 60)}
    state, before = thrown("green1 d2", 1), table.seen()
    leans = lie("black", 190, 60, 90.0, "leaning").piece(pose_probability=probability)
    lies = lie("black", 192, 60, 90.0).piece(pose_probability=1 - probability)
    leans = replace(
        leans, covariance=np.diag([4.0, 4.0, 8.0]), if_right=leans.covariance, rivals=(lies,)
    )
    verdict = play(state, before, leans)
    assert type(verdict) is expected
    if expected is Refused:
        assert verdict.code == "storm.throw.leaning"
    else:
        assert verdict.choices[0].moves == (), "it leans, and is thrown again"
        assert len(verdict.choices) > 2


def read_in_two_ways(likelier, other, probability=0.7):
    """A piece with the reading that is not as likely, and the ± that this adds."""
    away = np.append(likelier.base_mm - other.base_mm, 0.0)
    return replace(
        likelier,
        pose_probability=probability,
        rivals=(replace(other, pose_probability=1 - probability),),
        covariance=likelier.covariance + (1 - probability) * np.outer(away, away),
        if_right=likelier.covariance,
    )


@pytest.mark.parametrize("truth", ["lying", "upright"])
def test_a_knocked_piece_that_lies_or_stands_is_asked_about(table, lie, play, truth):
    """Both readings are away from where it stood; it is not taken to be still there, unseen."""
    table.pieces = {"green1": lie("green", 225, 178, pose="upright")}
    state, before = thrown("green1 e4^", 1), table.seen()
    del table.pieces["green1"]
    lies = lie("green", 224, 184, 200.0).piece()
    stands = lie("green", 215, 187, pose="upright").piece()
    moved = read_in_two_ways(*((lies, stands) if truth == "lying" else (stands, lies)))
    asked = play(state, before, moved, lie("black", 320, 60).piece())
    assert isinstance(asked, Ambiguous)
    assert {choice.moves for choice in asked.choices} == {
        ("throw black g2: green1 d4-e4>d4",),
        ("throw black g2",),
        (),
    }


def test_a_thrown_piece_that_lies_in_one_of_two_places_is_asked_about(table, lie, play):
    table.pieces = {"green1": lie("green", 320, 320)}
    state, before = thrown("green1 g7", 1), table.seen()
    one, other = lie("black", 125, 60).piece(), lie("black", 125, 110).piece()
    asked = play(state, before, read_in_two_ways(one, other))
    assert isinstance(asked, Ambiguous)
    assert [choice.moves for choice in asked.choices] == [
        (f"throw black {lie('black', 125, 60).place}",),
        (f"throw black {lie('black', 125, 110).place}",),
        (),
    ]


def test_nobody_is_accused_while_what_seems_to_have_moved_is_in_doubt(table, lie, play):
    """Two threw in turn; a piece on record may have been moved, or lies as it did."""
    still = lie("red", 75, 60)
    table.pieces = {"red1": still}
    state, before = thrown("red1 b2", 4), table.seen()
    del table.pieces["red1"]
    doubtful = read_in_two_ways(lie("red", 75, 90).piece(), still.piece())
    throws = (lie("black", 320, 60).piece(), lie("red", 175, 320).piece())
    assert isinstance(play(state, before, doubtful, *throws), CannotSee)


def test_the_first_throw_is_asked_about_where_its_size_decides_what_it_touches(table, play):
    small, medium = (read_piece(181.6, 194.9, 20.0, size=name) for name in ("small", "medium"))
    assert touches(small, table.board).place != touches(medium, table.board).place
    thrown = replace(
        small, colour="green", size_probability=0.46, rivals=(replace(medium, colour="green"),)
    )
    asked = play("", table.seen(), thrown)
    assert isinstance(asked, Ambiguous)
    assert [choice.moves for choice in asked.choices] == [
        (f"throw green {touches(small, table.board).place}",),
        (f"throw green {touches(medium, table.board).place}",),
        (),
    ]


@pytest.mark.parametrize(("x_mm", "asked"), [(245.7, True), (250.0, True), (252.0, False)])
def test_a_lying_piece_whose_tip_is_near_another_may_lean_on_it(table, lie, play, x_mm, asked):
    """Though it is surely read as lying: pieces that leaned by a little were."""
    table.pieces = {"green1": lie("green", 216.5, 104.7, 64.7, "upright")}
    state, before = thrown(f"green1 {table.pieces['green1'].place}", 1), table.seen()
    verdict = play(state, before, lie("black", x_mm, 92.8, 171.1).piece(pose_probability=0.993))
    assert isinstance(verdict, Ambiguous if asked else Accepted)
    if asked:
        assert [bool(choice.moves) for choice in verdict.choices] == [False, True, False]
        assert "leans on another piece" in verdict.choices[0].label


def test_a_piece_may_lean_on_one_that_it_hides(table, lie, play):
    """Then only something unread is left of the one below."""
    below = lie("green", 216.5, 104.7, 64.7, "upright")
    table.pieces = {"green1": below}
    state, before = thrown(f"green1 {below.place}", 1), table.seen()
    del table.pieces["green1"]
    throw = lie("black", 245.7, 92.8, 171.1).piece()
    verdict = play(state, before, throw, unread_mm=(below.piece().base_mm,))
    assert isinstance(verdict, Ambiguous)
    assert "leans on another piece" in verdict.choices[0].label


def test_a_new_piece_may_be_the_recorded_one_if_something_unread_lies_there(table, lie, play):
    """Which of the two was thrown decides whether it is thrown again."""
    table.pieces = {
        "green1": lie("green", 175, 320),
        "black1": lie("black", 320, 320),
        "red1": lie("red", 266, 22, pose="upright"),
    }
    state, before = thrown("green1 d7, black1 g7, red1 f1^", 5), table.seen()
    table.pieces["red1"] = lie("red", 225, 60)
    asked = play(state, before, unread_mm=(np.array([262.0, 25.0]),)).asks
    assert asked is not None
    moves = {choice.moves for choice in asked.choices}
    assert {("throw red e2",), ("void red: red1 e2",), ("throw red f1^: red1 e2",)} <= moves
    for (move,) in filter(None, moves):
        assert not game.violation(game.State.parse(state), game.parse_move(move))


def test_a_hardly_read_throw_that_made_a_piece_stand_is_an_answer(table, lie, play):
    """It was surely lying and surely stands now, in the same place."""
    table.pieces = {"green1": lie("green", 175, 60), "black1": lie("black", 320, 320)}
    state, before = thrown("green1 d2, black1 g7", 2), table.seen()
    table.pieces["green1"] = lie("green", 175, 72, pose="upright")
    hardly = replace(
        lie("red", 75, 320).piece(pose_probability=0.3), covariance=np.diag([9.0, 9.0, 100.0])
    )
    asked = play(state, before, hardly).asks
    moves = [choice.moves for choice in asked.choices]
    assert ("void red: green1 d2^",) in moves
