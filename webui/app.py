"""The panel as a Flask application."""

from __future__ import annotations

import secrets
from collections.abc import Collection

from flask import Flask

from referee.shown import shown_date, shown_time
from referee.story import Stories
from webui.api import api
from webui.guard import guard
from webui.later import later
from webui.measured import evidence_rows, shown_game, shown_gap, shown_mm, shown_verb, shown_verdict, unbroken
from webui.pages import pages
from webui.palette import letter
from webui.ports import LivePort, SessionPort
from webui.stream import Streams


def create_app(session: SessionPort, live: LivePort, hosts: Collection[str] = (), stories: Stories | None = None) -> Flask:
    """The panel of one session, with what the referee sees at this moment; with `stories`, the pages of all sessions too.

    `hosts` are names of this machine, beside its addresses and local names, that the panel answers to.
    `app.extensions["streams"].limit` is how many may listen at once (`webui.serve` keeps it below the server's threads).
    """
    app = bare_app(hosts)
    app.extensions["streams"] = streams = Streams()
    instance = secrets.token_hex(8)
    app.register_blueprint(pages(session, live, instance))
    app.register_blueprint(api(session, live, streams, instance), url_prefix="/api/v1")
    if stories is not None:
        app.register_blueprint(later(stories))
        app.jinja_env.globals |= {"sharing": True, "has_table": True}
    return app


def create_later_app(stories: Stories, hosts: Collection[str] = ()) -> Flask:
    """The sessions of a log with no game running; / is the list of them."""
    app = bare_app(hosts)
    app.register_blueprint(later(stories))
    app.jinja_env.globals["sharing"] = True
    app.add_url_rule("/", view_func=app.view_functions["later.sessions"])
    return app


def bare_app(hosts: Collection[str]) -> Flask:
    """What the panel and all other pages have in common, without any page."""
    app = Flask("webui")
    app.json.sort_keys = False  # type: ignore[attr-defined]  # documents keep the order they are written in
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.filters.update(letter=letter, gap=shown_gap, mm=shown_mm, time=shown_time, local=shown_date, rows=evidence_rows)
    app.jinja_env.filters.update(unbroken=unbroken, game=shown_game, verb=shown_verb, kind=shown_verdict)
    guard(app, hosts)
    return app
