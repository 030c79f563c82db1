"""Whoever appeals against a ruling is offered what else may have happened there, and each of it can
be put on record.
"""

from __future__ import annotations

import pytest

from referee.sessions.commands import Correct, Undo
from referee.sessions.events import (
    Choice,
    InputRecorded,
    QuestionAsked,
    SessionStarted,
    VerdictReached,
)
from referee.sessions.session import Session
from table.errors import InputError


@pytest.fixture
def storm(log):
    return Session.begin(log, SessionStarted(game="ice_storm", players=("green", "black", "red")))


def throw(session, *moves, verdict="accepted", **more):
    return session.append(
        VerdictReached(verdict=verdict, code="storm.throw", message="", moves=moves, **more)
    )


def moves(offered):
    return [choice.moves for choice in offered]


def test_each_that_is_offered_may_replace_the_ruling(storm):
    first = throw(storm, "throw green c4-c5>c5")
    throw(storm, "throw black e2")
    offered = storm.alternatives(first.seq)
    assert offered[0].moves == ("throw green c4-c5>c4",)
    assert ("throw green off",) in moves(offered)
    assert 2 < len(offered) <= 13, "a page full, and that nothing happened"
    for choice in offered:
        storm.command(Correct(record=first.seq, moves=choice.moves))
        assert [entry.moves for entry in storm.ledger.standing] == [
            choice.moves,
            ("throw black e2",),
        ]
    again = storm.alternatives(first.seq)[0]
    assert (again.label, again.moves) == ("As ruled before", ("throw green c4-c5>c5",)), (
        "a correction may be appealed against as well"
    )


def test_what_would_make_later_rulings_illegal_is_not_offered(storm):
    first = throw(storm, "throw green c4")
    throw(storm, "throw black e2: green1 off")
    offered = moves(storm.alternatives(first.seq))
    assert ("throw green off",) not in offered, "black could not have knocked it off"
    assert () not in offered, "black would have thrown out of turn"
    assert ("throw green c5>c5",) not in offered
    assert ("throw green c4-c5>c4",) in offered


def test_that_nothing_happened_comes_last(storm):
    last = throw(storm, "throw green c4")
    assert storm.alternatives(last.seq)[-1] == Choice(label="Nothing that counts happened")


def test_a_table_out_of_step_may_be_explained(storm):
    throw(storm, "throw green c4")
    gone = throw(
        storm,
        verdict="out_of_sync",
        evidence={"may_be": {"It is out of sight": "throw black off: green1 off"}},
    )
    assert moves(storm.alternatives(gone.seq)) == [("throw black off: green1 off",)]
    assert storm.alternatives(gone.seq)[0].label == "It is out of sight"
    misread = throw(
        storm,
        "throw red b2",
        verdict="refused",
        evidence={"may_be": {"It is black": "throw black b2"}},
    )
    assert storm.alternatives(misread.seq) == (
        Choice(label="It is black", moves=("throw black b2",)),
    )
    old = throw(storm, verdict="out_of_sync", evidence={"may_be": ["throw black off"]})
    assert moves(storm.alternatives(old.seq)) == [("throw black off",)], "as logs had it before"
    refused = throw(storm, "throw red b2", verdict="refused")
    assert () not in moves(storm.alternatives(refused.seq)), "nothing of it counts anyway"


def test_what_is_secret_stays_so_and_what_is_no_ruling_is_said(session):
    with pytest.raises(InputError, match="record 1 is not a ruling of this game"):
        session.alternatives(1)
    noted = session.append(
        InputRecorded(code="pegs.secret", message="", moves=("red",), secret=True)
    )
    assert session.alternatives(noted.seq) == ()
    session.append(
        QuestionAsked(
            code="pegs.leans", message="", choices=(Choice(label="yes", moves=("blue",)),)
        )
    )
    with pytest.raises(InputError, match="question 3 is open"):
        session.alternatives(noted.seq)
    session.command(Undo())
    assert session.alternatives(noted.seq) == ()


def test_a_page_full_is_offered_at_most(storm):
    """Twelve, nearest first, though a whole board of them would be legal."""
    squares = [f"{column}{row}" for column in "abcdefgh" for row in range(1, 9)]
    may_be = {f"It lies on {square}": f"throw green {square}" for square in squares}
    refused = throw(storm, verdict="refused", evidence={"may_be": may_be})
    offered = moves(storm.alternatives(refused.seq))
    assert offered == [(move,) for move in list(may_be.values())[:12]]
