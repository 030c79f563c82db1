"""A player's phone: the seat that it holds, and what its holder may see and say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import (
    Blueprint,
    Response,
    current_app,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response as AnyResponse

from referee.presentation.session_view import SessionView
from referee.sessions.status import RefereeStatus
from table.messages import Message, Template, Word, in_a_row, msg
from webui.api.page_cache import PageCache
from webui.api.routes import obey
from webui.interfaces import LivePort, SessionPort
from webui.pages.panel import command_document
from webui.security.login import visitor
from webui.security.permissions import may_answer, sayings, takes_back
from webui.security.requests import Refusal, json_body
from webui.security.seats import Seats

OBJECTED_TO = ("ruled", "noted", "answered", "declared")
"""Kinds of verdicts that a player can appeal against."""


def phone(session: SessionPort, live: LivePort, seats: Seats, instance: str) -> Blueprint:
    """The routes of players."""
    routes, kept = Blueprint("seats", __name__), PageCache()

    @routes.get("/play")
    def page() -> AnyResponse:
        view, now = session.view(), live.latest
        return kept.page(view, now, live.setup, "", lambda: _page(view, now))

    @routes.post("/play")
    def command() -> AnyResponse:
        try:
            obey(session, command_document(request.form))
        except Refusal as refusal:
            return _refused(refusal)
        return redirect(url_for("seats.page"), 303)

    @routes.post("/seat")
    def take() -> AnyResponse:
        try:
            seats.take(visitor(), seat_of(request.form.get("seat"), session.view().players))
        except Refusal as refusal:
            return _refused(refusal)
        return redirect(url_for("seats.page"), 303)

    @routes.post("/seat/back")
    def give_back() -> AnyResponse:
        if (seat := visitor().seat) is not None:
            seats.free(seat)
        return redirect(url_for("seats.page"), 303)

    @routes.post("/api/v1/seat")
    def take_program() -> tuple[Response, int]:
        document = json_body()
        colour = seat_of(
            document.get("seat") if isinstance(document, dict) else None, session.view().players
        )
        seats.take(visitor(), colour)
        return jsonify(seat=colour), 201

    def _refused(refusal: Refusal) -> Response:
        response: Response = make_response(_page(session.view(), live.latest, refusal.message))
        response.status_code = refusal.status
        return response

    def _page(view: SessionView, now: RefereeStatus, notice: str = "") -> str:
        seat = visitor().seat
        return render_template(
            "phone.html",
            view=view,
            live=now,
            held=seats.held(),
            notice=notice,
            mine=(
                own(view, seat, sayings(visitor(), session, view, seats.held()))
                if seat is not None and seat in view.players
                else None
            ),
            instance=instance,
            token=current_app.config["FORM_TOKEN"],
        )

    return routes


def seat_of(colour: object, players: Sequence[str]) -> str:
    """The seat that was asked for; raises Refusal where it is nobody's."""
    if colour not in players:
        raise Refusal(
            400,
            "bad_seat",
            msg(
                "Expected the seat of a player ({players}), got '{raw}'; nothing was done.",
                players=in_a_row(players, "colour"),
                raw=str(colour)[:40],
            ),
        )
    return str(colour)


def _without_seat(label: str, seat: str) -> str:
    """What a player may say, without the colour before it, which is the page's own."""
    if not isinstance(label, Message):
        return label.removeprefix(f"{seat}: ")
    match label.content:
        case Template("{player}: {text}", {"player": Word(player), "text": text}) if player == seat:
            return Message(text, sentence=False)
    return label


def own(view: SessionView, seat: str, may_say: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What is on the phone of the player in this seat.

    `say` is what they may say of what the game waits for, `aside` what is seldom said and never
    waited for, `rolls` whether a die is among `say`, `vote` the record of a vote that may be
    changed, `asked` whether they may answer the open question, `turn` whether it is their turn,
    `appealed` the newest verdict that can be appealed against, and `appeals` the records that they
    have appealed against.
    """
    state, question = view.state, view.question
    playing = view.phase == "playing" and seat not in view.resigned
    say = [
        one
        for one in may_say
        if playing and (one["said"].get("player") == seat or one.get("anybody"))
    ]
    rulings = (row for row in view.verdicts if row.kind in OBJECTED_TO and not row.overturned_by)
    named = [one | {"label": _without_seat(one["label"], seat)} for one in say]
    waited_for = [one for one in named if not one.get("aside")]
    return {
        "say": waited_for,
        "aside": [one for one in named if one.get("aside")],
        "rolls": any("die" in one["said"] for one in waited_for),
        "vote": takes_back(seat, view) if playing else None,
        "asked": question is not None and may_answer(seat, question),
        "turn": (
            seat in (view.next, state.get("attacker"), state.get("starter"), state.get("to_move"))
        ),
        "appealed": next(rulings, None),
        "appeals": [appeal.appeals for appeal in view.appeals if appeal.player == seat],
    }
