"""Events of a club: public pages, and forms for organisers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from flask import Blueprint, Response, g, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from engines import GAMES
from hub.event_files import SIGNS, event_csv, event_document, shown, trf_of
from hub.event_standings import TIE_BREAKS
from hub.events import FORMATS, Events
from hub.evidence import Evidences
from hub.game_texts import event_text, match_text
from hub.links import HubLinks
from hub.match_desk import MatchDesk, match_of
from hub.matches import DRAWN, LOST, WON, MatchResult, result_text
from hub.pages.login import actor
from hub.pages.wall import club_name
from hub.played import PlayedGames
from hub.store import Store
from referee.presentation.shown_games import title
from table.messages import msg
from webui.security.requests import Refusal, number

OUTCOMES = {"won": WON, "drawn": DRAWN, "lost": LOST}
"""Shares by the words of the forms."""
MOST_NAMES = 4000
"""Maximum length of names added in one request, in characters."""


def event_pages(
    store: Store, events: Events, desk: MatchDesk, evidences: Evidences, played: PlayedGames
) -> Blueprint:
    """The routes."""
    routes = Blueprint("events", __name__)
    routes.add_app_template_filter(result_text, "written")
    routes.add_app_template_filter(share_text, "share")
    routes.add_app_template_filter(scores_text, "scores")

    def mine(club_id: int) -> bool:
        """True if an organiser of this club is logged in."""
        return g.organiser is not None and g.organiser.club_id == club_id

    @routes.get("/halls/<seq:club_id>/tournaments")
    def listed(club_id: int) -> str:
        return render_template(
            "hub/events.html",
            club=club_name(store, club_id),
            club_id=club_id,
            events=events.listed(club_id),
            games=sorted(((name, title(name)) for name in GAMES), key=lambda one: one[1]),
            formats=FORMATS,
            mine=mine(club_id),
        )

    @routes.get("/halls/<seq:club_id>/tournaments/<seq:event_id>")
    def page(club_id: int, event_id: int) -> str:
        return render_template(
            "hub/event.html",
            club=club_name(store, club_id),
            club_id=club_id,
            shown=shown(events.event(club_id, event_id)),
            tie_breaks=TIE_BREAKS,
            links=HubLinks(club_id),
            mine=mine(club_id),
        )

    @routes.get("/halls/<seq:club_id>/tournaments/<seq:event_id>/matches/<seq:match_id>")
    def match(club_id: int, event_id: int, match_id: int) -> str:
        event = events.event(club_id, event_id)
        one = match_of(event, match_id)
        return render_template(
            "hub/match.html",
            club=club_name(store, club_id),
            club_id=club_id,
            event=event,
            one=one,
            evidence=evidences.of(club_id, one),
            links=HubLinks(club_id),
            mine=mine(club_id),
        )

    _files(routes, store, events, played)
    _preparing(routes, events)
    _pairing(routes, events)
    _results(routes, desk)
    return routes


def _files(routes: Blueprint, store: Store, events: Events, played: PlayedGames) -> None:
    """Routes of machine-readable files."""

    @routes.get("/halls/<seq:club_id>/tournaments/<seq:event_id>/standings.csv")
    def as_csv(club_id: int, event_id: int) -> Response:
        body = event_csv(events.event(club_id, event_id))
        headers = {"Content-Disposition": "attachment; filename=standings.csv"}
        return Response(body, mimetype="text/csv", headers=headers)

    @routes.get("/halls/<seq:club_id>/tournaments/<seq:event_id>/event.json")
    def as_json(club_id: int, event_id: int) -> Response:
        document = event_document(events.event(club_id, event_id), club_name(store, club_id))
        return Response(msgspec.json.encode(document), mimetype="application/json")

    @routes.get("/halls/<seq:club_id>/tournaments/<seq:event_id>/event.trf")
    def as_trf(club_id: int, event_id: int) -> Response:
        event = events.event(club_id, event_id)
        if event.format == "free":
            raise Refusal(404, "no_trf", msg("This event has no rounds of two players each."))
        headers = {"Content-Disposition": "attachment; filename=event.trf"}
        return Response(trf_of(event), mimetype="text/plain", headers=headers)

    @routes.get("/halls/<seq:club_id>/tournaments/<seq:event_id>/games.txt")
    def as_text(club_id: int, event_id: int) -> Response:
        return _games(event_text(events.event(club_id, event_id), played))

    @routes.get("/halls/<seq:club_id>/tournaments/<seq:event_id>/matches/<seq:match_id>/game.txt")
    def match_as_text(club_id: int, event_id: int, match_id: int) -> Response:
        event = events.event(club_id, event_id)
        return _games(match_text(event, match_of(event, match_id), played))


def _games(text: str) -> Response:
    """Games as a text response; raises Refusal if there are none."""
    if not text:
        raise Refusal(404, "no_games", msg("No finished game of it can be played again here."))
    headers = {"Content-Disposition": "attachment; filename=games.txt"}
    return Response(text, mimetype="text/plain", headers=headers)


def _back(event_id: int) -> AnyResponse:
    """Redirect to an event's page of the organiser's club."""
    club = actor().club_id
    return redirect(url_for("events.page", club_id=club, event_id=event_id), 303)


def _preparing(routes: Blueprint, events: Events) -> None:
    """Organisers' routes for preparing an event."""

    @routes.post("/tournaments/make")
    def make() -> AnyResponse:
        form = request.form
        event_id = events.make(
            actor(),
            form.get("name", ""),
            form.get("game", ""),
            form.get("format", ""),
            form.get("terms", ""),
            number(form.get("rounds") or "0", "rounds"),
        )
        return _back(event_id)

    @routes.post("/tournaments/<seq:event_id>/players")
    def add_players(event_id: int) -> AnyResponse:
        names = request.form.get("names", "")[:MOST_NAMES].split(",")
        events.add_players(actor(), event_id, names)
        return _back(event_id)

    @routes.post("/tournaments/<seq:event_id>/withdraw")
    def withdraw(event_id: int) -> AnyResponse:
        events.withdraw(actor(), event_id, _number("player"))
        return _back(event_id)

    @routes.post("/tournaments/<seq:event_id>/tables")
    def use_tables(event_id: int) -> AnyResponse:
        chosen = [number(one, "table") for one in request.form.getlist("table")]
        events.use_tables(actor(), event_id, chosen)
        return _back(event_id)


def _pairing(routes: Blueprint, events: Events) -> None:
    """Organisers' routes for a running event."""

    @routes.post("/tournaments/<seq:event_id>/pair")
    def pair(event_id: int) -> AnyResponse:
        events.pair(actor(), event_id, _number("after"))
        return _back(event_id)

    @routes.post("/tournaments/<seq:event_id>/take-back")
    def take_back(event_id: int) -> AnyResponse:
        events.take_back(actor(), event_id)
        return _back(event_id)

    @routes.post("/tournaments/<seq:event_id>/match")
    def add_match(event_id: int) -> AnyResponse:
        players = [number(one, "player") for one in request.form.getlist("player") if one]
        events.add_match(actor(), event_id, players, _table())
        return _back(event_id)

    @routes.post("/tournaments/<seq:event_id>/move")
    def move(event_id: int) -> AnyResponse:
        events.move(actor(), event_id, _number("match"), _table())
        return _back(event_id)

    @routes.post("/tournaments/<seq:event_id>/end")
    def end(event_id: int) -> AnyResponse:
        events.end(actor(), event_id)
        return _back(event_id)


def _results(routes: Blueprint, desk: MatchDesk) -> None:
    """Organisers' routes for results."""

    @routes.post("/tournaments/<seq:event_id>/confirm")
    def confirm(event_id: int) -> AnyResponse:
        matches, results = request.form.getlist("match"), request.form.getlist("result")
        for match, result in zip(matches, results, strict=False):
            desk.confirm(actor(), event_id, number(match, "match"), result)
        return _back(event_id)

    @routes.post("/tournaments/<seq:event_id>/decide")
    def decide(event_id: int) -> AnyResponse:
        shares = tuple(_share(one) for one in request.form.getlist("outcome"))
        given = request.form.getlist("score")
        scores = tuple(read_score(one) for one in given) if any(given) else ()
        desk.decide(actor(), event_id, _number("match"), MatchResult(shares, scores))
        return _back(event_id)

    @routes.post("/tournaments/<seq:event_id>/let-go")
    def let_go(event_id: int) -> AnyResponse:
        desk.let_go(actor(), event_id, _number("match"))
        return _back(event_id)


def own_pages(desk: MatchDesk, client: Callable[[], str]) -> Blueprint:
    """Players' own pages, opened by code."""
    routes = Blueprint("me", __name__)

    @routes.get("/me")
    def enter() -> AnyResponse | str:
        if code := request.args.get("code", ""):
            return redirect(url_for("me.page", code=code), 303)
        return render_template("hub/me.html", view=None, code="")

    @routes.get("/me/<code>")
    def page(code: str) -> str:
        return render_template("hub/me.html", view=desk.player(code, client()), code=code)

    @routes.post("/me/<code>/result")
    def result(code: str) -> AnyResponse:
        view, form = desk.player(code, client()), request.form
        match form.get("what"):
            case "agree":
                desk.agree(view, _number("match"), form.get("result", ""))
            case "dispute":
                desk.dispute(view, _number("match"), form.get("result", ""))
            case _:
                given = [form.get("own", ""), form.get("other", "")]
                scores = [read_score(one) for one in given] if any(given) else []
                desk.claim(view, _number("match"), _share(form.get("outcome", "")), scores)
        return redirect(url_for("me.page", code=code), 303)

    return routes


def share_text(share: float) -> str:
    """A share of a match: 1, ½ or 0."""
    return SIGNS.get(share, f"{share:g}")


def scores_text(scores: Sequence[float]) -> str:
    """Points of a game, in player order."""
    return " : ".join(f"{one:g}" for one in scores)


def read_score(text: str) -> float:
    """Parse entered points; raises Refusal unless they are numbers."""
    text = text.strip().replace(",", ".")
    digits = text.removeprefix("-").replace(".", "", 1)
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 6):
        raise Refusal(
            400,
            "bad_score",
            msg("Expected points, such as 13, got '{raw}'; nothing was done.", raw=text[:20]),
        )
    return float(text)


def _share(text: str) -> float:
    if text not in OUTCOMES:
        raise Refusal(
            400, "bad_result", msg("Expected {raw}; nothing was done.", raw=", ".join(OUTCOMES))
        )
    return OUTCOMES[text]


def _number(name: str) -> int:
    return number(request.form.get(name, ""), name)


def _table() -> int | None:
    """The table id of a form; None if the field is empty."""
    return number(request.form["table"], "table") if request.form.get("table") else None
