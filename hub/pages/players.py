"""Players of a club, for everybody: what they have played, and how well."""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, render_template, request

from hub.aliases import aliases_of, called
from hub.events import Events
from hub.links import HubLinks
from hub.names import name_key
from hub.pages.wall import club_name
from hub.people import SOMEBODY
from hub.players import ClubFigures, PlayerPage
from hub.standings import Results
from hub.store import Store
from table.messages import msg
from webui.security.requests import Refusal


def player_pages(
    store: Store, results: Results, events: Events, now_ms: Callable[[], int]
) -> Blueprint:
    """The routes."""
    routes = Blueprint("players", __name__)

    def asked(club_id: int) -> PlayerPage:
        """The player whom the address names; raises Refusal where nobody is called so."""
        with store.reading() as db:
            aliases = aliases_of(db, club_id)
        name = called(" ".join(request.args.get("name", "").split()), aliases)
        figures = ClubFigures(results.games(club_id), now_ms())
        page = figures.page(name, events.of_player(club_id, name))
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
            links=HubLinks(club_id),
        )

    return routes
