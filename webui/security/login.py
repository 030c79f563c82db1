"""Authenticate every request, and grant the roles host or player by code.

This runs before any other handler of the request.
"""

from __future__ import annotations

from dataclasses import replace

from flask import (
    Blueprint,
    Flask,
    Response,
    current_app,
    g,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
)
from werkzeug.wrappers import Response as AnyResponse

from table.messages import msg
from webui.security.permissions import Access, Role, Visitor
from webui.security.requests import Refusal, json_body
from webui.security.seats import Seats

COOKIE, COOKIE_S = "rinkside", 30 * 24 * 3600
EVERYBODY: tuple[Role, ...] = ("host", "player", "spectator")

OPEN_TO: dict[str, tuple[Role, ...]] = {
    "join.page": EVERYBODY,
    "join.enter": EVERYBODY,
    "join.enter_program": EVERYBODY,
    "join.leave": EVERYBODY,
    "language.choose": EVERYBODY,
    "pages.command": EVERYBODY,  # `permissions.permitted_command` decides by the command
    "api.command": EVERYBODY,
    "seats.command": EVERYBODY,
    "seats.take": ("host", "player"),
    "seats.give_back": ("host", "player"),
    "seats.take_program": ("host", "player"),
    "guide.page": ("host",),  # of a calibration
    "guide.state": ("host",),
    "guide.camera": ("host",),
    "guide.photograph": ("host",),
    "fix.page": ("host",),
    "api.alternatives": ("host", "player"),
    "history.export": ("host",),  # contains secret votes
    "table.camera": ("host",),  # of a session's set-up
    "table.sheet": ("host",),
    "host.page": ("host",),  # shows the table's code
    "home.devices": ("host",),  # opens them
    "home.picture": ("host",),
    "door.page": ("host",),
    "first.thumbnail": ("host",),  # of a table's first set-up
    "first.camera": ("host",),
    "first.checked": ("host",),
    "first.sheet": ("host",),
}
"""Endpoints and the roles that may use them. By default GET is open to everybody, and other methods
to hosts only.
"""


def admit(app: Flask, access: Access, seats: Seats) -> None:
    """Add authentication (`flask.g.visitor`) and authorisation of every request to `app`.

    Requests without permission get a Refusal.
    """

    @app.before_request
    def check() -> None:
        g.visitor = _visitor(access, seats)
        looks = request.method in ("GET", "HEAD", "OPTIONS")
        if request.endpoint is None or g.visitor.role in OPEN_TO.get(
            request.endpoint, EVERYBODY if looks else ("host",)
        ):
            return
        raise Refusal(
            403,
            "not_for_you",
            msg(
                "This is for the host only: enter the host's code from the terminal on the"
                " page /join."
            ),
        )

    @app.context_processor
    def known() -> dict[str, object]:
        return {"visitor": g.get("visitor", Visitor())}


def visitor() -> Visitor:
    """The sender of the current request."""
    who: Visitor = g.visitor
    return who


def join(access: Access, seats: Seats, token: str) -> Blueprint:
    """The routes for joining and leaving; `token` protects forms."""
    routes = Blueprint("join", __name__)

    @routes.get("/join")
    def page() -> str:
        return render_template("join.html", token=token, notice="")

    @routes.post("/join")
    def enter() -> AnyResponse:
        try:
            ticket = access.enter(
                request.form.get("code", ""),
                request.remote_addr or "",
                request.cookies.get(COOKIE, ""),
            )
        except Refusal as refusal:
            refused: Response = make_response(
                render_template("join.html", token=token, notice=refusal.message)
            )
            refused.status_code = refusal.status
            if refusal.retry_s is not None:
                refused.headers["Retry-After"] = str(refusal.retry_s)
            return refused
        plays = access.visitor(ticket).role == "player" and any(
            rule.rule == "/play" for rule in current_app.url_map.iter_rules()
        )
        return keep(redirect("/play" if plays else "/", 303), ticket)

    @routes.post("/leave")
    def leave() -> AnyResponse:
        if (seat := visitor().seat) is not None:
            seats.free(seat)
        response = redirect("/", 303)
        response.delete_cookie(COOKIE, httponly=True, samesite="Strict")
        return response

    @routes.post("/api/v1/join")
    def enter_program() -> tuple[Response, int]:
        document = json_body()
        code = document.get("code") if isinstance(document, dict) else None
        if not isinstance(code, str):
            raise Refusal(
                400,
                "bad_request",
                msg(
                    "Expected a code as JSON, such as {raw}; nothing was done.",
                    raw='{"code": "K7QX2-MBD4T"}',
                ),
            )
        ticket = access.enter(code, request.remote_addr or "")
        return jsonify(role=access.visitor(ticket).role, token=ticket), 201

    @routes.get("/api/v1/me")
    def me() -> Response:
        who = visitor()
        return jsonify(role=who.role, seat=who.seat)

    return routes


def keep(response: AnyResponse, ticket: str) -> AnyResponse:
    """Set a ticket as an HttpOnly cookie on a response.

    A cookie set over TLS is marked Secure.
    """
    response.set_cookie(
        COOKIE, ticket, max_age=COOKIE_S, httponly=True, samesite="Strict", secure=request.is_secure
    )
    return response


def _visitor(access: Access, seats: Seats) -> Visitor:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    sent = kind.lower() == "bearer"
    who = (
        access.bearer(token.strip(), request.remote_addr or "")
        if sent
        else access.visitor(request.cookies.get(COOKIE, ""))
    )
    return who if who.role == "spectator" else replace(who, seat=seats.of(who.id))
