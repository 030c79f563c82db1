"""Statistics of Ice Storm: throws that count are counted, and those that were made again are
not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.sessions.commands import Hear, Undo
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted, VerdictReached
from referee.sessions.session import Session
from referee.statistics.history import HistoryCache
from referee.statistics.throws import hits, squares_hit
from webui.pages.history import count


@pytest.fixture
def begin(tmp_path: Path):
    """`begin(**rulings)`: a session of Ice Storm."""
    with Log(tmp_path / "log.sqlite") as log:
        yield lambda **rulings: Session.begin(
            log,
            SessionStarted(
                game="ice_storm",
                players=("red", "yellow", "blue"),
                rulings=rulings,
                names={"blue": "Ann"},
            ),
        )


def accepted(session: Session, *moves: str) -> None:
    for move in moves:
        assert session.append(
            VerdictReached(verdict="accepted", code="storm.throw", message="", moves=(move,))
        )


def statistics(session: Session):
    """Squares touched by each player, as often, and (player, target) of every piece taken."""
    touched = {
        player: sum(squares.values())
        for player, squares in squares_hit(session.ledger, session.records()).items()
    }
    return touched, [(hit.player, hit.target) for hit in hits(session.ledger, session.records())]


@pytest.mark.parametrize(("low", "taken"), [("again", [("blue", "red1")]), ("undone", [])])
def test_a_throw_that_was_made_void_after_it_was_ruled_is_no_throw(begin, low, taken):
    session = begin(low=low)
    accepted(session, "throw red b3", "throw yellow c5", "throw blue d4-d5>d5: red1 off")
    assert statistics(session) == ({"red": 1, "yellow": 1, "blue": 2}, [("blue", "red1")])
    session.command(Hear(heard={"player": "blue", "low": True}))
    assert statistics(session) == ({"red": 1, "yellow": 1, "blue": 0}, taken), (
        "what it knocked off is counted where it stays so"
    )
    accepted(session, "throw blue h8")
    assert statistics(session) == ({"red": 1, "yellow": 1, "blue": 1}, taken)
    assert sum(session.ledger.state.stacks) == len(taken)


def test_a_throw_that_is_void_before_it_is_ruled_or_leans_is_no_throw(begin):
    session = begin()
    accepted(session, "throw red b3", "low yellow")
    for why, player in (("low", "yellow"), ("leaning", "yellow")):
        again = f"throw {player} {why}: red1 c3"
        stands = (f"void {player}: red1 c3",)
        assert session.append(
            VerdictReached(
                verdict="refused",
                code=f"storm.throw.{why}",
                message="",
                player=player,
                moves=(again,),
                stands=stands,
            )
        )
    assert statistics(session) == ({"red": 1, "yellow": 0, "blue": 0}, [])
    accepted(session, "throw yellow c5")
    assert statistics(session) == ({"red": 1, "yellow": 1, "blue": 0}, [])


def test_a_word_about_a_low_hand_that_is_taken_back_counts_the_throw_again(begin):
    session = begin()
    accepted(session, "throw red b3")
    session.command(Hear(heard={"player": "red", "low": True}))
    assert statistics(session)[0]["red"] == 0
    session.command(Undo(record=session.ledger.seq))
    assert statistics(session)[0]["red"] == 1


def test_the_page_of_statistics_counts_as_the_game_does(begin, tmp_path):
    session = begin(low="undone")
    accepted(session, "throw red b3", "throw yellow c5", "throw blue d4-d5>d5: red1 off")
    session.command(Hear(heard={"player": "blue", "low": True}))
    counted = count((HistoryCache(tmp_path / "log.sqlite").of(session.id),))
    assert [player for player, _ in counted.squares] == ["red", "yellow"]
    assert counted.hits == ()


@pytest.mark.parametrize(("low", "taken"), [("again", [("blue", "red1")]), ("undone", [])])
def test_what_a_throw_out_of_sight_knocked_off_is_in_the_hit_list_as_long_as_it_counts(
    begin, low, taken
):
    session = begin(low=low)
    accepted(session, "throw red b3", "throw yellow c5", "throw blue off", "moved blue: red1 off")
    assert statistics(session)[1] == [("blue", "red1")]
    session.command(Hear(heard={"player": "blue", "low": True}))
    assert statistics(session)[1] == taken
    assert sum(session.ledger.state.stacks) == len(taken)


def test_what_counts_for_nobody_is_no_hit(begin):
    session = begin(knocked="nobody")
    accepted(session, "throw red b3", "throw yellow c5", "throw blue off: red1 off")
    assert statistics(session)[1] == []
