"""What is asked only where the table stays as it is, and an answer that counts without moves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engines.verdict import CannotSee, OutOfSync, Waiting
from referee.sessions.commands import Answer, Undo
from referee.sessions.events import Answered, QuestionAsked
from referee.sessions.session import Session
from tests.support.scripted_eyes import referee
from tests.support.variants import NOT_SO, THERE, Looking, Variant

STAYS = range(0, 9000, 250)


@pytest.fixture
def looking(log, started, games):
    """A session in which red has put one down."""
    session = Session.begin(log, started, games={"pegs": Looking(games["pegs"])})
    session.hear({"player": "red", "put": "blindly"})
    yield session
    session.close()


def asked(session):
    return [
        record.at_ms for record in session.records(1) if isinstance(record.event, QuestionAsked)
    ]


def test_a_table_that_stays_so_is_asked_about_once(looking, seen):
    referee(looking, *(seen(at_ms) for at_ms in STAYS)).run()
    assert asked(looking) == [5750], "5 s after it was judged first"


def test_nobody_is_asked_while_hands_come_and_go_or_the_piece_comes_back(looking, seen, piece):
    busy = [seen(at_ms, hand=at_ms % 4000 < 500) for at_ms in STAYS]
    referee(looking, *busy).run()
    assert asked(looking) == []
    red = piece("red", 100, 100)
    referee(looking, *(seen(at_ms, *[red] * (at_ms > 3000)) for at_ms in STAYS)).run()
    assert asked(looking) == []


@pytest.mark.parametrize(("label", "again"), [(THERE, False), (NOT_SO, True)])
def test_an_answer_stands_until_somebody_is_at_the_table(looking, seen, label, again):
    """A hand comes and goes at 10 s: whoever said that the piece is not there is asked again."""

    def meanwhile(at_ms):
        if at_ms == 7000:
            looking.command(
                Answer(question=looking.ledger.question.seq, label=label, decided_by="Anna")
            )

    referee(
        looking,
        *(seen(at_ms, hand=10_000 <= at_ms < 11_000) for at_ms in range(0, 20_000, 250)),
        meanwhile=meanwhile,
    ).run()
    assert len(asked(looking)) == 1 + again
    answered = next(
        record.event for record in looking.records(1) if isinstance(record.event, Answered)
    )
    assert (answered.confirms_record, answered.decided_by, answered.moves) == (
        not again,
        "Anna",
        (),
    )
    assert looking.ledger.state.pegs == ("red",)


def not_seen(asks):
    return CannotSee(code="pegs.unseen", message="One is not seen.", asks=asks)


def out_of_step(asks):
    return OutOfSync(
        code="pegs.unseen", message="Fix the table.", differences=("One is missing.",), asks=asks
    )


@pytest.mark.parametrize(
    ("wrong", "status"), [(not_seen, "cannot see"), (out_of_step, "out of sync")]
)
def test_what_was_told_is_asked_about_too_and_holds_until_people_say_otherwise(
    log, started, games, seen, wrong, status
):
    session = Session.begin(log, started, games={"pegs": Looking(games["pegs"], wrong)})
    session.hear({"player": "red", "put": "blindly"})
    labels, statuses = {7000: NOT_SO, 15_000: THERE}, {}

    def meanwhile(at_ms):
        statuses[at_ms] = eyes.latest.status
        if at_ms in labels:
            session.command(Answer(question=session.ledger.question.seq, label=labels[at_ms]))

    table = seen(0)
    eyes = referee(
        session,
        *(
            replace(table, at_ms=at_ms, hand=8000 <= at_ms < 8500)
            for at_ms in range(0, 18_000, 250)
        ),
        meanwhile=meanwhile,
    )
    eyes.run()
    assert len(asked(session)) == 2
    assert [statuses[at_ms] for at_ms in (5000, 6500, 12_000, 17_000)] == [
        status,
        "asking",
        status,
        "waiting",
    ]
    session.close()


def test_an_answer_that_is_taken_back_is_asked_again(looking, seen):
    def meanwhile(at_ms):
        if at_ms == 7000:
            looking.command(Answer(question=looking.ledger.question.seq, label=THERE))
        if at_ms == 8000:
            looking.command(Undo())

    referee(looking, *(seen(at_ms) for at_ms in range(0, 10_000, 250)), meanwhile=meanwhile).run()
    assert looking.ledger.question.event.message == "Is it there?"


class NotSetUp(Variant):
    """Pegs, but for a start that no reading of one piece explains; play could go on from it."""

    def judge(self, _state, _table, before, _board):
        differences = () if before else ("A piece is on the wrong square.",)
        return Waiting(
            code="pegs.start",
            message="Set the board up.",
            differences=differences,
            as_recorded=not differences,
        )


@pytest.mark.parametrize("moves_ms", [0, 10_000])
def test_a_start_that_nothing_explains_is_told_of_soon_and_asked_about_when_nobody_sets_it_up(
    log, started, games, seen, piece, moves_ms
):
    """Whoever sets a board up takes some seconds for each piece."""
    session = Session.begin(log, started, games={"pegs": NotSetUp(games["pegs"])})
    tables = [
        seen(at_ms, piece("red", 50 if at_ms >= moves_ms else 90, 50))
        for at_ms in range(0, 50_000, 250)
    ]
    referee(session, *tables).run()
    delays_ms = [
        record.at_ms - moves_ms for record in session.records(1) if record.at_ms >= moves_ms
    ]
    assert [type(record.event) for record in session.records(1)][-1] is QuestionAsked
    soon_ms, asked_ms = delays_ms
    assert 1250 <= soon_ms <= 2500
    assert 15_000 <= asked_ms <= 30_000
    session.close()
