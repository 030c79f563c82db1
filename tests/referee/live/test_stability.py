"""A table is settled when nothing has moved for a while on the frames' own clock, and only then."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.live.stability import StabilityMonitor, is_judged_table, same_positions
from table.observation import SeenCounter, SeenDie, Unusable

places = st.tuples(
    st.sampled_from(["red", "blue", "green"]),
    st.integers(0, 9).map(lambda column: 60.0 * column),
    st.integers(0, 9).map(lambda row: 60.0 * row),
    st.floats(0, 360),
    st.sampled_from(["upright", "lying"]),
)
tables = st.lists(places, max_size=8, unique_by=lambda place: place[1:3])


def settled_at(settle, frames):
    """Times at which it answered."""
    return [frame.at_ms for frame in frames if settle.update(frame).settled is not None]


@given(table=tables, seed=st.integers(0, 2**32 - 1))
def test_a_table_at_rest_settles_after_the_hold_however_its_pieces_are_listed(
    seen, piece, table, seed
):
    chance = np.random.default_rng(seed)
    frames = []
    for at_ms in range(0, 2000, 250):
        shaken = []
        for colour, x, y, heading, pose in (
            table[index] for index in chance.permutation(len(table))
        ):
            dx, dy, turn = chance.uniform(-1, 1, 3) * (0.3, 0.3, 0.9)
            shaken.append(piece(colour, x + dx, y + dy, heading + turn, pose))
        frames.append(seen(at_ms, *shaken))
    assert settled_at(StabilityMonitor(hold_ms=500), frames) == list(range(500, 2000, 250))


@given(
    table=tables.filter(bool),
    which=st.integers(0, 7),
    step_mm=st.floats(2, 500),
    way_deg=st.floats(0, 360),
    moved_at=st.integers(1, 7),
)
def test_a_piece_that_moves_begins_the_hold_again(
    seen, piece, table, which, step_mm, way_deg, moved_at
):
    colour, x, y, heading, pose = table[which % len(table)]
    way = np.radians(way_deg)
    moved = (colour, x + step_mm * np.cos(way), y + step_mm * np.sin(way), heading, pose)
    after = [moved if index == which % len(table) else place for index, place in enumerate(table)]
    frames = [
        seen(250 * index, *(piece(*place) for place in (table if index < moved_at else after)))
        for index in range(12)
    ]
    answers = settled_at(StabilityMonitor(hold_ms=500), frames)
    assert answers == [
        at_ms
        for at_ms in range(0, 3000, 250)
        if 500 <= at_ms < 250 * moved_at or at_ms >= 250 * moved_at + 500
    ]


@given(
    steps=st.lists(st.integers(-2000, 2000), min_size=1, max_size=20), hold_ms=st.integers(1, 1500)
)
def test_a_clock_that_jumps_never_shortens_the_hold(seen, piece, steps, hold_ms):
    settle, at_ms, since_ms = StabilityMonitor(hold_ms), 0, 0
    settle.update(seen(0, piece("red", 0, 0)))
    for step in steps:
        at_ms += step
        if step < 0:
            since_ms = at_ms
        answered = settle.update(seen(at_ms, piece("red", 0, 0))).settled is not None
        assert answered == (at_ms - since_ms >= (1 - 0.04) * hold_ms)


def test_a_slow_creep_is_a_movement(seen, piece):
    frames = [seen(100 * index, piece("red", 0.4 * index, 0)) for index in range(100)]
    assert settled_at(StabilityMonitor(hold_ms=500), frames) == []


def test_a_hand_or_something_in_the_way_begins_the_hold_again(seen, piece):
    settle = StabilityMonitor(hold_ms=500)
    red = piece("red", 0, 0)
    assert settled_at(settle, [seen(0, red), seen(500, red)]) == [500]
    assert settled_at(
        settle, [seen(750, red, hand=True), seen(1000, red), seen(1250, red), seen(1500, red)]
    ) == [1500]
    settle.interrupt()
    assert settled_at(settle, [seen(1750, red), seen(2000, red), seen(2250, red)]) == [2250]


def test_a_table_that_does_not_come_to_rest_is_counted_from_when_it_last_was(seen, piece):
    settle = StabilityMonitor(hold_ms=500)
    red, elsewhere = piece("red", 0, 0), piece("red", 50, 0)
    for frame in (
        seen(1000, red),
        seen(1500, red),
        *(seen(1750 + 250 * step, (elsewhere, red)[step % 2]) for step in range(12)),
    ):
        settle.update(frame)
    assert settle.restless_ms == 3000
    settle.interrupt()
    settle.update(seen(9000, red))
    assert settle.restless_ms == 0


def test_the_hold_begins_with_the_picture_that_was_the_same_already(seen, piece):
    """Eyes read a table that has come to rest one picture later than it did."""
    settle, red = StabilityMonitor(hold_ms=500), piece("red", 0, 0)
    read = dataclasses.replace(seen(1100, red), still_ms=100)
    moving = dataclasses.replace(seen(1000), moving=True)
    assert settled_at(
        settle, [moving, read, *(seen(at_ms, red) for at_ms in range(1200, 1800, 100))]
    ) == [1500, 1600, 1700]


def test_the_newest_observation_is_the_settled_one(seen, piece):
    settle = StabilityMonitor(hold_ms=250)
    settle.update(seen(0, piece("red", 0, 0)))
    newest = seen(250, piece("red", 0.2, 0))
    assert settle.update(newest).settled is newest


@pytest.mark.parametrize(
    "change",
    [
        {"colour": "blue"},
        {"size": "large"},
        {"pose": "leaning"},
        {"heading_deg": 10.0},
        {"base_mm": np.array([0.0, 1.2])},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_piece_in_the_same_place_does_not_agree(seen, piece, change):
    red = piece("red", 0, 0)
    assert same_positions(seen(0, red), seen(0, red))
    assert not same_positions(seen(0, red), seen(0, dataclasses.replace(red, **change)))
    assert not same_positions(seen(0, red), seen(0))


def test_an_upright_piece_looks_the_same_every_quarter_turn(seen, piece):
    assert same_positions(
        seen(0, piece("red", 0, 0, 1.0, "upright")), seen(0, piece("red", 0, 0, 269.5, "upright"))
    )
    assert not same_positions(seen(0, piece("red", 0, 0, 1.0)), seen(0, piece("red", 0, 0, 91.0)))
    assert same_positions(seen(0, piece("red", 0, 0, 359.5)), seen(0, piece("red", 0, 0, 0.5)))


def test_what_a_piece_stands_on_matters(seen, piece):
    red, target = piece("red", 0, 0, 0, "upright"), piece("green", 0, 0, 0, "upright")
    assert not same_positions(seen(0, target, red), seen(0, target, dataclasses.replace(red, on=0)))


def test_a_reading_in_doubt_may_wander_within_its_doubt(seen, piece):
    assert same_positions(
        seen(0, piece("red", 0, 0, sigma_mm=2)), seen(0, piece("red", 5, 0, sigma_mm=2))
    )
    assert not same_positions(
        seen(0, piece("red", 0, 0, sigma_mm=2)), seen(0, piece("red", 12, 0, sigma_mm=2))
    )


def test_pieces_off_the_board_may_move_and_counters_may_not(seen, piece):
    still = seen(0, piece("red", 0, 0))
    assert same_positions(still, dataclasses.replace(still, off_board=(piece("blue", 900, 0),)))
    one, two = SeenCounter("white", 10.0, 10.0, 0.1), SeenCounter("white", 40.0, 10.0, 0.1)
    assert same_positions(
        dataclasses.replace(still, counters=(one, two)),
        dataclasses.replace(still, counters=(two, one)),
    )
    moved = dataclasses.replace(two, y_mm=12.0)
    for others in ((one,), (one, moved), (one, dataclasses.replace(two, colour="black"))):
        assert not same_positions(
            dataclasses.replace(still, counters=(one, two)),
            dataclasses.replace(still, counters=others),
        )


def test_what_was_judged_in_doubt_is_judged_again_where_it_is_read_well_elsewhere(seen, piece):
    hardly, well = (
        seen(0, piece("red", 0, 0, sigma_mm=4)),
        seen(0, piece("red", 8, 0, sigma_mm=0.2)),
    )
    assert same_positions(hardly, well)
    assert not is_judged_table(hardly, well)
    assert is_judged_table(well, hardly), "a worse reading is no news"
    assert is_judged_table(hardly, seen(0, piece("red", 0.5, 0, sigma_mm=0.2)))


def test_something_that_cannot_be_read_is_news_where_nothing_unread_was(seen, piece):
    red = piece("red", 0, 0)
    judged = seen(0, red)
    unread, beside, elsewhere = (
        dataclasses.replace(judged, unread_mm=(np.array([x_mm, 50.0]),)) for x_mm in (60, 70, 100)
    )
    assert not is_judged_table(judged, unread)
    assert is_judged_table(unread, beside), "the same thing, of which another part shows"
    assert not is_judged_table(unread, elsewhere)
    assert is_judged_table(unread, judged), "it was taken away, or is a piece that is read"


@pytest.mark.parametrize("moves_at", [None, 3000])
def test_what_looks_like_a_hand_is_none_once_it_has_kept_still_for_4_s(seen, piece, moves_at):
    """Its reading is told again as long as the picture has not changed."""
    monitor, updates = StabilityMonitor(hold_ms=500), []
    first, second = (seen(0, piece("red", x, 0), hand=True) for x in (0, 1))
    for at_ms in range(0, 6000, 500):
        reading = second if moves_at is not None and at_ms >= moves_at else first
        updates.append(monitor.update(dataclasses.replace(reading, at_ms=at_ms)))
    still = [500 * k for k, one in enumerate(updates) if one.still_hand]
    assert still == ([] if moves_at else list(range(4000, 6000, 500)))
    assert [one.hand for one in updates] == [not one.still_hand for one in updates]
    settled = [one.settled for one in updates if one.settled]
    assert [one.at_ms for one in settled] == [at_ms for at_ms in still if at_ms >= 4500]
    assert not any(one.hand for one in settled)


def test_a_frame_that_cannot_be_read_begins_the_hold_again(seen, piece):
    monitor, red = StabilityMonitor(hold_ms=500), piece("red", 0, 0)
    frames = [
        seen(0, red),
        Unusable(1, 250, "covered"),
        *(seen(at, red) for at in (500, 750, 1000)),
    ]
    assert settled_at(monitor, frames) == [1000]


def test_it_is_restless_after_4_s_without_rest_and_with_a_clear_view(seen, piece):
    monitor = StabilityMonitor(hold_ms=500)
    frames = [seen(at, piece("red", at % 500, 0)) for at in range(0, 6000, 250)]
    restless = [frame.at_ms for frame in frames if monitor.update(frame).restless]
    assert restless == list(range(4000, 6000, 250))
    monitor.update(seen(6000, hand=True))
    assert not monitor.update(seen(6250, piece("red", 9, 9))).restless


def test_tables_are_compared_with_the_one_that_was_judged_and_the_one_that_could_not_be(
    seen, piece
):
    monitor = StabilityMonitor()
    red, blue, other = (seen(0, piece(colour, 0, 0)) for colour in ("red", "blue", "green"))
    assert not monitor.is_unchanged(red)
    assert not monitor.is_known(red)
    monitor.judged, monitor.not_judged = red, blue
    assert [monitor.is_unchanged(one) for one in (red, blue, other)] == [True, False, False]
    assert [monitor.is_known(one) for one in (red, blue, other)] == [True, True, False]
    again = dataclasses.replace(blue, at_ms=100)
    assert monitor.is_unjudged_reading(again)
    assert not monitor.is_unjudged_reading(seen(100, piece("blue", 0, 0))), "read anew"


def test_a_table_is_left_alone_from_when_that_is_first_asked_after_the_timer_was_restarted():
    monitor = StabilityMonitor()
    assert [monitor.left_alone_ms(at_ms) for at_ms in (1000, 1500)] == [0, 500]
    monitor.restart_rest_timer()
    assert [monitor.left_alone_ms(at_ms) for at_ms in (4000, 4250)] == [0, 250]


def test_a_table_is_at_rest_after_half_a_second_of_which_a_25th_may_be_missing(seen, piece):
    """Frames that come every 250 ms may come a little early."""
    frames = [seen(at_ms, piece("red", 0, 0)) for at_ms in range(0, 1000, 10)]
    assert settled_at(StabilityMonitor(), frames)[0] == 480


def test_a_frame_that_is_told_twice_does_not_begin_the_hold_again(seen, piece):
    monitor, red = StabilityMonitor(hold_ms=500), piece("red", 0, 0)
    frames = [seen(at_ms, red) for at_ms in (0, 250, 250, 500)]
    assert settled_at(monitor, frames) == [500]
    assert settled_at(monitor, [seen(at_ms, red) for at_ms in (750, 100, 350, 600)]) == [750, 600]


def test_a_hand_that_a_clock_before_the_last_one_shows_has_not_kept_still(seen, piece):
    monitor = StabilityMonitor(hold_ms=500)
    first = seen(5000, piece("red", 0, 0), hand=True)
    times_ms = (5000, 8000, 1000, 4000, 5000)
    still = [monitor.update(dataclasses.replace(first, at_ms=at)).still_hand for at in times_ms]
    assert still == [False, False, False, False, True]


@pytest.mark.parametrize(
    ("sigma_mm", "still_mm", "moved_mm"), [(0.1, 1.0, 1.01), (0.1, 0.5, 1.1), (2.0, 8.4, 8.6)]
)
def test_a_piece_may_wander_by_a_millimetre_or_three_standard_deviations(
    seen, piece, sigma_mm, still_mm, moved_mm
):
    was = seen(0, piece("red", 0, 0, sigma_mm=sigma_mm))
    for mm, same in ((still_mm, True), (moved_mm, False)):
        assert same_positions(was, seen(0, piece("red", mm, 0, sigma_mm=sigma_mm))) == same
        assert same_positions(was, seen(0, piece("red", 0, -mm, sigma_mm=sigma_mm))) == same


@pytest.mark.parametrize(
    ("sigma_deg", "still_deg", "turned_deg"), [(0.3, 3.0, 3.1), (2.0, 8.4, 8.6)]
)
def test_a_piece_may_turn_by_three_degrees_or_three_standard_deviations(
    seen, piece, sigma_deg, still_deg, turned_deg
):
    covariance = np.diag([0.1, 0.1, sigma_deg]) ** 2
    was, still, turned = (
        seen(0, dataclasses.replace(piece("red", 0, 0, deg), covariance=covariance))
        for deg in (0.0, still_deg, turned_deg)
    )
    assert same_positions(was, still)
    assert not same_positions(was, turned)


@pytest.mark.parametrize("kind", ["counters", "dice"])
@pytest.mark.parametrize(("sigma_mm", "still_mm", "moved_mm"), [(0.1, 1.0, 1.01), (1.0, 4.2, 4.3)])
def test_counters_and_dice_may_wander_as_pieces_may(seen, kind, sigma_mm, still_mm, moved_mm):
    def table(*places_mm):
        return dataclasses.replace(
            seen(0),
            **{
                kind: tuple(
                    SeenCounter("white", mm, 5.0, sigma_mm)
                    if kind == "counters"
                    else SeenDie(mm, 5.0, sigma_mm)
                    for mm in places_mm
                )
            },
        )

    assert same_positions(table(0.0), table(still_mm))
    assert not same_positions(table(0.0), table(moved_mm))
    assert not same_positions(table(0.0), table(0.0, 50.0))
    assert not same_positions(table(0.0, 50.0), table(0.0))
    assert not same_positions(table(), table(0.0))


def test_tiles_that_sank_are_another_table(seen, piece):
    floats, sank = (
        dataclasses.replace(seen(0, piece("red", 0, 0)), tiles={"a1": there})
        for there in (True, False)
    )
    assert same_positions(floats, dataclasses.replace(floats, pieces=(piece("red", 0, 0),)))
    assert not same_positions(floats, sank)


def test_a_throw_may_end_beside_the_table(seen, piece):
    judged = seen(0, piece("red", 0, 0))
    beside = dataclasses.replace(seen(0, piece("red", 0, 0)), off_board=(piece("blue", 900, 0),))
    assert is_judged_table(judged, judged)
    assert not is_judged_table(judged, beside)
    farther = dataclasses.replace(beside, off_board=(piece("blue", 950, 0),))
    assert is_judged_table(beside, farther)
