"""The page for a player's phone: its seat, and the holder's permitted views and actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

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

from referee.presentation.session_view import Announcement, SessionView
from referee.sessions.status import RefereeStatus
from table.messages import Message, Template, Word, in_a_row, msg
from table.observation_document import to_document
from webui.api.page_cache import PageCache
from webui.api.routes import obey
from webui.interfaces import LivePort, SessionPort
from webui.pages.panel import command_document
from webui.security.login import visitor
from webui.security.permissions import may_answer, revocable_vote, sayings
from webui.security.requests import Refusal, json_body
from webui.security.seats import Seats
from webui.svg.board import draw

OBJECTED_TO = ("ruled", "noted", "answered", "declared")
"""Kinds of verdicts open to a player's appeal."""


def phone(session: SessionPort, live: LivePort, seats: Seats, instance: str) -> Blueprint:
    """The routes of players."""
    page = _PhonePage(session, live, seats, instance)
    routes = Blueprint("seats", __name__)
    routes.add_url_rule("/play", "page", page.show)
    routes.add_url_rule("/play", "command", page.command, methods=["POST"])
    routes.add_url_rule("/seat", "take", page.take_seat, methods=["POST"])
    routes.add_url_rule("/seat/back", "give_back", page.give_seat_back, methods=["POST"])
    routes.add_url_rule("/api/v1/seat", "take_program", page.take_seat_by_api, methods=["POST"])
    return routes


@dataclass(frozen=True, slots=True)
class _PhonePage:
    """State of the page; public methods answer requests."""

    session: SessionPort
    live: LivePort
    seats: Seats
    instance: str
    cache: PageCache = field(default_factory=PageCache)

    def show(self) -> AnyResponse:
        view, now = self.session.view(), self.live.latest
        return self.cache.page(view, now, self.live.setup, "", lambda: self._page(view, now))

    def command(self) -> AnyResponse:
        try:
            obey(self.session, command_document(request.form))
        except Refusal as refusal:
            return self._refused(refusal)
        return redirect(url_for("seats.page"), 303)

    def take_seat(self) -> AnyResponse:
        try:
            self._take(request.form.get("seat"))
        except Refusal as refusal:
            return self._refused(refusal)
        return redirect(url_for("seats.page"), 303)

    def give_seat_back(self) -> AnyResponse:
        if (seat := visitor().seat) is not None:
            self.seats.free(seat)
        return redirect(url_for("seats.page"), 303)

    def take_seat_by_api(self) -> tuple[Response, int]:
        document = json_body()
        seat = self._take(document.get("seat") if isinstance(document, dict) else None)
        return jsonify(seat=seat), 201

    def _take(self, asked: object) -> str:
        """Give the visitor the requested seat; raises Refusal if that is not possible.

        Returns its colour.
        """
        colour = seat_of(asked, self.session.view().players)
        self.seats.take(visitor(), colour)
        return colour

    def _refused(self, refusal: Refusal) -> Response:
        page = self._page(self.session.view(), self.live.latest, refusal.message)
        return make_response(page, refusal.status)

    def _page(self, view: SessionView, now: RefereeStatus, notice: str = "") -> str:
        seat, held = visitor().seat, self.seats.held()
        seen = view.observation if now.observation is None else to_document(now.observation)
        return render_template(
            "phone.html",
            view=view,
            live=now,
            held=held,
            notice=notice,
            mine=(
                own(view, seat, sayings(visitor(), self.session, view, held))
                if seat is not None and seat in view.players
                else None
            ),
            drawing=draw(self.live.setup, seen, view.ranking, view=view),
            instance=self.instance,
            token=current_app.config["FORM_TOKEN"],
        )


def seat_of(colour: object, players: Sequence[str]) -> str:
    """The requested seat; raises Refusal if no player has this colour."""
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
    """An announcement's label without the leading colour, which is the page's own."""
    if not isinstance(label, Message):
        return label.removeprefix(f"{seat}: ")
    match label.content:
        case Template("{player}: {text}", {"player": Word(player), "text": text}) if player == seat:
            return Message(text, sentence=False)
    return label


def own(view: SessionView, seat: str, may_say: Sequence[Announcement]) -> dict[str, object]:
    """Contents of the phone page for the player in this seat.

    `say` are announcements that the game waits for, `aside` rare ones that it never waits for;
    `rolls` is True if `say` includes a die roll. `vote` is the record of a vote that can still be
    changed. `asked` is True if the player may answer the open question, `turn` if it is their turn.
    `appealed` is the newest verdict open to appeal, `appeals` the records already appealed against.
    """
    state, question = view.state, view.question
    playing = view.phase == "playing" and seat not in view.resigned
    say = [
        one
        for one in may_say
        if playing and (one["said"].get("player") == seat or one.get("anybody"))
    ]
    rulings = (row for row in view.verdicts if row.kind in OBJECTED_TO and not row.overturned_by)
    named: list[Announcement] = [{**one, "label": _without_seat(one["label"], seat)} for one in say]
    waited_for = [one for one in named if not one.get("aside")]
    return {
        "say": waited_for,
        "aside": [one for one in named if one.get("aside")],
        "rolls": any("die" in one["said"] for one in waited_for),
        "vote": revocable_vote(seat, view) if playing else None,
        "asked": question is not None and may_answer(seat, question),
        "turn": (
            seat in (view.next, state.get("attacker"), state.get("starter"), state.get("to_move"))
        ),
        "appealed": next(rulings, None),
        "appeals": [appeal.appeals for appeal in view.appeals if appeal.player == seat],
    }
