"""The page of a game through which its host returns to the home page."""

from __future__ import annotations

import secrets
from threading import Event

from flask import Blueprint, Flask, current_app, render_template, request
from werkzeug.wrappers import Response

from webui.interfaces import DoorPort, Next


def add_door(app: Flask, door: DoorPort) -> None:
    """Add the page /home, and links to it, to an application started by the home page."""
    app.jinja_env.globals["has_door"] = True
    app.register_blueprint(_routes(door))


def _routes(door: DoorPort) -> Blueprint:
    routes, instance = Blueprint("door", __name__), secrets.token_hex(8)

    left = Event()

    def page() -> str:
        return render_template(
            "door.html",
            ending=left.is_set(),
            instance=instance,
            token=current_app.config["FORM_TOKEN"],
        )

    @routes.get("/home", endpoint="page")
    def show() -> str:
        return page()

    @routes.post("/end-game")
    def end() -> Response:
        then: Next = "again" if request.form.get("then") == "again" else "home"
        left.set()
        answer = current_app.make_response(page())
        answer.call_on_close(lambda: door.leave(then))
        return answer

    return routes
