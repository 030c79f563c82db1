"""JSON under /api/v1: state, records, observation, pictures, commands, the stream of events."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache

from flask import Blueprint, Response, current_app, jsonify, request
from msgspec.structs import asdict
from werkzeug.wrappers import Response as AnyResponse

from referee.presentation.view_model import alternative
from referee.sessions.commands import parse_command
from referee.sessions.event_store import LogFailed
from referee.sessions.events import Choice as Alternative
from referee.sessions.events import Record, record_document
from table.errors import InputError, message_of
from table.messages import msg
from table.observation_document import to_document
from webui.api.answers import Alternatives, State, json_answer
from webui.api.events import Streams, Subscriber, follow, moment
from webui.api.openapi import MOST_RECORDS
from webui.interfaces import CARRY, LivePort, SessionPort
from webui.security.login import visitor
from webui.security.permissions import permitted_command
from webui.security.ration import Ration
from webui.security.requests import Refusal, json_body, number


def api(session: SessionPort, live: LivePort, streams: Streams) -> Blueprint:
    """The routes under /api/v1."""
    routes = Blueprint("api", __name__)

    @routes.get("/state")
    def state() -> Response:
        return json_answer(State(**asdict(session.view()), live=moment(live)))

    @routes.get("/records")
    def records() -> Response:
        after = number(request.args.get("after", "0"), "after")
        return jsonify(
            records=[record_document(record) for record in session.records(after, MOST_RECORDS)]
        )

    @routes.get("/observation")
    def observation() -> Response:
        seen = live.latest.observation
        if seen is None:
            raise Refusal(404, "nothing_seen", msg("No readable picture of the table yet."))
        return json_answer(to_document(seen))

    @routes.get("/camera.jpg")
    def camera() -> AnyResponse:
        return live_picture(current_app.extensions["pictures"], live.jpeg)

    @routes.get("/frame/<seq:seq>.jpg")
    def frame(seq: int) -> AnyResponse:
        return picture(session.frame(seq), msg("Record {n} has no picture.", n=seq))

    @routes.get("/alternatives/<seq:seq>")
    def alternatives(seq: int) -> Response:
        choices = tuple(map(alternative, offered(session, seq)))
        return json_answer(Alternatives(record=seq, choices=choices))

    @routes.post("/command")
    def command() -> tuple[Response, int]:
        return jsonify(record=record_document(obey(session, json_body()))), 201

    @routes.get("/stream")
    def stream() -> Response:
        return _follow(session, streams)

    return routes


def _follow(session: SessionPort, streams: Streams) -> Response:
    """Event stream after the client's last event; raises Refusal if too many listen."""
    after = number(
        request.headers.get("Last-Event-ID") or request.args.get("after", "0"), "Last-Event-ID"
    )
    if after > session.seq:
        after = 0
    address = request.remote_addr or ""
    if not streams.enter(address):
        full = msg(
            "All {n} live connections are in use; close a page that shows this panel, or"
            " try again later.",
            n=streams.limit,
        )
        raise Refusal(503, "too_many_streams", full)
    listener = Subscriber(streams.bulletin, after, address)
    carry = request.environ.get(CARRY)
    body = carry(listener) if carry else follow(listener, streams)
    response = Response(body, mimetype="text/event-stream", headers={"X-Accel-Buffering": "no"})
    response.call_on_close(lambda: None if listener.carried else streams.leave(address))
    return response


def obey(session: SessionPort, document: object) -> Record:
    """Pass a command of the current visitor to the session.

    Raises Refusal if it cannot be executed, or if the visitor lacks the permission.
    """
    try:
        command = parse_command(document)
    except InputError as error:
        raise Refusal(400, "bad_command", message_of(error)) from error
    who, seats = visitor(), current_app.extensions["seats"]
    try:
        return session.command(
            command, lambda given: permitted_command(who, given, session, seats.held())
        )
    except LogFailed as error:
        raise Refusal(507, "not_kept", message_of(error)) from error
    except InputError as error:
        raise Refusal(409, "not_now", message_of(error)) from error


def offered(session: SessionPort, seq: int) -> tuple[Alternative, ...]:
    """Alternatives to the ruling of record `seq`, nearest first.

    Raises Refusal while they may not be shown. Alternatives are consistent with all later records,
    so they would reveal votes that are still secret.
    """
    if session.view().hidden:
        raise Refusal(
            409,
            "secret",
            msg(
                "Votes are secret now: alternatives that agree with them are offered once"
                " all have voted."
            ),
        )
    try:
        return session.alternatives(seq)
    except InputError as error:
        raise Refusal(409, "not_now", message_of(error)) from error


@lru_cache(maxsize=4)
def _mark(jpeg: bytes) -> str:
    """The ETag of a picture.

    It is cached, since many clients request the same picture and bytes cache their hash.
    """
    return hashlib.sha256(jpeg).hexdigest()[:32]


def live_picture(ration: Ration, jpeg: Callable[[], bytes | None]) -> AnyResponse:
    """The camera's current picture; raises Refusal if there is none, or at the rate limit.

    `jpeg` is called only within the rate limit.
    """
    if not ration.take():
        raise Refusal(
            503,
            "too_many_pictures",
            msg("Too many requests for the camera picture at once; try again in a second."),
            1,
        )
    return picture(jpeg(), msg("No picture from the camera yet."))


def picture(jpeg: bytes | None, missing: str) -> AnyResponse:
    """A JPEG response; raises Refusal with the message `missing` if there is none."""
    if jpeg is None:
        raise Refusal(404, "no_picture", missing)
    response = Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": "no-cache"})
    response.set_etag(_mark(jpeg))
    return response.make_conditional(request)
