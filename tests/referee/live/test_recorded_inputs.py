"""What does not come through the lens: heard, kept, counted, and shown no further than it may
be.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from engines.verdict import Ambiguous, OutOfSync
from referee.live.recorded_inputs import Input
from referee.sessions.commands import Answer, Declare, Hear, Undo, parse_command
from referee.sessions.events import (
    Choice,
    InputRecorded,
    QuestionAsked,
    VerdictReached,
    record_document,
)
from referee.sessions.session import Session
from table.errors import InputError
from tests.support.scripted_eyes import referee
from tests.support.variants import Variant


def kinds(session):
    return [
        (record.at_ms, type(record.event).__name__, getattr(record.event, "moves", ()))
        for record in session.records(1)
    ]


def test_what_is_heard_is_ruled_noted_or_of_no_use(session):
    assert session.hear({"player": "red", "put": "blindly"}).event.verdict == "accepted"
    assert session.hear({"player": "blue", "hand": 4}) is None
    session.command(
        parse_command({"command": "hear", "said": {"player": "blue", "put": "secretly"}})
    )
    assert kinds(session) == [(0, "VerdictReached", ("red",)), (0, "InputRecorded", ("blue",))]
    assert session.ledger.state.pegs == ("red", "blue")
    with pytest.raises(InputError, match="not now: So many are left"):
        session.command(Hear(heard={"player": "blue", "hand": 4}))
    with pytest.raises(InputError, match="expected put or hand"):
        session.hear({"sung": True})


def test_a_secret_is_kept_and_shown_to_nobody(session, log, games):
    session.hear({"player": "red", "put": "secretly"})
    noted = session.records(1)[0]
    assert "red" not in json.dumps(
        {key: value for key, value in record_document(noted).items() if key != "state"}
    )
    (line,) = session.view().verdicts
    assert (line.kind, line.verdict, line.moves, line.message) == (
        "noted",
        "noted",
        (),
        "Somebody put one down.",
    )
    session.close()
    assert Session.reopen(log, session.id, games).ledger.state.pegs == ("red",)


def test_what_was_heard_is_taken_back_as_any_ruling(session):
    session.hear({"player": "red", "put": "secretly"})
    session.command(Undo())
    assert session.ledger.state.pegs == ()


def test_recorded_inputs_are_heard_before_the_first_frame_that_is_not_older(session, seen, piece):
    put = Input(600, {"player": "red", "put": "secretly"}, "inputs.jsonl: line 1")
    late = Input(9000, {"player": "red", "put": "blindly"}, "inputs.jsonl: line 2")
    blue = piece("blue", 100, 100)
    red = piece("red", 200, 100)
    referee(
        session, *(seen(at_ms, blue, red) for at_ms in range(0, 1500, 250)), inputs=[put, late]
    ).run()
    assert kinds(session) == [
        (600, "InputRecorded", ("red",)),
        (750, "VerdictReached", ("blue",)),
        (9000, "VerdictReached", ("red",)),
    ]


def test_a_table_that_was_judged_is_judged_again_when_something_was_heard(session, seen, piece):
    pieces = [piece("red", 100, 100), piece("blue", 200, 100)]
    put = Input(1100, {"player": "red", "put": "secretly"}, "inputs.jsonl: line 1")
    eyes = referee(session, *(seen(at_ms, *pieces) for at_ms in range(0, 2000, 250)), inputs=[put])
    eyes.run()
    assert kinds(session) == [
        (1100, "InputRecorded", ("red",)),
        (1250, "VerdictReached", ("blue",)),
    ]


def test_an_input_that_nobody_understands_ends_it_with_its_line(session, seen):
    with pytest.raises(InputError, match=r"inputs\.jsonl: line 3: expected put or hand"):
        referee(
            session, seen(500), inputs=[Input(100, {"sung": True}, "inputs.jsonl: line 3")]
        ).run()


def test_what_a_button_points_at_is_told_at_once_and_until_it_points_elsewhere(
    session, seen, piece
):
    leans, statuses = piece("red", 50, 50, pose="leaning"), []
    points = {1000: (2, "it counts"), 2000: (2, "")}

    def meanwhile(at_ms):
        before = eyes.latest
        if at_ms in points:
            eyes.point_at(*points[at_ms])
            assert eyes.wait(before.stamp, 0.0).pointed == points[at_ms]
        statuses.append((at_ms, eyes.latest.pointed, eyes.latest.message))

    eyes = referee(
        session, *(seen(at_ms, leans) for at_ms in range(0, 3000, 250)), meanwhile=meanwhile
    )
    eyes.run()
    assert {at_ms for at_ms, pointed, _ in statuses if pointed == points[1000]} == {
        1000,
        1250,
        1500,
        1750,
    }
    assert {message for at_ms, _, message in statuses if at_ms >= 1000} == {
        "Does the leaning piece count?"
    }


class Strict(Variant):
    """Pegs, but a table with another number of pieces than the record is out of step with it."""

    def judge(self, state, table, before, board):
        if abs(len(table.pieces) - len(state.pegs)) > 1:
            return OutOfSync(
                code="pegs.out_of_sync",
                message="The table does not match the record.",
                differences=(f"{len(table.pieces)} lie there.",),
            )
        return self.game.judge(state, table, before, board)


def test_a_table_out_of_step_is_told_once_until_table_or_record_is_put_right(
    log, started, games, seen, piece
):
    session = Session.begin(log, started, games={"pegs": Strict(games["pegs"])})
    three = [piece(colour, 100 * k, 100) for k, colour in enumerate(("red", "blue", "red"), 1)]
    steps = [
        *(seen(at_ms, *three[:2]) for at_ms in range(0, 1500, 250)),
        *(seen(at_ms, *three) for at_ms in range(1500, 3000, 250)),
    ]
    eyes = referee(session, *steps)
    eyes.run()
    ((at_ms, _, _),) = kinds(session)
    (event,) = (record.event for record in session.records(1))
    assert (at_ms, event.verdict, event.evidence["differences"]) == (
        500,
        "out_of_sync",
        ["2 lie there."],
    )
    (line,) = session.view().verdicts
    assert line.verdict == "out_of_sync"


def test_a_table_out_of_step_is_judged_again_when_the_record_is_changed(
    log, started, games, seen, piece
):
    session = Session.begin(log, started, games={"pegs": Strict(games["pegs"])})
    two = [piece("red", 100, 100), piece("blue", 200, 100)]
    statuses = []

    def meanwhile(at_ms):
        statuses.append(eyes.latest.status)
        if at_ms == 1500:
            session.command(Declare(moves=("red",)))

    eyes = referee(
        session, *(seen(at_ms, *two) for at_ms in range(0, 3000, 250)), meanwhile=meanwhile
    )
    eyes.run()
    assert "out of sync" in statuses
    assert [
        (type(event).__name__, event.moves)
        for event in (record.event for record in session.records(2))
    ] == [("Declared", ("red",)), ("VerdictReached", ("blue",))]


def test_refused_twice_for_the_same_is_told_once(session, seen, piece):
    """A nudge makes the table another one to look at, but the refusal stands as long as the table
    is not put right.
    """
    first, nudged = (
        [seen(at_ms, piece("blue", x_mm, 100)) for at_ms in range(start_ms, start_ms + 1000, 250)]
        for start_ms, x_mm in ((0, 100), (1000, 110))
    )
    back = [seen(at_ms) for at_ms in range(2000, 3000, 250)]
    again = [seen(at_ms, piece("blue", 100, 100)) for at_ms in range(3000, 4000, 250)]
    referee(session, *first, *nudged, *back, *again).run()
    assert [(record.at_ms, record.event.verdict) for record in session.records(1)] == [
        (500, "refused"),
        (3500, "refused"),
    ]


def test_events_that_are_noted_have_their_own_fact(session):
    session.hear({"player": "red", "put": "secretly"})
    (record,) = session.records(1)
    assert isinstance(record.event, InputRecorded)
    assert not isinstance(record.event, VerdictReached)
    assert record.event.state["scores"] == {"red": 1, "blue": 0}


class Askable(Variant):
    """Pegs, but a piece that leans may be put right by the players."""

    def judge(self, state, table, before, board):
        verdict = self.game.judge(state, table, before, board)
        return (
            replace(verdict, withdrawn_if_table_changes=True)
            if isinstance(verdict, Ambiguous)
            else verdict
        )


def test_a_question_about_a_piece_falls_when_the_piece_is_put_right(
    log, started, games, seen, piece
):
    session = Session.begin(log, started, games={"pegs": Askable(games["pegs"])})
    leans, lies = piece("red", 100, 100, pose="leaning"), piece("red", 100, 100)
    frames = [seen(at_ms, leans) for at_ms in range(0, 1500, 250)] + [seen(1500, leans, hand=True)]
    referee(session, *frames, *(seen(at_ms, lies) for at_ms in range(1750, 3000, 250))).run()
    assert [(record.at_ms, type(record.event).__name__) for record in session.records(1)] == [
        (500, "QuestionAsked"),
        (2250, "Undone"),
        (2500, "VerdictReached"),
    ]
    assert session.ledger.state.pegs == ("red",)


def test_a_question_is_still_open_when_the_program_begins_again(log, started, games, seen, piece):
    games = {"pegs": Askable(games["pegs"])}
    session = Session.begin(log, started, games=games)
    leans = piece("red", 100, 100, pose="leaning")
    referee(session, *(seen(at_ms, leans) for at_ms in range(0, 1500, 250))).run()
    session.close()
    again = Session.reopen(log, session.id, games)
    referee(again, *(seen(at_ms, leans) for at_ms in range(2000, 3500, 250))).run()
    assert again.ledger.question is not None
    assert len(again.records(1)) == 1


def test_what_is_heard_waits_where_it_would_leave_an_open_question_without_a_legal_answer(session):
    asked = session.append(
        QuestionAsked(
            code="pegs.leans",
            message="Does it count?",
            choices=(Choice(label="it counts", moves=("red",)),),
            player="red",
        )
    )
    assert session.hear({"player": "red", "put": "blindly"}) is None
    with pytest.raises(
        InputError, match=f"question {asked.seq} is open: answer or withdraw it first"
    ):
        session.command(Hear(heard={"player": "red", "put": "blindly"}))
    session.command(Answer(question=asked.seq, label="it counts"))
    session.append(
        QuestionAsked(
            code="pegs.leans",
            message="Which?",
            choices=(
                Choice(label="both", moves=("blue", "red")),
                Choice(label="red", moves=("red",)),
            ),
        )
    )
    assert session.hear({"player": "blue", "put": "blindly"}).event.moves == ("blue",)
