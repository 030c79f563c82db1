"""What the referee does when it is started again in the middle of a session."""

from __future__ import annotations

from types import SimpleNamespace

from engines.verdict import Accepted
from referee.loop import Referee
from referee.session import Session


def test_a_set_up_is_accepted_once_though_the_program_is_started_again(log, started, games, film_of, hold, red):
    def judge(state, seen, before, board):
        begins = before is None and not state.pegs
        return Accepted(code="pegs.start", said="Begin.", moves=()) if begins else games["pegs"].judge(state, seen, before, board)

    begun = {"pegs": SimpleNamespace(**vars(games["pegs"]) | {"judge": judge})}
    Session.begin(log, started, games=begun).close()
    for tables in ([hold(0)], [hold(2000), hold(4000, red)]):
        session = Session.reopen(log, 1, games=begun)
        film = film_of(*(shot for table in tables for shot in table))
        Referee(film, SimpleNamespace(board=None), film.observe, session).run()
    assert [record.event.code for record in session.records(1)] == ["pegs.start", "pegs.put"]
    assert session.records()[-1].event.evidence["before"] == 0, "the table of the set-up is known to the judge"
