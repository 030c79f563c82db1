"""Pieces that are read wrongly: what people say of one holds where it lies, and which misreadings
would explain a table.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from engines.verdict import Accepted, Ambiguous, CannotSee, Choice, OutOfSync, Refused, Waiting
from referee.sessions.misreadings import (
    Kind,
    Misread,
    MisreadingExplanation,
    apply_corrections,
    contradicts_record,
    explanations,
    follow_corrections,
    is_half_done,
    kind_of,
    likest,
    misreadings_data,
    new_piece_indexes,
    rank,
    read_misread,
    true_piece,
)
from simulation.players.ice_boule_table import demo_setup

COLOURS = ("red", "blue", "green")
SIZES = ("small", "medium", "large")
SETUP = demo_setup()
SETUP = msgspec.structs.replace(
    SETUP, game=msgspec.structs.replace(SETUP.game, colours=COLOURS, sizes=("medium",))
)
VERDICT = {"code": "c", "message": "m"}
RED, BLUE = Kind("red", "medium", "lying"), Kind("blue", "medium", "lying")


def misread(piece, true, **more):
    x_mm, y_mm = map(float, piece.base_mm)
    return Misread(read=kind_of(piece), x_mm=x_mm, y_mm=y_mm, true=true, **more)


# --- corrections ---


@pytest.mark.parametrize(("away_mm", "holds"), [(0.0, True), (5.0, True), (5.1, False)])
def test_a_correction_holds_where_the_piece_lies(seen, piece, red, away_mm, holds):
    one = misread(red, BLUE)
    now = seen(0, piece("green", 200, 200), piece("red", 50 + away_mm, 50))
    corrected = apply_corrections(now, [one], {}, SETUP)
    assert [was.colour for was in corrected.table.pieces] == ["green", "blue" if holds else "red"]
    assert [there.x_mm for there in corrected.there] == [50 + away_mm] * holds
    assert corrected.lost == () if holds else (one,)


def test_two_corrections_are_of_two_pieces_and_the_nearest_is_meant(seen, piece, red):
    green = msgspec.structs.replace(BLUE, colour="green")
    near, far = piece("red", 51, 50), piece("red", 54, 50)
    corrected = apply_corrections(
        seen(0, far, near), [misread(red, BLUE), misread(red, green)], {}, SETUP
    )
    assert [was.colour for was in corrected.table.pieces] == ["green", "blue"]
    assert corrected.lost == ()


@pytest.mark.parametrize(("colour", "holds"), [("red", True), ("blue", True), ("green", False)])
def test_a_correction_is_of_a_piece_that_is_read_as_it_was_or_as_what_it_is(
    seen, piece, red, colour, holds
):
    corrected = apply_corrections(seen(0, piece(colour, 50, 50)), [misread(red, BLUE)], {}, SETUP)
    assert [was.colour for was in corrected.table.pieces] == ["blue" if holds else colour]
    assert bool(corrected.there) == holds


def test_what_is_not_there_is_left_out_and_what_stood_on_it_stands_on_nothing(seen, piece, red):
    ghost, other = piece("blue", 150, 50), piece("green", 250, 50)
    on_ghost, on_other = replace(piece("red", 150, 50), on=1), replace(piece("red", 250, 50), on=2)
    table = seen(0, red, ghost, other, on_ghost, on_other)
    left = apply_corrections(table, [misread(ghost, None)], {}, SETUP).table.pieces
    assert [(one.colour, one.on) for one in left] == [
        ("red", None),
        ("green", None),
        ("red", None),
        ("red", 1),
    ]


def test_a_correction_for_another_table_counts_for_nothing(seen, red):
    for true in (Kind("red", "huge", "lying"), Kind("red", "medium", "leaning")):
        corrected = apply_corrections(seen(0, red), [misread(red, true)], {}, SETUP)
        assert (corrected.table.pieces, corrected.there, corrected.lost) == ((red,), (), ())


def test_a_colour_that_nobody_plays_is_what_people_say(seen, piece, red):
    table = seen(0, red, piece("pink", 200, 50))
    corrected = apply_corrections(table, [], {"pink": "green"}, SETUP).table
    assert [one.colour for one in corrected.pieces] == ["red", "green"]
    assert apply_corrections(table, [], {}, SETUP).table is table


def middle_mm(piece):
    return (piece.base_mm + piece.tip_mm) / 2


@pytest.mark.parametrize("heading_deg", [0.0, 90.0, 200.0])
@pytest.mark.parametrize("turned_deg", [180.0, 0.0])
def test_a_piece_that_points_the_other_way_lies_where_it_lay(piece, heading_deg, turned_deg):
    lies = piece("red", 100, 100, heading_deg)
    now = true_piece(lies, misread(lies, RED, turned_deg=turned_deg), SETUP)
    assert now.heading_deg == heading_deg + turned_deg
    assert middle_mm(now) == pytest.approx(middle_mm(lies), abs=1.0)
    assert now.pose == "lying"


@pytest.mark.parametrize("heading_deg", [0.0, 90.0, 200.0])
def test_a_piece_that_stands_stands_on_the_middle_of_where_it_was_read_to_lie(piece, heading_deg):
    lies = piece("red", 100, 100, heading_deg)
    stands = true_piece(lies, misread(lies, Kind("red", "medium", "upright")), SETUP)
    assert stands.pose == "upright"
    assert stands.base_mm == pytest.approx(middle_mm(lies), abs=2.0)
    again = true_piece(stands, misread(stands, RED, turned_deg=90.0), SETUP)
    assert again.heading_deg == heading_deg + 90
    assert middle_mm(again) == pytest.approx(stands.base_mm, abs=2.0)


def test_what_people_say_is_sure_and_only_that_is_changed(piece):
    lies = replace(piece("red", 100, 100), colour_probability=0.5, rivals=(piece("red", 0, 0),))
    now = true_piece(lies, misread(lies, BLUE), SETUP)
    assert (now.colour, now.colour_probability, now.rivals) == ("blue", 1.0, ())
    assert now.solid is lies.solid
    large = true_piece(lies, misread(lies, Kind("red", "large", "lying")), SETUP)
    assert (large.size, list(large.base_mm)) == ("large", [100, 100])
    assert np.ptp(large.solid.vertices_mm[:, 0]) > np.ptp(lies.solid.vertices_mm[:, 0])


def test_corrections_are_kept_as_plain_data_and_others_are_none(red):
    ones = (misread(red, BLUE, turned_deg=3.0), misread(red, None))
    assert read_misread(misreadings_data(ones)) == ones
    assert read_misread([{"surprise": 1}]) == ()


# --- how well a verdict explains its table ---


WAITING = Waiting(**VERDICT)
VERDICTS = {
    "a legal act": (Accepted(**VERDICT, moves=("red",)), 4, False),
    "nothing new": (Waiting(**VERDICT, as_recorded=True), 3, False),
    "half done": (WAITING, 2, True),
    "half done, or a question": (
        Waiting(**VERDICT, asks=Ambiguous(**VERDICT, choices=())),
        0,
        True,
    ),
    "something else": (Waiting(**VERDICT, differences=("a piece",)), 0, True),
    "one of several": (Ambiguous(**VERDICT, choices=(Choice("x", ()),)), 2, False),
    "out of step": (OutOfSync(**VERDICT, differences=("a piece",)), 0, True),
    "not seen": (CannotSee(**VERDICT), 0, True),
}


@pytest.mark.parametrize("what", VERDICTS)
def test_how_well_a_verdict_explains_its_table(seen, red, what):
    verdict, expected, is_amiss = VERDICTS[what]
    assert rank(verdict) == expected
    for before in (None, seen(0, red)):
        assert contradicts_record(verdict, seen(0, red), before, COLOURS) == is_amiss


def test_a_refusal_is_a_misreading_where_nothing_was_ruled_on_or_a_colour_is_not_in_play(
    seen, piece, red
):
    refused, before = Refused(**VERDICT), seen(0)
    assert rank(refused) == 1
    assert contradicts_record(refused, seen(0, red), None, COLOURS)
    assert not contradicts_record(refused, seen(0, red), before, COLOURS)
    assert contradicts_record(refused, seen(0, red, piece("pink", 150, 50)), before, COLOURS)


def test_a_part_of_an_act_is_half_done_and_something_else_is_not():
    assert is_half_done(WAITING)
    assert not is_half_done(Waiting(**VERDICT, differences=("a piece",)))
    assert not is_half_done(OutOfSync(**VERDICT, differences=("a piece",)))


def test_pieces_that_lie_as_before_are_not_new(seen, piece, red, blue):
    before = seen(0, red, blue)
    assert new_piece_indexes(seen(9, red, blue), before) == []
    assert new_piece_indexes(seen(9, red, piece("blue", 170, 50)), before) == [1]
    assert new_piece_indexes(seen(9, replace(red, colour="blue"), blue), before) == [0]
    assert new_piece_indexes(seen(9, red, blue), None) == [0, 1]


# --- explanations ---


def judge_of(*kinds, moves=()):
    """A judge that waits for pieces of these kinds; each of another kind is a difference."""
    wanted = sorted(map(str, kinds))

    def judge(table):
        there = sorted(str(kind_of(piece)) for piece in table.pieces)
        if there == wanted:
            return (
                Accepted(**VERDICT, moves=moves) if moves else Waiting(**VERDICT, as_recorded=True)
            )
        left = list(wanted)
        for kind in there:
            if kind in left:
                left.remove(kind)
        others = max(len(left), len(there) - (len(wanted) - len(left)))
        return OutOfSync(**VERDICT, differences=("another",) * others)

    return judge


def row(piece, *colours):
    return [piece(colour, 60 + 60 * at, 50) for at, colour in enumerate(colours)]


def explained(judge, table, before=None, setup=SETUP):
    return explanations(judge, judge(table), table, before, COLOURS, setup)


@pytest.mark.parametrize("count", range(1, 9))
def test_up_to_six_pieces_may_be_misread_in_the_same_way(seen, piece, count):
    table = seen(0, *row(piece, *["red"] * count, "green"))
    judge = judge_of(*[BLUE] * count, Kind("green", "medium", "lying"))
    found = explained(judge, table)
    assert bool(found) == (count <= 6)
    for one in found:
        assert {(misread.read, misread.true) for misread in one.misread} == {(RED, BLUE)}
        assert len(one.misread) == count
    assert len(likest(judge, judge(table), table, COLOURS, SETUP).misread) == count


@pytest.mark.parametrize(
    ("true", "explains"),
    [
        (("blue", "green"), True),
        (("blue", "blue", "blue"), True),
        (("blue", "blue", "green"), False),
    ],
)
def test_two_pieces_may_be_misread_in_two_ways_and_three_only_in_one(seen, piece, true, explains):
    table = seen(0, *row(piece, *["red"] * len(true)))
    judge = judge_of(*(Kind(colour, "medium", "lying") for colour in true))
    assert bool(explained(judge, table)) == explains


@pytest.mark.parametrize(("ghosts", "explains"), [(1, True), (2, False)])
def test_at_most_one_piece_is_seen_that_is_not_there(seen, piece, ghosts, explains):
    table = seen(0, *row(piece, *["red"] * (ghosts + 1)))
    assert bool(explained(judge_of(RED), table)) == explains


@pytest.mark.parametrize(
    ("read", "true"),
    [
        ("lying", Kind("red", "large", "lying")),
        ("lying", Kind("red", "medium", "upright")),
        ("upright", RED),
        ("upright", Kind("green", "medium", "upright")),
    ],
)
def test_a_piece_may_be_misread_in_one_thing(seen, piece, read, true):
    setup = msgspec.structs.replace(SETUP, game=msgspec.structs.replace(SETUP.game, sizes=SIZES))
    table = seen(0, piece("red", 60, 50, pose=read))
    found = explained(judge_of(true), table, setup=setup)
    assert found
    assert {one.misread[0].true for one in found} == {true}
    turned = {one.misread[0].turned_deg for one in found}
    assert turned == ({0.0, 90.0, 180.0, 270.0} if (read, true) == ("upright", RED) else {0.0})
    both = Kind("blue", "large", "lying")
    assert explained(judge_of(both), table, setup=setup) == []


def test_a_piece_that_points_the_other_way_explains_a_table(seen, piece):
    def judge(table):
        right = [one.heading_deg for one in table.pieces] == [180.0]
        return Waiting(**VERDICT, as_recorded=right, differences=() if right else ("it",))

    table = seen(0, piece("red", 60, 50))
    [found] = explained(judge, table)
    assert (found.misread[0].true, found.misread[0].turned_deg) == (RED, 180.0)


def test_pieces_that_lie_as_before_or_lean_keep_their_readings(seen, red):
    judge = judge_of(BLUE)
    assert explained(judge, seen(9, red), before=seen(0, red)) == []
    leaning = replace(red, pose="leaning")
    assert explained(judge_of(Kind("blue", "medium", "leaning")), seen(9, leaning)) == []
    wrong = judge(seen(9, red))
    lean = likest(judge, wrong, seen(9, leaning), COLOURS, SETUP)
    assert lean.misread == ()


def test_a_table_that_no_reading_brings_nearer_is_not_explained(seen, piece):
    def judge(_table):
        return OutOfSync(**VERDICT, differences=("this", "that"))

    assert explained(judge, seen(0, *row(piece, "red", "red"))) == []


# --- where a corrected piece went ---


def followed(judge, table, lost, before):
    return follow_corrections(
        judge, MisreadingExplanation((), table, judge(table)), lost, before, SETUP
    )


def test_a_correction_goes_along_where_it_explains_where_the_piece_went(seen, piece, red):
    lost = [misread(red, BLUE)]
    table = seen(9, piece("red", 200, 50))
    for moves in ((), ("blue",)):
        found = followed(judge_of(BLUE, moves=moves), table, lost, seen(0, red))
        assert [(one.true, one.x_mm) for one in found.best.misread] == [(BLUE, 200.0)]
        assert found.best.table.pieces[0].colour == "blue"
        assert found.rival is None
    as_read = followed(judge_of(RED), table, lost, seen(0, red))
    assert (as_read.best.misread, as_read.rival) == ((), None)


def test_nobody_knows_which_of_two_alike_a_corrected_piece_is(seen, piece, red):
    table = seen(9, *row(piece, "red", "red"))
    found = followed(judge_of(RED, BLUE), table, [misread(red, BLUE)], seen(0, red))
    assert (found.best.misread, found.rival) == ((), None)


def test_two_legal_acts_are_rivals_where_one_needs_the_piece_to_be_misread_still(seen, piece, red):
    def judge(table):
        return Accepted(**VERDICT, moves=(table.pieces[0].colour,))

    found = followed(judge, seen(9, piece("red", 200, 50)), [misread(red, BLUE)], seen(0, red))
    assert (found.best.moves, found.rival.moves) == (("blue",), ("red",))

    def alike(_table):
        return Accepted(**VERDICT, moves=("put",))

    found = followed(alike, seen(9, piece("red", 200, 50)), [misread(red, BLUE)], seen(0, red))
    assert (found.rival, len(found.best.misread)) == (None, 1)


def test_a_corrected_piece_that_is_read_rightly_now_may_be_misread_again(seen, piece, red):
    lost, now = [misread(red, BLUE)], piece("blue", 200, 50)
    found = followed(judge_of(BLUE), seen(9, now), lost, seen(0, red)).best
    assert [(one.read, one.true, one.x_mm) for one in found.misread] == [(RED, BLUE, 200.0)]
    two = followed(judge_of(BLUE, BLUE), seen(9, now, piece("blue", 300, 50)), lost, seen(0, red))
    assert two.best.misread == ()
    ghost = [misread(red, None)]
    assert followed(judge_of(BLUE), seen(9, now), ghost, seen(0, red)).best.misread == ()


def test_of_two_readings_that_explain_nothing_new_the_plain_one_stands(seen, piece, red):
    """A correction moves along only where that explains the table better, or a legal act."""

    def judge(_table):
        return WAITING

    found = followed(judge, seen(9, piece("red", 200, 50)), [misread(red, BLUE)], seen(0, red))
    assert (found.best.misread, found.best.table.pieces[0].colour) == ((), "red")


@pytest.mark.parametrize("moves", [(), ("blue",)])
def test_no_more_pieces_are_read_differently_once_a_table_is_explained(seen, piece, moves):
    """By nothing new, or a legal act: the first piece is tried in every way, and no other."""
    tried = []
    for colours in (["red"], ["red", "red"], ["red", "red", "red"]):
        table, asked = seen(0, *row(piece, *colours)), []
        judge = judge_of(BLUE, *[RED] * (len(colours) - 1), moves=moves)

        def counted(one, judge=judge, asked=asked):
            asked.append(one)
            return judge(one)

        assert len(likest(counted, judge(table), table, COLOURS, SETUP).misread) == 1
        tried.append(len(asked))
    assert tried == tried[:1] * 3
