"""Hostile requests to every route, by all methods, as every role: none is a mistake of the panel's,
and the table goes on.
"""

from __future__ import annotations

import random
from itertools import islice

import pytest
from werkzeug.test import run_wsgi_app

from benchmarks.attacks.hostile import hostile_requests
from benchmarks.attacks.hostile_requests import EXCUSED
from referee.live.game_setup import SettingUp
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from referee.statistics.history import HistoryCache
from table.errors import InputError
from tests.support.home_standins import StandInHome, StandInSetUp
from webui import (
    create_app,
    create_first_set_up_app,
    create_history_app,
    create_home_app,
    create_set_up_app,
)
from webui.security.codes import Codes
from webui.security.permissions import Access

pytestmark = pytest.mark.slow

EACH = 400


@pytest.fixture
def apps(session, live, log, table, tmp_path):
    """Applications by name: stand-ins, and real sessions on a real log."""
    with Log(tmp_path / "hostile.log") as opened:
        floe = Session.begin(
            opened, SessionStarted(game="icefloe", players=("red", "black", "blue"))
        )
        storm = Session.begin(
            opened, SessionStarted(game="ice_storm", players=("red", "yellow", "blue"))
        )
        yield {
            "panel": create_app(session, live, histories=HistoryCache(log[0].path)),
            "icefloe": create_app(floe, live, histories=HistoryCache(opened.path)),
            "ice_storm": create_app(storm, live),
            "sessions": create_history_app(HistoryCache(log[0].path)),
            "set up": create_set_up_app(SettingUp(_nothing_begins), table, Access(Codes())),
            "home": create_home_app(StandInHome(), Access(Codes())),
            "first": create_first_set_up_app(StandInSetUp(), bool, print, Access(Codes())),
        }
        floe.close()
        storm.close()


def _nothing_begins(_choice):
    raise InputError("nothing begins here")


def status_of(app, environ):
    body, status, _ = run_wsgi_app(app, environ)
    next(iter(body), None)
    if hasattr(body, "close"):
        body.close()
    return int(status.split()[0])


@pytest.mark.parametrize(
    "name", ["panel", "icefloe", "ice_storm", "sessions", "set up", "home", "first"]
)
def test_no_request_is_a_mistake_of_the_panel_s(apps, name, caplog):
    app, seen, wrong = apps[name], set(), []
    for number, asked in enumerate(islice(hostile_requests(app, random.Random(name)), EACH)):
        status = status_of(app, asked.environ(f"10.0.{number // 250}.{number % 250}"))
        seen.add(status // 100)
        if status >= 500 and status not in EXCUSED:
            wrong.append((status, asked))
    assert wrong == []
    assert "Traceback" not in caplog.text
    assert seen >= {2, 4}, "nothing came through, or everything did"
    assert app.test_client().get("/api/v1/me").status_code == 200


def test_the_requests_reach_every_route(apps):
    """A generator that asks for nothing that is there finds nothing."""
    app = apps["panel"]
    adapter = app.url_map.bind("localhost")
    reached = set()
    for asked in islice(hostile_requests(app, random.Random(1)), 3000):
        path = asked.target.partition("?")[0]
        for method in ("GET", "POST"):
            if adapter.test(path, method):
                reached.add(adapter.match(path, method)[0])
    assert reached == {rule.endpoint for rule in app.url_map.iter_rules()}
