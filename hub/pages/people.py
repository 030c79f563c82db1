"""What is known of a person: export it, or erase the name."""

from __future__ import annotations

import msgspec
from flask import Blueprint, Response, render_template, request

from hub.pages.login import actor, organiser
from hub.people import People


def people_pages(people: People) -> Blueprint:
    """The routes."""
    routes = Blueprint("people", __name__)

    @routes.get("/players")
    def page() -> str:
        organiser()
        return render_template("hub/people.html", erased=None)

    @routes.post("/players/export")
    def export() -> Response:
        found = people.known(actor(), request.form.get("name", ""))
        headers = {"Content-Disposition": "attachment; filename=player.json"}
        return Response(msgspec.json.encode(found), mimetype="application/json", headers=headers)

    @routes.post("/players/erase")
    def erase() -> str:
        count = people.erase(actor(admin=True), request.form.get("name", ""))
        return render_template("hub/people.html", erased=count)

    return routes
