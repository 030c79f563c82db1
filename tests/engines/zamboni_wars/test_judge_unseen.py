"""Nests that the camera does not see, or not to lie flat: people are asked what is true of them,
and what they say is held until they are seen.
"""

from __future__ import annotations

from dataclasses import replace

from engines import zamboni_wars as game
from engines.verdict import Accepted, Ambiguous, CannotSee, OutOfSync, Refused, Waiting
from engines.zamboni_wars.board import Space
from tests.support.sentences import untemplated

LINE = "zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase "


def without(evening, *players):
    """The table as it is seen when the camera does not see these players' nests."""
    table = evening.table.copy()
    for player in players:
        del table.nests[player]
    return table.seen()


def judge(evening, seen, before=None):
    board = evening.table.BOARD
    verdict = game.judge(evening.state, seen, before or evening.table.seen(), board)
    assert untemplated(verdict) == []
    return verdict


def test_of_a_nest_that_nobody_may_touch_people_say_that_it_lies_there(at):
    evening = at(LINE + "move 2")
    waiting = judge(evening, without(evening, "red"))
    assert isinstance(waiting, Waiting)
    asked = waiting.asks
    assert (type(asked), asked.withdrawn_if_table_changes) == (Ambiguous, True)
    assert asked.message.startswith(
        "Not seen on the board: red's (it was on f6, facing S). Which is right?"
    )
    assert [(choice.moves, choice.confirms_record) for choice in asked.choices] == [
        ((), True),
        ((), False),
    ]


def test_a_hit_that_was_carried_out_is_not_what_is_amiss_where_another_nest_lies_elsewhere(at):
    """Such a table was waited on for ever: put the nest back that was rightly taken off."""
    evening = at("zambonis c6 E 3, f6 S 1, f1 W 3; to_move yellow; phase hit red")
    evening.table.drive("yellow", Space.parse("c4"), "E")
    verdict = judge(evening, without(evening, "red"))
    assert isinstance(verdict, OutOfSync)
    assert verdict.differences == (
        "Yellow's Zamboni is on c4, facing E, but belongs on c6, facing E.",
    )


def test_a_missing_nest_beside_one_that_lies_elsewhere_is_no_part_of_an_act(at):
    evening = at(LINE + "roll")
    before = evening.table.seen()
    evening.table.drive("blue", Space.parse("d3"), "N")
    verdict = judge(evening, without(evening, "red"), before)
    assert verdict.differences == (
        "Blue's Zamboni is on d3, facing N, but belongs on f1, facing W.",
        "Red's Zamboni is missing.",
    )


def test_what_people_say_is_held_and_told_and_the_rest_is_refereed(at):
    evening = at(LINE + "move 2")
    message = without(evening, "red")
    waiting = judge(evening, message, message)
    assert (type(waiting), waiting.asks) == (Waiting, None)
    assert waiting.message.endswith(
        "Not visible, but there according to the players: red's (it was on f6, facing S)."
    )
    evening.table.drive("yellow", Space.parse("c6"), "E")
    assert judge(evening, without(evening, "red"), message).moves == ("c6 E",)
    assert isinstance(judge(evening, without(evening, "red", "blue"), message), Waiting), (
        "the other one is gone for another reason"
    )
    evening.table.drive("red", Space.parse("d3"), "N")
    assert isinstance(judge(evening, evening.table.seen(), message), OutOfSync), (
        "it is seen elsewhere"
    )


def test_the_word_ends_when_the_nest_is_seen(at):
    evening = at(LINE + "move 2")
    message = without(evening, "red")
    seen_again = judge(evening, evening.table.seen(), message)
    assert (type(seen_again), seen_again.moves) == (Accepted, ()), "from now on that table counts"
    evening.table.strip("red")
    assert isinstance(judge(evening, evening.table.seen(), message), Refused), "a layer is gone"


def test_of_the_nest_that_is_to_drive_every_end_is_offered(at):
    evening = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move red; phase move 1")
    gone = judge(evening, without(evening, "red")).asks
    legal = {(str(drive),) for drive in game.legal_moves(evening.state)}
    assert {choice.moves for choice in gone.choices if choice.moves} == legal
    assert [choice.confirms_record for choice in gone.choices].count(True) == 1, (
        "or it has not moved yet"
    )
    message = without(evening, "red")
    assert {
        choice.moves for choice in judge(evening, message, message).asks.choices if choice.moves
    } == legal, "nothing on the table shows it"


def test_a_hit_on_a_nest_that_is_not_seen_is_asked_about(at):
    for layers in (3, 1):
        evening = at(f"zambonis c6 E 3, f6 S {layers}, f1 W 3; to_move yellow; phase hit red")
        message = without(evening, "red")
        asked = judge(evening, message, message).asks
        assert [choice.moves for choice in asked.choices] == [(), ("take red",), ()]
    evening = at("zambonis c6 E 3, f6 S 3, f1 W 3; to_move yellow; phase hit red")
    assert [choice.moves for choice in judge(evening, without(evening, "red")).asks.choices] == [
        (),
        ("take red",),
        (),
    ]


def test_who_may_have_driven_before_the_roll_was_told_is_not_asked(at):
    evening = at(LINE + "roll")
    assert judge(evening, without(evening, "yellow")).asks is None
    assert judge(evening, without(evening, "red")).asks is not None


def test_the_set_up_may_be_said_too_but_not_where_most_is_not_there(begin):
    evening = begin(1)
    board = evening.table.BOARD
    asked = game.judge(evening.state, without(evening, "blue"), None, board).asks
    assert [choice.confirms_record for choice in asked.choices] == [True, False]
    assert game.judge(evening.state, without(evening, "blue", "red"), None, board).asks is None
    message = without(evening, "blue")
    assert game.judge(evening.state, message, message, board).message.startswith(
        "Yellow rolls for movement."
    )


def test_where_a_nest_too_many_is_seen_people_may_say_that_there_is_none(at):
    """A cover die, or print, is read as a nest: the table is out of step until they say so, and
    then the game goes on.
    """
    evening = at(LINE + "move 2")
    before = evening.table.seen()
    ghost = ("red", (*evening.table.place(Space.parse("c3"), "W"), 1))
    evening.table.spare.append(ghost)
    wrong = judge(evening, evening.table.seen(), before)
    assert isinstance(wrong, OutOfSync)
    assert wrong.asks.message == "There is an extra small red piece on c3. Which is right?"
    assert [(choice.moves, choice.confirms_record) for choice in wrong.asks.choices] == [
        ((), True),
        ((), False),
    ]
    message = evening.table.seen()
    assert isinstance(judge(evening, evening.table.seen(), message), Waiting)
    (stands,) = (piece for piece in message.pieces if piece.size == "small")
    others = tuple(piece for piece in message.pieces if piece is not stands)
    upright = replace(
        message, pieces=(*others, replace(stands, pose="upright", pose_probability=0.9))
    )
    assert isinstance(judge(evening, upright, message), Waiting), "nor does it stand there"
    waiting = judge(evening, upright, before)
    assert isinstance(waiting, Waiting)
    x, y = stands.base_mm
    assert waiting.message.endswith(
        f" Ignored: what looks like a red piece at ({x:.0f}, {y:.0f}) mm."
    ), "red has one nest, which is seen"
    evening.table.drive("yellow", Space.parse("c6"), "E")
    assert [
        choice.moves for choice in judge(evening, evening.table.seen(), before).asks.choices
    ] == [("c6 E",), ()]
    assert judge(evening, evening.table.seen(), message).moves == ("c6 E",)
    evening.table.spare = [("red", (*evening.table.place(Space.parse("e2"), "W"), 1))]
    assert isinstance(judge(evening, evening.table.seen(), message), OutOfSync), (
        "one that lies elsewhere is another one"
    )


def up(evening, player, sure=1.0):
    """The table as it is seen when the camera takes this player's nest for one that leans."""
    seen = evening.table.seen()
    return replace(
        seen,
        pieces=tuple(
            replace(one, pose="leaning", pose_probability=sure) if one.colour == player else one
            for one in seen.pieces
        ),
    )


def test_a_nest_that_does_not_seem_to_lie_flat_is_asked_about_and_then_held(at):
    for sure in (1.0, 0.6):
        evening = at("zambonis c6 E 3, f6 S 3, f1 W 3; to_move yellow; phase hit red")
        asked = judge(evening, up(evening, "red", sure)).asks
        assert [(choice.moves, choice.confirms_record) for choice in asked.choices] == [
            ((), True),
            (("take red",), False),
            ((), False),
        ]
        evening = at(LINE + "move 2")
        message = up(evening, "red", sure)
        assert judge(evening, message, message).message.endswith(
            "Not visible, but there according to the players: red's (it was on f6, facing S)."
        )
        evening.table.drive("yellow", Space.parse("c6"), "E")
        assert judge(evening, up(evening, "red", sure), message).moves == ("c6 E",)
        evening.table.drive("red", Space.parse("d3"), "N")
        assert isinstance(judge(evening, up(evening, "red", sure), message), Waiting | CannotSee), (
            "it was moved, and must be told anew"
        )
        assert judge(at(LINE + "roll"), up(at(LINE + "roll"), "yellow", sure)).asks is None, (
            "it may have driven already"
        )


def test_a_nest_in_doubt_that_nothing_legal_explains_is_asked_about_and_people_may_deny_it(at):
    """The last layer of red is taken, and a cover die is read as a red nest, though not surely."""
    evening = at("zambonis c6 E 3, f6 S 1, f1 W 3; to_move yellow; phase hit red")
    table = evening.table
    ghost = table.read("red", *table.place(Space.parse("c4"), "W"), 1, size_probability=0.9)
    seen = without(evening, "red")
    seen = replace(seen, pieces=(*seen.pieces, ghost))
    unclear = judge(evening, seen)
    assert (type(unclear), unclear.code) == (CannotSee, "zamboni.doubt")
    assert [(choice.moves, choice.confirms_record) for choice in unclear.asks.choices] == [
        ((), True),
        (("take red",), False),
        ((), False),
    ]
    assert judge(evening, seen, seen).message.endswith(
        "Not visible, but there according to the players: red's (it was on f6, facing S)."
    ), "it lies still"
    taken = game.play(evening.state, game.parse_move("take red"))
    after = game.judge(
        taken,
        replace(seen, pieces=(*seen.pieces[:-1], replace(ghost, size_probability=1.0))),
        seen,
        table.BOARD,
    )
    assert isinstance(after, Waiting), "what people denied is not there when it is read better"


def test_of_a_nest_that_is_seen_whole_nobody_is_asked_whether_a_layer_was_taken(at):
    """It was hit; beside another nest something is read that is not there."""
    evening = at("zambonis c6 E 3, f6 S 3, f1 W 3; to_move yellow; phase hit red")
    before = evening.table.seen()
    evening.table.spare.append(("blue", (*evening.table.place(Space.parse("c3"), "W"), 1)))
    asked = judge(evening, evening.table.seen(), before).asks
    assert [(choice.moves, choice.confirms_record) for choice in asked.choices] == [
        ((), True),
        ((), False),
    ]
    evening.table.strip("red")
    asked = judge(evening, evening.table.seen(), before).asks
    assert [choice.moves for choice in asked.choices] == [("take red",), ()]


def test_what_may_be_a_nest_of_a_colour_that_nobody_has_keeps_no_move_from_counting(at):
    """Ground of the colour of a Zamboni that is destroyed looks a little like one."""
    evening = at("zambonis a6 E 3, f6 S 3, -; to_move yellow; phase move 2")
    before = evening.table.seen()
    evening.table.drive("yellow", Space.parse("c6"), "E")
    seen = evening.table.seen()

    def moved(**doubt):
        ghost = evening.table.read("blue", *evening.table.place(Space.parse("c5"), "W"), 1, **doubt)
        return judge(evening, replace(seen, pieces=(*seen.pieces, ghost)), before)

    accepted = moved(size_probability=0.6, pose_probability=0.5)
    assert accepted.moves == ("c6 E",)
    assert " Ignored: what looks like a blue piece at (" in accepted.message
    assert isinstance(moved(), OutOfSync), "it is there for sure"
    assert isinstance(moved(size_probability=0.6, colour_probability=0.6), CannotSee), (
        "it may be of another colour"
    )


def test_a_last_layer_may_be_shot_at_once_after_the_drive(at):
    evening = at("zambonis d3 E 3, e5 SW 1, d1 W 2; to_move yellow; phase move 6")
    drive = next(
        move
        for move in game.legal_moves(evening.state)
        if str(game.play(evening.state, move).phase) == "fire red"
    )
    before = evening.table.seen()
    evening.table.drive("yellow", drive.space, drive.facing)
    waiting = judge(evening, without(evening, "red"), before)
    assert isinstance(waiting, Waiting), "the camera may not see the nest"
    choices = {choice.moves: choice.label for choice in waiting.asks.choices}
    taken = (str(drive), "fire red", "take red")
    assert choices[taken].endswith(
        f"{drive.space}, facing {drive.facing}; then the small red piece was taken off the board"
    )
    assert choices.keys() == {(str(drive),), taken, ()}
