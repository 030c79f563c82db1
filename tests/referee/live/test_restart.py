"""What the referee does when it is started again in the middle of a session."""

from __future__ import annotations

from types import SimpleNamespace

from engines.verdict import Accepted
from referee.live.referee import Referee
from referee.live.replay import rejudge
from referee.sessions.events import Reopened, SessionStarted, VerdictReached
from referee.sessions.session import Session
from simulation.players.ice_boule_table import demo_setup
from table.table_config import table_document
from tests.support.setups import setup_of


def test_a_set_up_is_accepted_once_though_the_program_is_started_again(
    log, games, film_of, hold, seen, red
):
    def judge(state, seen, before, board):
        begins = before is None and not state.pegs
        return (
            Accepted(code="pegs.start", message="Begin.", moves=())
            if begins
            else games["pegs"].judge(state, seen, before, board)
        )

    begun = {"pegs": SimpleNamespace(**vars(games["pegs"]) | {"judge": judge})}
    table = table_document(demo_setup())
    Session.begin(
        log, SessionStarted(game="pegs", players=("red", "blue"), table=table), games=begun
    ).close()
    for tables in ([hold(0)], [hold(2000), hold(4000, red)]):
        session = Session.reopen(log, 1, games=begun)
        session.append(Reopened(table=table))
        film = film_of(*(shot for table in tables for shot in table))
        Referee(film, setup_of(), film.observe, session).run()
    rulings = [
        record.event for record in session.records() if isinstance(record.event, VerdictReached)
    ]
    assert [ruling.code for ruling in rulings] == ["pegs.start", "pegs.put"]
    assert rulings[-1].evidence["before"] == 0, "the table of the set-up is known to the judge"
    again = list(
        rejudge(
            log,
            1,
            begun,
            lambda frame, *_: seen(frame.at_ms, *([red] if frame.at_ms >= 4000 else [])),
        )
    )
    assert [one.changes for one in again] == [(), ()]
    assert again[-1].now.evidence["before"] == 0, "and when it is judged again"
