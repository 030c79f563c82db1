"""Base of all applications: translations, template filters, request checks and access control.

No page is imported here, which keeps the home page small while nothing is running.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from flask import Flask

from referee.presentation.headlines import chip_player, layers
from referee.presentation.shown_games import (
    declarations,
    options_in_order,
    simultaneous_texts,
    title,
)
from referee.sessions.events import SeatFreed, SeatTaken
from table.measured_text import shown_date, shown_mm
from webui.filters import (
    evidence_rows,
    lengthy,
    shown_at,
    shown_gap,
    shown_points,
    shown_verb,
    shown_verdict,
    unbroken,
)
from webui.i18n import speak
from webui.security.login import admit, join
from webui.security.permissions import Access
from webui.security.requests import guard
from webui.security.seats import Seats
from webui.svg.palette import letter


def guard_app(
    app: Flask,
    access: Access,
    session: int = 0,
    keep: Callable[[SeatTaken | SeatFreed], object] = lambda _event: None,
) -> Seats:
    """Add log-in by code and access control to an application.

    Returns the seats of session number `session`, none for 0. `keep` records who takes and frees
    them.
    """
    app.extensions["access"] = access
    app.extensions["seats"] = seats = Seats(access.codes, session, keep)
    admit(app, access, seats)
    app.register_blueprint(join(access, seats, app.config["FORM_TOKEN"]))
    return seats


def bare_app(hosts: Collection[str], api: bool = True) -> Flask:
    """Create the base of the panel and all other applications, without any page.

    Without `api` it has no OpenAPI document, which takes memory.
    """
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
        lengthy=lengthy,
        unbroken=unbroken,
        layers=layers,
        named_first=chip_player,
        game=title,
        verb=shown_verb,
        in_order=options_in_order,
        together=lambda view: simultaneous_texts(view.game, view.state.get("phase")),
        declarations=lambda view: declarations(view.game, view.state),
        kind=shown_verdict,
    )
    speak(app)
    guard(app, hosts)
    if api:
        from webui.api.openapi import describe  # loads the answers of calibration and games

        describe(app)
    return app
