"""Export a person's data, or erase a name."""

from __future__ import annotations

import msgspec
from flask import Blueprint, Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from hub.aliases import Aliases
from hub.pages.login import actor, organiser
from hub.people import People


def people_pages(people: People, aliases: Aliases) -> Blueprint:
    """The routes."""
    routes = Blueprint("people", __name__)

    @routes.get("/players")
    def page() -> str:
        return _page(None)

    def _page(erased: int | None) -> str:
        known = aliases.of(organiser().club_id)
        return render_template("hub/people.html", erased=erased, aliases=known)

    @routes.post("/players/merge")
    def merge() -> AnyResponse:
        aliases.merge(actor(), request.form.get("other", ""), request.form.get("name", ""))
        return redirect(url_for("people.page"), 303)

    @routes.post("/players/part")
    def part() -> AnyResponse:
        aliases.part(actor(), request.form.get("other", ""))
        return redirect(url_for("people.page"), 303)

    @routes.post("/players/export")
    def export() -> Response:
        found = people.known(actor(), request.form.get("name", ""))
        headers = {"Content-Disposition": "attachment; filename=player.json"}
        return Response(msgspec.json.encode(found), mimetype="application/json", headers=headers)

    @routes.post("/players/erase")
    def erase() -> str:
        count = people.erase(actor(admin=True), request.form.get("name", ""))
        return _page(count)

    return routes
