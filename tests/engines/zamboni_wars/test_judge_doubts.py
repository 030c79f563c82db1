"""Nests that may lie in several ways: the rules tell, or people are asked."""

from __future__ import annotations

from dataclasses import replace

from engines import zamboni_wars as game
from engines.verdict import Ambiguous
from engines.zamboni_wars.board import Space


def test_what_may_lie_flat_is_taken_to_if_a_legal_move_explains_it(at):
    """The camera is in two minds whether it leans on something."""
    evening = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase move 2")
    table = evening.table
    others = [table.read(player, *table.nests[player]) for player in ("red", "blue")]

    def judge_leaning(space, facing, sure, *rivals):
        flat = table.read("yellow", *table.place(Space.parse(space), facing), 3, pose_probability=1 - sure)
        leaning = replace(flat, pose="leaning", pose_probability=sure, rivals=(flat,) if rivals else ())
        return game.judge(evening.state, replace(table.seen(), pieces=(*others, leaning)), evening.before, table.BOARD)

    assert judge_leaning("c6", "E", 0.6, "lying").moves == ("c6 E",)
    assert judge_leaning("c6", "E", 0.6).code == "zamboni.doubt", "nothing says that it may lie flat"
    assert judge_leaning("e3", "N", 0.6, "lying").code == "zamboni.doubt", "nobody is refused anything because of it"
    assert judge_leaning("c6", "E", 0.99, "lying").said == "Lay yellow's Zamboni flat on a side, its tip where it looks."


def test_a_nest_that_may_look_another_way_is_asked_about_unless_the_rules_tell(at):
    """Two pictures of the same table were read otherwise."""
    evening = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase move 2")
    table = evening.table
    others = [table.read(player, *table.nests[player]) for player in ("red", "blue")]

    def judge_ways(*ways):
        seems, *rivals = (table.read("yellow", *table.place(Space.parse(space), facing), 3, pose_probability=0.8) for space, facing in ways)
        seen = replace(table.seen(), pieces=(*others, replace(seems, rivals=tuple(rivals))))
        return game.judge(evening.state, seen, evening.before, table.BOARD)

    asked = judge_ways(("b6", "N"), ("b6", "SW"))
    assert isinstance(asked, Ambiguous)
    assert [choice.moves for choice in asked.choices] == [("b6 N",), ("b6 SW",)]
    assert judge_ways(("b6", "E"), ("b6", "N")).moves == ("b6 N",), "to look E in b6 would leave a point unspent"
