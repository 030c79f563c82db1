"""Pages of past sessions: the list, any moment of each, statistics, and files to download."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import msgspec
from flask import Blueprint, Flask, Response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from referee.presentation.session_view import SessionView
from referee.sessions.archive import packed_session
from referee.sessions.event_store import LogReader
from referee.sessions.state import SessionState
from referee.statistics.history import HistoryCache, SessionHistory, Step
from referee.statistics.players import Tally, tallies
from referee.statistics.results import PlayedGame
from referee.statistics.throws import Hit, Landing, hits, landings, squares_hit
from table.errors import InputError, message_of
from table.messages import msg
from webui.api.routes import picture
from webui.i18n import word
from webui.security.codes import Codes
from webui.security.permissions import Access
from webui.security.requests import Refusal, number
from webui.share import verdict_png
from webui.site import bare_app, guard_app
from webui.svg.board import Drawing, draw
from webui.svg.charts import HeatMap, Strips, around_target, squares_map, strips

SHOWN_SESSIONS = 200
"""Maximum number of sessions in the list, newest first; all stay in the log."""


@dataclass(frozen=True, slots=True)
class SessionCounts:
    """Statistics of some sessions: tables, and charts of games that have them."""

    tallies: tuple[Tally, ...]
    gaps: Strips | None
    landings: tuple[tuple[str, HeatMap], ...]
    squares: tuple[tuple[str, HeatMap], ...]
    hits: tuple[tuple[int, Hit], ...]


class Moment(TypedDict):
    """Contents of the page, or the picture, of one moment.

    `index` is the last step's, -1 before the first; `frame` is the record of the newest picture;
    `secret` is True while something must not be revealed.
    """

    view: SessionView
    steps: Sequence[Step]
    index: int
    drawing: Drawing | None
    target: str | None
    near: bool
    frame: int | None
    running: bool
    secret: bool
    frame_url: Callable[[int], str]
    live: None


def create_history_app(
    histories: HistoryCache, hosts: Collection[str] = (), access: Access | None = None
) -> Flask:
    """An application for browsing a log without a running game; / is the list of sessions.

    Access control is the panel's.
    """
    app = bare_app(hosts)
    guard_app(app, access or Access(Codes()))
    app.register_blueprint(history_pages(histories))
    app.jinja_env.globals["sharing"] = True
    app.add_url_rule("/", view_func=app.view_functions["history.sessions"])
    return app


def history_pages(histories: HistoryCache) -> Blueprint:
    """The routes under /sessions, and /statistics."""
    routes = Blueprint("history", __name__)
    instance = secrets.token_hex(8)

    @routes.get("/sessions")
    def sessions() -> str:
        return render_template("sessions.html", sessions=histories.summaries()[:SHOWN_SESSIONS])

    @routes.get("/sessions/<seq:session>")
    def moment(session: int) -> str:
        history = _find_history(histories, session)
        at = request.args.get("at")
        index = _index(history.steps, number(at, "at") if at else None)
        return render_template(
            "moment.html",
            instance=instance,
            **_moment_of(history, index, request.args.get("view") == "near"),
        )

    @routes.get("/sessions/<seq:session>/statistics")
    def statistics(session: int) -> str:
        counted = count([_find_history(histories, session)])
        return render_template("statistics.html", session=session, counted=counted, left_out=())

    @routes.get("/statistics")
    def all_statistics() -> str:
        simulated = request.args.get("simulated") == "1"
        chosen, left_out = [], []
        for summary in histories.summaries():
            if summary.simulated and not simulated:
                continue
            try:
                chosen.append(histories.of(summary.session))
            except InputError as error:
                left_out.append(message_of(error))
        return render_template(
            "statistics.html",
            session=None,
            simulated=simulated,
            counted=count(chosen),
            left_out=left_out,
        )

    _add_downloads(routes, histories)
    return routes


def _add_downloads(routes: Blueprint, histories: HistoryCache) -> None:
    """Routes of downloads: pictures, a verdict to share, a whole session."""

    @routes.get("/sessions/<seq:session>/frame/<seq:seq>.jpg")
    def frame(session: int, seq: int) -> AnyResponse:
        kept = any(
            record.seq == seq and record.frame
            for record in _find_history(histories, session).records
        )
        return picture(
            histories.frame(seq) if kept else None,
            msg("Record {n} of session {n2} has no picture.", n=seq, n2=session),
        )

    @routes.get("/sessions/<seq:session>/verdict/<seq:seq>.png")
    def share(session: int, seq: int) -> AnyResponse:
        history = _find_history(histories, session)
        index = next((k for k, step in enumerate(history.steps) if step.seq == seq), None)
        if index is None:
            raise Refusal(
                404,
                "no_verdict",
                msg("Record {n} of session {n2} contains no decision.", n=seq, n2=session),
            )
        shown = _moment_of(history, index, near=True)
        jpeg = histories.frame(shown["frame"]) if shown["frame"] else None
        return _file(
            verdict_png(shown["view"], shown["drawing"], jpeg, word),
            "image/png",
            "inline",
            f"rinkside-{session}-{seq}.png",
        )

    @routes.get("/sessions/<seq:session>/session.zip")
    def export(session: int) -> AnyResponse:
        if _find_history(histories, session).open_secret:
            raise Refusal(
                409,
                "secret",
                msg(
                    "Votes of this session stay secret while it is running; end it, then export it."
                ),
            )
        with LogReader(histories.path) as log:
            packed = packed_session(log, session)
        return _file(packed, "application/zip", "attachment", f"rinkside-session-{session}.zip")


def _file(data: bytes, mimetype: str, how: str, name: str) -> AnyResponse:
    return Response(
        data, mimetype=mimetype, headers={"Content-Disposition": f'{how}; filename="{name}"'}
    )


def _find_history(histories: HistoryCache, session: int) -> SessionHistory:
    try:
        return histories.of(session)
    except InputError as error:
        raise Refusal(404, "no_session", message_of(error)) from error


def count(chosen: Sequence[SessionHistory]) -> SessionCounts:
    """Statistics of sessions, by players' names if they are known."""
    played = [(history, each) for history in chosen for each in history.games]
    gaps: dict[str, list[float]] = {}
    landed: dict[str, list[Landing]] = {}
    squares: dict[str, list[dict[str, int]]] = {}
    taken: list[tuple[int, Hit]] = []
    for history, each in played:
        for thrown in each.throws:
            if thrown.lie and thrown.lie.measured:
                gaps.setdefault(_name(each, thrown.player), []).append(
                    0.0 if thrown.lie.on_target else thrown.lie.gap_mm
                )
        for landing in landings(each.throws, history.records):
            landed.setdefault(_name(each, landing.player), []).append(landing)
    for history in chosen:
        for ledger in _last_ledgers(history):
            taken += [(ledger.session, hit) for hit in hits(ledger, history.records)]
            for player, counts in squares_hit(ledger, history.records).items():
                squares.setdefault(ledger.started.names.get(player, player), []).append(counts)
    boards = ((player, squares_map(counts)) for player, counts in squares.items())
    return SessionCounts(
        tallies(each for _, each in played),
        strips(gaps),
        tuple(around_target(landed).items()),
        tuple((player, heat) for player, heat in boards if heat),
        tuple(taken),
    )


def _last_ledgers(history: SessionHistory) -> Iterable[SessionState]:
    """The final state of each game of a session, newest first."""
    ledger: SessionState | None = history.ledgers[-1]
    while ledger is not None:
        yield ledger
        ledger = ledger.earlier


def _name(played: PlayedGame, player: str) -> str:
    return played.names.get(player, player)


def _index(steps: Sequence[Step], at: int | None) -> int:
    """Index of the last step up to record `at`; of the last of all for None."""
    return len(steps) - 1 if at is None else sum(step.seq <= at for step in steps) - 1


def _moment_of(history: SessionHistory, index: int, near: bool) -> Moment:
    """Contents for the page or the picture of a moment.

    Before the first step they show the initial table.
    """
    step = history.steps[index] if index >= 0 else None
    seq = step.seq if step else history.records[0].seq
    view = history.view(seq)
    setup = history.setup(seq)
    frames = [one.seq for one in history.steps[: index + 1] if one.frame]
    marked = msgspec.structs.replace(view, options=(view.wish,) if view.wish else ())
    drawing = draw(setup, view.observation, view.ranking, near, marked) if setup else None
    return {
        "view": view,
        "steps": history.steps,
        "index": index,
        "drawing": drawing,
        "target": setup.game.target if setup else None,
        "near": near,
        "frame": frames[-1] if frames else None,
        "running": not history.ledgers[-1].ended,
        "secret": history.open_secret,
        "frame_url": lambda number: url_for("history.frame", session=view.session, seq=number),
        "live": None,
    }
