"""Dice of Zamboni Wars that are heard before the camera has read the end of a move."""

from engines import zamboni_wars as game
from engines.verdict import Noted, OutOfSync, Refused, Waiting
from engines.zamboni_wars.board import Space
from engines.zamboni_wars.state import State


def test_a_die_that_is_heard_before_the_end_of_the_move_is_seen_counts_after_it(at):
    """The camera has not read the end of red's move yet, and red shoots."""
    evening = at("zambonis c6 SE 3, f3 S 2, d1 NE 2; to_move red; phase move 4")
    early = evening.count(game.hear(evening.state, {"player": "red", "die": 6}))
    assert (type(early), early.code, early.moves) == (Noted, "zamboni.early", ("early red 6",))
    before = State.parse(str(evening.state).replace(" early red=6", ""))
    assert [choice.moves for choice in game.alternatives(before, early.moves)][:2] == [
        ("early red 5",),
        ("early red 4",),
    ]
    again = game.hear(evening.state, {"player": "red", "die": 5})
    assert (type(again), again.evidence["violation"]) == (Refused, "zamboni.roll.time"), (
        "one die a shot"
    )
    assert isinstance(evening.judge(), Waiting), "red has not driven"
    evening.table.drive("red", Space.parse("d3"), "S")
    driven = evening.judge()
    assert (driven.code, driven.moves) == ("zamboni.move", ("d3 S",))
    assert (
        driven.message
        == "Red drives to d3, facing S. Red's die shows 6. Red hit blue: take the medium blue"
        " piece off the board."
    )
    evening.table.strip("blue")
    hit = evening.count(evening.judge())
    assert (hit.code, hit.player, hit.moves) == ("zamboni.hit", "red", ("d3 S", "take blue"))
    assert (
        hit.message
        == "Red drives to d3, facing S. Red's die shows 6. Red hits blue: 1 piece left. Blue"
        " rolls for movement."
    )


def test_a_die_for_which_the_move_leaves_no_use_counts_for_nothing(at):
    evening = at("zambonis c6 SE 3, f3 S 2, d1 NE 2; to_move red; phase move 4")
    evening.count(game.hear(evening.state, {"player": "red", "die": 6}))
    evening.table.drive("red", Space.parse("f5"), "E")
    driven = evening.count(evening.judge())
    assert (
        driven.message
        == "Red drives to f5, facing E. Red's die does not count. Blue rolls for movement."
    )


def test_who_may_have_ended_where_the_move_began_is_asked_with_a_die_that_was_heard(at):
    evening = at("zambonis e5 E 3, e2 N 3, f1 W 3; to_move red; phase move 4")
    evening.count(game.hear(evening.state, {"player": "red", "die": 5}))
    asked = evening.judge()
    assert [choice.moves for choice in asked.choices] == [("e2 N",), ()]
    evening.count(game.judge_answer(asked, asked.choices[0].label))
    assert evening.phase == "hit"


def test_where_a_move_could_not_be_read_the_next_player_s_die_counts_once_it_is(at):
    """Nobody is refused a roll because of a table that nobody could read: blue drove, and yellow
    has rolled and driven since.
    """
    evening = at("zambonis c6 SE 3, d3 S 2, d1 NE 1; to_move blue; phase move 2")
    roll = {"player": "yellow", "die": 4}
    assert (
        game.hear(evening.state, roll).message
        == "Yellow's die shows 4. It is not yellow's turn. Blue moves and spends 2 points."
    )
    early = evening.count(game.hear(evening.state, roll, True))
    assert (type(early), early.moves) == (Noted, ("early yellow 4",))
    evening.table.drive("blue", Space.parse("c1"), "W")
    evening.table.drive("yellow", Space.parse("a6"), "SE")
    driven = evening.count(evening.judge())
    assert (driven.code, driven.player, driven.moves) == (
        "zamboni.move",
        "yellow",
        ("c1 W", "a6 SE"),
    )
    assert driven.message.startswith(
        "Blue drives to c1, facing W. Yellow's die shows 4. Yellow drives to a6, facing SE."
    )


def test_a_layer_that_is_not_taken_off_though_the_next_player_rolled_is_out_of_step(at):
    evening = at("zambonis c6 SE 3, f3 S 2, d1 NE 2; to_move red; phase move 4 early red=6 blue=2")
    evening.table.drive("red", Space.parse("d3"), "S")
    assert isinstance(evening.judge(), OutOfSync)
    evening.table.strip("blue")
    assert evening.judge().moves == ("d3 S",)
