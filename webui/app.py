"""The panel as a Flask application."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection

from flask import Flask

from referee.presentation.shown_games import declarations, options_in_order, title, together
from referee.sessions.events import SeatFreed, SeatTaken
from referee.statistics.history import HistoryCache
from table.measured_text import shown_date, shown_mm
from webui.api.events import EventFeed, Streams
from webui.api.openapi import BASE, describe
from webui.api.routes import api
from webui.filters import (
    before_the_list,
    evidence_rows,
    shown_at,
    shown_gap,
    shown_points,
    shown_verb,
    shown_verdict,
    unbroken,
)
from webui.i18n import speak
from webui.interfaces import LivePort, SessionPort
from webui.pages.correction import fix
from webui.pages.history import history_pages
from webui.pages.host import Devices, host
from webui.pages.panel import pages
from webui.pages.phone import phone
from webui.pages.verdict import ruling
from webui.security.codes import Codes
from webui.security.login import admit, join
from webui.security.permissions import Access
from webui.security.ration import MOST_PICTURES_S, Ration
from webui.security.requests import guard
from webui.security.seats import Seats
from webui.svg.palette import letter


def create_app(
    session: SessionPort,
    live: LivePort,
    hosts: Collection[str] = (),
    access: Access | None = None,
    address: Callable[[], str] = str,
    devices: Devices = dict,
    histories: HistoryCache | None = None,
) -> Flask:
    """The panel of one session, with what the referee sees at this moment.

    With `histories` it has the pages of all sessions too. `hosts` are names of this machine, beside
    its addresses and local names, that the panel answers to; `access` knows the codes, without it
    they are fresh ones that are kept nowhere (`app.extensions["access"]` has them); `address` says
    where phones find the panel now, empty where they do not; `devices` says what is connected, and
    what is wrong with it. `app.extensions["streams"].limit` is how many may listen at once
    (`webui.server` raises it).
    """
    app = bare_app(hosts)
    access = access or Access(Codes())
    seats = guarded(app, access, session.view().session, session.seat)
    instance = secrets.token_hex(8)
    app.extensions["streams"] = streams = Streams(EventFeed(session, live, instance))
    app.extensions["pictures"] = Ration(MOST_PICTURES_S)
    app.register_blueprint(phone(session, live, seats, instance))
    app.register_blueprint(fix(session, live, instance))
    app.register_blueprint(host(session, live, access, seats, address, devices))
    app.register_blueprint(pages(session, live, instance))
    app.register_blueprint(ruling(session))
    app.register_blueprint(api(session, live, streams), url_prefix=BASE)
    if histories is not None:
        app.register_blueprint(history_pages(histories))
        app.jinja_env.globals |= {"sharing": True, "has_table": True}
    return app


def create_history_app(
    histories: HistoryCache, hosts: Collection[str] = (), access: Access | None = None
) -> Flask:
    """The sessions of a log with no game running; / is the list of them.

    Access is checked as in the panel.
    """
    app = bare_app(hosts)
    guarded(app, access or Access(Codes()))
    app.register_blueprint(history_pages(histories))
    app.jinja_env.globals["sharing"] = True
    app.add_url_rule("/", view_func=app.view_functions["history.sessions"])
    return app


def guarded(
    app: Flask,
    access: Access,
    session: int = 0,
    keep: Callable[[SeatTaken | SeatFreed], object] = lambda _event: None,
) -> Seats:
    """Let visitors in by their codes, and only where they may go.

    Returns the seats of session number `session`, none for 0. `keep` writes down who takes and
    frees them.
    """
    app.extensions["access"] = access
    app.extensions["seats"] = seats = Seats(access.codes, session, keep)
    admit(app, access, seats)
    app.register_blueprint(join(access, seats, app.config["FORM_TOKEN"]))
    return seats


def bare_app(hosts: Collection[str]) -> Flask:
    """What the panel and all other pages have in common, without any page."""
    app = Flask("webui")
    app.json.sort_keys = False  # type: ignore[attr-defined]  # documents keep the order they are written in
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.filters.update(
        letter=letter,
        gap=shown_gap,
        mm=shown_mm,
        time=shown_at,
        points=shown_points,
        local=shown_date,
        rows=evidence_rows,
    )
    app.jinja_env.filters.update(
        unbroken=unbroken,
        before_the_list=before_the_list,
        game=title,
        verb=shown_verb,
        in_order=options_in_order,
        together=lambda view: together(view.game, view.state.get("phase")),
        declarations=lambda view: declarations(view.game, view.state),
        kind=shown_verdict,
    )
    speak(app)
    guard(app, hosts)
    describe(app)
    return app
