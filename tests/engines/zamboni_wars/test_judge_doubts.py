"""Nests that may lie in several ways, or do not seem to lie flat: the rules tell, or people are asked."""

from __future__ import annotations

from dataclasses import replace

from engines import zamboni_wars as game
from engines.verdict import Ambiguous, CannotSee, Waiting
from engines.zamboni_wars.board import Space

LINE = "zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase "


def judge(evening, seen, before=None):
    return game.judge(evening.state, seen, before or evening.table.seen(), evening.table.BOARD)


def test_what_may_lie_flat_is_taken_to_if_a_legal_move_explains_it(at):
    """The camera is in two minds whether it leans on something."""
    evening = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase move 2")
    table = evening.table
    others = [table.read(player, *table.nests[player]) for player in ("red", "blue")]

    def judged(space, facing, sure, *rivals):
        flat = table.read("yellow", *table.place(Space.parse(space), facing), 3, pose_probability=1 - sure)
        leaning = replace(flat, pose="leaning", pose_probability=sure, rivals=(flat,) if rivals else ())
        return game.judge(evening.state, replace(table.seen(), pieces=(*others, leaning)), evening.before, table.BOARD)

    assert judged("c6", "E", 0.6, "lying").moves == ("c6 E",)
    assert judged("c6", "E", 0.6).code == "zamboni.doubt", "nothing says that it may lie flat"
    assert judged("e3", "N", 0.6, "lying").code == "zamboni.doubt", "nobody is refused anything because of it"
    assert judged("c6", "E", 0.99, "lying").said == "Lay yellow's Zamboni flat on a side, its tip where it looks."


def test_a_nest_that_may_look_another_way_is_asked_about_unless_the_rules_tell(at):
    """Two pictures of the same table were read otherwise."""
    evening = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase move 2")
    table = evening.table
    others = [table.read(player, *table.nests[player]) for player in ("red", "blue")]

    def judged(*ways):
        seems, *rivals = (table.read("yellow", *table.place(Space.parse(space), facing), 3, pose_probability=0.8) for space, facing in ways)
        seen = replace(table.seen(), pieces=(*others, replace(seems, rivals=tuple(rivals))))
        return game.judge(evening.state, seen, evening.before, table.BOARD)

    asked = judged(("b6", "N"), ("b6", "SW"))
    assert isinstance(asked, Ambiguous)
    assert [choice.moves for choice in asked.choices] == [("b6 N",), ("b6 SW",)]
    assert judged(("b6", "E"), ("b6", "N")).moves == ("b6 N",), "to look E in b6 would leave a point unspent"


def up(evening, player, sure=1.0):
    """The table as it is seen when the camera takes this player's nest for one that leans."""
    seen = evening.table.seen()
    return replace(seen, pieces=tuple(replace(one, pose="leaning", pose_probability=sure) if one.colour == player else one for one in seen.pieces))


def test_a_nest_that_does_not_seem_to_lie_flat_is_asked_about_and_then_held(at):
    for sure in (1.0, 0.6):
        evening = at("zambonis c6 E 3, f6 S 3, f1 W 3; to_move yellow; phase hit red")
        asked = judge(evening, up(evening, "red", sure)).asks
        assert [(choice.moves, choice.holds) for choice in asked.choices] == [((), True), (("take red",), False), ((), False)]
        evening = at(LINE + "move 2")
        said = up(evening, "red", sure)
        assert judge(evening, said, said).said.endswith("Not seen, and there on the players' word: red's (it lay on f6, looking S).")
        evening.table.drive("yellow", Space.parse("c6"), "E")
        assert judge(evening, up(evening, "red", sure), said).moves == ("c6 E",)
        evening.table.drive("red", Space.parse("d3"), "N")
        assert isinstance(judge(evening, up(evening, "red", sure), said), Waiting | CannotSee), "it was moved, and must be told anew"
        assert judge(at(LINE + "roll"), up(at(LINE + "roll"), "yellow", sure)).asks is None, "it may have driven already"
