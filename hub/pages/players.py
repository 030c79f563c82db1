"""Public pages of a club's players: results, ratings and style of play."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from flask import Blueprint, Response, render_template, request

from hub.aliases import aliases_of, main_name
from hub.events import Events
from hub.links import HubLinks
from hub.names import name_key
from hub.pages.wall import club_name
from hub.people import SOMEBODY
from hub.played import PlayedGames
from hub.players import ClubFigures, PlayerPage, player_document, player_line, players_csv
from hub.standings import Results
from hub.store import Store
from table.messages import msg
from webui.security.requests import Refusal

NEWEST = 20
"""Default number of newest games per kind for statistics of play."""


def player_pages(
    store: Store, results: Results, events: Events, played: PlayedGames, now_ms: Callable[[], int]
) -> Blueprint:
    """The routes."""
    routes = Blueprint("players", __name__)

    def asked(club_id: int) -> PlayerPage:
        """The player named in the query string; raises Refusal for an unknown name."""
        with store.reading() as db:
            aliases = aliases_of(db, club_id)
        name = main_name(" ".join(request.args.get("name", "").split()), aliases)
        games = results.games(club_id)
        figures = ClubFigures(games, now_ms(), played, "simulated" in request.args)
        newest = None if "all" in request.args else NEWEST
        page = figures.page(name, events.of_player(club_id, name), newest)
        if name_key(name) in ("", SOMEBODY) or not (page.games or page.events):
            raise Refusal(404, "no_such_player", msg("There is no such player."))
        return page

    @routes.get("/halls/<seq:club_id>/player")
    def page(club_id: int) -> str:
        club = club_name(store, club_id)
        return render_template(
            "hub/player.html",
            club=club,
            club_id=club_id,
            page=asked(club_id),
            newest=None if "all" in request.args else NEWEST,
            links=HubLinks(club_id),
        )

    @routes.get("/halls/<seq:club_id>/player.csv")
    def as_csv(club_id: int) -> Response:
        page = asked(club_id)
        body = players_csv(player_line(page.name, one) for one in page.games)
        headers = {"Content-Disposition": "attachment; filename=player.csv"}
        return Response(body, mimetype="text/csv", headers=headers)

    @routes.get("/halls/<seq:club_id>/player.json")
    def as_json(club_id: int) -> Response:
        body = msgspec.json.encode(player_document(asked(club_id)))
        return Response(body, mimetype="application/json")

    return routes
