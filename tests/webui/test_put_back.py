"""After an undo the panel draws what has to be done with the table."""

from __future__ import annotations

import re

import pytest

from engines.ice_boule import judge
from referee.sessions.commands import Undo
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from referee.sessions.verdict_events import document, event_from_verdict
from tests.support.ice_boule import Tables
from webui import create_app

LIFT = "Lift the pieces that are crossed out in the drawing."
LAY = "Lay pieces where the dashed outlines are."
TARGET, BLUE, YELLOW = Tables.target(), Tables.beside("blue", 40.0), Tables.beside("yellow", 20, 90)


@pytest.fixture
def thrown(tmp_path, live):
    """A session in which the target, blue and yellow were thrown; yellow's throw is undone."""
    with Log(tmp_path / "log.sqlite") as log:
        session = Session.begin(log, SessionStarted(game="ice_boule", players=("blue", "yellow")))
        before = None
        for pieces in ((TARGET,), (TARGET, BLUE), (TARGET, BLUE, YELLOW)):
            seen = Tables.seen(*pieces)
            verdict = judge(session.ledger.state, seen, before)
            session.append(event_from_verdict(verdict, document(seen, session.ledger)))
            live.become(observation=seen)
            before = seen
        session.command(Undo(decided_by="Ann"))
        yield session
        session.close()


@pytest.fixture
def page(thrown, live, as_host):
    client = as_host(create_app(thrown, live))
    return lambda: client.get("/").text


def marks(text):
    """How many pieces are crossed out, and how many outlines are dashed."""
    return len(re.findall(r'class="lift"', text)), len(re.findall(r'class="ghost', text))


def test_the_piece_that_came_is_crossed_out(page):
    text = page()
    assert marks(text) == (1, 0)
    assert LIFT in text
    assert LAY not in text
    assert "yellow large, lying: lift it" in text


def test_a_piece_that_was_knocked_is_dashed_where_it_lay(page, live):
    live.become(observation=Tables.seen(TARGET, Tables.beside("blue", 60.0), YELLOW))
    text = page()
    assert marks(text) == (2, 1)
    assert LIFT in text
    assert LAY in text


def test_nothing_is_marked_once_the_table_lies_as_before(page, live):
    live.become(observation=Tables.seen(TARGET, BLUE))
    text = page()
    assert marks(text) == (0, 0)
    assert LIFT not in text


def test_nothing_is_marked_after_the_next_ruling(page, thrown, live):
    seen = Tables.seen(TARGET, BLUE, Tables.beside("yellow", 90.0, 180))
    verdict = judge(thrown.ledger.state, seen, Tables.seen(TARGET, BLUE))
    thrown.append(event_from_verdict(verdict, document(seen, thrown.ledger)))
    live.become(observation=seen)
    assert marks(page()) == (0, 0)


def test_nothing_is_marked_where_the_earlier_table_is_not_known(page, thrown):
    thrown.command(Undo(decided_by="Ann"))
    thrown.command(Undo(decided_by="Ann"))
    assert thrown.view().earlier is None
    assert marks(page()) == (0, 0)
