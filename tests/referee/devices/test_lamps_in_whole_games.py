"""Whole games of all five kinds through a session's records, with everything that may come between
moves: the lamps tell all of it, in order.
"""

from __future__ import annotations

from random import Random
from typing import get_args

import pytest

from engines import GAMES
from engines.verdict import (
    Accepted,
    Ambiguous,
    CannotSee,
    Choice,
    Noted,
    OutOfSync,
    Refused,
    Verdict,
    Waiting,
)
from hardware.factory import Devices
from referee.devices import controller
from referee.devices.controller import Companion
from referee.sessions.commands import Answer, Pause, Resume, Undo
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from referee.sessions.verdict_events import event_from_verdict
from simulation.players.policies import RandomPlayer, playout
from table.boards import Chessboard, Coasters, Hex, Open, Tiles

pytestmark = pytest.mark.slow

TABLES = {
    "ice_boule": (Open(outline_mm=((0, 0), (600, 0), (600, 400), (0, 400))), ("blue", "yellow"), 2),
    "icebreaker": (Hex(size=5, cell_mm=30), ("red", "black"), 12),
    "ice_storm": (Chessboard(square_mm=50), ("green", "black", "red"), 18),
    "zamboni_wars": (Coasters(cell_mm=33), ("yellow", "blue"), 12),
    "icefloe": (Tiles(cell_mm=52), ("red", "blue", "yellow"), 1),
}
"""Board, players, and the seed of a short game."""


@pytest.fixture
def lit(log, lamps, eyes, monkeypatch):
    """lit(game): a session of it, and what its lamps show next."""
    monkeypatch.setattr(controller, "POLL_S", 0.005)
    running = []

    def begin(game):
        board, players, _ = TABLES[game]
        session = Session.begin(log, SessionStarted(game=game, players=players))
        running.append((Companion(Devices(lamps), session, eyes, board), session))
        running[-1][0].start()
        return session, lamps

    yield begin
    for one, session in running:
        one.stop()
        session.close()


def signals(cue):
    """What a cue tells: (signal, whom it concerns), and the same of what follows it."""
    return (cue.signal, cue.of, *(signals(cue.then) if cue.then else ()))


def turn(engine, state):
    """Whose turn it is, or who has won, as the state says."""
    document, outcome = engine.state_document(state), engine.outcome(state)
    if outcome is None:
        whose = document.get("next") or document.get("to_move") or document.get("attacker")
        return "turn", (whose,) if whose else ()
    won = getattr(outcome, "winners", None) or (outcome.winner,)
    return "over", tuple(player for player in state.players if player in won)


def between(at, player, move):
    """What comes before this move, beside it, one after the other: verdicts that change nothing,
    and what they tell.
    """
    code = "any.thing"
    return [
        [(Refused(code=code, message="", player=player), ("refused", (player,)))],
        [(CannotSee(code=code, message=""), ("cannot see", ()))],
        [(OutOfSync(code=code, message="", differences=()), ("out of sync", ()))],
        [
            (
                Ambiguous(
                    code=code, message="", choices=(Choice("so", (move,)), Choice("not so", ()))
                ),
                ("asking", ()),
            )
        ],
        [],
    ][at % 7 % 5]


@pytest.mark.parametrize("game", GAMES)
def test_a_whole_game_is_told_in_order(lit, game):
    session, lamps = lit(game)
    engine = GAMES[game]
    expected, state = [("dark", ()), turn(engine, session.ledger.state)], session.ledger.state
    assert signals(lamps.next(1)) == expected[1]
    for at, (move, after) in enumerate(
        playout(engine, state, RandomPlayer(engine, Random(TABLES[game][2])).choose)
    ):
        player = turn(engine, state)[1][0] if turn(engine, state)[1] else state.players[0]
        for verdict, tells in between(at, player, str(move)):
            asked = session.append(event_from_verdict(verdict))
            expected.append((*tells, *turn(engine, state)) if tells[0] == "refused" else tells)
            assert signals(lamps.next(len(expected) - 1)) == expected[-1]
            if isinstance(verdict, Ambiguous) and at % 2:
                session.command(Undo(record=asked.seq))
                expected.append(("accepted", (), *turn(engine, state)))
                lamps.next(len(expected) - 1)
        if session.ledger.question is None:
            session.append(
                event_from_verdict(
                    Accepted(code="any.move", message="", moves=(str(move),), player=player)
                )
            )
            expected.append(("accepted", (player,), *turn(engine, after)))
        else:
            session.command(Answer(question=session.ledger.question.seq, label="so"))
            expected.append(("accepted", (), *turn(engine, after)))
        assert signals(lamps.next(len(expected) - 1)) == expected[-1]
        state = after
        if at == 20:
            for command, tells in ((Pause(), ("paused", ())), (Resume(), turn(engine, state))):
                session.command(command)
                expected.append(tells)
                lamps.next(len(expected) - 1)
    assert [signals(cue) for cue in lamps.cues] == expected
    assert expected[-1][-2] == "over"
    assert {tells[0] for tells in expected} >= {
        "turn",
        "refused",
        "cannot see",
        "out of sync",
        "asking",
        "accepted",
        "paused",
    }


def test_no_kind_of_verdict_is_left_out():
    """Waiting is told to nobody; what was noted (a die, a vote) changes whose turn it is, and is no
    ruling to announce.
    """
    assert set(get_args(Verdict)) == {
        Accepted,
        Refused,
        CannotSee,
        OutOfSync,
        Ambiguous,
        Noted,
        Waiting,
    }
