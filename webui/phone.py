"""A player's phone: the seat that it holds, and what its holder may see and say."""

from __future__ import annotations

from flask import Blueprint, Response, current_app, jsonify, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webui.guard import Refusal, json_body
from webui.join import visitor
from webui.ports import LivePort, SessionPort
from webui.seats import Seats


def phone(session: SessionPort, live: LivePort, seats: Seats, instance: str) -> Blueprint:
    """The routes of players."""
    routes = Blueprint("seats", __name__)

    @routes.get("/play")
    def page() -> str:
        return render_template(
            "phone.html", view=session.view(), live=live.latest, held=seats.held(), instance=instance, token=current_app.config["FORM_TOKEN"]
        )

    @routes.post("/seat")
    def take() -> AnyResponse:
        seats.take(visitor(), _player(request.form.get("seat")))
        return redirect(url_for("seats.page"), 303)

    @routes.post("/seat/back")
    def give_back() -> AnyResponse:
        if (seat := visitor().seat) is not None:
            seats.free(seat)
        return redirect(url_for("seats.page"), 303)

    @routes.post("/api/v1/seat")
    def take_program() -> tuple[Response, int]:
        document = json_body()
        colour = _player(document.get("seat") if isinstance(document, dict) else None)
        seats.take(visitor(), colour)
        return jsonify(seat=colour), 201

    def _player(colour: object) -> str:
        players = session.view()["players"]
        if colour not in players:
            raise Refusal(400, "bad_seat", f"Expected the seat of a player ({', '.join(players)}), got {str(colour)[:40]!r}; nothing was done.")
        return str(colour)

    return routes
