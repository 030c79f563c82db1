"""What a table must have shown, by the tables before and after it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from referee.live.reconstruction import (
    drop_transient_pieces,
    infer_missed_observation,
    with_each_missing_piece,
)
from table.observation import SeenCounter


def pieces_of(table):
    """(colour, size, x in mm) of what a table shows, by their places."""
    return (
        None
        if table is None
        else sorted(
            ((one.colour, one.size, round(float(one.base_mm[0]))) for one in table.pieces),
            key=lambda one: one[2],
        )
    )


def test_a_piece_that_may_have_been_moved_and_put_back_is_not_put_in(seen, piece, red, blue):
    before, now = seen(0, red, blue), seen(2000, red, blue, piece("red", 300, 50))
    assert infer_missed_observation(seen(1000, blue, piece("red", 400, 50)), before, now) is None
    made = infer_missed_observation(seen(1000, blue), before, now)
    assert [one.colour for one in made.pieces] == ["blue", "red"]
    assert infer_missed_observation(seen(1000, red, blue), before, now) is None


def test_what_stood_on_another_piece_stands_on_it(seen, piece, red, blue):
    above = replace(piece("blue", 50, 50, pose="leaning"), on=0)
    before, now = seen(0, red, above), seen(2000, red, above, blue)
    assert [one.on for one in infer_missed_observation(seen(1000, red), before, now).pieces] == [
        None,
        0,
    ]
    assert [one.on for one in infer_missed_observation(seen(1000), before, now).pieces] == [None, 0]


def test_tiles_and_counters_that_lay_there_before_and_after(seen, red):
    tiles = {"a1": True, "a2": True, "a3": False}
    counter = SeenCounter("white", 10.0, 20.0, 0.1)
    before, now = (replace(seen(at, red), tiles=tiles, counters=(counter,)) for at in (0, 2000))
    made = infer_missed_observation(
        replace(seen(1000, red), tiles={"a1": False, "a2": True, "a3": True}), before, now
    )
    assert made.tiles == {"a1": True, "a2": True, "a3": True}, (
        "one may have been slid there, and sunk"
    )
    assert made.counters == (counter,)
    gone = replace(now, tiles=tiles | {"a1": False}, counters=())
    assert infer_missed_observation(replace(seen(1000, red), tiles=tiles), before, gone) is None


def test_a_piece_that_moved_stands_where_it_is_now_and_no_more_where_it_was(seen, piece, red, blue):
    moved = piece("red", 300, 50)
    (made,) = with_each_missing_piece(
        seen(1000, red, blue), seen(0, red, blue), seen(2000, moved, blue)
    )
    assert sorted((one.colour, float(one.base_mm[0])) for one in made.pieces) == [
        ("blue", 150.0),
        ("red", 300.0),
    ]


RED, BLUE = ("red", "medium", 50), ("blue", "medium", 150)


def test_what_is_of_another_kind_than_before_and_after_was_read_wrongly(seen, red, blue):
    before, now = seen(0, red, blue), seen(2000, red, blue)
    for wrongly in (
        replace(blue, colour="green"),
        replace(blue, size="large"),
        replace(blue, colour="red"),
    ):
        assert pieces_of(infer_missed_observation(seen(1000, red, wrongly), before, now)) == [
            RED,
            BLUE,
        ]


def test_what_came_is_of_the_kind_that_it_is_read_as_later(seen, red, blue):
    now = seen(2000, red, blue)
    assert pieces_of(
        infer_missed_observation(seen(1000, red, replace(blue, colour="green")), seen(0, red), now)
    ) == [RED, BLUE]
    assert pieces_of(
        infer_missed_observation(seen(1000, red, replace(blue, size="large")), None, now)
    ) == [RED, BLUE]


def test_what_went_on_was_of_the_kind_that_it_was_read_as_before(seen, piece, red, blue):
    now = seen(2000, red, piece("blue", 300, 50))
    assert pieces_of(
        infer_missed_observation(
            seen(1000, red, replace(blue, colour="green")), seen(0, red, blue), now
        )
    ) == [RED, BLUE]


def test_a_piece_that_came_from_elsewhere_is_what_it_was_read_as(seen, piece, red, blue):
    """Blue lies nearly where red lay on the table between, and red came there from its place: only
    exactly there it was surely blue.
    """
    there = piece("red", 153, 50)
    assert infer_missed_observation(seen(1000, there), seen(0, red), seen(2000, blue)) is None
    assert pieces_of(
        infer_missed_observation(
            seen(1000, replace(blue, colour="red")), seen(0, red), seen(2000, blue)
        )
    ) == [BLUE]


def test_a_piece_that_is_seen_elsewhere_was_not_read_as_another_one(seen, piece, red, blue):
    """Red was put where it may not stand and put back; then blue went there."""
    there = piece("red", 300, 50)
    made = infer_missed_observation(
        seen(1000, there, blue), seen(0, red, blue), seen(2000, red, replace(there, colour="blue"))
    )
    assert made is None or ("blue", "medium", 300) not in pieces_of(made)


def test_what_is_turned_otherwise_in_its_place_lay_as_it_is_read_later(seen, piece, red, blue):
    there, round_again = piece("red", 300, 50), piece("red", 300 + 42, 50, heading_deg=180.0)
    assert pieces_of(
        infer_missed_observation(seen(1000, round_again), seen(0, red), seen(2000, there, blue))
    ) == [("red", "medium", 300)]
    nudged = piece("red", 301, 50, heading_deg=5.0)
    assert (
        infer_missed_observation(seen(1000, nudged), seen(0, red), seen(2000, there, blue)) is None
    )


def test_what_came_from_nowhere_and_is_gone_was_not_there(seen, piece, red, blue):
    stranger, now = piece("blue", 300, 50), seen(2000, red, blue)
    assert pieces_of(drop_transient_pieces(seen(1000, red, blue, stranger), seen(0, red), now)) == [
        RED,
        BLUE,
    ]
    assert drop_transient_pieces(seen(1000, red, blue), seen(0, red), now) is None
    assert pieces_of(drop_transient_pieces(seen(1000, red, blue, stranger), None, now)) == [
        RED,
        BLUE,
    ]
    assert (
        drop_transient_pieces(
            seen(1000, red, piece("green", 300, 50)), None, seen(2000, red, piece("green", 400, 50))
        )
        is None
    ), "it moved on"
    assert (
        drop_transient_pieces(seen(1000, red, stranger), seen(0, red, blue), seen(2000, red))
        is None
    ), "it was moved there, and taken away"


def test_what_could_not_be_read_and_is_gone_was_nothing_where_no_piece_is_missing(
    seen, piece, red, blue
):
    before, between, now = (
        seen(0, red),
        replace(seen(1000, red, blue), unread_mm=(piece("red", 300, 50).base_mm,)),
        seen(2000, red, blue),
    )
    assert drop_transient_pieces(between, before, now).unread_mm == ()
    assert (
        drop_transient_pieces(between, before, replace(now, unread_mm=between.unread_mm)) is None
    ), "it is there still"
    assert (
        drop_transient_pieces(between, before, seen(2000, red, blue, piece("red", 300, 50))) is None
    ), "it is read now"
    assert drop_transient_pieces(between, seen(0, red, piece("blue", 250, 200)), now) is None, (
        "it may be what lay there before"
    )


def test_what_stood_on_something_that_was_not_there_stands_on_what_it_stood_on(
    seen, piece, red, blue
):
    stranger, above = piece("green", 300, 50), replace(blue, on=1)
    assert [
        one.on
        for one in drop_transient_pieces(
            seen(1000, stranger, red, above), seen(0, red), seen(2000, red)
        ).pieces
    ] == [None]
    assert [
        one.on
        for one in drop_transient_pieces(
            seen(1000, stranger, red, above), seen(0, red), seen(2000, red, blue)
        ).pieces
    ] == [None, 0]


def test_a_piece_is_not_taken_to_have_gone_where_something_lies_in_its_place_now(
    seen, piece, red, blue
):
    """Two were gone, and one is back for sure: the other may be back too, and is not read."""
    green = piece("green", 300, 50)
    before, both_gone = seen(0, red, blue, green), seen(1000, red)
    assert pieces_of(infer_missed_observation(both_gone, before, seen(2000, red, blue))) == [
        RED,
        BLUE,
    ]
    assert (
        infer_missed_observation(
            both_gone,
            before,
            seen(2000, red, blue, replace(green, pose="upright", pose_probability=0.6)),
        )
        is None
    )
    assert (
        infer_missed_observation(
            both_gone, before, replace(seen(2000, red, blue), unread_mm=(green.base_mm,))
        )
        is None
    )


@pytest.mark.parametrize(("away_mm", "put_in"), [(2.9, False), (3.0, False), (3.1, True)])
def test_a_counter_within_3_mm_of_an_earlier_one_is_that_one(seen, red, away_mm, put_in):
    before, between, now = (
        replace(seen(at, red), counters=(SeenCounter("white", 10.0 + mm, 20.0, 0.1),))
        for at, mm in ((0, 0.0), (1000, away_mm), (2000, 0.0))
    )
    made = infer_missed_observation(between, before, now)
    assert (made is not None) == put_in
    assert made is None or made.counters == (*between.counters, *before.counters)
    unseen = infer_missed_observation(replace(between, counters=()), before, between)
    assert (unseen is None) == put_in


@pytest.mark.parametrize(("away_mm", "put_in"), [(0.0, True), (14.9, True), (15.1, False)])
def test_what_could_not_be_read_within_15_mm_of_a_pieces_centre_was_that_piece(
    seen, red, blue, away_mm, put_in
):
    centre_mm = blue.solid.vertices_mm[:, :2].mean(axis=0)
    between = replace(seen(1000, red), unread_mm=(centre_mm + np.array([0.0, away_mm]),))
    made = infer_missed_observation(between, seen(0, red), seen(2000, red, blue))
    assert pieces_of(made) == ([RED, BLUE] if put_in else None)
    assert made is None or made.unread_mm == ()


@pytest.mark.parametrize(
    ("away_mm", "left_out"), [(14.9, False), (15.0, False), (15.1, True), (44.0, True)]
)
def test_an_unreadable_place_moves_by_15_mm_at_most(seen, red, away_mm, left_out):
    places_mm = [np.array([300.0 + mm, 50.0]) for mm in (0.0, away_mm)]
    between, now = (
        replace(seen(at, red), unread_mm=(place,))
        for at, place in zip((1000, 2000), places_mm, strict=True)
    )
    assert (drop_transient_pieces(between, seen(0, red), now) is not None) == left_out


@pytest.mark.parametrize(("away_mm", "left_out"), [(4.0, False), (9.9, False), (10.1, True)])
def test_readings_of_one_piece_are_within_10_mm_of_each_other(seen, piece, red, away_mm, left_out):
    """What is farther away was nothing, and is gone."""
    stranger = piece("blue", 50 + away_mm, 50)
    left = drop_transient_pieces(seen(1000, stranger), None, seen(2000, red))
    assert (left is not None) == left_out
    assert left is None or left.pieces == ()


@pytest.mark.parametrize(("turned_deg", "nudged"), [(11.0, True), (29.9, True), (30.1, False)])
def test_a_heading_that_differs_by_less_than_30_degrees_is_a_nudge(
    seen, piece, red, blue, turned_deg, nudged
):
    now = piece("red", 300, 50)
    half_mm = np.linalg.norm(now.tip_mm - now.base_mm) / 2
    way = np.radians(turned_deg)
    x_mm, y_mm = (now.base_mm + now.tip_mm) / 2 - half_mm * np.array([np.cos(way), np.sin(way)])
    turned = piece("red", x_mm, y_mm, heading_deg=turned_deg)
    made = infer_missed_observation(seen(1000, turned), seen(0, red), seen(2000, now, blue))
    assert pieces_of(made) == (None if nudged else [("red", "medium", 300)])


@pytest.mark.parametrize(("probability", "put_in"), [(0.97, False), (0.98, True), (1.0, True)])
def test_a_piece_of_no_sure_colour_may_be_the_one_that_is_missing(
    seen, piece, red, blue, probability, put_in
):
    stranger = replace(piece("green", 300, 50), colour_probability=probability)
    made = infer_missed_observation(
        seen(1000, blue, stranger), seen(0, red, blue), seen(2000, red, blue)
    )
    assert (made is not None) == put_in
    assert made is None or RED in pieces_of(made)


@pytest.mark.parametrize("probability", ["colour", "size", "pose"])
@pytest.mark.parametrize(("least", "sure"), [(0.97, False), (0.98, True)])
def test_a_reading_that_is_not_sure_is_the_piece_that_was_and_is_there(
    seen, red, blue, probability, least, sure
):
    """Else it lies there as it was read."""
    doubtful = replace(red, **{f"{probability}_probability": least})
    made = infer_missed_observation(
        seen(1000, doubtful, blue), seen(0, red, blue), seen(2000, red, blue)
    )
    assert (made is None) == sure
    assert made is None or not any(one is doubtful for one in made.pieces)
