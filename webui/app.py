"""The panel as a Flask application."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection

from flask import Flask

from referee.statistics.history import HistoryCache
from webui.api.events import EventFeed, Streams
from webui.api.openapi import BASE
from webui.api.routes import api
from webui.interfaces import LivePort, SessionPort, TutorPort, VirtualTablePort
from webui.pages.correction import fix
from webui.pages.health import GameMetrics, health_pages
from webui.pages.help import help_pages
from webui.pages.history import history_pages
from webui.pages.host import Devices, host
from webui.pages.panel import pages
from webui.pages.phone import phone
from webui.pages.verdict import ruling
from webui.pages.virtual_table import virtual_table
from webui.security.codes import Codes
from webui.security.permissions import Access
from webui.security.ration import MOST_PICTURES_S, Ration
from webui.site import bare_app, guard_app


def create_app(
    session: SessionPort,
    live: LivePort,
    hosts: Collection[str] = (),
    access: Access | None = None,
    address: Callable[[], str] = str,
    devices: Devices = dict,
    histories: HistoryCache | None = None,
    virtual: VirtualTablePort | None = None,
    tutor: TutorPort | None = None,
) -> Flask:
    """The panel of one session, with the referee's live state.

    `histories` adds the pages of all sessions. On a `virtual` table hosts and players move pieces
    on the page, and a `tutor` gives lessons there. `hosts` are accepted host names, beside the
    machine's addresses and local names. `access` holds the codes; without it codes are fresh and
    not stored (`app.extensions["access"]` has them). `address` returns the panel's address for
    phones, empty if there is none. `devices` returns connected parts and their faults.
    `app.extensions["streams"].limit` is the maximum number of listeners (`webui.server` raises it).
    """
    app = bare_app(hosts)
    access = access or Access(Codes())
    seats = guard_app(app, access, session.view().session, session.seat)
    instance = secrets.token_hex(8)
    app.extensions["streams"] = streams = Streams(EventFeed(session, live, instance))
    app.extensions["pictures"] = Ration(MOST_PICTURES_S)
    app.register_blueprint(phone(session, live, seats, instance))
    app.register_blueprint(fix(session, live, instance))
    app.register_blueprint(host(session, live, access, seats, address, devices))
    app.register_blueprint(pages(session, live, instance, virtual))
    if virtual is not None:
        app.register_blueprint(virtual_table(live, virtual, tutor))
    app.register_blueprint(ruling(session))
    metrics = GameMetrics(session, live, devices, histories.path if histories else None)
    app.register_blueprint(health_pages(metrics.health, metrics.collect))
    app.register_blueprint(help_pages())
    app.register_blueprint(api(session, live, streams), url_prefix=BASE)
    if histories is not None:
        app.register_blueprint(history_pages(histories))
        app.jinja_env.globals |= {"sharing": True, "has_table": True}
    return app
