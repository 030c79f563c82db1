"""Which votes are hidden, and what a command would do to them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.sessions.commands import Answer, Correct, Declare, Hear, Pause, Undo
from referee.sessions.events import Choice, QuestionAsked, VerdictReached
from referee.sessions.secret_votes import AffectedVotes, affected_votes, hidden_votes
from referee.sessions.session import Session
from tests.support.variants import Variant

REVEAL = "reveal"


class Voting(Variant):
    """Pegs in which players vote (`vote red 1`), and all votes are shown by `reveal`."""

    def play(self, state, move):
        return replace(state, pegs=(*state.pegs, move))

    def outcome(self, _state):
        return None

    def parse_move(self, text):
        if text == "nonsense":
            raise ValueError("expected a move")
        return text

    def secret_voter(self, spoken):
        if isinstance(spoken, str):
            word, _, rest = spoken.partition(" ")
            return rest.split()[0] if word == "vote" else None
        return spoken["player"] if "vote" in spoken else None

    def hidden_voters(self, state):
        since = state.pegs[len(state.pegs) - (*reversed(state.pegs), REVEAL).index(REVEAL) :]
        return tuple(dict.fromkeys(filter(None, map(self.secret_voter, since))))


@pytest.fixture
def voted(log, started, games):
    """voted("vote red 1", ...): a session with a record for each, the first one number 2."""
    sessions = []

    def make(*moves):
        session = Session.begin(log, started, games={"pegs": Voting(games["pegs"])})
        sessions.append(session)
        for move in moves:
            session.append(
                VerdictReached(verdict="accepted", code="pegs.put", message="", moves=(move,))
            )
        return session

    yield make
    for session in sessions:
        session.close()


NONE = AffectedVotes()
RED = AffectedVotes(frozenset(["red"]))


@pytest.mark.parametrize(
    ("moves", "hidden"),
    [
        ((), {}),
        (("red", "blue"), {}),
        (("vote red 1",), {"red": 2}),
        (("vote blue 1", "red", "vote red 2", "blue"), {"red": 4, "blue": 2}),
        (("vote red 1", "vote red 2"), {"red": 3}),
        (("vote red 1", "vote blue 1", REVEAL), {}),
        (("vote red 1", "vote blue 1", REVEAL, "vote red 1"), {"red": 5}),
    ],
)
def test_votes_are_hidden_from_the_record_that_cast_them_until_they_are_revealed(
    voted, moves, hidden
):
    assert hidden_votes(voted(*moves).ledger) == hidden


@pytest.mark.parametrize(
    ("command", "affected"),
    [
        (Hear(heard={"player": "red", "vote": 1}), RED),
        (Hear(heard={"player": "red", "put": "blindly"}), NONE),
        (Declare(moves=("vote red 1",)), replace(RED, aloud=True)),
        (Declare(moves=("blue",)), NONE),
        (Declare(moves=("nonsense",)), NONE),
        (Declare(moves=("blue", "red")), NONE),
        (Undo(), NONE),
        (Undo(record=2), NONE),
        (Correct(record=2, moves=("blue",)), NONE),
        (Correct(record=2, moves=("red", "vote red 1")), replace(RED, aloud=True)),
        (Pause(), NONE),
    ],
)
def test_where_no_vote_is_hidden_only_new_votes_are_touched(voted, command, affected):
    assert affected_votes(voted("red").ledger, command) == affected


@pytest.mark.parametrize(
    ("command", "affected"),
    [
        (Declare(moves=("blue",)), NONE),
        (Declare(moves=("blue", "red")), replace(NONE, aloud=True)),
        (Undo(), RED),
        (Undo(record=2), AffectedVotes(frozenset(["blue"]))),
        (Undo(record=3), NONE),
        (Correct(record=3, moves=("blue",)), NONE),
        (Correct(record=3, moves=("blue", "red")), replace(NONE, aloud=True)),
        (Correct(record=4, moves=()), RED),
        (Correct(record=4, moves=("vote red 2",)), replace(RED, aloud=True)),
        (
            Correct(record=4, moves=("vote blue 2",)),
            AffectedVotes(frozenset(["red", "blue"]), aloud=True),
        ),
        (Answer(question=9, label="yes"), NONE),
    ],
)
def test_hidden_votes_are_touched_by_what_takes_them_back_or_goes_on_behind_them(
    voted, command, affected
):
    assert affected_votes(voted("vote blue 1", "red", "vote red 1").ledger, command) == affected


def test_a_vote_that_was_revealed_may_be_corrected_and_no_other_one_with_it(voted):
    ledger = voted("vote red 1", REVEAL).ledger
    assert affected_votes(ledger, Correct(record=2, moves=("vote red 2",))) == NONE
    both = affected_votes(ledger, Correct(record=2, moves=("vote red 2", "vote blue 2")))
    assert both == AffectedVotes(frozenset(["blue"]), aloud=True)
    twice = affected_votes(ledger, Correct(record=2, moves=("vote red 2", "vote red 3")))
    assert twice == replace(RED, aloud=True)


def test_an_answer_casts_the_votes_of_its_question(voted):
    session = voted("vote blue 1")
    choices = (Choice(label="yes", moves=("vote red 1",)), Choice(label="no"))
    session.append(QuestionAsked(code="pegs.vote", message="Did red vote?", choices=choices))
    assert affected_votes(session.ledger, Answer(question=3, label="no")) == RED
    assert affected_votes(session.ledger, Undo()) == NONE, "it takes the question back"
    assert affected_votes(session.ledger, Undo(record=2)).voters == {"blue"}


def test_nothing_is_taken_back_where_nothing_stands(voted):
    assert affected_votes(voted().ledger, Undo()) == NONE
