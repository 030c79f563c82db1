"""Going on with a session, after a power cut for instance."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from referee.events import Ruled, SessionStarted
from referee.log import Log
from referee.opening import opening, reopened
from referee.session import Session
from table.errors import InputError
from table.setup import parse_table
from tests.vision.test_cameras import TABLE

SETUP = parse_table(TABLE)
BEGUN = datetime(2026, 11, 21, tzinfo=UTC)


@pytest.fixture
def path(tmp_path):
    """A log whose only session was cut off after the target stood."""
    path = tmp_path / "log.sqlite"
    with Log(path) as log:
        session = Session.begin(log, opening("ice_boule", ("red", "blue"), {"repeat": "next"}, SETUP, "folder frames", BEGUN))
        session.append(Ruled(verdict="accepted", code="boule.target", said="", moves=("target green",)))
    return path


def test_a_session_that_was_cut_off_goes_on_where_it_was(path):
    with Log(path) as log:
        session = reopened(log, 1, SETUP)
        assert session.ledger.players == ("red", "blue")
        assert session.ledger.options == {"repeat": "next"}
        assert str(session.ledger.state.target) == "green"
        assert session.append(Ruled(verdict="cannot_see", code="boule.vanished", said="")).seq == 3


def test_a_session_that_has_ended_stays_ended(path):
    with Log(path) as log:
        Session.reopen(log, 1).end("everybody went home")
        with pytest.raises(InputError, match="session 1: expected one that goes on, but it has ended"):
            reopened(log, 1, SETUP)


def test_another_table_cannot_go_on_with_it(path):
    with Log(path) as log:
        other = log.append(SessionStarted(game="ice_boule", players=("red", "yellow")), 0).session
        with pytest.raises(InputError, match=r"expected colours of table\.json \(red, blue\), got 'yellow'"):
            reopened(log, other, SETUP)
        with pytest.raises(InputError, match="expected the number of a session"):
            reopened(log, 77, SETUP)
