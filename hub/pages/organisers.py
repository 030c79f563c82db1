"""Organisers of a club, their passwords, and the audit log."""

from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from hub.accounts import Accounts
from hub.audit import entries
from hub.pages.login import actor, organiser
from hub.store import Store


def organiser_pages(accounts: Accounts, store: Store) -> Blueprint:
    """The routes."""
    routes = Blueprint("organisers", __name__)

    @routes.get("/organisers")
    def page() -> str:
        who = organiser()
        admin = who.role == "admin"
        return render_template(
            "hub/organisers.html",
            names=accounts.names(who.club_id),
            entries=entries(store, who.club_id) if admin else (),
        )

    @routes.post("/organisers/add")
    def add() -> Response:
        by = actor(admin=True)
        accounts.add(
            organiser().club,
            request.form.get("name", ""),
            request.form.get("password", ""),
            "admin" if request.form.get("role") == "admin" else "organiser",
            by,
        )
        return redirect(url_for("organisers.page"), 303)

    @routes.post("/organisers/remove")
    def remove() -> Response:
        accounts.remove(actor(admin=True), request.form.get("name", ""))
        return redirect(url_for("organisers.page"), 303)

    @routes.post("/organisers/password")
    def password() -> Response:
        by = actor()
        accounts.set_password(by.name, request.form.get("password", ""), by)
        return redirect(url_for("login.page"), 303)

    return routes
