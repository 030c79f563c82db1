"""What a verdict did on the board, told from the records alone."""

import pytest

from referee.sessions.commands import Undo
from referee.sessions.event_store import Log
from referee.sessions.events import Choice, QuestionAsked, SessionStarted, VerdictReached
from referee.sessions.session import Session

STARTED = SessionStarted(game="icebreaker", players=("red", "black"))


@pytest.fixture
def session(tmp_path):
    with Log(tmp_path / "log") as log:
        yield Session.begin(log, STARTED)


def ruled(*moves, **changed):
    facts = {
        "verdict": "accepted",
        "code": "icebreaker.move",
        "message": "Moved.",
        "player": "red",
        "moves": moves,
    }
    return VerdictReached(**facts | changed)


def traced(session):
    return [(mark.kind, mark.cells, mark.sure) for mark in session.view().trace]


def test_a_move_is_drawn_from_the_state_before_it(session):
    assert traced(session) == []
    session.append(ruled("A1-B1"))
    assert traced(session) == [("path", ("A1", "B1"), True), ("take", ("B1",), True)]
    session.append(ruled("E1-D1", player="black"))
    assert traced(session) == [("path", ("E1", "D1"), True), ("take", ("D1",), True)]


def test_a_refused_move_is_drawn_as_far_as_it_could_be_written(session):
    session.append(ruled("A1-C3", verdict="refused"))
    assert traced(session) == [("path", ("A1", "C3"), True), ("take", ("C3",), True)]
    session.append(ruled("C3", verdict="refused"))
    assert traced(session) == [("here", ("C3",), True)]


def test_all_that_is_asked_is_drawn_and_nothing_of_it_is_sure(session):
    choices = (
        Choice(label="one", moves=("A1-B1",)),
        Choice(label="other", moves=("A1-A2",)),
        Choice(label="neither"),
    )
    session.append(QuestionAsked(code="icebreaker.move", message="Which?", choices=choices))
    assert {(kind, cells[-1], sure) for kind, cells, sure in traced(session)} == {
        ("path", "B1", False),
        ("take", "B1", False),
        ("path", "A2", False),
        ("take", "A2", False),
    }
    assert session.view().options == ()


def test_of_a_table_out_of_step_the_cells_that_differ_are_drawn(session):
    differences = [
        "A red ship stands on B6, but black's ship belongs on B6.",
        "The iceberg on C3 is missing.",
    ]
    session.append(
        ruled(
            verdict="out_of_sync",
            code="icebreaker.out_of_sync",
            evidence={"differences": differences},
        )
    )
    assert traced(session) == [("here", ("B6",), False), ("here", ("C3",), False)]


def test_what_was_taken_back_is_drawn_no_more(session):
    session.append(ruled("A1-B1"))
    session.command(Undo())
    assert traced(session) == []
    session.append(ruled("A1-A2"))
    assert traced(session)[0] == ("path", ("A1", "A2"), True)


def test_options_are_what_the_game_offers_until_the_session_ends(session):
    options = session.view().options
    assert [one.label.split()[:2] for one in options] == [
        ["A1", "takes"],
        ["I5", "takes"],
        ["E9", "takes"],
    ]
    assert all(one.who == "red" for one in options)
    session.end("over")
    assert session.view().options == ()
