"""Going on with a session, after a power cut for instance."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from referee.sessions.commands import Resign, Undo
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted, VerdictReached
from referee.sessions.session import Session
from referee.sessions.start import opening, parse_names, played_setup, reopened, resumable_session
from table.errors import InputError
from table.table_config import CoverDice, parse_table
from tests.support.pictures import TABLE

SETUP = parse_table(TABLE)
BEGUN = datetime(2026, 11, 21, tzinfo=UTC)


@pytest.fixture
def path(tmp_path):
    """A log whose only session was cut off after the target stood."""
    path = tmp_path / "log.sqlite"
    with Log(path) as log:
        session = Session.begin(
            log,
            opening(
                "ice_boule", ("red", "blue"), {"repeat": "next"}, SETUP, "folder frames", BEGUN
            ),
        )
        session.append(
            VerdictReached(
                verdict="accepted", code="boule.target", message="", moves=("target green",)
            )
        )
    return path


def test_a_session_that_was_cut_off_goes_on_where_it_was(path):
    with Log(path) as log:
        session = reopened(log, 1, SETUP, "folder frames", BEGUN)
        assert session.ledger.players == ("red", "blue")
        assert session.ledger.options == {"repeat": "next"}
        assert str(session.ledger.state.target) == "green"
        assert (
            session.append(
                VerdictReached(verdict="cannot_see", code="boule.vanished", message="")
            ).seq
            == 4
        )
        assert parse_table(log.records(1)[2].event.table) == SETUP


def test_a_session_that_was_ended_goes_on_too(path):
    """Ctrl-C at the wrong moment, or a Pi that was shut down for dinner, costs nobody a game."""
    with Log(path) as log:
        session = Session.reopen(log, 1)
        session.end("Rinkside was ended")
        with pytest.raises(
            InputError, match=r"the session has ended: .* rinkside play --resume 1$"
        ):
            session.command(Undo())
        assert log.sessions()[0].ended
        again = reopened(log, 1, SETUP, "folder frames", BEGUN)
        assert again.view().phase == "playing"
        again.command(Undo())
        assert again.ledger.state.target is None
        assert not log.sessions()[0].ended
        again.end()
        assert log.sessions()[0].ended


def test_the_latest_session_is_resumed_unless_its_game_is_over(path):
    with Log(path) as log:
        assert resumable_session(log, SETUP) == 1
        session = Session.reopen(log, 1)
        session.end("Rinkside was ended")
        assert resumable_session(log, SETUP) == 1
        session = reopened(log, 1, SETUP, "folder frames", BEGUN)
        session.command(Resign(player="red"))
        assert session.ledger.outcome is not None
        assert resumable_session(log, SETUP) is None
        begun = opening("ice_boule", ("red", "blue"), {}, SETUP, "folder frames", BEGUN)
        assert resumable_session(log, SETUP) is None
        number = Session.begin(log, begun).id
        assert resumable_session(log, SETUP) == number


def test_simulated_and_real_sessions_are_not_taken_for_each_other(path):
    with Log(path) as log:
        begun = opening("ice_boule", ("red", "blue"), {}, SETUP, "simulated table 3", BEGUN, True)
        number = Session.begin(log, begun).id
        assert resumable_session(log, SETUP, simulated=True) == number
        assert resumable_session(log, SETUP) == 1


def test_a_log_without_sessions_has_none_to_resume(tmp_path):
    with Log(tmp_path / "log.sqlite") as log:
        assert resumable_session(log, SETUP) is None


def test_the_latest_session_of_another_table_is_refused_in_one_line(path):
    other = parse_table(
        TABLE | {"camera": TABLE["camera"] | {"width": TABLE["camera"]["width"] * 2}}
    )
    with (
        Log(path) as log,
        pytest.raises(InputError, match=r"^--resume 1: expected the lens") as error,
    ):
        resumable_session(log, other)
    assert "\n" not in str(error.value)


def test_another_table_cannot_go_on_with_it(path):
    with Log(path) as log:
        other = log.append(SessionStarted(game="ice_boule", players=("red", "yellow")), 0).session
        with pytest.raises(
            InputError, match=r"expected colours of table\.json \(red, blue\), got 'yellow'"
        ):
            reopened(log, other, SETUP, "folder frames", BEGUN)
        with pytest.raises(InputError, match="expected the number of a session"):
            reopened(log, 77, SETUP, "folder frames", BEGUN)


def test_names_of_people_are_kept_with_the_session(path):
    names = parse_names("red=Anna, blue = Ben Ash")
    assert names == {"red": "Anna", "blue": "Ben Ash"}
    with Log(path) as log:
        session = Session.begin(
            log,
            opening("ice_boule", ("red", "blue"), {}, SETUP, "folder frames", BEGUN, names=names),
        )
        assert session.view().names == names
        assert Session.reopen(log, session.id).ledger.started.names == names


@pytest.mark.parametrize(
    "text",
    [
        "red",
        "red=",
        "=Anna",
        "red=Anna,red=Ben",
        "red=Anna,blue=Anna",
        "red=A\x1bB",
        f"red={'a' * 41}",
        "",
    ],
)
def test_names_that_are_none_are_refused(text):
    with pytest.raises(InputError, match="--names: expected"):
        parse_names(text)


def test_only_players_have_names():
    with pytest.raises(
        InputError, match=r"--names: expected names for players \(red, blue\), got one for 'green'"
    ):
        opening(
            "ice_boule", ("red", "blue"), {}, SETUP, "folder frames", BEGUN, names={"green": "Anna"}
        )


@pytest.mark.parametrize(
    ("rulings", "edge_mm"), [({"cover": "on"}, 16.0), ({"cover": "off"}, None), ({}, None)]
)
def test_one_ruling_is_enough_for_cover_dice_to_be_looked_for(rulings, edge_mm):
    dice = played_setup("zamboni_wars", SETUP, rulings).cover_dice
    assert (dice and dice.edge_mm) == edge_mm
    other = msgspec.structs.replace(SETUP, cover_dice=CoverDice(edge_mm=12.0))
    assert played_setup("zamboni_wars", other, rulings) is other
    recorded = opening(
        "zamboni_wars", ("red", "blue"), rulings, SETUP, "folder frames", BEGUN
    ).table
    assert ("cover_dice" in recorded) == (edge_mm is not None)
