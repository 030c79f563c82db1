"""The public wall of a hall: all tables live."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, render_template, request, url_for
from sqlalchemy import select
from werkzeug.wrappers import Response as AnyResponse

from hub.hall import Hall, HallFeed, Ruled
from hub.store import CLUBS, Store
from referee.presentation.shown_games import on_board
from table.errors import InputError
from table.files import convert
from table.json_data import JsonObject
from table.messages import msg
from table.observation_document import ObservationDocument
from table.table_config import parse_table
from webui.api.events import Streams, Subscriber, follow
from webui.i18n import language
from webui.interfaces import CARRY
from webui.security.requests import Refusal, number
from webui.svg.board import Drawing, draw


def wall_pages(store: Store, hall: Hall, streams: Streams) -> Blueprint:
    """The routes."""
    routes = Blueprint("wall", __name__)

    @routes.get("/")
    def clubs() -> AnyResponse | str:
        with store.reading() as db:
            known = db.execute(select(CLUBS).order_by(CLUBS.c.name)).all()
        if len(known) == 1:
            return redirect(url_for("wall.page", club_id=known[0].id))
        return render_template("hub/clubs.html", clubs=known)

    @routes.get("/halls/<seq:club_id>")
    def page(club_id: int) -> str:
        name = club_name(store, club_id)
        return render_template(
            "hub/wall.html",
            club=name,
            club_id=club_id,
            newest=hall.newest,
            tables=hall.tables(club_id, language()),
            events=hall.events(club_id),
        )

    @routes.get("/halls/<seq:club_id>/events")
    def events(club_id: int) -> Response:
        return _follow(hall, streams, club_id)

    @routes.get("/halls/<seq:club_id>/board/<seq:table>")
    def board(club_id: int, table: int) -> Response:
        """Drawing of a board, or nothing; cacheable, as the address names the record."""
        drawing = drawn(*hall.board(club_id, table))
        if drawing is None:
            return Response(status=204)
        return Response(
            render_template("hub/board.svg", drawing=drawing),
            mimetype="image/svg+xml",
            headers={"Cache-Control": "public, max-age=3600"},
        )

    return routes


def club_name(store: Store, club_id: int) -> str:
    """The name of a club; raises Refusal for an unknown id."""
    with store.reading() as db:
        name = db.execute(select(CLUBS.c.name).where(CLUBS.c.id == club_id)).scalar()
    if name is None:
        raise Refusal(404, "no_such_club", msg("There is no such club."))
    return str(name)


def _follow(hall: Hall, streams: Streams, club_id: int) -> Response:
    """Event stream after the page's last event; raises Refusal if too many listen."""
    after = number(
        request.headers.get("Last-Event-ID") or request.args.get("after", "0"), "Last-Event-ID"
    )
    address = request.remote_addr or ""
    if not streams.enter(address):
        raise Refusal(
            503,
            "too_many_streams",
            msg(
                "All {n} live connections are in use; close a page that shows this panel, or try"
                " again later.",
                n=streams.limit,
            ),
        )
    feed = HallFeed(hall, club_id, language())
    listener = Subscriber(feed, after if after <= hall.newest else 0, address)
    carry = request.environ.get(CARRY)
    body = carry(listener) if carry else follow(listener, streams)
    response = Response(body, mimetype="text/event-stream", headers={"X-Accel-Buffering": "no"})
    response.call_on_close(lambda: None if listener.carried else streams.leave(address))
    return response


def drawn(setup: JsonObject, seen: JsonObject | None, ruled: Ruled) -> Drawing | None:
    """Drawing of a table from above; None if its record lacks the data."""
    if not setup:
        return None
    try:
        table = parse_table(setup, "table")
        observed = convert(seen, ObservationDocument, "table") if seen else None
        return draw(table, observed, known=on_board(ruled.game, ruled.state))
    except (InputError, ValueError, KeyError, TypeError, IndexError):  # another version
        return None
