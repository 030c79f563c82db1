"""The panel as a Flask application."""

from __future__ import annotations

import secrets
from collections.abc import Collection

from flask import Flask

from referee.shown import shown_time
from webui.api import api
from webui.guard import guard
from webui.measured import evidence_rows, shown_gap, shown_mm, shown_verb, unbroken
from webui.pages import pages
from webui.palette import letter
from webui.ports import LivePort, SessionPort
from webui.stream import Streams


def create_app(session: SessionPort, live: LivePort, hosts: Collection[str] = ()) -> Flask:
    """The panel of one session, with what the referee sees at this moment.

    `hosts` are names of this machine, beside its addresses and local names, that the panel answers to.
    `app.extensions["streams"].limit` is how many may listen at once (`webui.serve` keeps it below the server's threads).
    """
    app = bare_app(hosts)
    app.extensions["streams"] = streams = Streams()
    instance = secrets.token_hex(8)
    app.register_blueprint(pages(session, live, instance))
    app.register_blueprint(api(session, live, streams, instance), url_prefix="/api/v1")
    return app


def bare_app(hosts: Collection[str]) -> Flask:
    """What the panel and all other pages have in common, without any page."""
    app = Flask("webui")
    app.json.sort_keys = False  # type: ignore[attr-defined]  # documents keep the order they are written in
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.filters.update(letter=letter, gap=shown_gap, mm=shown_mm, time=shown_time, rows=evidence_rows, unbroken=unbroken, verb=shown_verb)
    guard(app, hosts)
    return app
