"""The table that a ruling rests on: what was seen, with what a judge knows besides."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import pytest

from referee.live.referee import Referee
from referee.sessions.judged_tables import JudgedTables
from referee.sessions.session import Session
from tests.support.setups import setup_of


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
    Referee(film, setup_of(), film.observe, session).run()
    assert before == [None, 2]
    assert [len(record.event.observation["pieces"]) for record in session.records()[1:]] == [2, 3]


@pytest.mark.parametrize(("rulings", "first"), [(1, 1), (100, 1), (101, 2), (250, 151)])
def test_the_last_hundred_tables_are_kept(rulings, first):
    """So many rulings may be taken back, and the table before is known still."""
    tables = JudgedTables()
    for seq in range(1, rulings + 1):
        tables.keep(seq, f"table {seq}")
    kept = [seq for seq in range(1, rulings + 1) if tables.newest({seq})]
    assert kept == list(range(first, rulings + 1))
    assert tables.newest({first, rulings}) == (rulings, f"table {rulings}")
