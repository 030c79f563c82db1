"""The tables of a club: enrolment, status and revocation of tokens."""

from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from hub.pages.login import actor, organiser
from hub.tables import Tables
from webui.security.requests import number


def table_pages(tables: Tables) -> Blueprint:
    """The routes."""
    routes = Blueprint("tables", __name__)

    @routes.get("/tables")
    def page() -> str:
        who = organiser()
        return render_template(
            "hub/tables.html", tables=tables.listed(who.club_id), code=request.args.get("code", "")
        )

    @routes.post("/tables/enrol")
    def enrol() -> Response:
        tables.enrol(actor(), request.form.get("code", ""), request.form.get("name", ""))
        return redirect(url_for("tables.page"), 303)

    @routes.post("/tables/withdraw")
    def withdraw() -> Response:
        tables.withdraw(actor(), number(request.form.get("table", ""), "table"))
        return redirect(url_for("tables.page"), 303)

    @routes.post("/tables/dismiss")
    def dismiss() -> Response:
        tables.dismiss(actor(), number(request.form.get("table", ""), "table"))
        return redirect(url_for("tables.page"), 303)

    return routes
