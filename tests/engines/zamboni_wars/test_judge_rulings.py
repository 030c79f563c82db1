"""Where tables differ in Zamboni Wars: what the judge says under rulings other than the
defaults.
"""

from __future__ import annotations

import pytest

from engines import zamboni_wars as game
from engines.verdict import Accepted, Refused, Waiting
from engines.zamboni_wars.board import Space

LINE = "zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase move 2"


def ruled(evening, *rulings):
    """The evening with other rulings than the defaults."""
    text = str(evening.state)
    for name, value in (ruling.split("=") for ruling in rulings):
        default = next(one.values[0] for one in game.RULINGS if one.name == name)
        assert f"{name}={default}" in text
        text = text.replace(f"{name}={default}", f"{name}={value}")
    evening.state = game.State.parse(text)
    return evening


@pytest.mark.parametrize(("rulings", "kind"), [((), Refused), (("points=may",), Accepted)])
def test_points_are_left_where_that_was_ruled(at, rulings, kind):
    evening = ruled(at(LINE), *rulings)
    assert isinstance(evening.judge(), Waiting), "yellow has not driven yet"
    evening.table.drive("yellow", Space.parse("b6"), "E")
    verdict = evening.judge()
    assert isinstance(verdict, kind)
    assert "must be spent" in verdict.message or verdict.moves == ("b6 E",)


def test_who_leaves_all_points_says_so(at):
    """Nothing moves, so the camera sees nothing."""
    evening = ruled(at(LINE), "points=may")
    verdict = game.hear(evening.state, {"player": "yellow", "stays": True})
    assert (type(verdict), verdict.moves) == (Accepted, ("a6 E",))


@pytest.mark.parametrize(("rulings", "kind"), [((), Refused), (("turns=free",), Accepted)])
def test_turns_follow_each_other_where_that_was_ruled(at, rulings, kind):
    evening = ruled(at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase move 2"), *rulings)
    evening.table.drive("yellow", Space.parse("a6"), "S")
    assert isinstance(evening.judge(), kind)


def test_a_warp_does_not_part_two_turns_where_that_was_ruled(at):
    line = "zambonis b5 E 3, e2 N 3, b2 N 3; to_move yellow; phase move 3"
    for rulings, kind in ((("warp=on",), Accepted), (("warp=on", "warp_between=never"), Refused)):
        evening = ruled(at(line), *rulings)
        evening.table.drive("yellow", Space.parse("e5"), "SE")
        assert isinstance(evening.judge(), kind)
