"""The table that a ruling rests on: what was seen, with what a judge knows besides."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

from referee.live.referee import Referee
from referee.sessions.session import Session


def test_what_a_judge_knows_besides_the_picture_is_kept_with_the_ruling(
    log, started, games, film_of, hold, piece, red, blue
):
    """The record shows it, and the next ruling rests on it."""
    hidden, before = piece("red", 200, 200), []

    def judge(state, now, last, board):
        before.append(last and len(last.pieces))
        verdict = games["pegs"].judge(state, now, last, board)
        return dataclasses.replace(
            verdict, table=dataclasses.replace(now, pieces=(*now.pieces, hidden))
        )

    film = film_of(*hold(0, red), *hold(1000, red, blue))
    session = Session.begin(
        log, started, games={"pegs": SimpleNamespace(**vars(games["pegs"]) | {"judge": judge})}
    )
    Referee(film, SimpleNamespace(board=None), film.observe, session).run()
    assert before == [None, 2]
    assert [len(record.event.observation["pieces"]) for record in session.records()[1:]] == [2, 3]
