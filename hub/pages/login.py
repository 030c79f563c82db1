"""Log in and out; the current organiser of a request."""

from __future__ import annotations

from flask import Blueprint, current_app, g, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from hub.accounts import LOGIN_S, Accounts, Organiser
from hub.audit import Actor
from hub.pages.api import client
from table.messages import msg
from webui.security.requests import Refusal

COOKIE = "rinkside_hub"


def login_pages(accounts: Accounts) -> Blueprint:
    """The routes, and a hook that sets `g.organiser` for all pages."""
    routes = Blueprint("login", __name__)

    @routes.before_app_request
    def know() -> None:
        g.organiser = None
        if request.cookies.get(COOKIE) and request.endpoint not in ("api.take", "static"):
            g.organiser = accounts.logged_in(request.cookies[COOKIE])

    @routes.app_context_processor
    def everywhere() -> dict[str, object]:
        return {"organiser": g.get("organiser"), "token": current_app.config["FORM_TOKEN"]}

    @routes.get("/login")
    def page() -> str:
        return render_template("hub/login.html", notice="")

    @routes.post("/login")
    def enter() -> Response:
        try:
            secret = accounts.log_in(
                request.form.get("name", ""), request.form.get("password", ""), client()
            )
        except Refusal as refusal:
            refused = current_app.make_response(
                render_template("hub/login.html", notice=refusal.message)
            )
            refused.status_code = refusal.status
            if refusal.retry_s is not None:
                refused.headers["Retry-After"] = str(refusal.retry_s)
            return refused
        answer = redirect(url_for("tables.page"), 303)
        answer.set_cookie(
            COOKIE,
            secret,
            max_age=LOGIN_S,
            httponly=True,
            samesite="Strict",
            secure=request.is_secure,
        )
        return answer

    @routes.post("/logout")
    def leave() -> Response:
        accounts.log_out(request.cookies.get(COOKIE, ""))
        answer = redirect(url_for("login.page"), 303)
        answer.delete_cookie(COOKIE, httponly=True, samesite="Strict")
        return answer

    return routes


def organiser(admin: bool = False) -> Organiser:
    """The logged-in organiser; raises Refusal if there is none, or no admin with `admin`."""
    who: Organiser | None = g.get("organiser")
    if who is None:
        raise Refusal(401, "log_in", msg("Log in as an organiser first."))
    if admin and who.role != "admin":
        raise Refusal(403, "admins_only", msg("Only an admin of the club may do this."))
    return who


def actor(admin: bool = False) -> Actor:
    """As `organiser`, as the actor for the audit log."""
    who = organiser(admin)
    return Actor(who.name, who.club_id, client())
