"""What the judge of Ice Storm makes of pieces that eyes read wrongly: in another colour, or where
none is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines import ice_storm as game
from engines.verdict import Ambiguous, CannotSee, OutOfSync, Refused, Waiting
from tests.support.ice_storm import thrown


@pytest.mark.parametrize("chance", [0.7, 1.0])
def test_the_colour_that_people_decided_holds_until_the_piece_moves(table, lie, play, chance):
    """It is read in the other colour again and again: who decided is not asked twice, and fires at
    it in the colour of the record.
    """
    table.pieces = {"black1": lie("black", 275, 262), "red1": lie("red", 175, 360)}
    misread = lie("red", 178, 60, pose="upright").piece(colour_probability=0.7)
    asked = play(thrown("black1 f6, red1 d8", 3), table.seen(), misread)
    assert (type(asked), asked.message) == (
        Ambiguous,
        "Is the new piece green or red? It is green's throw.",
    )
    state = game.play(
        game.State.parse(thrown("black1 f6, red1 d8", 3)), game.parse_move(*asked.choices[0].moves)
    )
    before, again = table.seen(misread), replace(misread, colour_probability=chance)
    assert isinstance(play(state, before, again), Waiting)
    table.pieces["new"] = lie("black", 75, 320)
    assert play(state, before, again).moves == ("throw black b7",)
    del table.pieces["new"]
    firing = thrown("green1 d2^, black1 f6, red1 d8", 15).replace("turn green", "turn red")
    assert isinstance(play(firing, before, again), Waiting)
    assert play(firing, before).moves == ("capture green1",)
    moved = replace(lie("red", 330, 60, pose="upright").piece(), colour_probability=chance)
    assert isinstance(play(firing, before, moved), OutOfSync)


def test_a_ghost_beside_a_piece_does_not_make_its_colour_forgotten(table, lie, play):
    """Something doubtful was read close by when the board was last ruled on.

    It is no second piece that the record could mean.
    """
    table.pieces = {"black1": lie("black", 275, 262), "red1": lie("red", 175, 360)}
    misread = lie("red", 178, 60, pose="upright").piece(colour_probability=0.7)
    state = thrown("green1 d2^, black1 f6, red1 d8", 4)
    ghost = replace(
        lie("yellow", 180, 68, pose="upright").piece(pose_probability=0.24),
        covariance=np.diag([9.0, 9.0, 400.0]),
    )
    before = table.seen(misread, ghost)
    table.pieces["new"] = lie("black", 75, 320)
    assert play(state, before, misread).moves == ("throw black b7",)


def test_a_piece_that_is_surely_read_in_another_colour_can_be_claimed_by_who_throws(
    table, lie, play
):
    """The refusal names what may take its place, and the colour then holds as one that was asked
    about.
    """
    table.pieces = {"black1": lie("black", 275, 262), "red1": lie("red", 175, 360)}
    state, before = thrown("black1 f6, red1 d8", 3), table.seen()
    misread = lie("red", 178, 60, pose="upright").piece()
    refused = play(state, before, misread)
    assert refused.code == "storm.throw.turn"
    assert refused.message.endswith(
        "If it is green's and only looks red to the camera, correct this."
    )
    assert refused.evidence["may_be"] == {
        "It is green: green's piece lies on the board, upright on d2": "throw green d2^"
    }
    after, claimed = (
        game.play(game.State.parse(state), game.parse_move("throw green d2^")),
        table.seen(misread),
    )
    assert isinstance(play(after, claimed, misread), Waiting)
    table.pieces["new"] = lie("black", 75, 320)
    assert play(after, claimed, misread).moves == ("throw black b7",)
    table.pieces["other"] = lie("green", 60, 70)
    two = play(state, before, misread)
    assert not two.evidence.get("may_be"), "of several new pieces nobody claims one"


def test_a_piece_beside_the_board_of_a_doubtful_colour(table, lie, play):
    """It is asked whose throw it is where it does not seem to be that of who throws, and not taken
    for another one later.
    """
    table.pieces = {"black1": lie("black", 275, 262), "red1": lie("red", 175, 360)}
    state, before = thrown("black1 f6, red1 d8", 3), table.seen()
    stray = {
        colour: lie(colour, 440, 200).piece(colour_probability=0.7) for colour in ("green", "black")
    }
    assert play(state, before, off_board=(stray["green"],)).moves == ("throw green off",)
    asked = play(state, before, off_board=(stray["black"],))
    assert (type(asked), asked.message) == (
        Ambiguous,
        "Is the piece beside the board green or black? It is green's throw.",
    )
    assert [choice.moves for choice in asked.choices] == [("throw green off",), ()]
    after, lay = (
        game.play(game.State.parse(state), game.parse_move("throw green off")),
        table.seen(off_board=(stray["green"],)),
    )
    assert isinstance(play(after, lay, off_board=(stray["black"],)), Waiting)
    sure = replace(stray["black"], colour_probability=1.0)
    assert isinstance(play(state, before, off_board=(sure,)), Waiting), (
        "a piece that somebody put down there"
    )


def test_two_pieces_are_not_in_one_place(table, lie, play):
    """Something of a doubtful colour in the place of a piece that lies still is no throw out of
    turn, and none at once with another.
    """
    table.pieces = {"black1": lie("black", 275, 262), "red1": lie("red", 175, 360)}
    state, before = thrown("black1 f6, red1 d8", 3), table.seen()
    nothing = lie("red", 277, 264, 20.0, "upright").piece(colour_probability=0.9)
    seen = play(state, before, nothing)
    assert (type(seen), seen.message) == (
        CannotSee,
        "Rinkside cannot read what is at (277, 264) mm. Show it more clearly.",
    )
    table.pieces["new"] = lie("green", 60, 70)
    assert play(state, before, nothing).moves == ("throw green b2",)
    assert isinstance(play(state, before, replace(nothing, colour_probability=1.0)), Refused), (
        "as surely as it is read"
    )


def test_a_piece_that_is_perhaps_read_twice_is_asked_about(table, lie, play):
    table.pieces = {"black1": lie("black", 275, 262), "red1": lie("red", 175, 360)}
    state, before = thrown("black1 f6, red1 d8", 3), table.seen()
    table.pieces["new"] = lie("green", 75, 70)
    twice = lie("green", 75, 62, pose="upright")
    asked = play(state, before, twice.piece(pose_probability=0.8))
    assert (type(asked), asked.code) == (Ambiguous, "storm.throw.two")
    assert [choice.moves for choice in asked.choices] == [("throw green b2",), ()]
    assert isinstance(play(state, before, twice.piece()), Refused)
    far = lie("green", 75, 320, pose="upright").piece(pose_probability=0.8)
    assert isinstance(play(state, before, far), Refused)


def test_of_two_moved_pieces_the_one_of_unsure_colour_may_be_the_missing_one(table, lie, play):
    """The nearer piece is read in the other's colour: it is not just taken for that one."""
    table.pieces = {"green1": lie("green", 148, 108), "black1": lie("black", 203, 154)}
    state, before = thrown("green1 c3, black1 e4", 2), table.seen()
    table.pieces = {"green1": lie("green", 134, 329)}
    misread = lie("green", 183, 171, 20.0, "upright").piece(colour_probability=0.55)
    asked = play(state, before, lie("red", 275, 275).piece(), misread)
    assert (type(asked), asked.code) == (Ambiguous, "storm.colour")
    true = [choice.moves for choice in asked.choices if "black1 d4" in "".join(choice.moves)]
    assert [("green1 c7" in moves[0], moves[0].startswith("throw red f6")) for moves in true] == [
        (True, True)
    ]
