"""The panel's main page and its forms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
from flask import (
    Blueprint,
    Response,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response as AnyResponse

from referee.live.table_monitor import TABLE_REQUESTS
from referee.presentation.session_view import Ranked, SessionView
from referee.sessions.status import RefereeStatus
from table.errors import InputError
from table.json_data import JsonObject
from table.messages import msg
from table.observation_document import ObservationDocument, to_document
from webui.api.page_cache import PageCache
from webui.api.routes import obey
from webui.interfaces import LivePort, SessionPort, VirtualTablePort
from webui.pages.virtual_table import may_touch
from webui.security.incoming import json_document
from webui.security.login import visitor
from webui.security.permissions import sayings
from webui.security.requests import Refusal, number
from webui.svg.board import any_lies, draw
from webui.svg.overlay import Overlay, draw_over
from webui.svg.virtual_table import draw_surroundings

SEEN = "seen"
"""View of a whole virtual table as the camera sees it."""
SHOWN = ("near", "photo", SEEN)
"""Views other than the default: the whole table, or an interactive virtual one."""

BY_READINGS = "by the readings"
"""Label of the button for deciding by calliper readings; the session finds the matching choice."""

READING = "reading "
"""Prefix of form fields with a calliper's reading; the gap's name follows."""


def pages(
    session: SessionPort, live: LivePort, instance: str, virtual: VirtualTablePort | None = None
) -> Blueprint:
    """Routes of pages for people, including the controls of a `virtual` table."""
    routes, kept = Blueprint("pages", __name__), PageCache()

    @routes.get("/")
    def panel() -> AnyResponse:
        view, now, shown = session.view(), live.latest, _view_choice()
        return kept.page(view, now, live.setup, shown, lambda: page(view, now, shown))

    @routes.post("/command")
    def command() -> AnyResponse:
        try:
            _obey_form(session)
        except Refusal as refusal:
            response: Response = make_response(
                page(session.view(), live.latest, _view_choice(), refusal.message)
            )
            response.status_code = refusal.status
            return response
        return redirect(url_for("pages.panel", view=request.args.get("view")), 303)

    @routes.post("/table")
    def table() -> AnyResponse:
        wish = next((one for one in TABLE_REQUESTS if one == request.form.get("wish")), None)
        if wish is None:
            raise Refusal(400, "bad_wish", msg("Expected redo or play on; nothing was done."))
        live.request_table(wish)
        return redirect(url_for("pages.panel", view=request.args.get("view")), 303)

    def page(view: SessionView, now: RefereeStatus, shown: str, notice: str = "") -> str:
        seen = view.observation if now.observation is None else to_document(now.observation)
        view = _without_cleared_ranking(view, seen)
        touches = virtual is not None and may_touch(visitor())
        by_hand = touches and not shown
        return render_template(
            "virtual_table.html" if by_hand else "panel.html",
            around=draw_surroundings(live.setup) if by_hand else None,
            whole=SEEN if touches else "",
            view=view,
            live=now,
            shown=shown,
            notice=notice,
            seen=seen,
            drawing=draw(live.setup, seen, view.ranking, shown == "near", view),
            overlay=_overlay(live, now, view) if shown == "photo" else None,
            target=live.setup.game.target,
            lens=live.setup.camera,
            instance=instance,
            token=current_app.config["FORM_TOKEN"],
            reading=READING,
            by_readings=BY_READINGS,
            contested=contested(view),
            saying=sayings(visitor(), session, view, current_app.extensions["seats"].held()),
            frame_url=lambda seq: url_for("api.frame", seq=seq),
        )

    return routes


def _obey_form(session: SessionPort) -> None:
    """Execute the commands of the submitted form; raises Refusal."""
    _refuse_late_undo(session, request.form)
    for document in _commands(request.form, session):
        obey(session, document)


def _overlay(live: LivePort, now: RefereeStatus, view: SessionView) -> Overlay | None:
    """The overlay of the picture; None before the first picture."""
    if now.observation is None:
        return None
    return draw_over(live.setup, now.observation, view.options, view.trace)


def _without_cleared_ranking(view: SessionView, seen: ObservationDocument | None) -> SessionView:
    """The view, without its ranking if the table has been cleared since."""
    if seen is None or any_lies(view.ranking, seen.pieces):
        return view
    return msgspec.structs.replace(view, ranking=())


def _view_choice() -> str:
    """The visitor's view of the table; empty for the whole table."""
    shown = request.args.get("view", "")
    return shown if shown in SHOWN else ""


def command_document(form: Mapping[str, str]) -> JsonObject:
    """The command in a form, as `referee.sessions.commands.parse_command` reads it.

    Empty fields are left out.
    """
    filled = {
        name: value.strip()
        for name, value in form.items()
        if value.strip() and name not in ("token", "seen")
    }
    readings = {
        name.removeprefix(READING): _reading(filled.pop(name))
        for name in list(filled)
        if name.startswith(READING)
    }
    document: JsonObject = dict(filled)
    for name in ("said", "misread"):
        if name in filled:
            document[name] = _parse_announcement(filled[name])
    for name in ("question", "record", "appeal"):
        if name in filled:
            document[name] = number(filled[name], name)
    for name, separator in (("moves", ";"), ("players", ",")):
        if name in form:
            document[name] = [part.strip() for part in form[name].split(separator) if part.strip()]
    if readings:
        document |= {"how": "calliper", "readings_mm": readings}
    if document.get("label") == BY_READINGS:
        del document["label"]
    return document


def contested(view: SessionView) -> list[tuple[str, Ranked]]:
    """Ranking rows to measure with a calliper, each with its name in the session.

    `blue` is blue's nearest piece, `blue 2` its second. The rows are those too close to call if the
    observation has them, else the nearest four.
    """
    counted: Counter[str] = Counter()
    named = []
    for row in view.ranking:
        counted[row.colour] += 1
        number = counted[row.colour]
        named.append((row.colour if number == 1 else f"{row.colour} {number}", row))
    places = view.observation.too_close if view.observation else frozenset()
    return [entry for place, entry in enumerate(named) if place in places] or named[:4]


def _commands(form: Mapping[str, str], session: SessionPort) -> list[JsonObject]:
    """The commands of a form.

    There is one; for `rule` there are all those of that button, which has the table judged again.
    """
    document = command_document(form)
    if document.get("command") != "rule":
        return [document]
    looks = session.view().phase != "paused"
    return [document | {"command": name} for name in (["pause"] if looks else []) + ["resume"]]


def _refuse_late_undo(session: SessionPort, form: Mapping[str, str]) -> None:
    """Raise Refusal for an undo if something happened since the page was drawn.

    Undo reverts the last ruling in force, so this must be the last one that the page showed
    (`seen`).
    """
    seen = form.get("seen", "")
    if form.get("command") == "undo" and seen and session.records(number(seen, "seen")):
        raise Refusal(
            409,
            "moved_on",
            msg(
                "Something has happened since this page was loaded; check it, then repeat"
                " this if you still want to."
            ),
        )


def _parse_announcement(text: str) -> Any:
    """A button's announcement to the game: a JSON object from the state's `may_say`."""
    try:
        return json_document(text)
    except InputError as error:
        raise Refusal(
            400,
            "bad_saying",
            msg("Expected the input as JSON, got '{raw}'; nothing was done.", raw=text[:40]),
        ) from error


def _reading(text: str) -> float:
    number = re.fullmatch(r"\+?([0-9]{1,4}(?:[.,][0-9]{1,4})?) ?(?:mm)?", text)
    if number is None:
        raise Refusal(
            400,
            "bad_reading",
            msg(
                "Expected a calliper's reading in mm, such as 12.35, got '{raw}'; nothing was"
                " done.",
                raw=text[:40],
            ),
        )
    return float(number[1].replace(",", "."))
