"""Nests that may lie in several ways: the rules tell, or people are asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engines import zamboni_wars as game
from engines.verdict import Ambiguous, Waiting
from engines.zamboni_wars.board import Space


def test_what_may_lie_flat_is_taken_to_if_a_legal_move_explains_it(at):
    """The camera is in two minds whether it leans on something."""
    evening = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase move 2")
    table = evening.table
    others = [table.read(player, *table.nests[player]) for player in ("red", "blue")]

    def judge_leaning(space, facing, sure, *rivals):
        flat = table.read(
            "yellow", *table.place(Space.parse(space), facing), 3, pose_probability=1 - sure
        )
        leaning = replace(
            flat, pose="leaning", pose_probability=sure, rivals=(flat,) if rivals else ()
        )
        return game.judge(
            evening.state,
            replace(table.seen(), pieces=(*others, leaning)),
            evening.before,
            table.BOARD,
        )

    assert judge_leaning("c6", "E", 0.6, "lying").moves == ("c6 E",)
    assert judge_leaning("c6", "E", 0.6).code == "zamboni.doubt", (
        "nothing says that it may lie flat"
    )
    assert judge_leaning("e3", "N", 0.6, "lying").code == "zamboni.doubt", (
        "nobody is refused anything because of it"
    )
    assert (
        judge_leaning("c6", "E", 0.99, "lying").message
        == "Lay yellow's Zamboni flat on a side, with the tip where it faces."
    )


def test_a_nest_that_may_look_another_way_is_asked_about_unless_the_rules_tell(at):
    """Two pictures of the same table were read otherwise."""
    evening = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase move 2")
    table = evening.table
    others = [table.read(player, *table.nests[player]) for player in ("red", "blue")]

    def judge_ways(*ways, sure=1.0):
        seems, *rivals = (
            table.read("yellow", *table.place(Space.parse(space), facing), 3, pose_probability=sure)
            for space, facing in ways
        )
        seen = replace(table.seen(), pieces=(*others, replace(seems, rivals=tuple(rivals))))
        return game.judge(evening.state, seen, evening.before, table.BOARD)

    asked = judge_ways(("b6", "N"), ("b6", "SW"))
    assert isinstance(asked, Ambiguous)
    assert [choice.moves for choice in asked.choices] == [("b6 N",), ("b6 SW",)]
    asked = judge_ways(("b6", "N"), ("b6", "SW"), sure=0.8)
    more = [
        move
        for move in map(str, game.legal_moves(evening.state))
        if move.startswith("b6") and move not in ("b6 N", "b6 SW")
    ]
    assert more
    assert [choice.moves for choice in asked.choices] == [
        ("b6 N",),
        ("b6 SW",),
        *((move,) for move in more),
        (),
    ], "nor are these sure"
    assert judge_ways(("b6", "E"), ("b6", "N"), sure=0.8).moves == ("b6 N",), (
        "to look E in b6 would leave a point unspent"
    )


def test_who_lies_as_before_has_not_driven_in_a_ring_because_another_nest_is_read_badly(at):
    """Seen whole, and that its layers are not those of the record is not the mover's doing."""
    evening = at("zambonis a6 E 3, f6 S 1, f1 W 3; to_move yellow; phase move 6")
    table = evening.table
    others = [table.read(player, *table.nests[player]) for player in ("yellow", "blue")]
    space, facing = Space.parse("f6"), "S"
    smaller, larger = (
        table.read("red", *table.place(space, facing), layers, pose_probability=0.8)
        for layers in (1, 2)
    )
    before, seen = (replace(table.seen(), pieces=(*others, nest)) for nest in (smaller, larger))
    assert isinstance(game.judge(evening.state, seen, before, table.BOARD), Waiting)


def badly_read(evening, player, layers):
    """The table, a nest on it read to have so many layers, less than surely."""
    table = evening.table
    others = [table.read(other, *lies) for other, lies in table.nests.items() if other != player]
    at_mm, heading_deg, _ = table.nests[player]
    return replace(
        table.seen(),
        pieces=(*others, table.read(player, at_mm, heading_deg, layers, pose_probability=0.9)),
    )


def test_whether_the_layer_that_was_hit_was_taken_is_asked_where_the_nest_is_not_surely_read(at):
    evening = at("zambonis c6 E 3, f6 S 2, f1 W 3; to_move yellow; phase hit red")
    board, untouched = evening.table.BOARD, evening.table.seen()
    waiting = game.judge(evening.state, badly_read(evening, "red", 2), untouched, board)
    assert isinstance(waiting, Waiting)
    assert (
        waiting.asks.message
        == "The camera is not sure whether the medium red piece was taken off. Which is right?"
    )
    assert [(choice.moves, choice.confirms_record) for choice in waiting.asks.choices] == [
        ((), True),
        (("take red",), False),
        ((), False),
    ]
    assert (
        game.judge(evening.state, badly_read(evening, "blue", 3), untouched, board).asks is None
    ), "it was not hit"


def test_a_nest_that_is_read_larger_than_it_is_is_not_out_of_step(at):
    """Its last piece was hit, and people have said before that no more is left of it than that."""
    evening = at("zambonis c6 E 3, f6 S 1, f1 W 3; to_move yellow; phase hit red")
    waiting = game.judge(
        evening.state,
        badly_read(evening, "red", 2),
        badly_read(evening, "red", 2),
        evening.table.BOARD,
    )
    assert (type(waiting), waiting.asks) == (Waiting, None)


def test_a_layer_that_seems_to_be_gone_before_the_die_is_told_is_asked_about(at):
    evening = at("zambonis c6 E 3, f6 S 3, f1 W 3; to_move yellow; phase fire red")
    waiting = game.judge(
        evening.state, badly_read(evening, "red", 2), evening.table.seen(), evening.table.BOARD
    )
    assert (
        waiting.asks.message
        == "The camera is not sure whether red's outermost piece is still large or now"
        " medium. Which is right?"
    )


def test_a_layer_that_seems_to_be_gone_off_a_nest_that_was_not_surely_read_before_is_asked_about(
    at,
):
    """Also the mover's own, and one that seems to have a layer more; not where what is recorded is
    among what it may be.
    """
    evening = at("zambonis a6 E 3, f6 S 2, f1 W 3; to_move yellow; phase move 2")
    board, before = evening.table.BOARD, badly_read(evening, "yellow", 3)

    def asked(seen, before):
        asks = game.judge(evening.state, seen, before, board).asks
        return asks and asks.message

    gone = badly_read(evening, "yellow", 2)
    assert (
        asked(gone, before)
        == "The camera is not sure whether yellow's outermost piece is still large or now"
        " medium. Which is right?"
    )
    assert asked(gone, gone) is None, "people have said so already"
    *others, nest = gone.pieces
    either = replace(gone, pieces=(*others, replace(nest, rivals=(before.pieces[-1],))))
    assert asked(either, before) is None
    more = badly_read(evening, "red", 3)
    assert (
        asked(more, badly_read(evening, "red", 2))
        == "The camera is not sure whether red's outermost piece is still medium or now"
        " large. Which is right?"
    )


def test_a_nest_that_was_surely_read_and_seems_to_lie_otherwise_now_is_asked_about(at):
    """Something was taken off it, and what is left is read as if it stood; one that may still lie
    as it lay is left alone.
    """
    evening = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase move 2")
    before = evening.table.seen()
    *others, nest = badly_read(evening, "red", 3).pieces
    stands = replace(nest, pose="upright")

    def judge_red(*ways):
        seems, *rivals = ways
        return game.judge(
            evening.state,
            replace(before, pieces=(*others, replace(seems, rivals=tuple(rivals)))),
            before,
            evening.table.BOARD,
        )

    asks = judge_red(stands).asks
    assert (
        asks.message
        == "The camera is not sure whether red's Zamboni is where it was and still large."
        " Which is right?"
    )
    assert [(choice.label, choice.moves, choice.confirms_record) for choice in asks.choices] == [
        ("Nothing has changed", (), True),
        ("No, something else: fix the table", (), False),
    ]
    assert judge_red(stands, nest).asks is None
    assert judge_red(nest).asks is None


def test_a_drive_in_which_a_piece_seems_to_have_been_taken_is_asked_about(at):
    """A wrong reading of the size is likelier than a drive and a forbidden act at once."""
    evening = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase move 2")
    table = evening.table
    table.drive("yellow", Space.parse("c6"), "E")
    table.strip("yellow", 1)
    asked = evening.judge()
    assert isinstance(asked, Ambiguous)
    assert asked.message == "Is yellow's Zamboni still large? It looks medium to the camera."
    assert asked.choices[0].moves == ("c6 E",)
    assert asked.choices[-1].moves == ()
    table.strip("red")
    assert evening.judge().code != asked.code, "no drive takes a piece off another Zamboni"


@pytest.mark.parametrize("seen", ["E", "S", "SW"])
def test_where_the_size_is_misread_the_facing_may_be_misread_too(at, seen):
    evening = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase move 2")
    evening.table.drive("yellow", Space.parse("c6"), seen)
    evening.table.strip("yellow", 1)
    offered = [choice.moves for choice in evening.judge().choices]
    assert ("c6 E",) in offered
    assert all(moves[0].startswith("c6 ") for moves in offered if moves)
