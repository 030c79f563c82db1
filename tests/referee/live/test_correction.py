"""Misread pieces are put right by hand: the table is judged again, and what was read stays
untouched.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines import GAMES
from referee.live.correction import PieceCorrection, apply_piece_corrections, last_table, reread
from referee.sessions.commands import Correct, Undo
from referee.sessions.events import SessionStarted
from referee.sessions.judged_tables import JudgedTables
from referee.sessions.session import Session
from referee.sessions.verdict_events import event_from_verdict
from simulation.players.ice_boule_table import demo_setup
from table.errors import InputError
from table.observation import Camera, Observation, SeenPiece
from table.solids import lying, upright
from table.table_config import table_document

CAMERA = Camera(np.eye(3), np.array([0.0, 0.0, 1000.0]), np.eye(6) * 1e-6, 0.2, (0, 1, 2, 3))
SETUP = demo_setup()
LARGE = SETUP.pieces["large"]
MIDDLE = SETUP.outline_mm().mean(axis=0)
FIRST, SECOND = SETUP.game.colours[:2]


def piece(colour, dx, dy, pose="lying"):
    x, y = MIDDLE + np.array([dx, dy])
    solid = (lying if pose == "lying" else upright)(LARGE, x, y, 90.0)
    return SeenPiece(
        colour, "large", pose, np.array([x, y]), 90.0, solid, np.diag([0.01, 0.01, 0.1])
    )


def correction(seen, number, **changed):
    was = seen.pieces[number]
    unchanged = PieceCorrection(
        number,
        was.colour,
        was.size,
        was.pose,
        float(was.base_mm[0]),
        float(was.base_mm[1]),
        was.heading_deg,
    )
    return replace(unchanged, **changed)


class Table:
    """A session of Ice Boule whose tables are ruled on as they are shown."""

    def __init__(self, log):
        started = SessionStarted(
            game="ice_boule", players=(FIRST, SECOND), table=table_document(SETUP)
        )
        self.session, self.ruled_on, self.pieces = Session.begin(log, started), JudgedTables(), ()

    def show(self, *new):
        self.pieces += new
        ledger = self.session.ledger
        seen = Observation(len(self.pieces), 0, CAMERA, self.pieces)
        verdict = GAMES["ice_boule"].judge(
            ledger.state, seen, self.ruled_on.before(ledger), SETUP.board
        )
        record = self.session.append(event_from_verdict(verdict, {}))
        self.ruled_on.keep(record.seq, seen)
        return seen, record

    def again(self, *pieces):
        return reread(self.session.ledger, self.ruled_on, SETUP, pieces)


@pytest.fixture
def table(log):
    table = Table(log)
    table.show(piece(SETUP.game.target, 0, 0, "upright"))
    yield table
    table.session.close()


def test_a_piece_that_was_read_far_off_is_ruled_where_it_lies(table):
    seen, record = table.show(piece(FIRST, 0, -150))
    assert record.event.verdict == "accepted"
    before = table.session.ledger
    again = table.again(correction(seen, 1, y_mm=float(MIDDLE[1]) - 100.0))
    assert again.record == record.seq
    assert table.session.ledger is before
    [(_, moves)] = again.choices
    assert moves != record.event.moves
    assert f"was read as {seen.pieces[1]}" in again.changes[0]
    table.session.command(
        Correct(record=again.record, moves=moves, reason="; ".join(again.changes))
    )
    assert table.session.view().verdicts[0].evidence["reason"] == again.changes[0]
    nearer, farther = (
        table.session.view().state["gap_mm"],
        before.engine.state_document(before.state)["gap_mm"],
    )
    assert farther - nearer == pytest.approx(50.0, abs=0.2)


def test_a_throw_that_was_refused_for_its_colour_counts_when_people_say_what_it_is(table):
    player = table.session.view().next
    other = SECOND if player == FIRST else FIRST
    seen, record = table.show(piece(other, 0, -150))
    assert record.event.verdict != "accepted"
    again = table.again(correction(seen, 1, colour=player))
    [(_, moves)] = again.choices
    table.session.command(Correct(record=record.seq, moves=moves))
    assert table.session.view().state["leading"] == player


def test_what_is_closer_than_a_hand_can_put_it_is_asked(table):
    table.show(piece(FIRST, 0, -100))
    seen, _ = table.show(piece(SECOND, 0, 160))
    again = table.again(correction(seen, 2, y_mm=float(MIDDLE[1]) + 100.3, heading_deg=270.0))
    assert len(again.choices) >= 2


def test_a_piece_that_is_not_there_leaves_the_others_as_they_were_read(table):
    seen, _ = table.show(piece(FIRST, 0, -150))
    again = table.again(correction(seen, 1, there=False))
    assert again.changes == (f"{seen.pieces[1]} is not there",)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({}, "nothing differs from what was read"),
        ({"colour": "mauve"}, "colour"),
        ({"size": "huge"}, "size"),
        ({"pose": "leaning"}, "upright or lying"),
        ({"x_mm": -9000.0}, "place on the table"),
        ({"index": 9, "x_mm": 1.0}, "the table has changed"),
        ({"index": 2, "x_mm": 1.0}, "expected pieces 0 to 1, got 2: the table has changed"),
    ],
)
def test_what_cannot_be_is_one_line(table, changed, message):
    seen, _ = table.show(piece(FIRST, 0, -150))
    with pytest.raises(InputError, match=message) as caught:
        table.again(correction(seen, 1, **changed))
    assert "\n" not in str(caught.value)


def test_only_the_last_table_of_this_game_is_put_right(table):
    seen, record = table.show(piece(FIRST, 0, -150))
    table.session.command(Undo(record=record.seq))
    assert last_table(table.session.ledger, table.ruled_on) == (record.seq, seen)
    with pytest.raises(InputError, match="has been ruled on since Rinkside started"):
        last_table(table.session.ledger, JudgedTables())


def seen_of(*pieces):
    return Observation(0, 0, CAMERA, pieces)


@pytest.mark.parametrize(
    ("changed", "differs"),
    [
        ({"x_mm": 0.05}, False),
        ({"y_mm": -0.05}, False),
        ({"x_mm": 0.06}, True),
        ({"y_mm": -0.06}, True),
        ({"x_mm": 0.14}, True),
        ({"heading_deg": 0.05}, False),
        ({"heading_deg": 0.06}, True),
        ({"heading_deg": -0.14}, True),
    ],
)
def test_what_a_page_cannot_show_is_no_change(changed, differs):
    seen = seen_of(piece(FIRST, 0, -150))
    was = correction(seen, 0)
    moved = {name: getattr(was, name) + by for name, by in changed.items()}
    [after] = apply_piece_corrections(seen, [correction(seen, 0, **moved)], SETUP).pieces
    assert (after.covariance is not seen.pieces[0].covariance) == differs
    lies = (*after.base_mm, after.heading_deg)
    was_there = (was.x_mm, was.y_mm, was.heading_deg)
    assert (lies != was_there) == differs


def test_a_hand_puts_a_piece_within_a_few_millimetres_and_degrees():
    seen = seen_of(piece(FIRST, 0, -150))
    [moved] = apply_piece_corrections(seen, [correction(seen, 0, y_mm=0.0)], SETUP).pieces
    sigma_mm, other_mm, sigma_deg = np.sqrt(np.diag(moved.covariance))
    assert 0.5 <= sigma_mm == other_mm <= 2
    assert 2 <= sigma_deg <= 6


LOW, HIGH = SETUP.outline_mm().min(axis=0), SETUP.outline_mm().max(axis=0)


@pytest.mark.parametrize(
    ("x_mm", "y_mm", "on_the_table"),
    [
        (LOW[0], MIDDLE[1], True),
        (LOW[0] - 0.1, MIDDLE[1], False),
        (HIGH[0], MIDDLE[1], True),
        (HIGH[0] + 0.1, MIDDLE[1], False),
        (MIDDLE[0], LOW[1], True),
        (MIDDLE[0], HIGH[1] + 0.1, False),
    ],
)
def test_pieces_are_put_on_the_table_up_to_its_edge(x_mm, y_mm, on_the_table):
    seen = seen_of(piece(FIRST, 0, -150))
    moved = [correction(seen, 0, x_mm=float(x_mm), y_mm=float(y_mm))]
    if on_the_table:
        assert len(apply_piece_corrections(seen, moved, SETUP).pieces) == 1
    else:
        with pytest.raises(InputError, match="expected a place on the table"):
            apply_piece_corrections(seen, moved, SETUP)


@pytest.mark.parametrize(("by_mm", "allowed"), [(0.0, True), (0.05, True), (0.06, False)])
def test_what_was_read_beyond_the_edge_may_be_of_another_colour_there(by_mm, allowed):
    x_mm = float(HIGH[0] - MIDDLE[0]) + 4.0
    seen = seen_of(piece(FIRST, x_mm, 0))
    was = correction(seen, 0)
    changed = [replace(was, colour=SECOND, x_mm=was.x_mm + by_mm)]
    if allowed:
        assert apply_piece_corrections(seen, changed, SETUP).pieces[0].colour == SECOND
    else:
        with pytest.raises(InputError, match="expected a place on the table"):
            apply_piece_corrections(seen, changed, SETUP)


@pytest.mark.parametrize(
    ("heading_deg", "turned_deg"),
    [(170.0, 0), (180.0, 0), (181.0, 91), (270.0, 180), (359.0, 269), (0.0, 0)],
)
def test_a_piece_that_points_the_other_way_was_misread_and_one_that_was_turned_was_not(
    table, heading_deg, turned_deg
):
    seen, _ = table.show(piece(FIRST, 0, -150))
    misread = table.again(correction(seen, 1, heading_deg=heading_deg)).misread
    assert [one.turned_deg for one in misread] == ([turned_deg] if turned_deg else [])


@pytest.mark.parametrize(
    ("changed", "true"),
    [
        ({"colour": SECOND}, (SECOND, "large", "lying", 0.0)),
        ({"pose": "upright"}, (FIRST, "large", "upright", 0.0)),
        ({"there": False}, None),
    ],
)
def test_what_people_say_of_a_piece_holds_for_as_long_as_it_lies_there(table, changed, true):
    seen, _ = table.show(piece(FIRST, 0, -150))
    [misread] = table.again(correction(seen, 1, **changed)).misread
    assert (misread.x_mm, misread.y_mm) == tuple(map(float, seen.pieces[1].base_mm))
    assert (misread.read.colour, misread.read.pose) == (FIRST, "lying")
    if true is None:
        assert misread.true is None
    else:
        kind = misread.true
        assert (kind.colour, kind.size, kind.pose, misread.turned_deg) == true


def test_a_piece_that_was_not_read_is_added_and_one_that_is_not_there_is_not():
    seen = seen_of(piece(FIRST, 0, -150))
    new = replace(correction(seen, 0, colour=SECOND, y_mm=0.0), index=None)
    assert [one.colour for one in apply_piece_corrections(seen, [new], SETUP).pieces] == [
        FIRST,
        SECOND,
    ]
    not_there = [replace(new, there=False), correction(seen, 0, there=False)]
    assert apply_piece_corrections(seen, not_there, SETUP).pieces == ()
    with pytest.raises(InputError, match="expected pieces 0 to 0, got 1: the table has changed"):
        apply_piece_corrections(seen, [correction(seen, 0, x_mm=0.0), replace(new, index=1)], SETUP)


def test_what_stands_on_a_piece_that_is_not_there_stands_on_nothing():
    below, above = piece(FIRST, 0, -150), piece(SECOND, 0, -150)
    other = piece(FIRST, 0, 150)
    seen = seen_of(other, below, replace(above, on=1))
    for gone, on in ((1, [None, None]), (0, [None, 0])):
        table = apply_piece_corrections(seen, [correction(seen, gone, there=False)], SETUP)
        assert [one.on for one in table.pieces] == on


@pytest.mark.parametrize("pose", ["lying", "upright"])
def test_a_piece_lies_or_stands_as_people_say(pose):
    seen = seen_of(piece(FIRST, 0, -150, "lying"))
    [now] = apply_piece_corrections(seen, [correction(seen, 0, pose=pose, y_mm=0.0)], SETUP).pieces
    assert now.pose == pose
    assert bool(now.solid.vertices_mm[:, 2].max() > 40) == (pose == "upright")
