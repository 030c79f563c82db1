"""Cover dice as the judge follows them: pushed by a drive, carried by a hand, not seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines import zamboni_wars as game
from engines.verdict import Accepted, OutOfSync, Refused, Waiting
from engines.zamboni_wars.board import Space

A2, B1, B2, F6 = map(Space.parse, ("a2", "b1", "b2", "f6"))


@pytest.fixture
def covered(begin, real_table):
    """Yellow is to drive, and may push the cover die from b2 two ways."""
    evening = begin(4)
    evening.state = game.State.parse(
        "players yellow blue; zambonis c3 S 1, e3 NW 3; to_move yellow; phase move 4; dice b2;"
        " board yellow=SE red=SW green=NE blue=NW; rulings warp=off cover=on roll_off=each"
        " fire=may."
    )
    evening.table = real_table(evening.state, evening.rng)
    return evening


def b2_south(evening):
    evening.table.nests["yellow"] = (*evening.table.place(Space.parse("b2"), "S", mm=1, deg=1), 1)


@pytest.mark.parametrize("nobody_looks", [True, False])
def test_where_a_cover_die_was_pushed_is_asked_if_the_camera_does_not_see_it(covered, nobody_looks):
    b2_south(covered)
    seen = covered.table.seen(dice=None if nobody_looks else ())
    asked = game.judge(covered.state, seen, covered.before, covered.table.BOARD)
    assert {choice.moves for choice in asked.choices} == {("b2 S dice a2",), ("b2 S dice b1",)}


@pytest.mark.parametrize("there", [A2, B1])
def test_a_drive_that_pushed_a_cover_die_is_read_from_the_table(covered, there):
    covered.table.push(B2, there)
    pushed = covered.judge()
    assert isinstance(pushed, Waiting)
    assert pushed.message.startswith(
        f"A cover die was pushed to {there}: now drive the Zamboni that pushes it, or put the die"
        " back."
    )
    b2_south(covered)
    verdict = covered.count(covered.judge())
    assert (type(verdict), verdict.moves) == (Accepted, (f"b2 S dice {there}",))
    assert f"facing S, and pushes a cover die to {there}." in verdict.message
    assert isinstance(covered.judge(), Waiting)


def test_of_more_dice_than_there_are_those_lie_there_that_are_recorded(covered):
    """Something is read as a die that is none, and more surely than the die itself."""
    seen = covered.table.seen()
    covered.table.push(B2, F6)
    none = covered.table.seen().dice
    assert isinstance(
        game.judge(
            covered.state,
            replace(seen, dice=(*none, *seen.dice)),
            covered.before,
            covered.table.BOARD,
        ),
        Waiting,
    )


def test_a_die_that_is_read_elsewhere_is_none_while_something_unread_lies_in_the_dies_place(
    covered,
):
    """A drive was refused for a die that was not there."""
    recorded = covered.table.seen().dice[0]
    unread = (np.array([recorded.x_mm, recorded.y_mm]),)
    covered.table.push(B2, F6)
    seen = replace(covered.table.seen(), unread_mm=unread)
    waits = game.judge(covered.state, seen, covered.before, covered.table.BOARD)
    assert (type(waits), waits.message) == (
        Waiting,
        "Yellow moves and spends 4 points. Not seen: the cover die on b2.",
    )
    driven = next(move for move in map(str, game.legal_moves(covered.state)) if "dice" not in move)
    space, facing = driven.split()
    there = covered.table.place(Space.parse(space), facing, mm=1, deg=1)
    covered.table.nests["yellow"] = (*there, 1)
    seen = replace(covered.table.seen(), unread_mm=unread)
    accepted = game.judge(covered.state, seen, covered.before, covered.table.BOARD)
    assert (type(accepted), accepted.moves) == (Accepted, (driven,))


@pytest.mark.parametrize("there", [A2, B1])
def test_a_drive_that_pushed_a_die_is_read_though_something_unread_lies_where_the_die_was(
    covered, there
):
    recorded = covered.table.seen().dice[0]
    covered.table.push(B2, there)
    b2_south(covered)
    seen = replace(covered.table.seen(), unread_mm=(np.array([recorded.x_mm, recorded.y_mm]),))
    verdict = game.judge(covered.state, seen, covered.before, covered.table.BOARD)
    assert (type(verdict), verdict.moves) == (Accepted, (f"b2 S dice {there}",))


def test_a_cover_die_that_a_hand_carried_is_told(covered):
    covered.table.push(B2, F6)
    verdict = covered.judge()
    assert (type(verdict), verdict.differences) == (
        OutOfSync,
        ("There is a cover die on f6, where none belongs, but one is missing on b2.",),
    )


def test_a_drive_that_leaves_a_cover_die_where_no_drive_pushes_it_is_refused(covered):
    b2_south(covered)
    covered.table.push(B2, F6)
    refused = covered.judge()
    assert (type(refused), refused.tried, refused.evidence["violation"]) == (
        Refused,
        ("b2 S dice f6",),
        "zamboni.move.dice",
    )
    assert refused.message.endswith(
        "Put back yellow's small nest on c3, facing S and the cover die on b2."
    )


def test_a_cover_die_that_is_not_seen_is_taken_to_lie_where_it_lay(covered):
    covered.table.dice.clear()
    verdict = covered.judge()
    assert (type(verdict), verdict.message) == (
        Waiting,
        "Yellow moves and spends 4 points. Not seen: the cover die on b2.",
    )
    driven = next(move for move in map(str, game.legal_moves(covered.state)) if "dice" not in move)
    space, facing = driven.split()
    covered.table.nests["yellow"] = (
        *covered.table.place(Space.parse(space), facing, mm=1, deg=1),
        1,
    )
    accepted = covered.judge()
    assert (type(accepted), accepted.moves) == (Accepted, (driven,))
    assert accepted.message.endswith(" Not seen: the cover die on b2.")


def test_before_the_roll_off_cover_dice_may_lie_anywhere(begin, real_table):
    evening = begin(4, "yellow blue")
    evening.state = game.start(["yellow", "blue"], {"cover": "on"})
    table = real_table(evening.state, evening.rng)
    table.dice[B2] = table.place(B2, "N")[0]
    assert isinstance(game.judge(evening.state, table.seen(), None, table.BOARD), Accepted)
    for pips in (6, 2):
        evening.state = game.play(evening.state, game.parse_move(f"roll {pips}"))
    verdict = game.judge(evening.state, table.seen(), table.seen(), table.BOARD)
    assert (type(verdict), verdict.differences) == (
        OutOfSync,
        ("There is a cover die on b2, where none belongs, but one is missing on b5.",),
    )


@pytest.mark.parametrize("read_before", [True, False])
def test_a_cover_die_that_looks_like_the_zamboni_that_was_taken_off_is_no_zamboni(
    begin, real_table, read_before
):
    """The dice have a player's colour: of what is in the die's space only the die is on record."""
    evening = begin(4)
    evening.state = game.State.parse(
        "players yellow blue; zambonis c6 E 3, f6 S 1; to_move yellow; phase hit blue; dice b2;"
        " board yellow=SE red=SW green=NE blue=NW; rulings warp=off cover=on roll_off=each"
        " fire=may."
    )
    table = real_table(evening.state, evening.rng)
    before = table.seen()
    if not read_before:
        die = before.dice[0]
        before = replace(before, dice=(), unread_mm=(np.array([die.x_mm, die.y_mm]),))
    table.nests["blue"] = (*table.place(B2, "W", mm=1, deg=1), 1)
    seen = replace(table.seen(), dice=())
    verdict = game.judge(evening.state, seen, before, table.BOARD)
    assert (type(verdict), verdict.moves) == (Accepted, ("take blue",))
    assert "Not seen: the cover die on b2." in verdict.message
    assert isinstance(game.judge(evening.state, table.seen(), before, table.BOARD), Refused), (
        "the die is read too"
    )
