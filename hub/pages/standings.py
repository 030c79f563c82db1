"""Public standings of a club: page, CSV and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec
from flask import Blueprint, Response, render_template, request

from hub.links import HubLinks
from hub.pages.wall import club_name
from hub.ratings import RatedPlayer, ratings
from hub.standings import TIE_BREAKS, HubGame, Results, Standing, standings
from hub.store import Store
from referee.presentation.shown_games import title
from referee.statistics.csv_export import csv_bytes
from table.measured_text import time_utc

EVENING_MS = 12 * 3600 * 1000
"""Age limit of "tonight", counted from a session's first record at the hub."""
COLUMNS = ("place", "player", "games", "won", "drawn", "lost", "points", "against", "difference")


@dataclass(frozen=True, slots=True)
class Chosen:
    """Filter from the query string: `game` by its name (empty for all), and which games count."""

    game: str
    tonight: bool
    simulated: bool


def standing_pages(store: Store, results: Results, now_ms: Callable[[], int]) -> Blueprint:
    """The routes."""
    routes = Blueprint("standings", __name__)

    def found(club_id: int) -> tuple[Chosen, list[str], list[HubGame]]:
        """The filter, the names of the club's games, and the games that pass the filter."""
        chosen = Chosen(
            request.args.get("game", ""), "tonight" in request.args, "simulated" in request.args
        )
        games = results.games(club_id)
        since_ms = now_ms() - EVENING_MS if chosen.tonight else 0
        counted = [
            one
            for one in games
            if chosen.game in ("", one.result.game)
            and one.at_ms >= since_ms
            and (chosen.simulated or not one.result.simulated)
        ]
        return chosen, sorted({one.result.game for one in games}), counted

    @routes.get("/halls/<seq:club_id>/standings")
    def page(club_id: int) -> str:
        name = club_name(store, club_id)
        chosen, names, games = found(club_id)
        return render_template(
            "hub/standings.html",
            club=name,
            club_id=club_id,
            chosen=chosen,
            games=[(one, title(one)) for one in names],
            rows=standings(games),
            rated=rated(results.games(club_id), chosen, now_ms()),
            links=HubLinks(club_id),
            query=request.query_string.decode(errors="replace"),
        )

    @routes.get("/halls/<seq:club_id>/standings.csv")
    def as_csv(club_id: int) -> Response:
        club_name(store, club_id)
        body = standings_csv(standings(found(club_id)[2]))
        headers = {"Content-Disposition": "attachment; filename=standings.csv"}
        return Response(body, mimetype="text/csv", headers=headers)

    @routes.get("/halls/<seq:club_id>/standings.json")
    def as_json(club_id: int) -> Response:
        club_name(store, club_id)
        chosen, _, games = found(club_id)
        document = {
            "tie_breaks": TIE_BREAKS,
            "standings": standings(games),
            "ratings": rated(results.games(club_id), chosen, now_ms()),
            "games": [_document(one) for one in games if one.result.over],
        }
        return Response(msgspec.json.encode(document), mimetype="application/json")

    return routes


def standings_csv(rows: Iterable[Standing]) -> bytes:
    """Standings as CSV, one row per player."""
    return csv_bytes(COLUMNS, ([getattr(row, name) for name in COLUMNS] for row in rows))


def rated(games: Iterable[HubGame], chosen: Chosen, now_ms: int) -> list[RatedPlayer]:
    """Ratings in the selected game; empty if no single game is selected."""
    if not chosen.game:
        return []
    counted = (one for one in games if one.result.game == chosen.game)
    return ratings((one for one in counted if chosen.simulated or not one.result.simulated), now_ms)


class PlayedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A finished game in the JSON document; players by colour."""

    table: str
    heard_utc: str
    game: str
    names: dict[str, str]
    scores: dict[str, float]
    winners: tuple[str, ...]
    outcome: str


def _document(one: HubGame) -> PlayedDocument:
    result = one.result
    return PlayedDocument(
        table=one.table,
        heard_utc=time_utc(one.at_ms),
        game=result.game,
        names=dict(result.names),
        scores=dict(result.scores),
        winners=result.winners,
        outcome=str(result.outcome),
    )
