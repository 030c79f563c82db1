"""What the judge of Ice Storm asks, and does not ask, where a picture or a touch cannot decide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines import ice_storm as game
from engines.ice_storm.touches import touches
from engines.verdict import Accepted, Ambiguous, CannotSee, OutOfSync, Refused, Waiting
from table.boards import Chessboard, Open
from table.clearance import clearance
from table.errors import InputError
from tests.support.ice_storm import PLAYERS, read_piece, thrown


def test_a_piece_on_the_edge_of_the_board_is_asked_about(table, lie, play):
    table.pieces["new"] = lie("green", 200, 26.49, 270.0)
    asked = play()
    assert isinstance(asked, Ambiguous)
    assert (asked.code, asked.rests_on) == ("storm.too_close", "Deployment; ruling ice_storm.2")
    on, off, neither = asked.choices
    assert on.label.startswith("Green's piece lies on the board, on d1 and e1, with its tip in")
    assert off.moves == ("throw green off",)
    assert neither.moves == ()
    decided = game.judge_answer(asked, on.label)
    state = game.play(game.start(PLAYERS, {}), game.parse_move(*decided.moves))
    assert len(state.pieces) == 1
    assert isinstance(play(state, table.seen()), Waiting)


def test_a_piece_that_was_ruled_to_be_off_is_not_asked_about_again(table, lie, play):
    table.pieces["new"] = lie("green", 200, 26.49, 270.0)
    asked = table.seen()
    state = game.play(game.start(PLAYERS, {}), game.parse_move("throw green off"))
    assert isinstance(play(state, asked), Waiting)
    table.pieces["black1"] = lie("black", 320, 320)
    assert play(state, asked).moves == ("throw black g7",)


def test_what_leans_by_the_picture_and_by_what_is_near(table, lie, play):
    """Nothing leans on nothing, and two pieces are not in one place."""
    table.pieces["green1"] = lie("green", 175, 60)
    state = thrown("green1 d2", 1)
    before = table.seen()
    across = lie("black", 162, 66, 0.0).piece(pose_probability=0.6)
    refused = play(state, before, across)
    assert (refused.code, refused.tried) == ("storm.throw.leaning", ("throw black leaning",))
    near = lie("black", 190.5, 60, 90.0)
    asked = play(state, before, near.piece(pose_probability=0.9))
    assert isinstance(asked, Ambiguous)
    assert asked.choices[0].moves == ()
    assert "leans on another piece" in asked.choices[0].label
    assert play(state, before, near.piece()).code == "storm.throw"
    alone = lie("black", 320, 320, 90.0).piece(pose_probability=0.7)
    assert play(state, before, alone).moves == ("throw black g7",)
    assert isinstance(play(state, before, replace(alone, pose="leaning")), Ambiguous)
    assert play(state, before, replace(near.piece(), on=0)).code == "storm.throw.leaning"


def test_a_knocked_piece_that_nobody_sees_is_asked_about(table, lie, play):
    table.pieces = {"green1": lie("green", 175, 60), "black1": lie("black", 320, 320)}
    state, before = thrown("green1 d2, black1 g7", 2), table.seen()
    del table.pieces["green1"]
    table.pieces["red1"] = lie("red", 75, 320)
    asked = play(state, before)
    assert (asked.code, asked.message) == (
        "storm.vanished",
        "Did red's throw knock green1 off the board?",
    )
    assert [choice.moves for choice in asked.choices] == [
        ("throw red b7: green1 off",),
        ("throw red b7",),
        (),
    ]
    assert (
        asked.choices[1].label
        == "Red's piece lies on the board, within b7; still in place, but not visible: green1"
    )
    table.beside = [lie("green", 175, -60)]
    accepted = play(state, before)
    assert accepted.moves == ("throw red b7: green1 off",)
    assert (
        accepted.message
        == "Red's piece lies within b7. It knocked green1 off the board; red scores it at once."
        " Green throws next."
    )
    unread = play(state, before, unread_mm=(np.array([178.0, 80.0]),))
    assert isinstance(unread, CannotSee)
    assert unread.message == "Rinkside cannot read what is at (178, 80) mm. Show it more clearly."


def test_what_is_hardly_read_may_be_the_throw_that_knocked_a_piece(table, lie, play):
    """Nobody is told to put the knocked piece back: the throw lies there, and cannot be read."""
    table.pieces = {"green1": lie("green", 175, 60), "black1": lie("black", 320, 320)}
    state, before = thrown("green1 d2, black1 g7", 2), table.seen()
    table.pieces["green1"] = lie("green", 175, 120)
    hardly = replace(
        lie("red", 75, 320).piece(pose_probability=0.3), covariance=np.diag([9.0, 9.0, 100.0])
    )
    unread = play(state, before, hardly)
    assert isinstance(unread, CannotSee)
    assert unread.message.startswith("Rinkside cannot read what is at (75, ")
    asked = unread.asks
    assert asked is not None
    assert asked.message.endswith(" mm red's throw?")
    *ways, _otherwise, _fix = asked.choices
    assert [choice.moves for choice in ways] == [
        ("void red: green1 d3",),
        ("throw red b7^: green1 d3",),
        ("throw red b7-b8?>b8?/b7: green1 d3",),
    ]
    assert ways[-1].label.startswith("Red's piece lies on the board, on b7"), "as it seems to lie"
    for choice in ways:
        assert not game.violation(game.State.parse(state), game.parse_move(*choice.moves))


def test_a_piece_that_was_not_seen_before_either_is_not_gone(table, lie, play):
    """Nobody can have taken it since: who throws or fires is not asked about it again."""
    table.pieces = {"black1": lie("black", 320, 320), "red1": lie("red", 75, 320)}
    blind = table.seen()
    waiting = play(thrown("green1 d2, black1 g7, red1 b7", 3), blind)
    assert (type(waiting), waiting.message) == (
        CannotSee,
        (
            "The camera cannot see green1, near (175, 75) mm, and could not see it before. Show it"
            " more clearly, or correct the record."
        ),
    )
    table.pieces["new"] = lie("green", 320, 60)
    assert play(thrown("green1 d2, black1 g7, red1 b7", 3), blind).moves == ("throw green g2",)
    del table.pieces["new"], table.pieces["red1"]
    assert play(thrown("green1 d2, black1 g7, red1 b7", 3), blind).differences == (
        "red1 (b7) is not on the board.",
    )


def test_a_throw_that_knocks_an_own_piece_off_wastes_it(table, lie, play):
    table.pieces = {
        "green1": lie("green", 175, 60),
        "black1": lie("black", 320, 320),
        "red1": lie("red", 75, 320),
    }
    state, before = thrown("green1 d2, black1 g7, red1 b7", 3), table.seen()
    table.pieces["green1"] = lie("green", 320, 60)
    table.beside = [lie("green", 175, -60)]
    verdict = play(state, before)
    assert (verdict.code, verdict.moves) == ("storm.throw", ("throw green g2: green1 off",))
    assert (
        verdict.message
        == "Green's piece lies within g2. It knocked the thrower's own green1 off the board: it"
        " is wasted. Black throws next."
    )


@pytest.mark.parametrize(("gone", "colour"), [("green1", "green"), ("red1", "red")])
def test_a_knocked_piece_beside_the_board_is_asked_about_where_the_throw_is_not_seen(
    table, lie, play, gone, colour
):
    """The thrown piece rolled from the table: nobody has to say it is off and be left with a board
    that is out of step.
    """
    table.pieces = {
        "green1": lie("green", 175, 60),
        "black1": lie("black", 320, 320),
        "red1": lie("red", 75, 320),
        "green2": lie("green", 75, 70),
    }
    state, before = thrown("green1 d2, green2 b2, black1 g7, red1 b7", 5), table.seen()
    del table.pieces[gone]
    stolen = play(state, before)
    assert isinstance(stolen, OutOfSync)
    ways = [f"throw red off: {gone} off", f"void red: {gone} off"]
    assert [*stolen.evidence["may_be"].values()] == ways
    table.beside = [lie(colour, 175, -60)]
    asked = play(state, before)
    assert (type(asked), asked.code, asked.withdrawn_if_table_changes) == (
        Ambiguous,
        "storm.unseen",
        True,
    )
    assert asked.message == f"Did red's throw leave the board and knock {gone} off?"
    assert [choice.moves for choice in asked.choices] == [*((way,) for way in ways), ()]
    assert (
        asked.choices[1].label
        == f"Red's piece leaned on another and has been picked up; knocked off: {gone}"
    )
    after = game.play(game.State.parse(state), game.parse_move(*asked.choices[0].moves))
    assert isinstance(play(after, table.seen()), Waiting)


def test_nobody_is_accused_because_a_piece_that_leans_looks_like_anothers(table, lie, play):
    """Light falls on it otherwise, and a piece that leans is thrown again whosever it is."""
    table.pieces = {"green1": lie("green", 175, 60)}
    state, before = thrown("green1 d2", 1), table.seen()
    leaning = lie("red", 190, 60, 90.0, "leaning").piece()
    asked = play(state, before, leaning)
    assert (type(asked), asked.code) == (Ambiguous, "storm.colour")
    assert asked.choices[0].moves == ()
    assert asked.choices[0].label.startswith("It is black: black's piece leans on another piece")
    assert isinstance(play(state, before, lie("red", 75, 320).piece()), Refused)


def test_nothing_is_said_of_what_could_not_be_read_before(table, play):
    place = (np.array([178.0, 73.0]),)
    before = table.seen(unread_mm=place)
    assert isinstance(play(thrown("nothing", 1), before, unread_mm=place), Waiting)
    assert isinstance(
        play(thrown("nothing", 1), replace(before, unread_mm=()), unread_mm=place), CannotSee
    )


def test_what_is_hardly_there_is_nobodys_throw(table, lie, play):
    """A ghost of another colour beside a throw, and a piece that is taken for a ghost where it
    lies.
    """
    table.pieces = {"green1": lie("green", 175, 60), "black1": lie("black", 320, 320)}
    before = table.seen()
    ghost = replace(
        lie("white", 90, 200).piece(pose_probability=0.6), covariance=np.diag([9.0, 9.0, 400.0])
    )
    table.pieces["red1"] = lie("red", 75, 320)
    assert play(thrown("green1 d2, black1 g7", 2), before, ghost).moves == ("throw red b7",)
    del table.pieces["red1"]
    assert isinstance(play(thrown("green1 d2, black1 g7", 2), before, ghost), CannotSee)
    del table.pieces["green1"]
    there = replace(ghost, base_mm=np.array([178.0, 66.0]))
    assert isinstance(play(thrown("green1 d2, black1 g7", 2), before, there), CannotSee)
    table.pieces["red1"] = lie("red", 75, 320)
    assert play(thrown("green1 d2, black1 g7", 2), before, there).moves == ("throw red b7",)


def test_a_second_piece_of_who_throws_that_is_hardly_read_is_asked_about(table, lie, play):
    table.pieces = {"green1": lie("green", 175, 60), "black1": lie("black", 320, 320)}
    before, state = table.seen(), thrown("green1 d2, black1 g7", 2)
    second = replace(
        lie("red", 90, 200).piece(pose_probability=0.88), covariance=np.diag([9.0, 9.0, 400.0])
    )
    lay = table.seen(second)
    table.pieces["red1"] = lie("red", 75, 320)
    asked = play(state, before, second)
    assert (type(asked), asked.code) == (Ambiguous, "storm.throw.two")
    assert asked.message.startswith("Did red throw one piece, or two?")
    assert [choice.moves for choice in asked.choices] == [("throw red b7",), ()]
    assert play(state, lay, second).moves == ("throw red b7",), "it lay there before"
    unread = replace(before, unread_mm=(second.base_mm + 2.0,))
    assert play(state, unread, second).moves == ("throw red b7",), "something lay there before"
    white = replace(second, colour="white")
    assert play(state, before, white).moves == ("throw red b7",), "white did not throw"


def test_a_piece_that_was_knocked_to_where_it_is_hardly_read_may_lie_there(table, lie, play):
    """The question whether it was knocked off offers the place, the likeliest answer, first."""
    table.pieces = {"green1": lie("green", 275, 262), "black1": lie("black", 320, 320)}
    state, before = thrown("green1 f6, black1 g7", 2), table.seen()
    table.pieces["green1"] = lie("green", 125, 60)
    rough = replace(
        table.pieces.pop("green1").piece(pose_probability=0.95), covariance=np.diag([9.0, 9.0, 0.5])
    )
    table.pieces["red1"] = lie("red", 75, 320)
    asked = play(state, before, rough)
    assert (type(asked), asked.code) == (Ambiguous, "storm.vanished")
    moves = [choice.moves for choice in asked.choices]
    assert moves == [
        ("throw red b7: green1 c2",),
        ("throw red b7: green1 off",),
        ("throw red b7",),
        (),
    ]
    assert asked.choices[0].label.endswith("green1 lies on the board, within c2")


def test_a_ghost_that_was_ruled_on_is_not_asked_about_again(table, lie, play):
    """Who threw it knows that it lies there: it was read badly then, and is now."""
    table.pieces = {"black1": lie("black", 320, 320), "red1": lie("red", 75, 320)}
    ghost = replace(
        lie("green", 178, 66, pose="upright").piece(pose_probability=0.93),
        covariance=np.diag([9.0, 9.0, 400.0]),
    )
    before = table.seen(ghost)
    table.pieces["new"] = lie("green", 320, 60)
    assert play(thrown("green1 d2, black1 g7, red1 b7", 3), before, ghost).moves == (
        "throw green g2",
    )
    table.pieces["green1"] = lie("green", 175, 60)
    assert play(thrown("green1 d2, black1 g7, red1 b7", 3), before).moves == ("throw green g2",), (
        "it is read well again"
    )


@pytest.mark.parametrize(
    ("colour", "code"),
    [("red", "storm.throw"), ("black", "storm.throw.turn"), ("white", "storm.throw.player")],
)
def test_a_ghost_that_is_read_a_little_better_in_the_next_picture_is_no_new_piece(
    table, lie, play, colour, code
):
    """A dark spot in a shadow, say: nobody knew where it is, then it is told more precisely, and is
    in doubt as much.
    """
    table.pieces = {"green1": lie("green", 175, 60), "black1": lie("black", 320, 320)}
    spot = lie(colour, 90, 200).piece(pose_probability=0.6)
    before = table.seen(replace(spot, covariance=np.diag([9.0, 9.0, 400.0])))
    table.pieces["red1"] = lie("red", 75, 320)
    assert play(thrown("green1 d2, black1 g7", 2), before, spot).moves == ("throw red b7",)
    del table.pieces["red1"]
    assert isinstance(play(thrown("green1 d2, black1 g7", 2), before, spot), Waiting)
    assert (
        play(thrown("green1 d2, black1 g7", 2), before, replace(spot, pose_probability=1.0)).code
        == code
    ), "what surely lies there was thrown"


@pytest.mark.parametrize("colour", ["red", "white"])
def test_a_ghost_in_the_place_of_a_piece_that_lies_still_is_no_new_piece(table, lie, play, colour):
    """A corner of a piece, say, that is taken for another one."""
    table.pieces = {"green1": lie("green", 175, 60), "black1": lie("black", 320, 320)}
    spot = lie(colour, 172, 63).piece()
    before = table.seen(replace(spot, covariance=np.diag([9.0, 9.0, 400.0]), pose_probability=0.4))
    table.pieces["red1"] = lie("red", 75, 320)
    assert play(thrown("green1 d2, black1 g7", 2), before, spot).moves == ("throw red b7",)
    assert isinstance(play(thrown("green1 d2, black1 g7", 2), table.seen(), spot), Refused), (
        "it was not there before"
    )


def test_a_ghost_that_is_there_no_more_was_taken(table, lie, play):
    table.pieces = {"black1": lie("black", 275, 262), "red1": lie("red", 175, 360)}
    ghost = replace(
        lie("green", 178, 100, pose="upright").piece(pose_probability=0.93),
        covariance=np.diag([9.0, 9.0, 400.0]),
    )
    before, state = (
        table.seen(ghost),
        thrown("green1 d2-d3>d3, black1 f6, red1 d8", 15).replace("turn green", "turn red"),
    )
    assert isinstance(play(state, before, ghost), CannotSee)
    assert play(state, before).moves == ("capture green1",)
    assert isinstance(play(state, table.seen()), CannotSee), "it was not seen before either"


def test_a_piece_that_nobody_touched_lies_as_it_was_ruled_to_lie(table, lie, play):
    """It is read to stand and to lie in turns; one that was stood up stands elsewhere, and a throw
    may do anything.
    """
    table.pieces = {
        "green1": lie("green", 175, 60),
        "black1": lie("black", 320, 320),
        "red1": lie("red", 75, 320),
    }
    state, before = thrown("green1 d2, black1 g7, red1 b7", 3), table.seen()
    (was,) = (piece for piece in before.pieces if piece.colour == "green")
    x_mm, y_mm = (was.base_mm + was.tip_mm) / 2
    for off_mm, verdict in ((2.0, Waiting), (8.0, Waiting), (12.0, OutOfSync)):
        table.pieces["green1"] = lie("green", x_mm + off_mm, y_mm, 10.0, pose="upright")
        assert isinstance(play(state, before), verdict)
    table.pieces["green1"] = lie("green", x_mm + 2.0, y_mm, 10.0, pose="upright")
    table.pieces["new"] = lie("green", 320, 60)
    assert play(state, before).moves == ("throw green g2: green1 d2^",)
    stands = table.pieces.pop("green1")
    assert play(state, before, stands.piece(pose_probability=0.7)).moves == ("throw green g2",), (
        "nor is it sure that it was stood up"
    )


def test_a_piece_is_taken_from_beside_something_that_was_never_read(table, lie, play):
    state = thrown("green1 d2-d3>d3, black1 f6, red1 d8", 15)
    table.pieces = {
        "green1": lie("green", 175, 90),
        "black1": lie("black", 275, 262),
        "red1": lie("red", 175, 360),
    }
    unread = (np.array([178.0, 368.0]),)
    before = table.seen(unread_mm=unread)
    del table.pieces["red1"]
    assert play(state, before, unread_mm=unread).moves == ("capture red1",)
    assert isinstance(play(state, replace(before, unread_mm=()), unread_mm=unread), CannotSee)


def test_a_colour_that_is_not_sure(table, lie, play):
    """The rules help: it is the piece that lay there, or that of who throws; against the picture
    they do not.
    """
    table.pieces["green1"] = lie("green", 175, 60)
    state, before = thrown("green1 d2", 1), table.seen()
    doubtful = lie("red", 320, 320).piece(colour_probability=0.8)
    asked = play(state, before, doubtful)
    assert (asked.code, asked.message) == (
        "storm.colour",
        "Is the new piece black or red? It is black's throw.",
    )
    assert [choice.moves for choice in asked.choices] == [
        ("throw black g7",),
        ("throw black off", "throw red g7"),
        (),
    ]
    assert (
        asked.choices[1].label
        == "It is red: black's throw is off the board; red's piece lies on the board, within g7"
    )
    green = replace(doubtful, colour="green")
    assert [choice.moves for choice in play(state, before, green).choices] == [
        ("throw black g7",),
        (),
    ], "green does not throw next"
    assert play(state, before, lie("black", 320, 320).piece(colour_probability=0.8)).moves == (
        "throw black g7",
    )
    assert (
        play(state, before, replace(doubtful, colour_probability=0.9995)).code == "storm.colour"
    ), "glossy pieces look white, and surely"
    assert play(state, before, replace(doubtful, colour_probability=1.0)).code == "storm.throw.turn"
    seen = replace(before, pieces=(table.pieces["green1"].piece(colour_probability=0.7),))
    seen = replace(seen, pieces=(replace(seen.pieces[0], colour="red"),))
    assert isinstance(game.judge(game.State.parse(state), seen, before, table.board), Waiting)


def test_two_throws_one_after_the_other(table, lie, play):
    table.pieces = {"green1": lie("green", 175, 60)}
    state, before = thrown("green1 d2", 1), table.seen()
    table.pieces |= {"black1": lie("black", 320, 320), "red1": lie("red", 75, 320)}
    both = play(state, before)
    assert (both.code, both.moves) == ("storm.throw", ("throw black g7", "throw red b7"))
    assert both.message == "Black and then red threw. Green throws next."
    table.pieces["green1"] = lie("green", 225, 60)
    assert play(state, before).code == "storm.throw.two"


def test_a_piece_that_was_moved_and_looks_like_the_throwers(table, lie, play):
    """Nobody is accused of two throws where one of the two may be what is missing."""
    table.pieces = {"green1": lie("green", 175, 60), "red1": lie("red", 320, 360)}
    state, before = thrown("green1 d2, red1 g8", 4), table.seen()
    del table.pieces["green1"]
    table.pieces["black1"] = lie("black", 320, 320)
    moved = lie("black", 225, 60).piece()
    asked = play(state, before, moved)
    assert (type(asked), asked.code) == (Ambiguous, "storm.colour")
    assert asked.message == "There seems to be a new black piece. Was green1 moved instead?"
    assert [choice.moves for choice in asked.choices] == [
        ("throw black e2: green1 g7",),
        ("throw black g7: green1 e2",),
        (),
    ]
    assert asked.choices[-1].label == "No: black threw two; take both back"
    table.beside.append(lie("green", 175, -60))
    assert play(state, before, moved).code == "storm.throw.two", "green1 lies beside the board"


def test_nobody_is_accused_where_another_piece_of_that_colour_may_be_the_throw(table, lie, play):
    """Black's throw leans and looks green; one green piece was knocked elsewhere, one off."""
    table.pieces = {
        "green1": lie("green", 275, 262),
        "green2": lie("green", 325, 312),
        "red1": lie("red", 90, 280),
    }
    state, before = thrown("green1 f6, green2 g7, red1 b6", 4), table.seen()
    table.pieces["green1"] = lie("green", 37, 162)
    del table.pieces["green2"]
    table.beside.append(lie("green", 296, 439))
    leaning = replace(lie("green", 102, 296, pose="leaning").piece(colour_probability=0.53), on=0)
    asked = play(state, before, leaning)
    assert (type(asked), asked.code) == (Ambiguous, "storm.colour")
    assert asked.message == "Did black throw a piece that looks green?"
    assert [choice.moves for choice in asked.choices] == [
        ("void black: green2 off, green1 a4",),
        (),
    ]
    assert asked.choices[-1].label == "No: green threw it; take it back"
    sure = replace(leaning, colour_probability=1.0, pose="lying", on=None)
    assert play(state, before, sure).code == "storm.throw.turn", "it is surely green"


@pytest.mark.parametrize(
    ("lay", "unseen", "otherwise"),
    [
        (
            (165, 262),
            [
                ("throw black off: green1 b6?-b7?-c6?-c7?>c7",),
                ("void black: green1 b6?-b7?-c6?-c7?>c7",),
            ],
            "No, something else: fix the table",
        ),
        ((225, 62), [], "It is green: take it back"),
    ],
    ids=["near, and seems to have moved", "far, and a green piece seems to be new"],
)
def test_a_throw_that_looks_like_the_piece_that_it_knocked_off_is_asked_about(
    table, lie, play, lay, unseen, otherwise
):
    """And if nothing new is seen, whether black's own piece, which is not seen at all, did it."""
    table.pieces = {"green1": lie("green", *lay), "red1": lie("red", 90, 280)}
    square = "d6" if lay[0] == 165 else "e2"
    state, before = thrown(f"green1 {square}, red1 b6", 4), table.seen()
    del table.pieces["green1"]
    table.beside.append(lie("green", 296, 439))
    leaning = replace(lie("green", 102, 296, pose="leaning").piece(colour_probability=0.53), on=0)
    asked = play(state, before, leaning)
    assert (type(asked), asked.code) == (Ambiguous, "storm.colour")
    known = [("void black: green1 off",), *unseen, ()]
    assert [choice.moves for choice in asked.choices] == known
    assert asked.choices[-1].label == otherwise


def test_two_throws_of_which_one_is_too_close_to_the_edge_are_asked_about(table, lie, play):
    table.pieces = {"green1": lie("green", 175, 60)}
    state, before = thrown("green1 d2", 1), table.seen()
    table.pieces |= {"black1": lie("black", 320, 320), "red1": lie("red", 300, 26.49, 270.0)}
    asked = play(state, before)
    assert (asked.code, [choice.moves for choice in asked.choices]) == (
        "storm.too_close",
        [("throw black g7", "throw red f1-g1>f1/g1"), ("throw black g7", "throw red off"), ()],
    )
    assert (
        asked.message == "How did black's and red's throws come to rest? It is too close to call."
    )


def test_who_throws_first_may_resign_before_the_first_throw(table, lie, play):
    """The next throw is the first of an empty board then: what lies there still is taken away."""
    state = game.resign(game.start(PLAYERS, {}), "green")
    assert (state.next, state.thrown) == ("black", 1)
    table.pieces = {"a": lie("black", 175, 60), "b": lie("red", 320, 320)}
    waits = play(state)
    assert isinstance(waits, Waiting)
    assert waits.message.startswith("Clear the board.")
    del table.pieces["b"]
    assert play(state).moves == ("throw black d2",)


def test_a_piece_that_was_moved_and_looks_like_another_colour(table, lie, play):
    """Beside the throw something else is new, and what lay there is gone: people are asked whether
    it is the same, and never told of two throws.
    """
    table.pieces = {"green1": lie("green", 175, 60), "red1": lie("red", 320, 360)}
    state, before = thrown("green1 d2, red1 g8", 4), table.seen()
    del table.pieces["green1"]
    table.pieces["black1"] = lie("black", 320, 320)
    moved = lie("red", 225, 60)
    asked = play(state, before, moved.piece(colour_probability=0.6))
    assert (asked.code, asked.message) == (
        "storm.colour",
        "There seems to be a new red piece. Was green1 moved instead?",
    )
    assert [choice.moves for choice in asked.choices] == [("throw black g7: green1 e2",), ()]
    assert play(state, before, moved.piece()).code == "storm.colour", "for green1 is nowhere"
    table.beside.append(lie("green", 175, -60))
    assert play(state, before, moved.piece()).code == "storm.throw.two", (
        "two threw, and one knocked green1 off"
    )
    assert play(state, before, moved.piece(colour_probability=0.6)).code == "storm.colour"
    assert isinstance(
        play(
            state, before, moved.piece(colour_probability=0.6), unread_mm=(np.array([165.0, 90.0]),)
        ),
        CannotSee,
    )


def test_the_first_throw_of_a_game_beside_the_board(table, lie, play):
    table.beside = [lie("green", 175, -60)]
    asked = play()
    assert (asked.code, [choice.moves for choice in asked.choices]) == (
        "storm.first",
        [("throw green off",), ()],
    )
    table.beside.append(lie("red", 75, -60))
    assert isinstance(play(), Waiting), "pieces wait beside the board"
    table.pieces = {"a": lie("green", 175, 60), "b": lie("green", 320, 320)}
    wrong = play()
    assert (
        wrong.message
        == "Clear the board. A green piece lies on d2. A green piece lies on g7. Green throws next."
    )
    assert wrong.differences == ("A green piece lies on d2.", "A green piece lies on g7.")


def test_a_shot_that_hangs_on_a_touch(table, lie, play):
    """Green1 fires along d and north only; whether black1 reaches d6 nobody can see."""
    state = thrown("green1 d2-d3>d3, black1 d6?-e6>e6, red1 a8", 15)
    table.pieces = {
        "green1": lie("green", 175, 90),
        "black1": lie("black", 206.8, 275, 0.0, "lying"),
        "red1": lie("red", 25, 360),
    }
    before = table.seen()
    waiting = play(state, before)
    assert isinstance(waiting, Ambiguous)
    assert (
        waiting.message
        == "Can green fire? It is too close to call and depends on how black1 lies. Look"
        " closely and decide together."
    )
    assert {choice.moves for choice in waiting.choices} == {
        ("settle black1 e6",),
        ("settle black1 d6-e6>e6",),
    }
    del table.pieces["black1"]
    asked = play(state, before)
    assert asked.code == "storm.too_close"
    assert [choice.moves for choice in asked.choices] == [
        ("settle black1 d6-e6>e6", "capture black1"),
        (),
    ]
    assert (
        asked.choices[0].label == "black1 lies on d6 and e6, with its tip in e6: green takes black1"
    )
    decided = game.judge_answer(asked, asked.choices[0].label)
    after = game.State.parse(state)
    for move in decided.moves:
        after = game.play(after, game.parse_move(move))
    assert after.stacks == (1, 0, 0)


def test_the_next_one_fires_where_the_first_has_no_shot_after_all(table, lie, play):
    """Black takes red1; that is right only if green could not take black1."""
    state = thrown("green1 d2-d3>d3, black1 d6?-e6>e6, red1 h6", 15)
    table.pieces = {
        "green1": lie("green", 175, 90),
        "black1": lie("black", 206.8, 275, 0.0),
        "red1": lie("red", 375, 260),
    }
    before = table.seen()
    del table.pieces["red1"]
    asked = play(state, before)
    assert isinstance(asked, Ambiguous)
    assert [choice.moves for choice in asked.choices] == [("settle black1 e6", "capture red1"), ()]
    assert asked.choices[0].label.endswith(": black takes red1")


def test_two_lawful_shots_in_one_look_are_asked_about(table, lie, play):
    """Green takes black1 and then black, whose turn it is, takes red1 with another piece: nobody
    looked in between.
    """
    state = thrown("green1 d2-d3>d3, black1 d6, black2 h2-h3>h3, red1 h6", 15)
    table.pieces = {
        "green1": lie("green", 175, 90),
        "black1": lie("black", 175, 262),
        "black2": lie("black", 375, 90),
        "red1": lie("red", 375, 260),
    }
    before = table.seen()
    del table.pieces["black1"], table.pieces["red1"]
    asked = play(state, before)
    assert isinstance(asked, Ambiguous)
    assert ("capture black1", "capture red1") in [choice.moves for choice in asked.choices]
    assert "Green takes black1, then black takes red1" in [choice.label for choice in asked.choices]
    assert [choice.label for choice in asked.choices if not choice.moves] == ["No: put them back"]


def test_what_is_put_back_nearly_where_it_lay(table, lie, play):
    """A piece comes back after a refused shot: elsewhere on its squares is as good, other squares
    are not.
    """
    state = thrown("green1 d2-d3>d3, black1 f6, red1 d8", 15)
    table.pieces = {
        "green1": lie("green", 175, 90),
        "black1": lie("black", 275, 262),
        "red1": lie("red", 175, 360),
    }
    before = table.seen()
    black = table.pieces.pop("black1")
    refused = play(state, before)
    assert (refused.code, refused.player, refused.tried) == (
        "storm.attack",
        "green",
        ("capture black1",),
    )
    assert refused.message.endswith("Put black1 back.")
    table.pieces["black1"] = replace(black, x_mm=270, y_mm=265)
    assert isinstance(play(state, before), Waiting)
    table.pieces["black1"] = replace(black, x_mm=325)
    off = play(state, before)
    assert isinstance(off, OutOfSync)
    assert off.differences == ("black1 (f6) now lies on g6.",)


def test_going_on_without_knowing_how_the_table_lay(table, lie, play):
    """After a restart pieces are told by their squares."""
    state = thrown("green1 d2-d3>d3, black1 f6, red1 d8", 15)
    table.pieces = {
        "green1": lie("green", 175, 90),
        "black1": lie("black", 275, 262),
        "red1": lie("red", 175, 360),
    }
    assert isinstance(play(state), Waiting)
    del table.pieces["red1"]
    assert play(state).moves == ("capture red1",)
    table.pieces["red1"] = lie("red", 325, 360)
    assert isinstance(play(state), OutOfSync)


def test_a_board_that_will_not_do(table, lie):
    with pytest.raises(InputError, match="chessboard of 8 x 8"):
        game.set_up(PLAYERS, {}, Chessboard(square_mm=50.0, files=6, ranks=6))
    with pytest.raises(InputError, match="this is open ground"):
        game.set_up(PLAYERS, {}, Open(outline_mm=((0, 0), (100, 0), (0, 100))))
    assert game.set_up(PLAYERS, {}, None) == game.start(PLAYERS, {})
    table.pieces["new"] = lie("green", 60, 60)
    small = game.judge(game.start(PLAYERS, {}), table.seen(), None, Chessboard(square_mm=27.0))
    assert isinstance(small, CannotSee)
    assert small.rests_on == "ruling ice_storm.6"
    assert isinstance(
        game.judge(game.start(PLAYERS, {}), table.seen(hand=True), None, table.board), Waiting
    )
    assert game.measurement(game.start(PLAYERS, {}), table.seen()) == {}


def test_what_nobody_sees_of_a_throw_is_heard():
    state = game.start(PLAYERS, {})
    off, on, low = (one["said"] for one in game.state_document(state)["may_say"])
    wasted = game.hear(state, off)
    assert (wasted.code, wasted.moves) == ("storm.throw.wasted", ("throw green off",))
    assert (
        wasted.message
        == "Green's piece is fully or partly off the board: it is wasted. Black throws next."
    )
    again = game.hear(state, low)
    assert (again.code, again.moves) == ("storm.throw.low", ("low green",))
    assert game.hear(state, {"player": "red", "off": True}).code == "storm.throw.turn"
    assert game.hear(state, on).choices[0].label == "Within a1"
    with pytest.raises(InputError, match="player, off or player, on or player, low"):
        game.hear(state, {"player": "red", "die": 5})
    assert (
        game.state_document(game.State.parse(thrown("green1 d2-d3>d3, black1 f6, red1 d8", 15)))[
            "may_say"
        ]
        == []
    )


@pytest.mark.parametrize(
    "elsewhere", [("lying", 75, 360), ("upright", 75, 375), ("lying", 275, 360)]
)
@pytest.mark.parametrize("sure", [1.0, 0.8])
def test_a_throw_that_leans_where_an_own_piece_lay_is_not_surely_that_piece(
    table, lie, play, elsewhere, sure
):
    """After a restart: a throw knocks an own piece away and comes to lean on another where that one
    lay.
    """
    leaning, state = leans_on_black(table, lie, sure)
    pose, x_mm, y_mm = elsewhere
    table.pieces["green1"] = lie("green", x_mm, y_mm, pose=pose)
    asked = play(state, None, leaning)
    assert isinstance(asked, Ambiguous)
    moves = [move for choice in asked.choices for move in choice.moves]
    assert any(move.startswith("void green: green1 ") for move in moves), (
        "it leans, and knocked green1 away"
    )
    assert any(move.startswith("throw green ") for move in moves), (
        "green1 was knocked before so that it leans"
    )
    table.pieces["black2"] = lie("black", 125, 225)
    two = play(state, None, leaning)
    assert not isinstance(two, Accepted), "nor where another player has thrown too"


def test_a_piece_that_leans_since_the_last_throw_is_not_surely_that_of_the_record(table, lie, play):
    """With the table before: however surely the pose is read, and however near to it the piece
    lay.
    """
    leaning, state = leans_on_black(table, lie, 1.0)
    for sure in (1.0, 0.8):
        table.pieces["green1"] = lie("green", 175, 90)
        before = table.seen()
        assert isinstance(play(state, before), Waiting)
        table.pieces["green1"] = lie("green", 75, 375, pose="upright")
        asked = play(state, before, replace(leaning, pose_probability=sure))
        assert isinstance(asked, Ambiguous)
        assert any(
            move.startswith("void green: green1 ")
            for choice in asked.choices
            for move in choice.moves
        )


def leans_on_black(table, lie, sure):
    """A green piece that leans on black's, and a state in which green1 lies just there and green
    throws.
    """
    table.pieces = {"black1": lie("black", 175, 125, pose="upright"), "red1": lie("red", 325, 320)}
    upright = table.pieces["black1"].truth.solid
    places = (read_piece(175, y_mm, 90.0, pose="leaning") for y_mm in np.arange(70, 125, 0.5))
    leaning = next(piece for piece in places if 0 < clearance(piece.solid, upright).mm < 1)
    place = touches(leaning, table.board).place
    return replace(leaning, colour="green", pose_probability=sure), thrown(
        f"green1 {place}, black1 d3^, red1 g7", 3
    )
