"""How players play: quartiles of gaps, refused moves, pieces taken for each throw."""

from __future__ import annotations

import pytest

from engines.ice_boule.layout import Lie
from engines.statistics import Thrown
from referee.sessions.commands import Correct, NextGame, Undo
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted, VerdictReached
from referee.sessions.session import Session
from referee.statistics.practice import practice, practices, spread
from table.messages import msg
from tests.support.boule_games import won_by_blue

BOULE = SessionStarted(game="ice_boule", players=("blue", "yellow"), names={"blue": "Anna"})


def thrown(gap_mm, sigma_mm=0.1, player="blue", on_target=False):
    lie = None if gap_mm is None else Lie(player, gap_mm, on_target)
    return Thrown(1, 0, player, "large", lie, sigma_mm, None, False)


def counted(session, log):
    return practices(session.ledger, log.records(session.id))


def test_quartiles_are_those_of_all_throws_in_play():
    found = spread([thrown(mm) for mm in (40, 10, 20, 30)] + [thrown(0, on_target=True)])
    assert (found.throws, found.low_mm, found.median_mm, found.high_mm) == (5, 10, 20, 30)
    assert found.margin_mm == pytest.approx(0.196)
    assert spread([thrown(None), thrown(None)]) is None
    one = spread([thrown(7.5)])
    assert (one.low_mm, one.median_mm, one.high_mm) == (7.5, 7.5, 7.5)


def test_the_margin_is_that_of_the_throws_in_the_middle():
    two = spread([thrown(10, 0.3), thrown(20, 0.4)])
    assert two.median_mm == 15
    assert two.margin_mm == pytest.approx(1.96 * 0.25)
    assert spread([thrown(10, 0.3), thrown(20, None), thrown(30, 0.3)]).margin_mm is None
    assert spread([thrown(10, None), thrown(20, 0.3), thrown(30, None)]).margin_mm is not None


def test_throws_of_a_game_are_counted_for_their_player(tmp_path):
    with Log(tmp_path / "log.sqlite") as log:
        session = Session.begin(log, BOULE)
        won_by_blue(session, 12.0)
        session.close()
        (game,) = counted(session, log)
    blue, yellow = practice([(game, "blue")]), practice([(game, "yellow")])
    assert (blue.games, blue.out, blue.gaps.median_mm) == (1, 0, 12.0)
    assert blue.throws == blue.gaps.throws > 0
    assert yellow.throws == yellow.out > 0
    assert yellow.gaps is None
    both = practice([(game, "blue"), (game, "blue")])
    assert both.throws == 2 * blue.throws


def refused(session, player="red"):
    verdict = VerdictReached(
        verdict="refused", code="test", message=msg("No."), player=player, moves=("A1-B1",)
    )
    return session.append(verdict).seq


def ruled(session, player="red"):
    move = next(iter(session.ledger.engine.legal_moves(session.ledger.state)))
    verdict = VerdictReached(
        verdict="accepted", code="test", message=msg("Ok."), player=player, moves=(str(move),)
    )
    session.append(verdict)
    return str(move)


def test_refused_moves_that_people_put_right_are_none(tmp_path):
    started = SessionStarted(game="icebreaker", players=("red", "blue"))
    with Log(tmp_path / "log.sqlite") as log:
        session = Session.begin(log, started)
        refused(session)
        seq = refused(session)
        move = ruled(session)
        session.command(Undo())
        session.command(Correct(record=seq, moves=(move,), decided_by="host"))
        session.command(NextGame())
        refused(session, "blue")
        session.command(NextGame())
        refused(session, "red")
        session.close()
        games = counted(session, log)
    assert [(dict(one.refused), dict(one.ruled)) for one in games] == [
        ({"red": 1}, {"red": 3}),
        ({"blue": 1}, {"blue": 1}),
        ({"red": 1}, {"red": 1}),
    ]


def test_a_game_that_was_taken_back_counts_nothing(tmp_path):
    started = SessionStarted(game="icebreaker", players=("red", "blue"))
    with Log(tmp_path / "log.sqlite") as log:
        session = Session.begin(log, started)
        refused(session)
        session.command(NextGame())
        refused(session)
        session.command(Undo(record=session.ledger.game_seq))
        refused(session)
        session.close()
        games = counted(session, log)
    assert [one.refused["red"] for one in games] == [2]


def test_pieces_of_ice_storm_are_counted_for_each_throw(tmp_path):
    started = SessionStarted(game="ice_storm", players=("red", "blue", "yellow"))
    moves = ("throw red d4", "throw blue d5", "low blue", "throw blue d6", "throw yellow off")
    with Log(tmp_path / "log.sqlite") as log:
        session = Session.begin(log, started)
        for move in moves:
            session.append(
                VerdictReached(verdict="accepted", code="t", message=msg("Ok."), moves=(move,))
            )
        session.close()
        (game,) = counted(session, log)
    assert game.tries == {"red": 1, "blue": 1, "yellow": 1}
    assert practice([(game, "red")]).tries == 1
