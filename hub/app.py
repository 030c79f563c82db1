"""The hub as a Flask application."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection

from flask import Flask, Response
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection

from hub.accounts import Accounts
from hub.aliases import Aliases
from hub.events import Events
from hub.evidence import Evidences
from hub.hall import Hall
from hub.intake import Intake, News
from hub.match_desk import MatchDesk
from hub.metrics import HubHealth
from hub.pages.api import api, client
from hub.pages.events import event_pages, own_pages
from hub.pages.login import login_pages
from hub.pages.organisers import organiser_pages
from hub.pages.people import people_pages
from hub.pages.players import player_pages
from hub.pages.standings import standing_pages
from hub.pages.tables import table_pages
from hub.pages.wall import wall_pages
from hub.people import People
from hub.played import PlayedGames
from hub.site import Site
from hub.standings import Results
from hub.store import Store
from hub.tables import Tables
from hub.webhooks import HubResults
from hub.wire import MOST_BATCH_BYTES
from table.measured_text import shown_date, time_utc
from table.messages import msg
from webui.api.events import Streams
from webui.pages.health import health_pages
from webui.security.incoming import MOST_BODIES, MOST_LISTENERS
from webui.security.requests import error
from webui.site import bare_app

logger = logging.getLogger(__name__)

RETRY_S = 5
"""`Retry-After` in seconds while the database is unavailable."""


MOST_SPECTATORS = 2_500
"""Maximum number of open walls; each uses a socket, and `rinkside hub` raises its limit."""


def wall_ms() -> int:
    """The hub's wall clock."""
    return round(1000 * time.time())


def create_hub_app(
    store: Store,
    hosts: Collection[str] = (),
    now_ms: Callable[[], int] = wall_ms,
    accounts: Accounts | None = None,
) -> Flask:
    """The hub's Flask application on a migrated database.

    `hosts` are accepted host names, beside addresses and local names. The caller must run
    `app.extensions["hall"]`; otherwise the wall does not change.
    """
    app = bare_app(hosts, api=False)
    app.config[MOST_BODIES], app.config[MOST_LISTENERS] = MOST_BATCH_BYTES, MOST_SPECTATORS
    app.jinja_env.filters["when"] = lambda at_ms: shown_date(time_utc(at_ms))
    app.jinja_env.filters["day"] = lambda at_ms: time_utc(at_ms)[:10]
    tables, news = Tables(store, now_ms), News()
    results, played = Results(store), PlayedGames(store)
    events = Events(store, results, now_ms)
    app.extensions["hall"] = hall = Hall(store, news, now_ms, events.plan)
    app.extensions["results"] = HubResults(store, results, events)
    app.extensions["streams"] = streams = Streams(hall)
    accounts = accounts or Accounts(store, now_ms)
    app.register_error_handler(DBAPIError, _answer_no_database)
    app.register_error_handler(NoConnection, _answer_no_database)
    app.register_blueprint(api(tables, Intake(store, news, now_ms), hall))
    well = HubHealth(store, now_ms)
    app.register_blueprint(health_pages(well.health, well.collect))
    app.register_blueprint(login_pages(accounts))
    app.register_blueprint(table_pages(tables))
    app.register_blueprint(wall_pages(store, hall, streams))

    def fold_again() -> None:
        results.forget()
        played.forget()
        hall.forget()
        news.tell()

    app.register_blueprint(standing_pages(store, results, now_ms))
    app.register_blueprint(organiser_pages(accounts, store))
    people = People(store, now_ms, fold_again, events.keep_results)
    app.register_blueprint(people_pages(people, Aliases(store, now_ms)))
    desk, evidences = MatchDesk(store, events, now_ms), Evidences(store)
    app.extensions["site"] = Site(app, results, events, evidences, played)
    app.register_blueprint(event_pages(store, events, desk, evidences, played))
    app.register_blueprint(own_pages(desk, client))
    app.register_blueprint(player_pages(store, results, events, played, now_ms))
    return app


def _answer_no_database(failed: Exception) -> Response:
    """Answer 503; nothing was stored, and tables send again from their logs."""
    logger.error("database: %s", " ".join(str(failed).split())[:300])
    answer = error(
        503, "no_database", msg("The hub's database cannot be used now; nothing was lost.")
    )
    answer.headers["Retry-After"] = str(RETRY_S)
    return answer
